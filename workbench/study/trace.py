"""From a number in a figure back to the calls and the SQL behind it.

A row of NAME.csv names its runs; whatever else it says (a generator, a difficulty, a database, a question)
narrows down which of their questions and candidates it is about. `question_ids`, where the data has it, are
the questions that the row counts, perhaps none. `counted` is "all" in a row that every candidate counts for,
such as a bound; other rows are about what was chosen. Data without it are about all of a generator's
candidates where they name one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
import pandas as pd

from workbench.errors import BadInputError
from workbench.report.figures.bounds import TOGETHER
from workbench.report.figures.overlap import SEVERAL
from workbench.store import Store
from workbench.study.kept import read


@dataclass(frozen=True, slots=True)
class Traced:
    """A candidate behind a number: who proposed it for which question, and by which calls."""

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
    """A row of a figure's data, counted from 0, and every candidate that it was counted from.

    A question that got no answer has one without SQL, and `missing` as its status.
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
    return row, [one for run in runs for one in _behind(run, row, store)]


def candidates(run: str, store: Store) -> Iterator[Traced]:
    """Every final candidate of a run."""
    return (one for _, mine in _answered(run, store) for one in mine)


def _answered(run: str, store: Store) -> Iterator[tuple[Traced, list[Traced]]]:
    """For each question of a run what stands for no answer, and its final candidates."""
    ((told,),) = store.read("SELECT selections FROM runs WHERE id = ?", (run,))
    rows = orjson.loads(told)
    wanted = [key for key, *_ in rows]
    choices = read(store, "selections", wanted)
    found = store.read_keys("SELECT key, attempt FROM selections WHERE key IN", wanted)
    attempt = dict(found)
    attempts = read(store, "attempts", list(attempt.values()))
    for key, question, db_id, difficulty in rows:
        choice = choices.get(key, {})  # none where a call failed: nothing of it was kept
        picking = tuple(choice.get("call_keys", ()))
        nobody = Traced(run, question, db_id, difficulty, "", 0, "", "missing", True, picking)
        yield (
            nobody,
            [
                replace(
                    nobody,
                    generator=trial["generator"],
                    sample=trial["sample"],
                    sql=trial["sql"],
                    status=trial["status"],
                    chosen=place == choice["chosen"],
                    calls=(*trial["call_keys"], *(picking if place == choice["chosen"] else ())),
                )
                for place, trial in enumerate(attempts[attempt[key]]["trials"] if choice else ())
            ],
        )


def _row(data: Path, number: int) -> dict[str, str]:
    if data.suffix != ".csv":
        raise BadInputError(f"{data}: give the .csv beside a figure")
    try:
        frame = pd.read_csv(data, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise BadInputError(f"{data}: {error}; give the .csv beside a figure") from error
    if not 0 <= number < len(frame):
        raise BadInputError(f"{data} has rows 0 to {len(frame) - 1}, and no row {number}")
    return {str(name): value for name, value in frame.iloc[number].items()}


def _why(row: Mapping[str, str]) -> str:
    """Why no run is behind a row: the paper's numbers stand in columns like "CHESS: EX"."""
    numbers = [name for name in row if row[name]][1:]
    if numbers and all(": " in name for name in numbers):
        return "its numbers are the paper's"
    return "it is of the benchmark, or of what was found before any SQL was proposed"


def _behind(run: str, row: Mapping[str, str], store: Store) -> Iterator[Traced]:
    """The candidates of a run that a row was counted from; for a question without any, that there is none."""
    every = row["counted"] == "all" if "counted" in row else bool(row.get("generator"))
    for nobody, mine in _answered(run, store):
        if _of_question(nobody, row):
            counted = [one for one in mine if every or one.chosen]
            yield from [one for one in counted or [nobody] if _of_generator(one, row)]


def _of_question(one: Traced, row: Mapping[str, str]) -> bool:
    if "question_ids" in row and not _among(one.question_id, row["question_ids"], " "):
        return False
    told = {"question_id": one.question_id, "db_id": one.db_id, "difficulty": one.difficulty}
    return all(row.get(name) in {None, "", TOGETHER, value} for name, value in told.items())


def _of_generator(one: Traced, row: Mapping[str, str]) -> bool:
    """Whether it is by who the row is about: one, several as a Venn diagram names them, or a pair."""
    if row.get("sample") not in {None, "", str(one.sample)}:
        return False
    if row.get("generator") in {None, "", TOGETHER} or one.status == "missing":
        return True
    pair = SEVERAL.join(filter(None, (row["generator"], row.get("other"))))
    return _among(one.generator, pair, SEVERAL)


def _among(name: str, names: str, between: str) -> bool:
    """Whether a name stands among others; it may itself hold what stands between them."""
    return f"{between}{name}{between}" in f"{between}{names}{between}"
