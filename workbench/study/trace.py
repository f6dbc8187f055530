"""Trace a number in a figure or table back to the questions, the SQL and the calls behind it.

A row of NAME.csv counts the chosen candidates of the runs in its column `run`; where `counted` is "all", as for a bound,
it counts all of their candidates. It counts only those that agree with the columns that it has of question_id, db_id,
difficulty, sample, generator (which may list several; `other` has one more) and question_ids.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pandas as pd

from workbench.errors import BadInputError, naming
from workbench.report.figures import SEVERAL, TOGETHER
from workbench.store import Store
from workbench.study.solve import Record, read_records

_QUESTION = ("question_id", "db_id", "difficulty", "question")
_EQUAL = ("question_id", "db_id", "difficulty", "sample")
_TRIAL = ("sample", "generator", "sql", "status", "fingerprint")
_UNANSWERED: Record = {"trials": (), "chosen": None, "call_keys": (), "cost": {"calls": 0}}


def trace(data: Path, number: int, store: Store) -> tuple[dict[str, str], pd.DataFrame]:
    """A row of a figure's data, numbered from 0, and every candidate that the row counts.

    A question without an answer has one candidate without SQL, whose status is `missing`.
    """
    try:
        with naming(data):
            rows = pd.read_csv(data, dtype=str, keep_default_na=False)
    except ValueError as error:
        raise BadInputError(f"{data}: give the .csv beside a figure ({error})") from error
    if not isinstance(rows.index, pd.RangeIndex):
        raise BadInputError(
            f"{data}: give the .csv beside a figure; a row is longer than its heading"
        )
    if number not in rows.index:
        raise BadInputError(f"{data} has rows 0 to {len(rows) - 1}, and no row {number}")
    # `canonical.plain` puts the apostrophe.
    row = {str(name): cell.removeprefix("'") for name, cell in rows.loc[number].items()}
    if not (runs := row.get("run", "").split()):
        raise BadInputError(f"{data}, row {number} names no run: its numbers are the paper's, or about the benchmark or a"
                            " step before any SQL")  # fmt: skip
    found = pd.concat([candidates(run, store) for run in runs], ignore_index=True)
    missing = found["status"] == "missing"
    keep = found["chosen"]
    if row.get("counted") == "all":  # a question without a choice may have candidates
        keep = ~(missing & found.duplicated(["run", "question_id"], keep=False))
    for name in _EQUAL:
        if row.get(name, "") not in {"", TOGETHER}:
            keep &= (found[name].astype(str) == row[name]) | (missing & (name == "sample"))
    if "question_ids" in row:
        keep &= found["question_id"].isin(row["question_ids"].split(" "))
    if row.get("generator", "") not in {"", TOGETHER}:
        listed = SEVERAL.join(["", row["generator"], row.get("other", ""), ""])
        # A name may itself contain what stands between two.
        keep &= missing | found["generator"].map(lambda own: f"{SEVERAL}{own}{SEVERAL}" in listed)
    return row, found[keep]


def answered(store: Store, selections: str) -> Iterator[tuple[list[str], Record, Record]]:
    """The id, db_id, difficulty and text of each question of a run, and the records of its candidates and of the choice."""
    asked = orjson.loads(selections)
    keys = [key for key, *_ in asked]
    choices = read_records(store, "selections", keys)
    attempt_of = dict(store.read_keys("SELECT key, attempt FROM selections WHERE key IN", keys))
    attempts = read_records(store, "attempts", [*attempt_of.values()])
    for key, *about in asked:  # "" is the key of a question of which a call failed
        attempt = attempts.get(attempt_of.get(key, ""), _UNANSWERED)
        yield about, attempt, choices.get(key, _UNANSWERED)


def candidates(run: str, store: Store) -> pd.DataFrame:
    """The final candidates of a run, and a row of status `missing` for each question without a choice."""
    if not (stored := store.read("SELECT selections FROM runs WHERE id = ?", [run])):
        absent = f"run {run} is not in {store.path}"
        raise BadInputError(f"{absent}: run the experiment here first, `workbench reproduce`")
    rows: list[list[Any]] = []
    for about, attempt, choice in answered(store, stored[0][0]):
        for index, (*_, trial) in enumerate(attempt["trials"]):
            chosen = index == choice["chosen"]
            calls = [*trial["call_keys"], *(choice["call_keys"] if chosen else ())]
            rows.append([run, *about, *(trial[name] for name in _TRIAL), chosen, calls])
        if choice["chosen"] is None:
            rows.append([run, *about, 0, "", "", "missing", "", True, [*choice["call_keys"]]])
    return pd.DataFrame(rows, columns=["run", *_QUESTION, *_TRIAL, "chosen", "calls"])


def told(found: pd.DataFrame, store: Store) -> str:
    """The candidates as text: question, SQL, result, and the keys of the calls."""
    select = "SELECT row_count, rows FROM executions WHERE sql = ? AND fingerprint = ? LIMIT 1"
    lines = []
    for one in found.to_dict("records"):
        ran = store.read(select, [one["sql"], one["fingerprint"]])
        result = "".join(f", {count:,} rows: {rows!s:.200}" for count, rows in ran)
        chosen = ", chosen" if one["chosen"] else ""
        about = f"{one['question_id']} ({one['db_id']}) {one['question']}"
        by = f"{one['generator']} {one['sample']}{chosen}: {one['status']}{result}"
        sql = " ".join(one["sql"].split())
        lines += [about, *(f"  {line}" for line in (by, sql, *one["calls"])), ""]
    return "\n".join(lines)
