r"""Predictions of any system.

Read as a frame (question_id, generator, sample, sql), and written in the same forms.

The forms are BIRD's JSON (`{"0": "SQL\t----- bird -----\tdb_id"}`), Spider's lines (`SQL` or
`SQL<TAB>db_id`), JSON lines, JSON lists and CSV, DIN-SQL's among them. A prediction belongs to
the question with its id; in a file without ids, to the one with its database and text, or else,
as in a file whose keys are all positions, to the question at its position. A database or a text
in the file has to be the question's; where it states none, SQL that fits only the database of a
question next to it shows that a line is missing.
"""

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    model_validator,
)

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.files import read_json, read_text
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
_SQL_FIELDS = (
    "predicted_sql",
    "predicted sql",
    "pred_sql",
    "predicted",
    "prediction",
    "pred",
    "sql",
    "query",
)
_TABLES = re.compile(r"\b(?:from|join)\s+[\"`\[]?(\w+)", re.IGNORECASE)


def read_predictions(benchmark: Benchmark, *paths: str | Path) -> pd.DataFrame:
    """Read the predictions of the files.

    A folder stands for its prediction files, that of a run for the run's answers alone.

    The generator of a prediction is its field `generator`, or else the name of its file. A question
    without a prediction has no row. Lines of SQL must answer all questions; an empty line is an
    empty answer.

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
    predictions = pd.concat(frames, ignore_index=True)
    shared = predictions.groupby("generator")["file"].transform("nunique") > 1
    predictions.loc[shared, "generator"] = predictions["file"] + predictions["generator"]
    return predictions[COLUMNS]


def write_predictions(path: str | Path, frame: pd.DataFrame) -> None:
    """Write predictions as .json (BIRD's form), .sql (Spider's), .jsonl or .csv.

    BIRD's form and Spider's hold one answer a question and its database, the frame's column
    `db_id`. For Spider's form the frame has a row for each question of the benchmark, in the
    benchmark's order.
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
    """Return the predictions as the candidates of each question, by its id."""
    pool: dict[str, tuple[Candidate, ...]] = {}
    for key, generator, sample, sql in predictions[COLUMNS].itertuples(index=False):
        pool[key] = (*pool.get(key, ()), Candidate(sql, generator, int(sample)))
    return pool


def _text(value: Any) -> str:
    """The text of a field.

    Half of a surrogate pair, which no file can hold, becomes a question mark.
    """
    if isinstance(value, dict | list):
        raise ValueError("expected a text")  # noqa: TRY004  pydantic names the field
    return str(value).strip().encode("utf-8", "replace").decode()


_Text = Annotated[str, BeforeValidator(_text)]


class _Entry(BaseModel):
    """An entry of a file, under the names that people give its fields, in any letter case."""

    sql: _Text = Field(validation_alias=AliasChoices(*_SQL_FIELDS))
    question_id: _Text = ""
    db_id: _Text = Field("", validation_alias=AliasChoices("db_id", "database"))
    question: _Text = Field("", validation_alias=AliasChoices("question", "nlq"))
    generator: _Text = ""
    sample: int = 0

    @model_validator(mode="before")
    @classmethod
    def _in_lower_case(cls, record: Any) -> Any:
        if not isinstance(record, dict):
            wanted = "expected an object with question_id and SQL"
            raise ValueError(f"{wanted}, not {record!r:.80}")  # noqa: TRY004
        fields = {str(name).strip().lower(): value for name, value in record.items()}
        empty = {name: "" for name, value in fields.items() if value is None}
        return fields | empty | {"sample": fields.get("sample") or 0}

    @model_validator(mode="after")
    def _database_after_mark(self) -> "_Entry":
        """In BIRD's form the database follows a mark in the SQL."""
        self.sql, *database = _MARK.split(self.sql, maxsplit=1)
        self.db_id = self.db_id or "".join(database)
        return self


def _entries(path: Path, records: Iterable[Any]) -> list[_Entry]:
    entries = []
    for number, record in enumerate(records, 1):
        try:
            entries.append(_Entry.model_validate(record))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = ".".join(map(str, first["loc"]))
            if first["type"] == "missing":
                why = f"no SQL as one of {', '.join(_SQL_FIELDS)} in {record!r:.80}"
            elif name:
                why = f"{name} is {first['input']!r:.80}: {first['msg']}"
            else:
                why = first["msg"]
            raise BadInputError(f"{path}, entry {number}: {why}") from error
    return entries


def _read(benchmark: Benchmark, path: Path) -> pd.DataFrame:
    """The frame of a file's entries.

    The error names the first entry that does not fit its question.
    """
    records, are_lines = _records(benchmark, path)
    entries = _entries(path, records)
    every = benchmark.every or benchmark.questions
    keys = {entry.question_id for entry in entries}
    positions = {str(n) for n in range(len(every))}
    by_position = are_lines or (keys == positions and not keys <= {q.id for q in every})
    if by_position and len(entries) == len(benchmark.questions):
        every = benchmark.questions
    if by_position:
        asked = _by_position(path, benchmark, every, entries)
    elif keys == {""} and all(entry.question for entry in entries):
        asked = _by_text(every, entries)
    else:
        known = {question.id: question for question in every}
        asked = [known.get(entry.question_id) for entry in entries]
    rows = _rows(benchmark, path, entries, asked)
    if not rows or (by_position and len(rows) != len(every)):
        counts = f"{len(rows)} entries for the {len(every)} questions of {benchmark.name}"
        raise BadInputError(f"{path}: {counts}; without ids there must be one for each")
    return pd.DataFrame([(*row, sql) for row, sql in rows.items()], columns=COLUMNS)


def _records(benchmark: Benchmark, path: Path) -> tuple[list[Any], bool]:
    """The records of a file, and whether they are lines of SQL, which have no ids."""
    text = read_text(path)
    try:
        if path.suffix.lower() == ".csv":
            return _csv_records(text), False
        if text.lstrip()[:1] in {"{", "["}:
            return _json_records(read_json(path, text)), False
    except (ValueError, csv.Error) as error:
        raise BadInputError(f"{path}: not predictions: {error}") from error
    every = benchmark.every or benchmark.questions
    return _lines(text, {question.db_id for question in every}), True


def _rows(
    benchmark: Benchmark,
    path: Path,
    entries: Sequence[_Entry],
    asked: Sequence[Question | None],
) -> dict[tuple[str, str, int], str]:
    """The SQL of each question, generator and sample."""
    rows: dict[tuple[str, str, int], str] = {}
    keys = {entry.question_id for entry in entries}
    generator = path.name.removesuffix(ANSWERS).removesuffix(path.suffix)
    for number, (entry, question) in enumerate(zip(entries, asked, strict=True), 1):
        wrong = _misfit(benchmark, entry, question, keys)
        if question and not wrong:
            row = (question.id, entry.generator or generator, entry.sample)
            if row not in rows:
                rows[row] = entry.sql
                continue
            wrong = f"a second answer to {_about(benchmark, question)}"
            wrong += "; number several in a field sample"
        raise BadInputError(f"{path}, entry {number}: {wrong}")
    return rows


def _about(benchmark: Benchmark, question: Question) -> str:
    return f"question {question.id} of {benchmark.name}, on {question.db_id}: {question.text}"


def _misfit(benchmark: Benchmark, entry: _Entry, question: Question | None, keys: set[str]) -> str:
    """Why an entry cannot be the answer to its question; "" if it can."""
    key, text = entry.question_id, " ".join(entry.question.split())
    if question is None and key:
        return f"{benchmark.name} has no question {key!r}, nor are the keys positions"
    if question is None:
        return f"{benchmark.name} has no question {text!r} on database {entry.db_id!r}"
    if entry.db_id not in {"", question.db_id}:
        return f"database {entry.db_id!r} in an answer to {_about(benchmark, question)}"
    if text not in {"", " ".join(question.text.split())}:
        return f"text {entry.question!r} in an answer to {_about(benchmark, question)}"
    sharing = benchmark.repeated.get(key, ())
    if sharing and not text and keys.isdisjoint(sharing[1:]):
        every = {asked.id: asked for asked in benchmark.every or benchmark.questions}
        several = " or ".join(f"{each} ({every[each].text})" for each in sharing)
        return f"question_id {key!r} is {several}; give one of these ids, or the question"
    return ""


def _by_text(every: Sequence[Question], entries: Sequence[_Entry]) -> list[Question | None]:
    """The question with each entry's text, on its database if it names one.

    A few questions are asked twice.
    """
    waiting: dict[tuple[str, str], list[Question]] = {}
    for question in every:
        text = " ".join(question.text.split())
        waiting.setdefault((question.db_id, text), []).append(question)
        waiting.setdefault(("", text), []).append(question)
    asked: list[Question | None] = []
    for entry in entries:
        questions = waiting.get((entry.db_id, " ".join(entry.question.split())), [])
        # The last of them is answered by all further entries, which are then told apart by
        # `sample`.
        asked.append(questions.pop(0) if len(questions) > 1 else next(iter(questions), None))
    return asked


def _by_position(
    path: Path, benchmark: Benchmark, every: Sequence[Question], entries: Sequence[_Entry]
) -> list[Question | None]:
    """The question at each entry's position, unless a line is missing."""

    @cache
    def tables(db_id: str) -> set[str]:
        if not benchmark.has(db_id):
            return set()
        return {lower_name(table.name) for table in read_schema(benchmark.database(db_id)).tables}

    places = [int(entry.question_id) for entry in entries]
    for number, (entry, place) in enumerate(zip(entries, places, strict=True), 1):
        if entry.db_id or place >= len(every):
            continue
        own, neighbours = every[place], every[max(place - 1, 0) : place + 2]
        used = {lower_name(name) for name in _TABLES.findall(entry.sql)}
        is_foreign = used and tables(own.db_id) and used.isdisjoint(tables(own.db_id))
        if is_foreign and any(used <= tables(near.db_id) for near in neighbours):
            wrong = f"names no table of {own.db_id!r} in an answer to {_about(benchmark, own)}"
            raise BadInputError(f"{path}, entry {number}: {wrong}")
    return [every[place] if place < len(every) else None for place in places]


def _csv_records(text: str) -> list[dict[str, str]]:
    """The rows of a CSV file; `plain` put an apostrophe before what a spreadsheet would run."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    separator = max(",;\t", key=text.partition("\n")[0].count)  # as spreadsheets save it
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows = [[cell.removeprefix("'") for cell in row] for row in reader if row]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def _json_records(content: Any) -> list[Any]:
    """The entries of a list, or of BIRD's object from ids to queries."""
    if isinstance(content, dict) and content.keys().isdisjoint(_SQL_FIELDS):
        return [{"question_id": key, "sql": value} for key, value in content.items()]
    return content if isinstance(content, list) else [content]


def _lines(text: str, known: set[str]) -> list[dict[str, str]]:
    """The lines of SQL, which may hold tabs.

    Text after the last tab is a db_id if it looks like one on every line, or is known.
    """
    lines = text.removesuffix("\n").split("\n") if text.strip() else []
    ends = [line.rpartition("\t")[2].strip() for line in lines]
    all_end_in_names = all(re.fullmatch(r"[\w.\-]*", end) for end in ends)
    records = []
    for number, (line, end) in enumerate(zip(lines, ends, strict=True)):
        sql, tab, _ = line.rpartition("\t")
        has_name = tab and (all_end_in_names or end in known)
        parts = {"sql": sql, "db_id": end} if has_name else {"sql": line}
        records.append({"question_id": str(number)} | parts)
    return records
