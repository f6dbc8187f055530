"""A run: a system's candidates and answers for every question, with verdicts, as tables for notebooks."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.predictions import COLUMNS
from workbench.canonical import content_hash
from workbench.evaluate.ex import ex_verdicts
from workbench.evaluate.judge import difficulty
from workbench.evaluate.stats import compare, mean_interval
from workbench.llm.money import Tally
from workbench.report.display import group_numbers
from workbench.report.style import ordered
from workbench.sql.executor import Executor
from workbench.study.solving import QuestionRecords, Record
from workbench.systems.system import System
from workbench.types import Selection

BY_GOLD, FAILED_BY_GOLD = (
    "correct by ",
    "gold failed by ",
)  # columns; the name of revised golds follows
_COST = ("calls", "input_tokens", "output_tokens", "dollars", "unpriced")
_TRIAL = ("generator", "sample", "sql", "status", "problem")


@dataclass(frozen=True, slots=True)
class Run:
    """`trials` has a row for every final candidate, `questions` one for every question.

    `correct` is execution accuracy in the benchmark's own sense, BIRD's or Spider's. `correct_first`,
    `first_sql` and `first_status` are of a candidate before it was fixed. `oracle` and `adversary` are the
    bounds of selection. Costs are those of all calls that a question needs, paid now or cached; `paid` has those that
    this run made.
    """

    id: str
    name: str
    system: System = field(repr=False)
    trials: pd.DataFrame = field(repr=False)
    questions: pd.DataFrame = field(repr=False)
    selection: Callable[[str], Selection] = field(repr=False)
    paid: Tally = field(default_factory=Tally, repr=False)

    @property
    def selections(self) -> Iterator[Selection]:
        return map(self.selection, self.questions["question_id"])

    @property
    def answers(self) -> pd.DataFrame:
        """The answers as predictions (question_id, generator, sample, sql, db_id) of one generator, the run."""
        return self.questions.assign(generator=self.name, sample=0)[[*COLUMNS, "db_id"]]

    def row(self, label: str = "") -> dict[str, Any]:
        """EX with its interval, and the mean calls, tokens and dollars of a question; NaN dollars are unknown."""
        questions = self.questions
        return accuracy(questions, label or self.name) | {
            "calls": questions["calls"].mean(),
            "tokens": (questions["input_tokens"] + questions["output_tokens"]).mean(),
            "dollars": math.nan if questions["unpriced"].any() else questions["dollars"].mean(),
            **_revised_gold_cells(questions),
            "run": self.id,
        }


def accuracy(frame: pd.DataFrame, label: str = "", column: str = "correct") -> dict[str, Any]:
    """A row of a table: the mean of a verdict in percent, its interval clustered by database, and N.

    A frame of trials weighs every question alike, however many trials it has.
    """
    # `trace` has to know whether a verdict is about every candidate, and not about the chosen one.
    counts_all = column in {"oracle", "adversary"} or (
        "chosen" in frame and not frame["chosen"].all()
    )
    means = frame.groupby("question_id", sort=False).agg({column: "mean", "db_id": "first"})
    interval = mean_interval(means[column].astype(float).tolist(), means["db_id"].tolist())
    return {
        "system": label,
        "n": len(means),
        "EX": 100 * interval.mean,
        "low": 100 * interval.low,
        "high": 100 * interval.high,
        "run": " ".join(frame["run"].unique()) if "run" in frame else "",
    } | ({"counted": "all"} if counts_all else {})


def _revised_gold_cells(questions: pd.DataFrame) -> dict[str, float]:
    """Cells of a table: EX by each file of revised golds, and its difference to EX on the same questions."""
    row: dict[str, float] = {}
    for column in questions.columns[questions.columns.str.startswith(BY_GOLD)]:
        judged = questions[questions[column].notna()]
        if judged.empty:
            continue
        name = column.removeprefix(BY_GOLD)
        row |= cells(f"EX, {name}", accuracy(judged, column=column))
        by_revised, by_gold, clusters = (
            dict(zip(judged["question_id"], judged[key], strict=True))
            for key in (column, "correct", "db_id")
        )
        paired = compare(by_revised, by_gold, clusters)
        bounds = {"EX": paired.difference, "low": paired.low, "high": paired.high}
        row |= cells(f"change, {name}", {bound: 100 * value for bound, value in bounds.items()})
    return row


def by_difficulty(run: Run, label: str = "") -> dict[str, Any]:
    """A row of a table: EX in percent at each difficulty, easiest first, and of `all`, with intervals."""
    questions = run.questions
    parts = {str(name): part for name, part in questions.groupby("difficulty", sort=False) if name}
    row: dict[str, Any] = {"system": label or run.name, "n": len(questions)}
    for name, part in [*((name, parts[name]) for name in ordered(parts)), ("all", questions)]:
        row |= cells(name, accuracy(part))
    return row | {"run": run.id}


def across(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Accuracies as a wide table: a row for each system, EX with its interval for each value of a column."""
    wide: list[dict[str, Any]] = []
    for system, system_rows in rows.groupby("system", sort=False):
        row: dict[str, Any] = {"system": system}
        for found in system_rows.to_dict("records"):
            row |= cells(str(found[column]), found)
        wide.append(row | {"run": " ".join(dict.fromkeys(" ".join(system_rows["run"]).split()))})
    return pd.DataFrame(wide)


def cells(name: str, row: Mapping[Any, Any]) -> dict[str, float]:
    """An accuracy as three columns: its name, and the ends of its interval."""
    return {name: row["EX"], f"{name} low": row["low"], f"{name} high": row["high"]}


def run_tables(
    run: str,
    benchmark: Benchmark,
    records: Mapping[str, QuestionRecords],
    executor: Executor,
    golds: Mapping[str, Benchmark] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables of a run. Revised golds add their verdict, and whether their query fails, to the questions."""
    verdicts = _verdicts(benchmark, records, executor)
    trial_rows, question_rows = [], []
    for question in benchmark.questions:
        solved = records[question.id]
        shared = {
            "run": run,
            "question_id": question.id,
            "db_id": question.db_id,
            "difficulty": difficulty(benchmark, question),
        }
        candidates, chosen = solved.candidates["trials"], solved.selection["chosen"]
        groups = group_numbers([candidate["fingerprint"] for candidate in candidates])
        correct = [verdicts[question.id, candidate["sql"]] for candidate in candidates]
        for index, candidate in enumerate(candidates):
            unfixed, fixes = _before_fixes(candidate)
            trial_rows.append(
                shared
                | {name: candidate[name] for name in _TRIAL}
                | {
                    "correct": correct[index],
                    "first_sql": unfixed["sql"],
                    "first_status": unfixed["status"],
                    "correct_first": verdicts[question.id, unfixed["sql"]],
                    "attempts": fixes,
                    "group": groups[index],
                    "chosen": index == chosen,
                }
            )
        answer = {"sql": "", "status": "missing"} if chosen is None else candidates[chosen]
        costs = (solved.candidates["cost"], solved.selection["cost"])
        question_rows.append(
            shared
            | {
                "sql": answer["sql"],
                "status": answer["status"],
                "correct": chosen is not None and correct[chosen],
                "oracle": any(correct),
                "adversary": bool(correct) and all(correct),
                "candidates": len(candidates),
                "groups": len({*groups} - {-1}),
                "gold_failed": not verdicts[question.id, benchmark.golds[question.id].sql],
            }
            | {name: sum(cost[name] for cost in costs) for name in _COST}
        )
    questions = pd.DataFrame(question_rows)
    answers = dict(zip(questions["question_id"], questions["sql"], strict=True))
    for name, revised in (golds or {}).items():
        asked = [q.id for q in revised.questions if q.id in answers]
        pairs = [(key, answers[key]) for key in asked]
        right = dict(zip(asked, ex_verdicts(revised, pairs, executor), strict=True))
        questions[BY_GOLD + name] = [float(right.get(key, math.nan)) for key in answers]
        own = [(key, revised.golds[key].sql) for key in asked]
        runs = dict(zip(asked, ex_verdicts(revised, own, executor), strict=True))
        questions[FAILED_BY_GOLD + name] = [not runs.get(key, True) for key in answers]
    return pd.DataFrame(trial_rows), questions


def run_id(input_hash: str, records: Mapping[str, QuestionRecords]) -> str:
    """The input's hash, and a hash of the answers and their cost.

    Changed code gives a run another id exactly if it gives other answers, so that a stored run is never replaced by
    one with other content. The keys of calls are left out: they hold the version of the embedded model.
    """
    answers = {
        question: [
            list(map(_without_call_keys, solved.candidates["trials"])),
            solved.candidates["cost"],
            {**solved.selection, "call_keys": ()},
        ]
        for question, solved in records.items()
    }
    return f"{input_hash}-{content_hash('answers', answers).removeprefix('answers:')[:8]}"


def _without_call_keys(trial: Record) -> Record:
    """A trial and those that it was repaired from, without the keys of their calls."""
    earlier = trial["repaired_from"]
    return {**trial, "call_keys": (), "repaired_from": earlier and _without_call_keys(earlier)}


def _before_fixes(trial: Record) -> tuple[Record, int]:
    """The candidate before any fix, and the number of its fixes."""
    fixes = 0
    while trial["repaired_from"]:
        trial = trial["repaired_from"]
        fixes += 1
    return trial, fixes


def _verdicts(
    benchmark: Benchmark, records: Mapping[str, QuestionRecords], executor: Executor
) -> dict[tuple[str, str], bool]:
    """The verdict on each candidate before and after its fixes, and on the gold query."""
    known = {
        (question.id, trial["sql"]): trial["fingerprint"]
        for question in benchmark.questions
        for candidate in records[question.id].candidates["trials"]
        for trial in (candidate, _before_fixes(candidate)[0])
    }
    golds = [(question.id, benchmark.golds[question.id].sql) for question in benchmark.questions]
    pairs = list(dict.fromkeys([*golds, *known]))
    return dict(zip(pairs, ex_verdicts(benchmark, pairs, executor, known=known), strict=True))
