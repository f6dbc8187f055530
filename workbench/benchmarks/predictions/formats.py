r"""Readers of the formats in which predictions are published.

BIRD's JSON (`{"0": "SQL\t----- bird -----\tdb_id"}`), Spider's lines (`SQL` or `SQL<TAB>db_id`), JSON
lines, JSON lists, logs of inspect_ai, and CSV, which may be separated by semicolons or tabs and be in UTF-16, as
spreadsheets save it.
"""

import csv
import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.items import read_text
from workbench.benchmarks.predictions.inspect_log import from_inspect_log, is_inspect_log
from workbench.benchmarks.predictions.prediction import Prediction
from workbench.errors import BadInputError
from workbench.spreadsheet import csv_lines

_BIRD = re.compile(r"\s*-{3,} ?bird ?-{3,}\s*")  # with or without its tabs
# Files that hold gold beside the prediction call gold `sql` or `query`, so these names are tried last.
_SQL_FIELDS = ("predicted_sql", "pred_sql", "predicted", "prediction", "pred", "sql", "query")
_NAME = re.compile(r"[\w.\-]+")


def read_predictions(path: Path, benchmark: Benchmark) -> list[Prediction]:
    """The predictions of a file, at least one. The benchmark helps to tell a db_id from SQL."""
    if path.suffix == ".eval":
        raise BadInputError(
            f"{path}: a log of inspect_ai in its packed form; `inspect log convert {path.name} --to json` writes it as JSON"
        )
    text = read_text(path)
    predictions = list(_read(path, text, benchmark)) if text.strip() else []
    if not predictions:
        raise BadInputError(
            f"{path}: empty; expected predictions as JSON, JSON lines, CSV or lines of SQL"
        )
    return predictions


def _read(path: Path, text: str, benchmark: Benchmark) -> Iterator[Prediction]:
    if path.suffix.lower() == ".csv":
        return _from_csv(path, text)
    if path.suffix.lower() in {".json", ".jsonl"} or text.lstrip()[0] in "{[":
        return _from_json(path, text, benchmark)
    return _from_lines(text, benchmark)


def _from_csv(path: Path, text: str) -> Iterator[Prediction]:
    text = re.sub(r"\Asep=[;,\t]\r?\n", "", text)  # a line that spreadsheets write and read
    heading = re.split(r"[\r\n]", text, maxsplit=1)[0]
    separator = max(",;\t", key=heading.count)
    try:
        heads, *rows = [*csv_lines(text, delimiter=separator, strict=True)] or [[]]
        fields = [name.strip().lower() for name in heads]
        if twice := [name for name in fields if name and fields.count(name) > 1]:
            raise BadInputError(f"{path}: two columns are called {twice[0]!r}; keep one of them")
        for number, row in enumerate(filter(None, rows), 1):
            if len(row) != len(fields):
                raise BadInputError(
                    f"{path}, row {number}: {len(row)} cells under {len(fields)} column names; put SQL that holds"
                    f" {separator!r} or a line break in double quotes"
                )
            yield _from_record(path, f"row {number}", dict(zip(fields, row, strict=True)))
    except csv.Error as error:
        raise BadInputError(
            f"{path}: not CSV ({error}); a quote may be open, or a quote inside quotes not doubled"
        ) from error


def _from_json(path: Path, text: str, benchmark: Benchmark) -> Iterator[Prediction]:
    try:
        whole = _parsed(text)
    except ValueError as error:
        yield from _from_json_lines(path, text, error)
        return
    if not isinstance(whole, list | dict):
        raise BadInputError(
            f"{path}: expected an object or a list of them, not {json.dumps(whole):.60}"
        )
    if isinstance(whole, list):
        for number, item in enumerate(whole):
            yield _from_record(path, f"item {number}", item)
    elif is_inspect_log(whole):
        yield from from_inspect_log(path, whole, benchmark)
    elif any(name in whole for name in _SQL_FIELDS):
        yield _from_record(path, "line 1", whole)
    else:
        known = {question.db_id for question in benchmark.questions}
        for key, value in whole.items():
            yield _from_bird(path, key, value, known)


def _from_json_lines(path: Path, text: str, error: ValueError) -> Iterator[Prediction]:
    """The records of JSON lines. `error` is why the file as a whole is not JSON."""
    first = True
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = _parsed(line)
        except ValueError as in_line:
            # If the first line is not JSON, the file is one JSON value with an error, not JSON lines.
            fault = f": not JSON ({error})" if first else f", line {number}: not JSON ({in_line})"
            raise BadInputError(f"{path}{fault}") from in_line
        first = False
        yield _from_record(path, f"line {number}", record)


def _parsed(text: str) -> Any:
    """JSON. An object with a key twice is refused, since one of its two answers would be lost."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise ValueError(f"one object has the key {key!r} twice")
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=unique)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _from_lines(text: str, benchmark: Benchmark) -> Iterator[Prediction]:
    lines = text.removesuffix("\n").split("\n")
    while len(lines) > len(benchmark.questions) and not lines[-1].strip():
        lines.pop()
    # SQL may hold tabs. Text after the last tab is a db_id if it looks like one on every line, or is known.
    parts = [line.rpartition("\t") for line in lines]
    stated = all(tab and _NAME.fullmatch(tail.strip()) for _, tab, tail in parts if tail.strip())
    known = {question.db_id for question in benchmark.questions}
    for index, (sql, tab, tail) in enumerate(parts):
        db_id = tail.strip() if tab and (stated or tail.strip() in known) else ""
        yield Prediction(
            f"line {index + 1}",
            (sql if db_id else lines[index]).strip(),
            index=index,
            counted=True,
            db_id=db_id or None,
        )


def _from_bird(path: Path, key: str, value: Any, known: Collection[str]) -> Prediction:
    line = f"entry {key!r}"
    sql, db_id = _answer(path, line, value)
    before, tab, tail = sql.rpartition("\t")
    if db_id is None and tab and tail in known:  # a tab alone, as in Spider's lines
        sql, db_id = before.strip(), tail
    index = int(key) if key.isdecimal() and len(key) < 10 else None
    return Prediction(line, sql, id=key, index=index, db_id=db_id)


def _from_record(path: Path, line: str, record: Any) -> Prediction:
    if not isinstance(record, dict):
        raise BadInputError(
            f"{path}, {line}: expected an object with question_id and sql, not {record!r:.60}"
        )
    fields = {
        str(name).strip().lower(): value for name, value in record.items() if name is not None
    }
    name = next((name for name in _SQL_FIELDS if name in fields), None)
    key = _text(fields.get("question_id")) or _text(fields.get("id"))
    index = _number(path, line, "index", fields)
    if name is None or (key is None and index is None):
        raise BadInputError(
            f"{path}, {line}: has {', '.join(fields) or 'no fields'}; expected question_id (or index with"
            f" db_id) and one of {', '.join(_SQL_FIELDS)}"
        )
    sql, db_id = _answer(path, line, fields[name])
    return Prediction(
        line,
        sql,
        id=key,
        index=index,
        db_id=_text(fields.get("db_id")) or db_id,
        text=_text(fields.get("question")),
        generator=_text(fields.get("generator")),
        sample=_number(path, line, "sample", fields) or 0,
    )


def _answer(path: Path, line: str, value: Any) -> tuple[str, str | None]:
    """The SQL and, after BIRD's separator, the db_id. Baselines write a number or null if they have no SQL."""
    if isinstance(value, dict | list):
        raise BadInputError(f"{path}, {line}: expected SQL, not {value!r:.60}")
    text = value if isinstance(value, str) else ""
    # JSON can escape a lone surrogate, which cannot be encoded again: it becomes a question mark.
    sql, *db_id = _BIRD.split(text.encode("utf-8", "replace").decode(), maxsplit=1)
    return sql.strip(), "".join(db_id).strip() or None


def _text(value: Any) -> str | None:
    """The text of a field, or None if it is empty."""
    return None if value is None else str(value).strip() or None


def _number(path: Path, line: str, name: str, fields: dict[str, Any]) -> int | None:
    text = _text(fields.get(name))
    try:
        return None if text is None else int(text)
    except ValueError as error:
        raise BadInputError(
            f"{path}, {line}: {name} is {text!r:.60}, not a whole number"
        ) from error
