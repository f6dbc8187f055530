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
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark, read_text
from workbench.errors import BadInputError, MisalignedError
from workbench.spreadsheet import csv_lines, plain
from workbench.sql.schema import read_schema
from workbench.terminal import visible
from workbench.types import Candidate, lower_name

COLUMNS = ["question_id", "generator", "sample", "sql"]
SUFFIXES = {".json", ".jsonl", ".sql", ".txt", ".csv"}
ANSWERS = ".answers.jsonl"
"""How the name of a file with a run's answers ends."""
_BIRD = "\t----- bird -----\t"
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
    if len(set(map(os.path.realpath, files))) < len(files):
        raise BadInputError("a prediction file is given twice: give each file once")
    stems = [file.name.removesuffix(ANSWERS).removesuffix(file.suffix) for file in files]
    shown = [n if stems.count(n) == 1 else str(f) for n, f in zip(stems, files, strict=True)]
    names = list(map(visible, shown))
    frames = [_read(benchmark, file, name) for file, name in zip(files, names, strict=True)]
    stated = [name for frame in frames for name in frame["generator"].unique()]
    for frame, name in zip(frames, names, strict=True):
        shared = frame["generator"].map(stated.count) > 1
        frame["generator"] = frame["generator"].mask(shared, f"{name}: " + frame["generator"])
    return pd.concat(frames, ignore_index=True)


def write_predictions(predictions: pd.DataFrame, path: str | Path, benchmark: Benchmark) -> None:
    """Write predictions in the form of the file's ending: .json is BIRD's, .sql is Spider's; or .jsonl, or .csv."""
    path, frame = Path(path), predictions[COLUMNS].copy()
    frame["sql"] = [sql.encode("utf-8", "replace").decode() for sql in frame["sql"]]
    if path.suffix in {".json", ".sql"}:
        if frame["question_id"].duplicated().any():
            raise BadInputError(f"{path}: this form holds one answer a question; choose one")
        flat = frame["sql"].str.replace("\n", " ")
        sql = dict(zip(frame["question_id"], flat, strict=True))
        bird = {q.id: sql[q.id] + _BIRD + q.db_id for q in benchmark.questions if q.id in sql}
        lines = [f"{sql.get(q.id, '')}\t{q.db_id}\n" for q in benchmark.questions]
        text = json.dumps(bird, indent=4) if path.suffix == ".json" else "".join(lines)
    elif path.suffix == ".jsonl":
        text = frame.to_json(orient="records", lines=True, force_ascii=False)
    elif path.suffix == ".csv":
        text = frame.map(plain).to_csv(index=False)
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
    """The path, or the prediction files in a folder, without the tables beside the answers of a run."""
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
    runs = tuple(file.name.removesuffix(ANSWERS) for file in files if file.name.endswith(ANSWERS))
    beside = (*runs, "index.json") if runs else ()
    kept = [f for f in files if f.name.endswith(ANSWERS) or not f.name.startswith(beside)]
    if not kept:
        raise BadInputError(f"{path}: no prediction file; their names end in {sorted(SUFFIXES)}")
    return kept


def _read(benchmark: Benchmark, path: Path, name: str) -> pd.DataFrame:
    text = read_text(path)
    try:
        if path.suffix.lower() == ".csv":
            separator = max(",;\t", key=text.partition("\n")[0].count)  # as spreadsheets save it
            lines = filter(None, csv_lines(text, delimiter=separator, strict=True))
            # `plain` puts an apostrophe before what a spreadsheet would run.
            names, *rows = [[cell.removeprefix("'") for cell in line] for line in lines] or [[]]
            entries = [dict(zip(names, row, strict=True)) for row in rows]
        elif path.suffix.lower() in {".json", ".jsonl"} or text.lstrip()[:1] in {"{", "["}:
            entries = _json(text)
        else:
            return _paired(benchmark, path, name, _lines(text, benchmark), by_position=True)
        checked = [_checked(number, entry) for number, entry in enumerate(entries, 1)]
    except (ValueError, csv.Error) as error:
        raise BadInputError(f"{path}: {error}") from error
    keys = {entry["question_id"] for entry in checked}
    every = benchmark.every or benchmark.questions
    positions = set(map(str, range(len(every))))
    by_position = keys == positions and not keys <= {question.id for question in every}
    return _paired(benchmark, path, name, checked, by_position=by_position)


def _json(text: str) -> list[Any]:
    """The records of a JSON list, of JSON lines, or of BIRD's object."""

    def unique(pairs: list[tuple[str, Any]]) -> _Entry:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):  # one of the two answers would be lost
            raise ValueError(f"one object has the key {max(names, key=names.count)!r} twice")
        return dict(pairs)

    def parse(text: str) -> Any:
        try:
            return json.loads(text, object_pairs_hook=unique)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"not JSON ({error})") from error

    try:
        whole = parse(text)
    except ValueError as error:
        if "Extra data" not in str(error):
            raise
        return [parse(line) for line in text.split("\n") if line.strip()]
    if isinstance(whole, dict) and not any(field in whole for field in _SQL_FIELDS):
        return [{"question_id": key, "sql": value} for key, value in whole.items()]
    return whole if isinstance(whole, list) else [whole]


def _checked(number: int, record: Any) -> _Entry:
    """An entry's fields; what follows BIRD's mark in its SQL is the db_id."""
    given = record.items() if isinstance(record, dict) else ()
    fields = {str(name).strip().lower(): value for name, value in given}
    key, name = fields.get("question_id"), next((f for f in _SQL_FIELDS if f in fields), "")
    if key in {None, ""} or not name or isinstance(fields[name], dict | list):
        raise ValueError(
            f"entry {number} is {record!r:.80}: expected question_id and SQL as one of {', '.join(_SQL_FIELDS)}"
        )
    answer = fields[name] if isinstance(fields[name], str) else ""  # some write null for no SQL
    # JSON can escape half of a surrogate pair, which cannot be encoded again: it becomes a question mark.
    sql, *db_id = _MARK.split(answer.encode("utf-8", "replace").decode(), maxsplit=1)
    fields |= {"question_id": str(key).strip(), "sample": int(fields.get("sample") or 0)}
    return fields | {"db_id": fields.get("db_id") or "".join(db_id).strip(), "sql": sql.strip()}


def _lines(text: str, benchmark: Benchmark) -> list[_Entry]:
    lines = text.removesuffix("\n").split("\n") if text.strip() else []
    # SQL may hold tabs. Text after the last tab is a db_id if it looks like one on every line, or is known.
    parts = [(line, *line.rpartition("\t")) for line in lines]
    stated = all(re.fullmatch(r"[\w.\-]*", end.strip()) for *_, end in parts)
    known = {question.db_id for question in benchmark.questions}
    rows = [
        (sql, end.strip()) if tab and (stated or end.strip() in known) else (line, "")
        for line, sql, tab, end in parts
    ]
    return [
        {"question_id": str(n), "sql": sql.strip(), "db_id": end}
        for n, (sql, end) in enumerate(rows)
    ]


def _paired(
    benchmark: Benchmark, path: Path, name: str, entries: list[_Entry], *, by_position: bool
) -> pd.DataFrame:
    """The frame of a file's entries; the first one that does not fit its question is refused."""
    if not entries:
        raise BadInputError(f"{path}: empty; expected predictions as JSON, JSON lines, CSV or SQL")
    every = benchmark.every or benchmark.questions
    if by_position and len(entries) == len(benchmark.questions):
        every = benchmark.questions
    asked = {str(n) if by_position else question.id: question for n, question in enumerate(every)}
    tables = cache(partial(_table_names, benchmark))
    rows: dict[tuple[str, str, int], str] = {}
    for number, entry in enumerate(entries, 1):
        place = f"{path}, entry {number}"
        question = asked.get(entry["question_id"])
        if not question:
            raise MisalignedError(
                f"{place}: {benchmark.name} has no question {entry['question_id']!r}, and the keys are not the positions 0"
                f" to {len(every) - 1} either"
            )
        here = f"question {question.id} of {benchmark.name}"
        text = str(entry.get("question") or question.text).strip()
        if entry["db_id"] not in {"", question.db_id} or text != question.text.strip():
            raise MisalignedError(
                f"{place}: database {entry['db_id']!r} and text {text!r}, but {here} is about {question.db_id!r} and is"
                f" {question.text!r}"
            )
        if by_position and not entry["db_id"]:
            # Bare SQL is misaligned if it names no table of its question's database, and only tables of a neighbour's.
            named = {lower_name(found) for found in _TABLES.findall(entry["sql"])}
            own = tables(question.db_id)
            near = {q.db_id for q in every[max(number - 2, 0) : number + 1]}
            if named and own and not named & own and any(named <= tables(one) for one in near):
                raise MisalignedError(
                    f"{place}: names no table of {question.db_id!r}, the database of {here}"
                )
        key = (question.id, str(entry.get("generator") or name), entry.get("sample", 0))
        if key in rows:
            raise MisalignedError(
                f"{place}: {here} is answered before; number several answers in a field sample"
            )
        rows[key] = entry["sql"]
    if by_position and len(entries) != len(every):
        raise MisalignedError(
            f"{path}: {len(entries)} entries for the {len(every)} questions of {benchmark.name}; without ids there must be"
            " one for each"
        )
    return pd.DataFrame([(*key, sql) for key, sql in rows.items()], columns=COLUMNS)


def _table_names(benchmark: Benchmark, db_id: str) -> set[str]:
    if not benchmark.has(db_id):
        return set()
    return {lower_name(table.name) for table in read_schema(benchmark.database(db_id)).tables}
