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
from workbench.report.figures.candidates import SEVERAL, TOGETHER
from workbench.store import Store
from workbench.study import result_cache


@dataclass(frozen=True, slots=True)
class TracedCandidate:
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


QuestionCandidates = tuple[TracedCandidate, list[TracedCandidate]]
"""A placeholder for the missing answer to a question, and the question's final candidates."""


def trace(data: Path, number: int, store: Store) -> tuple[dict[str, str], list[TracedCandidate]]:
    """A row of a figure's data, numbered from 0, and every candidate that the row counts.

    A question without an answer has one candidate without SQL, whose status is `missing`.
    """
    rows = data_rows(data)
    if not 0 <= number < len(rows):
        raise BadInputError(f"{data} has rows 0 to {len(rows) - 1}, and no row {number}")
    row = rows[number]
    runs = row.get("run", "").split()
    if not runs:
        raise BadInputError(f"{data}, row {number}: it names no run: {_why_no_run(row)}")
    unstored = [run for run in runs if not store.read("SELECT 1 FROM runs WHERE id = ?", (run,))]
    if unstored:
        raise BadInputError(
            f"run {unstored[0]} is not in {store.path}: run the experiment here first, `workbench reproduce`"
        )
    by_run = (counted_candidates(candidates_by_question(run, store), row) for run in runs)
    return row, [candidate for counted in by_run for candidate in counted]


def candidates(run: str, store: Store) -> Iterator[TracedCandidate]:
    return (candidate for _, found in candidates_by_question(run, store) for candidate in found)


def candidates_by_question(run: str, store: Store) -> Iterator[QuestionCandidates]:
    ((text,),) = store.read("SELECT selections FROM runs WHERE id = ?", (run,))
    selections = orjson.loads(text)
    keys = [key for key, *_ in selections]
    choices = result_cache.read(store, "selections", keys)
    query = "SELECT key, attempt FROM selections WHERE key IN"
    attempt_keys = dict(store.read_keys(query, keys))
    attempts = result_cache.read(store, "attempts", list(attempt_keys.values()))
    for key, question, db_id, difficulty in selections:
        choice = choices.get(key, {})  # empty if a call failed: such a question is not cached
        calls = tuple(choice.get("call_keys", ()))
        origin = (run, question, db_id, difficulty)
        missing = TracedCandidate(*origin, "", 0, "", "missing", True, calls)
        trials = attempts[attempt_keys[key]]["trials"] if choice else ()
        final = []
        for index, trial in enumerate(trials):
            made, is_chosen = tuple(trial["call_keys"]), index == choice["chosen"]
            own = {name: trial[name] for name in ("generator", "sample", "sql", "status")}
            own |= {"chosen": is_chosen, "calls": made + calls if is_chosen else made}
            final.append(replace(missing, **own))
        yield missing, final


def data_rows(data: Path) -> list[dict[str, str]]:
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


def _why_no_run(row: Mapping[str, str]) -> str:
    """The reason why a row has no run; the paper's own numbers are in columns like "CHESS: EX"."""
    numbers = [name for name in row if row[name]][1:]
    if numbers and all(": " in name for name in numbers):
        return "its numbers are the paper's"
    return "it describes the benchmark, or a step before any SQL was proposed"


def counted_candidates(
    questions: Iterable[QuestionCandidates], row: Mapping[str, str]
) -> Iterator[TracedCandidate]:
    """The candidates of a run that a row counts, and the placeholder of each question without candidates."""
    counts_all = row["counted"] == "all" if "counted" in row else bool(row.get("generator"))
    for placeholder, candidates in questions:
        if _matches_question(placeholder, row):
            counted = [one for one in candidates if counts_all or one.chosen] or [placeholder]
            yield from [one for one in counted if _matches_generator(one, row)]


def _matches_question(candidate: TracedCandidate, row: Mapping[str, str]) -> bool:
    if "question_ids" in row and not _contains(candidate.question_id, row["question_ids"], " "):
        return False
    values = {name: getattr(candidate, name) for name in ("question_id", "db_id", "difficulty")}
    return all(row.get(name) in {None, "", TOGETHER, value} for name, value in values.items())


def _matches_generator(candidate: TracedCandidate, row: Mapping[str, str]) -> bool:
    """Whether the row names the candidate's generator, alone, with others as in a Venn diagram, or in a pair."""
    if row.get("sample") not in {None, "", str(candidate.sample)}:
        return False
    if row.get("generator") in {None, "", TOGETHER} or candidate.status == "missing":
        return True
    generators = SEVERAL.join(filter(None, (row["generator"], row.get("other"))))
    return _contains(candidate.generator, generators, SEVERAL)


def _contains(name: str, names: str, separator: str) -> bool:
    """Whether `names` contains a name, which may itself contain the separator `between`."""
    return f"{separator}{name}{separator}" in f"{separator}{names}{separator}"
