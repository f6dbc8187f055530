r"""Predictions of any system: read as a frame (question_id, generator, sample, sql), and written in the same forms.

The forms are BIRD's JSON (`{"0": "SQL\t----- bird -----\tdb_id"}`), Spider's lines (`SQL` or `SQL<TAB>db_id`), JSON
lines, JSON lists and CSV. A prediction belongs to the question with its id, or, where not every key is an id, to the one
at its position. A database or text that a file states has to be that of the question, and SQL without either must not
name only the tables of a neighbouring question's database. The error names the first wrong entry.
"""

import csv
import json
import os
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark, read_text
from workbench.errors import BadInputError
from workbench.spreadsheet import csv_lines, plain
from workbench.sql.schema import read_schema
from workbench.terminal import visible
from workbench.types import Candidate, lower_name

COLUMNS = ["question_id", "generator", "sample", "sql"]
ANSWERS = ".answers.jsonl"
"""The end of the name of a file that has a run's answers."""
_SUFFIXES = {".json", ".jsonl", ".sql", ".txt", ".csv"}
_MARK = re.compile(r"\s*-{3,} ?bird ?-{3,}\s*")  # with or without its tabs
# Files that hold gold beside the prediction call gold `sql` or `query`, so these names are tried last.
_SQL_FIELDS = ("predicted_sql", "pred_sql", "predicted", "prediction", "pred", "sql", "query")
_TABLES = re.compile(r"\b(?:from|join)\s+[\"`\[]?(\w+)", re.IGNORECASE)
_Entry = dict[str, Any]  # what an entry of a file states, by name


def read_predictions(benchmark: Benchmark, *paths: str | Path) -> pd.DataFrame:
    """The predictions of the files; a folder stands for the prediction files in it.

    The generator of a prediction is its field `generator`, else the name of its file. Questions without a prediction
    have no row; lines of SQL must answer all questions, and an empty line is an empty answer.
    """
    files = [file for path in map(Path, paths) for file in _files(path)]
    if len({os.path.realpath(file) for file in files}) < len(files):
        raise BadInputError("a prediction file is given twice: give each file once")
    frames = [_read(benchmark, file) for file in files]
    count = Counter(name for frame in frames for name in frame["generator"].unique())
    for file, frame in zip(files, frames, strict=True):
        shared = frame["generator"].map(count) > 1
        frame.loc[shared, "generator"] = visible(f"{file}: ") + frame["generator"]
    return pd.concat(frames, ignore_index=True)


def write_predictions(path: str | Path, frame: pd.DataFrame) -> None:
    """Write predictions in the form of the path's ending: .json is BIRD's, .sql Spider's; or .jsonl, or .csv.

    BIRD's form and Spider's have one answer a question and name its database, the column `db_id`. Spider's has a line
    for each question of the benchmark, in its order.
    """
    path = Path(path)
    frame = frame.assign(sql=[sql.encode("utf-8", "replace").decode() for sql in frame["sql"]])
    if path.suffix in {".json", ".sql"}:
        if frame["question_id"].duplicated().any() or "db_id" not in frame:
            raise BadInputError(f"{path}: this form holds one answer a question, and its db_id")
        sql, db_id = frame["sql"].str.replace("\n", " "), frame["db_id"]
        bird = dict(zip(frame["question_id"], sql + "\t----- bird -----\t" + db_id, strict=True))
        lines = "".join(sql + "\t" + db_id + "\n")
        text = json.dumps(bird, indent=4) if path.suffix == ".json" else lines
    elif path.suffix == ".jsonl":
        text = frame[COLUMNS].to_json(orient="records", lines=True, force_ascii=False)
    elif path.suffix == ".csv":
        text = frame[COLUMNS].map(plain).to_csv(index=False)
    else:
        raise BadInputError(f"{path}: give a name that ends in .json, .sql, .jsonl or .csv")
    path.write_text(text, encoding="utf-8")


def candidates(predictions: pd.DataFrame) -> dict[str, tuple[Candidate, ...]]:
    """The predictions as the candidates of each question, by its id."""
    found: dict[str, tuple[Candidate, ...]] = {}
    for key, generator, sample, sql in predictions[COLUMNS].itertuples(index=False):
        found[key] = (*found.get(key, ()), Candidate(sql, generator, int(sample)))
    return found


def _files(path: Path) -> list[Path]:
    """The path, or the prediction files in a folder; in the folder of a run, its answers alone."""
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
    if not files:
        raise BadInputError(f"{path}: no prediction file; their names end in {sorted(_SUFFIXES)}")
    return [file for file in files if file.name.endswith(ANSWERS)] or files


def _read(benchmark: Benchmark, path: Path) -> pd.DataFrame:
    """The frame of a file's entries; the first one that does not fit its question is refused."""
    every = benchmark.every or benchmark.questions
    text = read_text(path)
    try:
        entries, by_position = _entries(path, text, {q.db_id for q in every})
        entries = [_checked(number, entry) for number, entry in enumerate(entries, 1)]
    except (ValueError, RecursionError, csv.Error) as error:
        kind = "not JSON: " * isinstance(error, json.JSONDecodeError | RecursionError)
        raise BadInputError(f"{path}: {kind}{error}") from error
    if not entries:
        raise BadInputError(f"{path}: empty; expected predictions as JSON, JSON lines, CSV or SQL")
    keys = {entry["question_id"] for entry in entries}
    by_position |= keys == set(map(str, range(len(every)))) and not keys <= {q.id for q in every}
    if by_position and len(entries) == len(benchmark.questions):
        every = benchmark.questions
    asked = {str(n) if by_position else question.id: question for n, question in enumerate(every)}
    name = visible(path.name.removesuffix(ANSWERS).removesuffix(path.suffix))

    @cache
    def tables(db_id: str) -> set[str]:
        found = read_schema(benchmark.database(db_id)).tables if benchmark.has(db_id) else ()
        return {lower_name(table.name) for table in found}

    rows: dict[tuple[str, str, int], str] = {}
    for number, entry in enumerate(entries, 1):
        sql, db_id, wrong = entry["sql"], entry["db_id"], ""
        question = asked.get(entry["question_id"])
        if not question:
            keys_ = f"and the keys are not the positions 0 to {len(every) - 1} either"
            wrong = f"{benchmark.name} has no question {entry['question_id']!r}, {keys_}"
            raise BadInputError(f"{path}, entry {number}: {wrong}")
        here = f"question {question.id} of {benchmark.name}"
        stated = str(entry.get("question") or question.text).strip()
        key = (question.id, str(entry.get("generator") or name), entry["sample"])
        if db_id not in {"", question.db_id} or stated != question.text.strip():
            wrong = f"database {db_id!r} and text {stated!r}, but {here} is about"
            wrong += f" {question.db_id!r} and is {question.text!r}"
        elif key in rows:
            wrong = f"{here} is answered before; number several answers in a field sample"
        elif by_position and not db_id:
            named = {lower_name(found) for found in _TABLES.findall(sql)}
            near = {q.db_id for q in every[max(number - 2, 0) : number + 1]}
            own = tables(question.db_id)
            if named and own and not named & own and any(named <= tables(one) for one in near):
                wrong = f"names no table of {question.db_id!r}, the database of {here}"
        if wrong:
            raise BadInputError(f"{path}, entry {number}: {wrong}")
        rows[key] = sql
    if by_position and len(entries) != len(every):
        counts = f"{len(entries)} entries for the {len(every)} questions of {benchmark.name}"
        raise BadInputError(f"{path}: {counts}; without ids there must be one for each")
    return pd.DataFrame([(*key, sql) for key, sql in rows.items()], columns=COLUMNS)


def _entries(path: Path, text: str, known: set[str]) -> tuple[list[Any], bool]:
    """The records of a CSV file, a JSON list, JSON lines or BIRD's object, or lines of SQL, which have no ids."""
    if path.suffix.lower() == ".csv":
        separator = max(",;\t", key=text.partition("\n")[0].count)  # as spreadsheets save it
        lines = filter(None, csv_lines(text, delimiter=separator, strict=True))
        # `plain` puts an apostrophe before what a spreadsheet would run.
        names, *rows = [[cell.removeprefix("'") for cell in line] for line in lines] or [[]]
        return [dict(zip(names, row, strict=True)) for row in rows], False
    if text.lstrip()[:1] in {"{", "["}:
        try:
            whole = _json(text)
        except json.JSONDecodeError as error:
            if "Extra data" not in str(error):
                raise
            return [_json(line) for line in text.split("\n") if line.strip()], False
        if isinstance(whole, dict) and not any(field in whole for field in _SQL_FIELDS):
            return [{"question_id": key, "sql": value} for key, value in whole.items()], False
        return whole if isinstance(whole, list) else [whole], False
    # SQL may hold tabs. Text after the last tab is a db_id if it looks like one on every line, or is known.
    parts = [(x, *x.rpartition("\t")) for x in text.removesuffix("\n").split("\n") if text.strip()]
    stated = all(re.fullmatch(r"[\w.\-]*", end.strip()) for *_, end in parts)
    split = [
        (sql, end.strip()) if tab and (stated or end.strip() in known) else (line, "")
        for line, sql, tab, end in parts
    ]
    return [
        {"question_id": n, "sql": sql, "db_id": end} for n, (sql, end) in enumerate(split)
    ], True


def _json(text: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> _Entry:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):  # one of the two answers would be lost
            raise ValueError(f"one object has the key {max(names, key=names.count)!r} twice")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=unique)


def _checked(number: int, record: Any) -> _Entry:
    """An entry's fields; what follows BIRD's mark in its SQL is the db_id."""
    given = record.items() if isinstance(record, dict) else ()
    fields = {str(name).strip().lower(): value for name, value in given}
    key, name = fields.get("question_id"), next((f for f in _SQL_FIELDS if f in fields), "")
    if key in {None, ""} or not name or isinstance(fields[name], dict | list):
        wanted = f"question_id and SQL as one of {', '.join(_SQL_FIELDS)}"
        raise ValueError(f"entry {number} is {record!r:.80}: expected {wanted}")
    answer = fields[name] if isinstance(fields[name], str) else ""  # some write null for no SQL
    # JSON can escape half of a surrogate pair, which cannot be encoded again: it becomes a question mark.
    sql, *db_id = _MARK.split(answer.encode("utf-8", "replace").decode(), maxsplit=1)
    fields |= {"question_id": str(key).strip(), "sample": int(fields.get("sample") or 0)}
    return fields | {"db_id": fields.get("db_id") or "".join(db_id).strip(), "sql": sql.strip()}
