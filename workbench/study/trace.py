"""Trace a number in a figure or table back to the questions, the SQL and the calls behind it.

A row of NAME.csv counts the chosen candidates of the runs in its column `run`; where `counted` is
"all", as for a bound, it counts all of their candidates. It counts only those that agree with the
columns that it has of question_id, db_id, difficulty, sample, generator (which may list several;
`other` has one more) and question_ids.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.canonical import canonical
from workbench.errors import BadInputError, naming
from workbench.llm.cache import this_machine
from workbench.report.names import SEVERAL, TOGETHER
from workbench.sql.executor import Executor
from workbench.sql.reading import normalise_text
from workbench.store import Store
from workbench.study.run import Run
from workbench.study.solve import Record, RecordsById, read_records

_QUESTION = (
    "question_id",
    "db_id",
    "difficulty",
    "question",
    "gold",
    "gold_fingerprint",
)
# A candidate counts if it has what the row has in these columns.
_COMPARED = ("question_id", "db_id", "difficulty", "sample")
_TRIAL = ("sample", "generator", "sql", "status", "fingerprint")
_NO_CHOICE = {  # what stands in place of the chosen candidate of a question without one
    "sample": 0,
    "generator": "",
    "sql": "",
    "status": "missing",
    "fingerprint": "",
    "chosen": True,
    "right": False,
}
_VERDICTS = {True: "right", False: "wrong"}
_UNANSWERED: Record = {  # of a question whose call failed
    "trials": (),
    "chosen": None,
    "call_keys": (),
}


class StoredQuestion(NamedTuple):
    """What the table `runs` holds of a question."""

    key: str  # of its selection; "" if a call failed
    question_id: str
    db_id: str
    difficulty: str
    question: str
    gold: str = ""
    gold_fingerprint: str = ""
    right: Sequence[bool] = ()  # by candidate


def store_run(
    run: Run,
    benchmark: Benchmark,
    records: RecordsById,
    executor: Executor,
) -> None:
    """Write what `trace` reads of a run into the executor's cache file."""
    store = executor.store
    if store is None or store.read_only:
        return
    golds = [benchmark.golds[question.id].sql for question in benchmark.questions]
    jobs = [
        (benchmark.database(question.db_id), normalise_text(gold))
        for question, gold in zip(benchmark.questions, golds, strict=True)
    ]
    fingerprints = executor.result_fingerprints(jobs)
    levels = run.questions["difficulty"]
    right: dict[Any, list[bool]] = {}
    if len(run.trials):  # without rows it has no columns
        right = run.trials.groupby("question_id")["correct"].agg(list).to_dict()
    asked = []
    for question, level, gold, fingerprint in zip(
        benchmark.questions, levels, golds, fingerprints, strict=True
    ):
        entry = StoredQuestion(
            records[question.id].key,
            question.id,
            question.db_id,
            level,
            question.text,
            gold,
            fingerprint,
            right.get(question.id, []),
        )
        asked.append(entry)
    selections = canonical([tuple(entry) for entry in asked]).decode()
    values = (
        run.id,
        run.name,
        benchmark.name,
        repr(run.system),
        selections,
        time.time(),
    )
    with store.write() as database:
        database.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)", values
        )


def trace(data: Path, number: int, store: Store) -> pd.DataFrame:
    """Return every candidate that a row of a figure's data counts; rows are numbered from 0.

    A question without an answer has one candidate without SQL, whose status is `missing`.
    """
    row = _row(data, number)
    runs = row.get("run", "").split()
    if not runs:
        raise BadInputError(
            f"{data}, row {number} names no run: its numbers are the paper's, or about the "
            "benchmark or a step before any SQL"
        )
    trials = pd.concat([candidates(run, store) for run in runs], ignore_index=True)
    missing = trials["status"] == "missing"
    counts = trials["chosen"]
    if row.get("counted") == "all":
        # A question without a choice may have candidates; these count in place of its row.
        has_several = trials.duplicated(["run", "question_id"], keep=False)
        counts = ~(missing & has_several)
    for name in _COMPARED:
        if row.get(name, "") in {"", TOGETHER}:
            continue
        equal = trials[name].astype(str) == row[name]
        if name == "sample":
            equal |= missing
        counts &= equal
    if "question_ids" in row:
        counts &= trials["question_id"].isin(row["question_ids"].split(" "))
    if row.get("generator", "") not in {"", TOGETHER}:
        # A name may itself have what stands between two, so that the row cannot be split.
        listed = SEVERAL.join(["", row["generator"], row.get("other", ""), ""])
        is_listed = trials["generator"].map(
            lambda name: f"{SEVERAL}{name}{SEVERAL}" in listed
        )
        counts &= missing | is_listed
    return trials[counts]


def _row(data: Path, number: int) -> dict[str, str]:
    """Return a row of a CSV as texts by column."""
    hint = f"{data}: give the .csv beside a figure"
    try:
        with naming(data):
            rows = pd.read_csv(data, dtype=str, keep_default_na=False)
    except ValueError as error:
        raise BadInputError(f"{hint} ({error})") from error
    # Else pandas took the first cells for labels.
    if not isinstance(rows.index, pd.RangeIndex):
        raise BadInputError(f"{hint}; a row is longer than its heading")
    if number not in rows.index:
        there = f"{data} has rows 0 to {len(rows) - 1}"
        raise BadInputError(f"{there}, and no row {number}")
    cells = rows.loc[number]
    # `canonical.plain` puts the apostrophe.
    return {str(name): cell.removeprefix("'") for name, cell in cells.items()}


def _answered(
    store: Store, selections: str
) -> Iterator[tuple[StoredQuestion, Record, Record]]:
    """Yield each question of a run, with the records of its candidates and of the choice."""
    questions = [StoredQuestion(*entry) for entry in orjson.loads(selections)]
    keys = [question.key for question in questions]
    choices = read_records(store, "selections", keys)
    select = "SELECT key, attempt FROM selections WHERE key IN"
    attempt_keys = dict(store.read_keys(select, keys))
    attempts = read_records(store, "attempts", [*attempt_keys.values()])
    for question in questions:
        attempt_key = attempt_keys.get(question.key, "")
        yield (
            question,
            attempts.get(attempt_key, _UNANSWERED),
            choices.get(question.key, _UNANSWERED),
        )


def candidates(run: str, store: Store) -> pd.DataFrame:
    """Return a run's final candidates, and a row `missing` for each question without a choice."""
    stored = store.read("SELECT selections FROM runs WHERE id = ?", [run])
    if not stored:
        first = "run the experiment here first, `workbench reproduce`"
        raise BadInputError(
            f"run {run} is not in {store.path}: {first}. A run has another id where its answers"
            f" differ; this is {this_machine()}"
        )
    rows: list[dict[str, Any]] = []
    for question, attempt, choice in _answered(store, stored[0][0]):
        cells = {"run": run} | question._asdict()
        # A later run may have replaced the candidates that were judged by others, or by more.
        verdicts = dict(enumerate(question.right))
        for index, history in enumerate(attempt["trials"]):
            row = cells | history[-1]
            row["chosen"] = index == choice["chosen"]
            row["right"] = verdicts.get(index)
            row["calls"] = history[-1]["call_keys"]
            if row["chosen"]:
                row["calls"] = row["calls"] + choice["call_keys"]
            rows.append(row)
        if choice["chosen"] is None:
            rows.append(cells | _NO_CHOICE | {"calls": choice["call_keys"]})
    columns = ["run", *_QUESTION, *_TRIAL, "chosen", "right", "calls"]
    return pd.DataFrame(rows, columns=columns)


def questions_of(trials: pd.DataFrame, store: Store) -> pd.DataFrame:
    """Return a row for each candidate: right or wrong, both results' sizes, both queries."""
    golds = trials["gold"].map(normalise_text)  # as they run
    sizes = _sizes([*trials["sql"], *golds], store)
    rows = []
    for trial, gold in zip(trials.to_dict("records"), golds, strict=True):
        status = trial["status"]
        predicted = status
        if status in {"ok", "empty"}:
            predicted = sizes.get((trial["sql"], trial["fingerprint"]), status)
        rows.append(
            {
                "question": trial["question_id"],
                "verdict": _VERDICTS.get(trial["right"], "not known"),
                "rows": predicted,
                "gold rows": sizes.get((gold, trial["gold_fingerprint"]), "not known"),
                "by": f"{trial['generator']} {trial['sample']}",
                "prediction": " ".join(trial["sql"].split()),
                "gold": " ".join(trial["gold"].split()),
            }
        )
    columns = ["question", "verdict", "rows", "gold rows", "by", "prediction", "gold"]
    return pd.DataFrame(rows, columns=columns)


def _sizes(queries: Sequence[str], store: Store) -> dict[tuple[str, str], int]:
    """Return the number of rows of results, by query and fingerprint."""
    select = "SELECT sql, fingerprint, row_count FROM executions WHERE fingerprint <> '' AND sql IN"
    rows = store.read_keys(select, sorted(set(queries)))
    return {(sql, fingerprint): count for sql, fingerprint, count in rows}


def full_text(trials: pd.DataFrame, store: Store) -> str:
    """Return candidates in full: their row of the table, and each call with prompt and reply."""
    lines = []
    rows = questions_of(trials, store).to_dict("records")
    for trial, row in zip(trials.to_dict("records"), rows, strict=True):
        lines.append(f"{row['question']} ({trial['db_id']}) {trial['question']}")
        cells = {"chosen": trial["chosen"]} | row
        lines += [f"  {name}: {cell}" for name, cell in cells.items()]
        for key in trial["calls"]:
            lines += _call(key, store)
        lines.append("")
    return "\n".join(lines)


def _call(key: str, store: Store) -> Iterator[str]:
    """Yield the prompt and the reply of a call."""
    yield f"  {key}"
    select = "SELECT prompt, model, messages, text FROM calls WHERE key = ?"
    for prompt, model, messages, text in store.read(select, [key]):
        yield f"  prompt {prompt} to {model}:"
        for message in orjson.loads(messages):
            yield f"    [{message['role']}]"
            yield from (f"    {line}" for line in str(message["content"]).splitlines())
        yield "    [reply]"
        yield from (f"    {line}" for line in text.splitlines())
