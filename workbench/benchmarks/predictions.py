r"""Predictions of any system: read as a frame (question_id, generator, sample, sql), and written in the same forms.

The forms are BIRD's JSON (`{"0": "SQL\t----- bird -----\tdb_id"}`), Spider's lines (`SQL` or `SQL<TAB>db_id`), JSON
lines, JSON lists and CSV. A prediction belongs to the question with its id; in a file without ids, or whose keys are all
positions, to the question at its position. A database or a text in the file has to be the question's; where it states
none, SQL that fits only the database of a question next to it shows that a line is missing.
"""

import csv
import io
import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark, read_json, read_text
from workbench.canonical import plain
from workbench.errors import BadInputError
from workbench.sql.schema import read_schema
from workbench.types import Candidate, Question, lower_name

COLUMNS = ["question_id", "generator", "sample", "sql"]
ANSWERS = ".answers.jsonl"  # the end of the name of a file with a run's answers
_SUFFIXES = {".json", ".jsonl", ".sql", ".txt", ".csv"}
_BIRD = "\t----- bird -----\t"
_MARK = re.compile(r"\s*-{3,} ?bird ?-{3,}\s*")  # with or without its tabs
# A file with gold beside the prediction calls gold `sql` or `query`, so these names are tried last.
_SQL_FIELDS = ("predicted_sql", "pred_sql", "predicted", "prediction", "pred", "sql", "query")
_TABLES = re.compile(r"\b(?:from|join)\s+[\"`\[]?(\w+)", re.IGNORECASE)


def read_predictions(benchmark: Benchmark, *paths: str | Path) -> pd.DataFrame:
    """The predictions of the files; a folder stands for its prediction files, that of a run for the run's answers alone.

    The generator of a prediction is its field `generator`, or else the name of its file. A question without a prediction
    has no row. Lines of SQL must answer all questions; an empty line is an empty answer.

    >>> pathlib.Path("mine.json").write_text('{"13": "SELECT 7"}') and None
    >>> wb.read_predictions(wb.open_benchmark("bundled-dev"), "mine.json").to_dict("records")
    [{'question_id': '13', 'generator': 'mine', 'sample': 0, 'sql': 'SELECT 7'}]
    """
    files: list[Path] = []
    for path in map(Path, paths):
        inside = [path]
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
        if not inside:
            raise BadInputError(f"{path}: no prediction file; they end in {sorted(_SUFFIXES)}")
        files += [file for file in inside if file.name.endswith(ANSWERS)] or inside
    if len({os.path.realpath(file) for file in files}) < len(files):
        raise BadInputError("a prediction file is given twice: give each file once")
    frames = [_read(benchmark, file).assign(file=f"{file}: ") for file in files]
    whole = pd.concat(frames, ignore_index=True)
    shared = whole.groupby("generator")["file"].transform("nunique") > 1
    whole.loc[shared, "generator"] = whole["file"] + whole["generator"]
    return whole[COLUMNS]


def write_predictions(path: str | Path, frame: pd.DataFrame) -> None:
    """Write predictions in the form that the path's ending names: .json (BIRD's), .sql (Spider's), .jsonl or .csv.

    BIRD's form and Spider's hold one answer a question and its database, the frame's column `db_id`. For Spider's form
    the frame has a row for each question of the benchmark, in the benchmark's order.
    """
    path = Path(path)
    if path.suffix == ".jsonl":
        rows = frame[COLUMNS].to_dict("records")
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    elif path.suffix == ".csv":
        text = frame[COLUMNS].map(plain).to_csv(index=False)
    elif path.suffix not in {".json", ".sql"}:
        raise BadInputError(f"{path}: give a name that ends in .json, .sql, .jsonl or .csv")
    elif frame["question_id"].duplicated().any() or "db_id" not in frame:
        raise BadInputError(f"{path}: this form holds one answer a question, and its db_id")
    else:
        bird = path.suffix == ".json"
        lines = frame["sql"].str.replace("\n", " ") + (_BIRD if bird else "\t") + frame["db_id"]
        answers = dict(zip(frame["question_id"], lines, strict=True))
        text = json.dumps(answers, indent=4) if bird else "".join(lines + "\n")
    path.write_text(text, encoding="utf-8", errors="replace")


def candidates(predictions: pd.DataFrame) -> dict[str, tuple[Candidate, ...]]:
    """The predictions as the candidates of each question, by its id."""
    found: dict[str, tuple[Candidate, ...]] = {}
    for key, generator, sample, sql in predictions[COLUMNS].itertuples(index=False):
        found[key] = (*found.get(key, ()), Candidate(sql, generator, int(sample)))
    return found


def _read(benchmark: Benchmark, path: Path) -> pd.DataFrame:
    """The frame of a file's entries; the error names the first entry that does not fit its question."""
    every = benchmark.every or benchmark.questions
    text = read_text(path)
    try:
        found, by_position = _entries(path, text, {q.db_id for q in every})
    except (ValueError, csv.Error) as error:
        raise BadInputError(f"{path}: not predictions: {error}") from error
    entries = [_fields(entry) for entry in found]
    keys = {entry["question_id"] for entry in entries}
    by_position |= keys == set(map(str, range(len(every)))) and not keys <= {q.id for q in every}
    if by_position and len(entries) == len(benchmark.questions):
        every = benchmark.questions
    asked = {str(n) if by_position else question.id: question for n, question in enumerate(every)}
    name = path.name.removesuffix(ANSWERS).removesuffix(path.suffix)

    @cache
    def tables(db_id: str) -> set[str]:
        found = read_schema(benchmark.database(db_id)).tables if benchmark.has(db_id) else ()
        return {lower_name(table.name) for table in found}

    def astray(place: int, sql: str) -> bool:
        """Whether SQL names no table of its question's database, and only tables of a neighbouring question's."""
        named = {lower_name(name) for name in _TABLES.findall(sql)}
        near = (every[place], *every[max(place - 1, 0) : place + 2])
        own, *others = (tables(question.db_id) for question in near)
        return bool(named and own) and not named & own and any(named <= one for one in others)

    rows: dict[tuple[str, str, str], str] = {}
    for number, entry in enumerate(entries, 1):
        sql, key, db_id = entry["sql"], entry["question_id"], entry["db_id"]
        question = asked.get(key, Question("", "", ""))
        row = (question.id, entry["generator"] or name, entry["sample"])
        about = f"question {question.id} of {benchmark.name}, on {question.db_id}: {question.text}"
        if sql is None:
            wrong = f"no SQL as one of {', '.join(_SQL_FIELDS)} in {found[number - 1]!r:.80}"
        elif key not in asked:
            wrong = f"{benchmark.name} has no question {key!r}, nor are the keys positions"
        elif db_id not in {"", question.db_id}:
            wrong = f"database {db_id!r} in an answer to {about}"
        elif entry["question"] not in {"", question.text.strip()}:
            wrong = f"text {entry['question']!r} in an answer to {about}"
        elif not re.fullmatch(r"-?\d+", row[-1]):
            wrong = f"sample is {row[-1]!r}: it must be a whole number"
        elif row in rows:
            wrong = f"a second answer to {about}; number several in a field sample"
        elif by_position and not db_id and astray(number - 1, sql):
            wrong = f"names no table of {question.db_id!r} in an answer to {about}"
        else:
            rows[row] = sql
            continue
        raise BadInputError(f"{path}, entry {number}: {wrong}")
    if not rows or (by_position and len(rows) != len(every)):
        counts = f"{len(rows)} entries for the {len(every)} questions of {benchmark.name}"
        raise BadInputError(f"{path}: {counts}; without ids there must be one for each")
    frame = pd.DataFrame([(*row, sql) for row, sql in rows.items()], columns=COLUMNS)
    return frame.astype({"sample": int})


def _fields(record: Any) -> dict[str, Any]:
    """The fields of an entry. In BIRD's form the db_id follows a mark in the SQL. `sql` is None where none is stated."""
    given = record.items() if isinstance(record, dict) else ()
    fields = {str(name).strip().lower(): value for name, value in given}
    stated: Any = next((fields[name] for name in _SQL_FIELDS if name in fields), {})
    sql, *db_id = _MARK.split(stated if isinstance(stated, str) else "", maxsplit=1)  # null: no SQL
    named = ("question_id", "generator", "question", "db_id")
    own = {name: str("" if fields.get(name) is None else fields[name]).strip() for name in named}
    own |= {"sample": str(fields.get("sample") or 0).removesuffix(".0")}
    own |= {"db_id": own["db_id"] or "".join(db_id).strip(), "sql": sql.strip()}
    # Half of a surrogate pair, which no file can hold, becomes a question mark.
    whole = {name: text.encode("utf-8", "replace").decode() for name, text in own.items()}
    return whole | {"sql": None} if isinstance(stated, dict | list) else whole


def _entries(path: Path, text: str, known: set[str]) -> tuple[list[Any], bool]:
    """The records of a CSV file, a JSON list, JSON lines or BIRD's object, or lines of SQL, which have no ids."""
    if path.suffix.lower() == ".csv":
        csv.field_size_limit(max(csv.field_size_limit(), len(text)))
        separator = max(",;\t", key=text.partition("\n")[0].count)  # as spreadsheets save it
        found = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        # `plain` puts an apostrophe before what a spreadsheet would run.
        cells = [[cell.removeprefix("'") for cell in line] for line in found if line]
        return [dict(zip(cells[0], line, strict=True)) for line in cells[1:]], False
    if text.lstrip()[:1] in {"{", "["}:
        whole = read_json(path, text)
        if isinstance(whole, dict) and not whole.keys() & {*_SQL_FIELDS}:
            whole = [{"question_id": key, "sql": value} for key, value in whole.items()]
        return whole if isinstance(whole, list) else [whole], False
    # SQL may hold tabs. Text after the last tab is a db_id if it looks like one on every line, or is known.
    lines = text.removesuffix("\n").split("\n") if text.strip() else []
    parts = [line.rpartition("\t") for line in lines]
    if all(re.fullmatch(r"[\w.\-]*", end.strip()) for *_, end in parts):
        known = {end.strip() for *_, end in parts}
    split = [(sql, end.strip()) if tab and end.strip() in known else (f"{sql}{tab}{end}", "")
             for sql, tab, end in parts]  # fmt: skip
    return [{"question_id": n, "sql": sql, "db_id": db} for n, (sql, db) in enumerate(split)], True
