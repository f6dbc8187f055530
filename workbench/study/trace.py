"""From a number in a figure back to the calls and the SQL behind it.

A row of NAME.csv names its runs; whatever else it says (a generator, a difficulty, a database, a question)
narrows down which of their candidates it is about. One that names no generator is about what was chosen.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pandas as pd

from workbench.errors import BadInputError
from workbench.report.figures.bounds import TOGETHER
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


def trace(data: Path, number: int, store: Store) -> tuple[dict[str, Any], list[Traced]]:
    """A row of a figure's data, counted from 0, and every candidate that it was counted from."""
    row = _row(data, number)
    runs = str(row.get("run", "")).split()
    if not runs or runs == ["nan"]:
        raise BadInputError(f"{data}, row {number}: it names no run; its numbers are not of one")
    missing = [run for run in runs if not store.read("SELECT 1 FROM runs WHERE id = ?", (run,))]
    if missing:
        raise BadInputError(
            f"run {missing[0]} is not in {store.path}: run the experiment here first, `workbench reproduce`"
        )
    return row, [one for run in runs for one in candidates(run, store) if _meant(one, row)]


def candidates(run: str, store: Store) -> Iterator[Traced]:
    """Every final candidate of a run."""
    ((told,),) = store.read("SELECT selections FROM runs WHERE id = ?", (run,))
    rows = orjson.loads(told)
    wanted = [key for key, *_ in rows]
    choices = read(store, "selections", wanted)
    found = store.read_keys("SELECT key, attempt FROM selections WHERE key IN", wanted)
    attempt = dict(found)
    attempts = read(store, "attempts", list(attempt.values()))
    for key, question, db_id, difficulty in rows:
        choice = choices[key]
        for place, trial in enumerate(attempts[attempt[key]]["trials"]):
            chosen = place == choice["chosen"]
            yield Traced(
                run,
                question,
                db_id,
                difficulty,
                trial["generator"],
                trial["sample"],
                trial["sql"],
                trial["status"],
                chosen,
                (*trial["call_keys"], *(choice["call_keys"] if chosen else ())),
            )


def _row(data: Path, number: int) -> dict[str, Any]:
    try:
        frame = pd.read_csv(data)
    except (OSError, ValueError) as error:
        raise BadInputError(f"{data}: {error}; give the .csv beside a figure") from error
    if not 0 <= number < len(frame):
        raise BadInputError(f"{data} has rows 0 to {len(frame) - 1}, and no row {number}")
    return {str(name): value for name, value in frame.iloc[number].items()}


def _meant(one: Traced, row: Mapping[str, Any]) -> bool:
    if "generator" not in row and not one.chosen:
        return False
    told = {name: getattr(one, name) for name in _NARROW}
    return all(
        name not in row or pd.isna(row[name]) or str(row[name]) in {str(value), TOGETHER}
        for name, value in told.items()
    )


_NARROW = ("question_id", "db_id", "difficulty", "generator", "sample")
