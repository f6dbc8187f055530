"""Trace a number in a figure back to the calls and the SQL behind it.

A row of NAME.csv names its runs. The row counts those questions and candidates of the runs that match its columns
for generator, difficulty, database and question. The column `question_ids`, if present, lists the counted questions
and may be empty. If the column `counted` is "all", as for a bound, every candidate counts; otherwise only chosen
candidates count. Without the column, a row that names a generator counts all its candidates.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
import pandas as pd

from workbench.errors import BadInputError, naming
from workbench.report.figures.bounds import TOGETHER
from workbench.report.figures.overlap import SEVERAL
from workbench.store import Store
from workbench.study import result_cache


@dataclass(frozen=True, slots=True)
class Traced:
    """A candidate that a number counts: its generator, its question, its SQL and its calls."""

    run: str
    question_id: str
    db_id: str
    difficulty: str
    generator: str
    sample: int
    sql: str
    status: str
    chosen: bool
    calls: tuple[str, ...]


def trace(data: Path, number: int, store: Store) -> tuple[dict[str, str], list[Traced]]:
    """A row of a figure's data, numbered from 0, and every candidate that the row counts.

    A question without an answer has one candidate without SQL, whose status is `missing`.
    """
    row = _row(data, number)
    runs = row.get("run", "").split()
    if not runs:
        raise BadInputError(f"{data}, row {number}: it names no run: {_why(row)}")
    missing = [run for run in runs if not store.read("SELECT 1 FROM runs WHERE id = ?", (run,))]
    if missing:
        raise BadInputError(
            f"run {missing[0]} is not in {store.path}: run the experiment here first, `workbench reproduce`"
        )
    return row, [traced for run in runs for traced in behind(answered(run, store), row)]


def candidates(run: str, store: Store) -> Iterator[Traced]:
    """Every final candidate of a run."""
    return (candidate for _, found in answered(run, store) for candidate in found)


def answered(run: str, store: Store) -> Iterator[tuple[Traced, list[Traced]]]:
    """For each question of a run: a placeholder for a missing answer, and the final candidates."""
    ((selections,),) = store.read("SELECT selections FROM runs WHERE id = ?", (run,))
    rows = orjson.loads(selections)
    wanted = [key for key, *_ in rows]
    choices = result_cache.read(store, "selections", wanted)
    found = store.read_keys("SELECT key, attempt FROM selections WHERE key IN", wanted)
    attempt = dict(found)
    attempts = result_cache.read(store, "attempts", list(attempt.values()))
    for key, question, db_id, difficulty in rows:
        choice = choices.get(key, {})  # empty if a call failed: such a question is not cached
        picking = tuple(choice.get("call_keys", ()))
        missing = Traced(run, question, db_id, difficulty, "", 0, "", "missing", True, picking)
        yield (
            missing,
            [
                replace(
                    missing,
                    generator=trial["generator"],
                    sample=trial["sample"],
                    sql=trial["sql"],
                    status=trial["status"],
                    chosen=index == choice["chosen"],
                    calls=(*trial["call_keys"], *(picking if index == choice["chosen"] else ())),
                )
                for index, trial in enumerate(attempts[attempt[key]]["trials"] if choice else ())
            ],
        )


def rows(data: Path) -> list[dict[str, str]]:
    """The rows of a figure's data as text."""
    if data.suffix != ".csv":
        raise BadInputError(f"{data}: give the .csv beside a figure")
    try:
        with naming(data):
            frame = pd.read_csv(data, dtype=str, keep_default_na=False)
    except ValueError as error:
        raise BadInputError(f"{data}: {_fault(error)}; give the .csv beside a figure") from error
    if not isinstance(frame.index, pd.RangeIndex):
        raise BadInputError(
            f"{data}: rows have more cells than the first line; give the .csv beside a figure"
        )
    frame = frame.map(lambda cell: cell.removeprefix("'"))  # as `spreadsheet.plain` puts it
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _fault(error: ValueError) -> str:
    """The reason why pandas cannot read a file as CSV, in plain words."""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 text ({error.reason} at byte {error.start})"
    if isinstance(error, pd.errors.EmptyDataError):
        return "the file is empty"
    return "a row has more cells than the first line, or a quote is not closed"


def _row(data: Path, number: int) -> dict[str, str]:
    found = rows(data)
    if not 0 <= number < len(found):
        raise BadInputError(f"{data} has rows 0 to {len(found) - 1}, and no row {number}")
    return found[number]


def _why(row: Mapping[str, str]) -> str:
    """The reason why a row has no run; the paper's own numbers are in columns like "CHESS: EX"."""
    numbers = [name for name in row if row[name]][1:]
    if numbers and all(": " in name for name in numbers):
        return "its numbers are the paper's"
    return "it describes the benchmark, or a step before any SQL was proposed"


def behind(
    found: Iterable[tuple[Traced, list[Traced]]], row: Mapping[str, str]
) -> Iterator[Traced]:
    """The candidates of a run that a row counts, and the placeholder of each question without candidates."""
    every = row["counted"] == "all" if "counted" in row else bool(row.get("generator"))
    for missing, trials in found:
        if _of_question(missing, row):
            counted = [traced for traced in trials if every or traced.chosen] or [missing]
            yield from [traced for traced in counted if _of_generator(traced, row)]


def _of_question(traced: Traced, row: Mapping[str, str]) -> bool:
    if "question_ids" in row and not _among(traced.question_id, row["question_ids"], " "):
        return False
    own = {name: getattr(traced, name) for name in ("question_id", "db_id", "difficulty")}
    return all(row.get(name) in {None, "", TOGETHER, value} for name, value in own.items())


def _of_generator(traced: Traced, row: Mapping[str, str]) -> bool:
    """Whether the row names the candidate's generator, alone, with others as in a Venn diagram, or in a pair."""
    if row.get("sample") not in {None, "", str(traced.sample)}:
        return False
    if row.get("generator") in {None, "", TOGETHER} or traced.status == "missing":
        return True
    pair = SEVERAL.join(filter(None, (row["generator"], row.get("other"))))
    return _among(traced.generator, pair, SEVERAL)


def _among(name: str, names: str, between: str) -> bool:
    """Whether `names` contains a name, which may itself contain the separator `between`."""
    return f"{between}{name}{between}" in f"{between}{names}{between}"
