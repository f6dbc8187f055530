"""Predictions from a log of inspect_ai in JSON: an answer for each sample and epoch.

The answer is the SQL of the first score that has an answer, else the SQL in the model's reply. A sample's id is its
question's id. Inspect numbers samples without an id, so the input must contain the question's text, as a prompt does.
The generator is the solver's name, else the model's; each epoch is one of its samples.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.predictions.prediction import Prediction
from workbench.errors import BadInputError
from workbench.replies.sql import read_sql

ATTACHMENT = "attachment://"
"""The beginning of a text that refers to an attachment of its sample."""


def is_inspect_log(whole: object) -> bool:
    """Whether a JSON value is a log: an object with the keys `version`, `eval` and `status`."""
    return isinstance(whole, dict) and {"version", "status", "eval"} <= whole.keys()


def from_inspect_log(
    path: Path, log: Mapping[str, Any], benchmark: Benchmark
) -> Iterator[Prediction]:
    """The predictions of a log, in the order of its samples."""
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise BadInputError(
            f"{path}: a log of inspect_ai without samples; log them, and write the log as JSON"
        )
    texts = {question.id: question.text.strip() for question in benchmark.questions}
    about = _field(log, "eval", dict, str(path))
    generator = str(about.get("solver") or about.get("model") or "") or None
    for number, sample in enumerate(samples):
        line, where = f"sample {number}", f"{path}, sample {number}"
        if not isinstance(sample, dict) or "id" not in sample:
            raise BadInputError(f"{where}: expected an object with id, input and output")
        key = str(sample["id"])
        asked = _asked(sample, where).strip()
        text = texts.get(key)
        yield Prediction(
            line,
            _answer(sample, where),
            id=key,
            db_id=str(_field(sample, "metadata", dict, where).get("db_id") or "") or None,
            text=text if text and text in asked else asked or None,
            generator=generator,
            sample=max(0, _field(sample, "epoch", int, where) - 1),
        )


def _asked(sample: Mapping[str, Any], where: str) -> str:
    """The text of all messages of a sample's input."""
    given = sample.get("input")
    messages = given if isinstance(given, list) else [{"content": given}]
    return "\n".join(_text(message, "content", sample, where) for message in messages)


def _answer(sample: Mapping[str, Any], where: str) -> str:
    for score in _field(sample, "scores", dict, where).values():
        if answer := _text(score, "answer", sample, where).strip():
            return read_sql(answer).sql or answer
    choices = _field(_field(sample, "output", dict, where), "choices", list, where) or [{}]
    message = _field(choices[0], "message", dict, where)
    return read_sql(_text(message, "content", sample, where)).sql


def _text(owner: Any, name: str, sample: Mapping[str, Any], where: str) -> str:
    """A text: a string, which may stand among the sample's attachments, or a list of parts with texts."""
    content = _field(owner, name, object, where)
    if isinstance(content, list):
        return "\n".join(_text(part, "text", sample, where) for part in content)
    if not isinstance(content, str):
        return ""
    text = _field(sample, "attachments", dict, where).get(content.removeprefix(ATTACHMENT), content)
    return str(text)


_T = TypeVar("_T")
_KINDS: Mapping[type, str] = {dict: "an object", list: "a list", int: "a whole number"}


def _field(owner: Any, name: str, kind: type[_T], where: str) -> _T:
    """A field of an object, an empty one where it is missing or null; another kind of value is refused."""
    if not isinstance(owner, dict):
        raise BadInputError(f"{where}: expected an object with {name}, not {owner!r:.60}")
    value = owner.get(name)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise BadInputError(f"{where}: {name} is {value!r:.60}, not {_KINDS[kind]}")
    return value
