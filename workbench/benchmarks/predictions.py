r"""Pools from other systems' prediction files, so that anybody's results can be judged.

Read are BIRD's JSON (`{"0": "SQL\t----- bird -----\tdb_id"}`), Spider's lines (`SQL` or `SQL<TAB>db_id`),
JSON lines, JSON lists and CSV. A prediction is paired with its question by id wherever the file has one.
Where it has only a place, the place must be borne out by something else the file says (database,
question) or, for bare lines of SQL, by the tables they name. A file that does not fit is refused with
the first line that does not.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.schema import read_schema
from workbench.errors import BadInputError, MisalignedError
from workbench.pool import Pool, pool_of
from workbench.types import Candidate, Question, Trial, fold

_BIRD = "\t----- bird -----\t"
_SQL_FIELDS = ("sql", "predicted_sql", "predicted", "prediction", "pred", "query")
_TABLES = re.compile(r"\b(?:from|join)\s+[\"`\[]?(\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Prediction:
    """One entry of a file: `line` for the reader, and whatever says which question it answers.

    `counted` marks a place that the file does not state, only where the entry stands in it.
    """

    line: str
    sql: str
    id: str | None = None
    place: int | None = None
    counted: bool = False
    db_id: str | None = None
    text: str | None = None
    sample: int = 0


def load_predictions(path: Path, benchmark: Benchmark, generator: str = "") -> Pool:
    """The file's predictions as trials not yet run, by that generator or by the file's name.

    Questions the file does not answer are missing from the pool. MisalignedError names the first line
    that fits no question, or not the one it stands for.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInputError(
            f"{path}: not UTF-8 text ({error.reason} at byte {error.start})"
        ) from error
    if not text.strip():
        raise BadInputError(
            f"{path}: empty; expected predictions as JSON, JSON lines, CSV or lines of SQL"
        )
    predictions = list(_read(path, text))
    questions = _pair(path, predictions, benchmark)
    seen: dict[tuple[str, int], str] = {}
    for question, prediction in zip(questions, predictions, strict=True):
        key = (question.id, prediction.sample)
        if key in seen:
            raise MisalignedError(
                f"{path}, {prediction.line}: question {question.id} is answered there and in {seen[key]};"
                " give each answer a number of its own in a field 'sample'"
            )
        seen[key] = prediction.line
    return pool_of(
        (question.id, Trial(Candidate(prediction.sql, generator or path.stem, prediction.sample)))
        for question, prediction in zip(questions, predictions, strict=True)
    )


def _read(path: Path, text: str) -> Iterator[_Prediction]:
    if path.suffix.lower() == ".csv":
        rows = csv.DictReader(text.splitlines(keepends=True))
        yield from (_from_record(path, f"row {n}", row) for n, row in enumerate(rows, 1))
        return
    if text.lstrip()[0] in "{[":
        try:
            whole = orjson.loads(text)
        except ValueError:
            yield from _json_lines(path, text)
            return
        if isinstance(whole, list):
            yield from (_from_record(path, f"item {n}", item) for n, item in enumerate(whole))
        elif any(name in whole for name in _SQL_FIELDS):
            yield _from_record(path, "line 1", whole)
        else:
            yield from (_from_bird(key, value) for key, value in whole.items())
        return
    for number, line in enumerate(text.rstrip("\r\n").split("\n"), 1):
        sql, _, db_id = line.rstrip("\r").rpartition("\t") if "\t" in line else (line, "", "")
        yield _Prediction(
            f"line {number}",
            sql.strip(),
            place=number - 1,
            counted=True,
            db_id=db_id.strip() or None,
        )


def _json_lines(path: Path, text: str) -> Iterator[_Prediction]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                record = orjson.loads(line)
            except ValueError as error:
                raise BadInputError(f"{path}, line {number}: not JSON ({error})") from error
            yield _from_record(path, f"line {number}", record)


def _from_bird(key: str, value: Any) -> _Prediction:
    # BIRD's own baseline writes a number where a model gave no answer.
    sql, _, db_id = value.partition(_BIRD) if isinstance(value, str) else ("", "", "")
    place = int(key) if key.isdecimal() else None
    return _Prediction(
        f"entry {key!r}", sql.strip(), id=key, place=place, db_id=db_id.strip() or None
    )


def _from_record(path: Path, line: str, record: Any) -> _Prediction:
    if not isinstance(record, dict):
        raise BadInputError(
            f"{path}, {line}: expected an object with question_id and sql, not {record!r:.60}"
        )
    fields = {
        str(name).strip().lower(): value for name, value in record.items() if name is not None
    }
    sql = next((fields[name] for name in _SQL_FIELDS if name in fields), None)
    key = next(
        (fields[name] for name in ("question_id", "id") if fields.get(name) is not None), None
    )
    place = fields.get("index")
    if sql is None or (key is None and place is None):
        raise BadInputError(
            f"{path}, {line}: has {', '.join(fields) or 'no fields'}; expected question_id (or index with"
            f" db_id) and one of {', '.join(_SQL_FIELDS)}"
        )
    try:
        return _Prediction(
            line,
            sql.partition(_BIRD)[0].strip() if isinstance(sql, str) else "",
            id=None if key is None else str(key),
            place=None if place is None else int(place),
            db_id=fields.get("db_id"),
            text=fields.get("question"),
            sample=int(fields.get("sample") or 0),
        )
    except (TypeError, ValueError) as error:
        raise BadInputError(f"{path}, {line}: index and sample are numbers ({error})") from error


def _pair(path: Path, predictions: list[_Prediction], benchmark: Benchmark) -> list[Question]:
    """The question of each prediction: by id if every id is known, else by place if all else agrees."""
    by_id = {question.id: question for question in benchmark.questions}
    unknown = next((p for p in predictions if p.id is not None and p.id not in by_id), None)
    if unknown or any(p.id is None for p in predictions):
        questions = _by_place(path, predictions, unknown, benchmark)
    else:
        questions = [by_id[p.id] for p in predictions if p.id is not None]
    for prediction, question in zip(predictions, questions, strict=False):
        for what, said, true in (
            ("database", prediction.db_id, question.db_id),
            ("question", prediction.text, question.text),
        ):
            if said is not None and said.strip() != true.strip():
                raise MisalignedError(
                    f"{path}, {prediction.line}: {what} {said!r}, but question {question.id} of"
                    f" {benchmark.name} has {true!r}"
                )
    if len(questions) < len(predictions) or (
        predictions[0].counted and len(predictions) != len(benchmark.questions)
    ):
        raise MisalignedError(
            f"{path}: {len(predictions)} predictions for the {len(benchmark.questions)} questions of"
            f" {benchmark.name}; without ids there must be one line for each question"
        )
    return questions


def _by_place(
    path: Path, predictions: list[_Prediction], unknown: _Prediction | None, benchmark: Benchmark
) -> list[Question]:
    """Questions by their place in the benchmark's file, as many as there are."""
    everything = range(len(benchmark.questions))
    places = [prediction.place for prediction in predictions]
    if unknown and sorted(-1 if place is None else place for place in places) != list(everything):
        raise MisalignedError(
            f"{path}, {unknown.line}: {benchmark.name} has no question {unknown.id!r}, and the keys are not"
            f" the places 0 to {len(everything) - 1} of its questions either"
        )
    bare = next((p for p in predictions if p.db_id is None and p.text is None), None)
    if bare and not bare.counted:
        raise MisalignedError(
            f"{path}, {bare.line}: given by its place, with no db_id or question to bear that out; use"
            " question ids"
        )
    questions = [
        benchmark.questions[place] for place in places if place is not None and place in everything
    ]
    if bare:
        _check_tables(path, predictions, questions, benchmark)
    return questions


def _check_tables(
    path: Path, predictions: list[_Prediction], questions: list[Question], benchmark: Benchmark
) -> None:
    """Refuse the first bare line whose tables are none of its database's but a neighbour's."""
    tables = {
        db_id: {fold(table.name) for table in read_schema(benchmark.database(db_id)).tables}
        for db_id in {question.db_id for question in questions}
    }
    for place, (prediction, question) in enumerate(zip(predictions, questions, strict=True)):
        named = {fold(name) for name in _TABLES.findall(prediction.sql)}
        if not named or named & tables[question.db_id]:
            continue
        for other in questions[max(place - 1, 0) : place + 2]:
            if named <= tables[other.db_id]:
                raise MisalignedError(
                    f"{path}, {prediction.line}: names tables of {other.db_id}, but question"
                    f" {question.id} of {benchmark.name} is about {question.db_id}"
                )
