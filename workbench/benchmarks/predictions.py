r"""Predictions of any system.

Read as a frame (question_id, generator, sample, sql), and written in the same forms.

The forms are BIRD's JSON (`{"0": "SQL\t----- bird -----\tdb_id"}`), Spider's lines (`SQL` or
`SQL<TAB>db_id`), JSON lines, JSON lists and CSV, DIN-SQL's among them. A prediction belongs to
the question with its id; in a file without ids, to the one with its database and text, or else,
as in a file whose keys are all positions, to the question at its position. A database or a text
in the file has to be the question's.
"""

import csv
import io
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    Field,
    model_validator,
)

from workbench.benchmarks.benchmark import Benchmark, named
from workbench.benchmarks.files import one_line, read_json, read_text, validated
from workbench.canonical import plain
from workbench.errors import BadInputError
from workbench.types import Candidate, Question

COLUMNS = ["question_id", "generator", "sample", "sql"]
ANSWERS = ".answers.jsonl"  # the end of the name of a file with a run's answers
_SUFFIXES = {".json", ".jsonl", ".sql", ".txt", ".csv"}
_BIRD = "\t----- bird -----\t"
# As it is read: some systems write other dashes, or blanks in place of its tabs.
_MARK = re.compile(r"\s*-{3,} ?bird ?-{3,}\s*")
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
_NAME = re.compile(r"[\w.\-]*")


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
        files += _prediction_files(path)
    places = set(map(os.path.realpath, files))
    if len(places) < len(files):
        raise BadInputError("a prediction file is given twice: give each file once")
    frames = [_read(benchmark, file).assign(file=f"{file}: ") for file in files]
    predictions = pd.concat(frames, ignore_index=True)
    is_shared = predictions.groupby("generator")["file"].transform("nunique") > 1
    with_file = predictions["file"] + predictions["generator"]
    predictions.loc[is_shared, "generator"] = with_file
    return predictions[COLUMNS]


def _prediction_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
    if not files:
        raise BadInputError(
            f"{path}: no prediction file; they end in {sorted(_SUFFIXES)}"
        )
    answers = [file for file in files if file.name.endswith(ANSWERS)]
    return answers or files


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
        raise BadInputError(
            f"{path}: give a name that ends in .json, .sql, .jsonl or .csv"
        )
    elif frame["question_id"].duplicated().any() or "db_id" not in frame:
        raise BadInputError(
            f"{path}: this form holds one answer a question, and its db_id"
        )
    else:
        queries = frame["sql"].str.replace("\n", " ")
        if path.suffix == ".json":
            answers = queries + _BIRD + frame["db_id"]
            by_id = dict(zip(frame["question_id"], answers, strict=True))
            text = json.dumps(by_id, indent=4)
        else:
            text = "".join(queries + "\t" + frame["db_id"] + "\n")
    path.write_text(text, encoding="utf-8", errors="replace")


def candidates(predictions: pd.DataFrame) -> dict[str, tuple[Candidate, ...]]:
    """Return the predictions as the candidates of each question, by its id."""
    pool: dict[str, tuple[Candidate, ...]] = {}
    for row in predictions[COLUMNS].to_dict("records"):
        candidate = Candidate(
            sql=row["sql"],
            generator=row["generator"],
            sample=int(row["sample"]),
        )
        key = row["question_id"]
        before = pool.get(key, ())
        pool[key] = (*before, candidate)
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
        """Return the record with plain names of fields, and "" for what is null."""
        if not isinstance(record, dict):
            wanted = "expected an object with question_id and SQL"
            raise ValueError(wanted)  # noqa: TRY004  pydantic names the entry
        fields = {}
        for name, value in record.items():
            key = str(name).strip().lower()
            fields[key] = "" if value is None else value
        if fields.keys().isdisjoint(_SQL_FIELDS):
            raise ValueError(f"no SQL as one of {', '.join(_SQL_FIELDS)}")
        fields["sample"] = fields.get("sample") or 0
        return fields

    @model_validator(mode="after")
    def _database_after_mark(self) -> "_Entry":
        """In BIRD's form the database follows a mark in the SQL."""
        marked = _MARK.search(self.sql)
        if marked:
            self.db_id = self.db_id or self.sql[marked.end() :]
            self.sql = self.sql[: marked.start()]
        return self


def _read(benchmark: Benchmark, path: Path) -> pd.DataFrame:
    """The frame of a file's entries.

    The error names the first entry that does not fit its question.
    """
    records, are_lines = _records(benchmark, path)
    entries = validated(records, _Entry, lambda item: f"{path}, entry {item + 1}")
    ids = {entry.question_id for entry in entries}
    by_id = {question.id: question for question in benchmark.whole}
    positions = {str(n) for n in range(len(by_id))}
    are_positions = ids == positions and positions != by_id.keys()
    if are_lines or are_positions:
        return _by_position(benchmark, path, entries)
    if ids == {""} and all(entry.question for entry in entries):
        asked = _by_text(benchmark, entries)
    else:
        asked = [by_id.get(entry.question_id) for entry in entries]
    return _frame(benchmark, path, entries, asked)


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
    return _lines(text, {question.db_id for question in benchmark.whole}), True


def _frame(
    benchmark: Benchmark,
    path: Path,
    entries: Sequence[_Entry],
    asked: Sequence[Question | None],
) -> pd.DataFrame:
    """The frame of entries, each with the question that it answers."""
    sql_of: dict[tuple[str, str, int], str] = {}  # by question, generator and sample
    ids = {entry.question_id for entry in entries}
    file_name = path.name.removesuffix(ANSWERS).removesuffix(path.suffix)
    pairs = zip(entries, asked, strict=True)
    for number, (entry, question) in enumerate(pairs, 1):
        where = f"{path}, entry {number}"
        if question is None or not _fits(entry, question):
            raise BadInputError(f"{where}: {_misfit(benchmark, entry, question)}")
        sharing = benchmark.repeated.get(entry.question_id, ())
        # A file that has one of the further ids, 137-2, means by 137 the first question.
        if sharing and not entry.question and ids.isdisjoint(sharing[1:]):
            several = named(benchmark.sharing(entry.question_id))
            raise BadInputError(
                f"{where}: question_id {entry.question_id!r} is {several};"
                " give one of these ids"
            )
        row = (question.id, entry.generator or file_name, entry.sample)
        if row in sql_of:
            raise BadInputError(
                f"{where}: a second answer to question {question.id};"
                " number several in a field sample"
            )
        sql_of[row] = entry.sql
    if not sql_of:
        raise BadInputError(f"{path}: it has no predictions")
    records = [(*row, sql) for row, sql in sql_of.items()]
    return pd.DataFrame(records, columns=COLUMNS)


def _fits(entry: _Entry, question: Question) -> bool:
    """Whether the database and the text that an entry states are the question's."""
    fits_database = entry.db_id in {"", question.db_id}
    fits_text = one_line(entry.question) in {"", one_line(question.text)}
    return fits_database and fits_text


def _misfit(benchmark: Benchmark, entry: _Entry, question: Question | None) -> str:
    """Why an entry is no answer to the question of its id, its text or its position."""
    stated = f"database {entry.db_id!r} and text {one_line(entry.question)!r}"
    if question is None:
        return (
            f"{benchmark.name} has no question with id {entry.question_id!r}, {stated}"
        )
    wanted = f"question {question.id} is on {question.db_id!r}: {question.text}"
    return f"it has {stated}, but {wanted}"


def _by_text(benchmark: Benchmark, entries: Sequence[_Entry]) -> list[Question | None]:
    """The question with each entry's text, on its database if it names one.

    A few questions are asked twice.
    """
    by_text = benchmark.by_text()
    asked: list[Question | None] = []
    for entry in entries:
        questions = by_text.get((entry.db_id, one_line(entry.question)), [])
        asked.append(questions[0] if questions else None)
        # The last one is answered by all further entries, told apart by `sample`.
        if len(questions) > 1:
            questions.pop(0)
    return asked


def _by_position(
    benchmark: Benchmark, path: Path, entries: Sequence[_Entry]
) -> pd.DataFrame:
    """The frame of entries that answer the questions at their positions.

    If lines are missing, the error names the first that does not fit its question.
    """
    questions: Sequence[Question] = benchmark.whole
    if len(entries) == len(benchmark.questions):
        questions = benchmark.questions
    placed = entries[: len(questions)]
    asked = []
    for entry in placed:
        asked.append(questions[int(entry.question_id)])
        entry.question_id = ""  # a position is no id
    frame = _frame(benchmark, path, placed, asked)
    if len(entries) != len(questions):
        raise BadInputError(
            f"{path}: {len(entries)} entries for the {len(questions)} questions of"
            f" {benchmark.name}; without ids there must be one for each"
        )
    return frame


def _csv_records(text: str) -> list[dict[str, str]]:
    """The rows of a CSV file; `plain` put an apostrophe before what a spreadsheet would run."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    first_line = text.partition("\n")[0]
    separator = max(",;\t", key=first_line.count)  # as spreadsheets save it
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows = [row for row in reader if row]
    if not rows:
        raise ValueError("an empty file")
    names = rows[0]
    records = []
    for row in rows[1:]:
        cells = [cell.removeprefix("'") for cell in row]
        records.append(dict(zip(names, cells, strict=True)))
    return records


def _json_records(content: Any) -> list[Any]:
    """The entries of a list, or of BIRD's object from ids to queries."""
    if isinstance(content, list):
        return content
    if isinstance(content, dict) and content.keys().isdisjoint(_SQL_FIELDS):
        return [{"question_id": key, "sql": value} for key, value in content.items()]
    return [content]


def _lines(text: str, known: set[str]) -> list[dict[str, str]]:
    """The lines of SQL, which may hold tabs.

    Text after the last tab is a db_id if it looks like one on every line, or is known.
    """
    if not text.strip():
        return []
    lines = text.removesuffix("\n").split("\n")
    parts = [line.rpartition("\t") for line in lines]
    all_end_in_names = all(_NAME.fullmatch(end.strip()) for _, _, end in parts)
    records = []
    for number, (sql, tab, end) in enumerate(parts):
        record = {"question_id": str(number), "sql": lines[number]}
        if tab and (all_end_in_names or end.strip() in known):
            record |= {"sql": sql, "db_id": end}
        records.append(record)
    return records
