"""Predictions from a log of inspect_ai in JSON: an answer for each sample and epoch.

The answer is the SQL of the first score that states one, else the SQL in the model's reply. A sample's id is the
question's. Inspect numbers samples that have no id, so the input must hold the question's text, as a prompt does.
The solver's name, else the model's, is the generator, and an epoch a sample of it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.predictions.prediction import Prediction
from workbench.errors import BadInputError
from workbench.replies.sql import read_sql

ATTACHMENT = "attachment://"
"""The beginning of a text that refers to an attachment of its sample."""


def is_inspect_log(whole: object) -> bool:
    """Whether a JSON value is a log: an object with a version, what was evaluated, and a status."""
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
    generator = str(log["eval"].get("solver") or log["eval"].get("model") or "") or None
    for number, sample in enumerate(samples):
        line = f"sample {number}"
        if not isinstance(sample, dict) or "id" not in sample:
            raise BadInputError(f"{path}, {line}: expected an object with id, input and output")
        key = str(sample["id"])
        asked = _asked(sample).strip()
        text = texts.get(key)
        yield Prediction(
            line,
            _answer(sample),
            id=key,
            db_id=str((sample.get("metadata") or {}).get("db_id") or "") or None,
            text=text if text and text in asked else asked or None,
            generator=generator,
            sample=max(0, int(sample.get("epoch") or 1) - 1),
        )


def _asked(sample: Mapping[str, Any]) -> str:
    """The text of all messages of a sample's input."""
    given = sample.get("input")
    messages = given if isinstance(given, list) else [{"content": given}]
    return "\n".join(_text(message.get("content"), sample) for message in messages)


def _answer(sample: Mapping[str, Any]) -> str:
    for score in (sample.get("scores") or {}).values():
        if answer := _text(score.get("answer"), sample).strip():
            return read_sql(answer).sql or answer
    choices = (sample.get("output") or {}).get("choices") or [{}]
    return read_sql(_text((choices[0].get("message") or {}).get("content"), sample)).sql


def _text(content: Any, sample: Mapping[str, Any]) -> str:
    """A text: a string, which may stand among the sample's attachments, or a list of parts with texts."""
    if isinstance(content, list):
        return "\n".join(_text(part.get("text"), sample) for part in content)
    if not isinstance(content, str):
        return ""
    attachments: Mapping[str, str] = sample.get("attachments") or {}
    return attachments.get(content.removeprefix(ATTACHMENT), content)
