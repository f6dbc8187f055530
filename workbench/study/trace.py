"""Trace a number in a figure or table back to the questions, the SQL and the calls behind it.

A row of NAME.csv counts the chosen candidates of the runs in its column `run`; where `counted` is
"all", as for a bound, it counts all of their candidates. It counts only those that agree with the
columns that it has of question_id, db_id, difficulty, sample, generator (which may list several;
`other` has one more) and question_ids.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
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
from workbench.study.solve import QuestionRecords, Record, read_records

_QUESTION = (
    "question_id",
    "db_id",
    "difficulty",
    "question",
    "gold",
    "gold_fingerprint",
)
_EQUAL = ("question_id", "db_id", "difficulty", "sample")
_TRIAL = ("sample", "generator", "sql", "status", "fingerprint")
_NO_CHOICE = {
    "sample": 0,
    "generator": "",
    "sql": "",
    "status": "missing",
    "fingerprint": "",
    "chosen": True,
    "right": False,
}
_UNANSWERED: Record = {
    "trials": (),
    "chosen": None,
    "call_keys": (),
    "cost": {"calls": 0},
}


class Asked(NamedTuple):
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
    records: Mapping[str, QuestionRecords],
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
    if len(run.trials):
        right = run.trials.groupby("question_id")["correct"].agg(list).to_dict()
    asked = []
    for question, level, *gold in zip(
        benchmark.questions, levels, golds, fingerprints, strict=True
    ):
        known = (question.id, question.db_id, level, question.text, *gold)
        key = records[question.id].key
        asked.append((key, *known, right.get(question.id, [])))
    selections = canonical(asked).decode()
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


def trace(data: Path, number: int, store: Store) -> tuple[dict[str, str], pd.DataFrame]:
    """Return a row of a figure's data, numbered from 0, and every candidate that the row counts.

    A question without an answer has one candidate without SQL, whose status is `missing`.
    """
    row = _row(data, number)
    runs = row.get("run", "").split()
    if not runs:
        other = "its numbers are the paper's, or about the benchmark or a step before any SQL"
        raise BadInputError(f"{data}, row {number} names no run: {other}")
    trials = pd.concat([candidates(run, store) for run in runs], ignore_index=True)
    missing = trials["status"] == "missing"
    keep = trials["chosen"]
    if row.get("counted") == "all":  # a question without a choice may have candidates
        keep = ~(missing & trials.duplicated(["run", "question_id"], keep=False))
    for name in _EQUAL:
        if row.get(name, "") not in {"", TOGETHER}:
            equal = trials[name].astype(str) == row[name]
            if name == "sample":
                equal |= missing
            keep &= equal
    if "question_ids" in row:
        keep &= trials["question_id"].isin(row["question_ids"].split(" "))
    if row.get("generator", "") not in {"", TOGETHER}:
        # A name may itself contain what stands between two.
        listed = SEVERAL.join(["", row["generator"], row.get("other", ""), ""])
        names = SEVERAL + trials["generator"] + SEVERAL
        keep &= missing | names.map(lambda name: name in listed)
    return row, trials[keep]


def _row(data: Path, number: int) -> dict[str, str]:
    """Return a row of a CSV as texts by column."""
    try:
        with naming(data):
            rows = pd.read_csv(data, dtype=str, keep_default_na=False)
    except ValueError as error:
        raise BadInputError(
            f"{data}: give the .csv beside a figure ({error})"
        ) from error
    if not isinstance(rows.index, pd.RangeIndex):
        raise BadInputError(
            f"{data}: give the .csv beside a figure; a row is longer than its heading"
        )
    if number not in rows.index:
        raise BadInputError(
            f"{data} has rows 0 to {len(rows) - 1}, and no row {number}"
        )
    # `canonical.plain` puts the apostrophe.
    return {
        str(name): cell.removeprefix("'") for name, cell in rows.loc[number].items()
    }


def answered(store: Store, selections: str) -> Iterator[tuple[Asked, Record, Record]]:
    """Yield each question of a run, with the records of its candidates and of the choice."""
    questions = [Asked(*entry) for entry in orjson.loads(selections)]
    keys = [question.key for question in questions]
    choices = read_records(store, "selections", keys)
    attempt_of = dict(
        store.read_keys("SELECT key, attempt FROM selections WHERE key IN", keys)
    )
    attempts = read_records(store, "attempts", [*attempt_of.values()])
    for question in questions:
        attempt = attempts.get(attempt_of.get(question.key, ""), _UNANSWERED)
        yield question, attempt, choices.get(question.key, _UNANSWERED)


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
    for question, attempt, choice in answered(store, stored[0][0]):
        asked = {"run": run} | question._asdict()
        verdicts = dict(enumerate(question.right))
        for index, history in enumerate(attempt["trials"]):
            row = asked | history[-1]
            row["chosen"] = index == choice["chosen"]
            row["right"] = verdicts.get(index)
            row["calls"] = history[-1]["call_keys"]
            if row["chosen"]:
                row["calls"] = row["calls"] + choice["call_keys"]
            rows.append(row)
        if choice["chosen"] is None:
            rows.append(asked | _NO_CHOICE | {"calls": list(choice["call_keys"])})
    columns = ["run", *_QUESTION, *_TRIAL, "chosen", "right", "calls"]
    return pd.DataFrame(rows, columns=columns)


def questions_of(trials: pd.DataFrame, store: Store) -> pd.DataFrame:
    """Return a row for each candidate: right or wrong, both results' sizes, both queries."""
    golds = trials["gold"].map(normalise_text)  # as they run
    sizes = _sizes([*trials["sql"], *golds], store)
    rows = []
    for trial, gold in zip(trials.to_dict("records"), golds, strict=True):
        verdict = {True: "right", False: "wrong"}.get(trial["right"], "not known")
        status = trial["status"]
        predicted = sizes.get((trial["sql"], trial["fingerprint"]), status)
        rows.append(
            {
                "question": trial["question_id"],
                "verdict": verdict,
                "rows": predicted if status in {"ok", "empty"} else status,
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


def told(trials: pd.DataFrame, store: Store) -> str:
    """Return candidates in full: SQL, result and gold, and each call with prompt and reply."""
    lines = []
    table = questions_of(trials, store)
    for trial, row in zip(
        trials.to_dict("records"), table.to_dict("records"), strict=True
    ):
        chosen = ", chosen" if trial["chosen"] else ""
        lines += [
            f"{trial['question_id']} ({trial['db_id']}) {trial['question']}",
            f"{row['by']}{chosen}: {row['verdict']}",
            f"  rows: {row['rows']}, of gold: {row['gold rows']}",
            f"  prediction: {row['prediction']}",
            f"  gold:       {row['gold']}",
            *_results(trial, store),
        ]
        for key in trial["calls"]:
            lines += _call(key, store)
        lines.append("")
    return "\n".join(lines)


def _results(trial: Mapping[Any, Any], store: Store) -> Iterator[str]:
    """Yield the first rows of the predicted and of the gold result."""
    select = (
        "SELECT rows, error FROM executions WHERE sql = ? AND fingerprint = ? LIMIT 1"
    )
    pairs = {
        "result": [trial["sql"], trial["fingerprint"]],
        "gold result": [normalise_text(trial["gold"]), trial["gold_fingerprint"]],
    }
    for name, pair in pairs.items():
        for rows, error in store.read(select, pair):
            yield f"  {name}: {error or rows!s:.400}"


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
