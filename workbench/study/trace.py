"""Trace a number in a figure or table back to the questions, the SQL and the calls behind it.

A row of NAME.csv names its runs in `run`, and counts the candidates of these that agree with it in every one of the
columns question_id, db_id, difficulty, sample, generator (or several of them, and `other`) and question_ids that it has:
all of these where `counted` is "all", as for a bound, and else the chosen ones.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import orjson
import pandas as pd

from workbench.benchmarks.load import open_benchmark
from workbench.errors import BadInputError, naming
from workbench.report.figures.candidates import SEVERAL, TOGETHER
from workbench.store import Store
from workbench.study.experiment import experiment_of
from workbench.study.solve import read_records

_EQUAL = ("question_id", "db_id", "difficulty", "sample")
_COLUMNS = ["run", *_EQUAL, "generator", "sql", "status", "fingerprint", "chosen", "calls"]


def trace(data: Path, number: int, store: Store) -> tuple[dict[str, str], pd.DataFrame]:
    """A row of a figure's data, numbered from 0, and every candidate that the row counts.

    A question without an answer has one candidate without SQL, whose status is `missing`.
    """
    rows = _rows(data)
    if not 0 <= number < len(rows):
        raise BadInputError(f"{data} has rows 0 to {len(rows) - 1}, and no row {number}")
    row = rows[number]
    if not (runs := row.get("run", "").split()):
        raise BadInputError(
            f"{data}, row {number} names no run: its numbers are the paper's, or about the benchmark or a step before"
            " any SQL"
        )
    found = pd.concat([candidates(run, store) for run in runs], ignore_index=True)
    keep = found["chosen"] | (row.get("counted") == "all")
    missing = found["status"] == "missing"
    if row.get("counted") == "all":  # a question without a choice may have candidates
        keep &= ~(missing & found.duplicated(["run", "question_id"], keep=False))
    for name in _EQUAL:
        if row.get(name, "") not in {"", TOGETHER}:
            keep &= (found[name].astype(str) == row[name]) | (missing & (name == "sample"))
    if "question_ids" in row:
        keep &= found["question_id"].isin(row["question_ids"].split(" "))
    if row.get("generator", "") not in {"", TOGETHER}:
        listed = SEVERAL.join(filter(None, (row["generator"], row.get("other"))))
        within = (
            f"{SEVERAL}{listed}{SEVERAL}"  # names may themselves contain what stands between two
        )
        keep &= missing | found["generator"].map(lambda own: f"{SEVERAL}{own}{SEVERAL}" in within)
    return row, found[keep]


def candidates(run: str, store: Store) -> pd.DataFrame:
    """The final candidates of a run, and a row of status `missing` for each question without a choice."""
    if not (stored := store.read("SELECT selections FROM runs WHERE id = ?", [run])):
        absent = f"run {run} is not in {store.path}"
        raise BadInputError(f"{absent}: run the experiment here first, `workbench reproduce`")
    asked = orjson.loads(stored[0][0])
    keys = [key for key, *_ in asked]
    choices = read_records(store, "selections", keys)
    of_attempt = dict(store.read_keys("SELECT key, attempt FROM selections WHERE key IN", keys))
    attempts = read_records(store, "attempts", list(of_attempt.values()))
    rows = []
    for key, *origin in asked:
        choice = choices.get(key, {"chosen": None, "call_keys": ()})  # a call failed: not cached
        trials = attempts[of_attempt[key]]["trials"] if key in choices else ()
        for index, trial in enumerate(trials):
            chosen = index == choice["chosen"]
            calls = (*trial["call_keys"], *(choice["call_keys"] if chosen else ()))
            names = ("sample", "generator", "sql", "status", "fingerprint")
            rows.append((run, *origin, *(trial[name] for name in names), chosen, calls))
        if choice["chosen"] is None:
            rows.append((run, *origin, 0, "", "", "missing", "", True, tuple(choice["call_keys"])))
    return pd.DataFrame(rows, columns=_COLUMNS)


def told(data: Path, found: pd.DataFrame, store: Store) -> str:
    """The candidates as text: question, SQL, result, and the keys of the calls."""
    select = "SELECT row_count, rows FROM executions WHERE sql = ? AND fingerprint = ? LIMIT 1"
    texts, lines = _questions(data), []
    for one in found.to_dict("records"):
        asked, sql = one["question_id"], one["sql"]
        ran = store.read(select, [sql, one["fingerprint"]]) if sql else ()
        result = "".join(f", {count:,} rows: {rows!s:.200}" for count, rows in ran)
        chosen = ", chosen" if one["chosen"] else ""
        lines.append(f"{asked} ({one['db_id']}) {texts.get(asked, '')}".rstrip())
        lines.append(f"  {one['generator']} {one['sample']}{chosen}: {one['status']}{result}")
        lines += [f"  {' '.join(sql.split())}", *(f"  {key}" for key in one["calls"]), ""]
    return "\n".join(lines)


def _questions(data: Path) -> Mapping[str, str]:
    """The texts of the questions of the experiment or benchmark after which the folder is named; none if unknown."""
    try:
        experiment = experiment_of(re.sub(r"-[\d.]+$", "", data.absolute().parent.name))
        benchmark = open_benchmark(experiment.benchmark, experiment.root)
    except BadInputError:
        return {}
    return {question.id: question.text for question in benchmark.questions}


def _rows(data: Path) -> list[dict[str, str]]:
    """The rows of a figure's data as text."""
    try:
        with naming(data):
            frame = pd.read_csv(data, dtype=str, keep_default_na=False)
        if data.suffix != ".csv" or not isinstance(frame.index, pd.RangeIndex):
            raise ValueError("it has another form")
    except ValueError as error:
        raise BadInputError(f"{data}: give the .csv beside a figure ({error})") from error
    frame = frame.map(lambda cell: cell.removeprefix("'"))  # as `spreadsheet.plain` puts it
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]
