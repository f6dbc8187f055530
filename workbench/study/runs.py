"""A run: a system's candidates and answers for every question, with verdicts, as tables for notebooks."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.revisions import Revision
from workbench.canonical import content_hash
from workbench.db.execute import Executor
from workbench.evaluate.ex import ex_verdicts
from workbench.evaluate.gold.revised import failed_golds, right_under
from workbench.evaluate.spider.hardness import difficulty
from workbench.evaluate.stats import compare, mean_interval
from workbench.llm.budget import Tally
from workbench.pool import Pool, pool_of
from workbench.report.display.selections import group_numbers
from workbench.report.drawing.palette import ordered
from workbench.study.solving import QuestionRecords, Record
from workbench.systems.system import System
from workbench.types import Limits, Selection

BY_GOLD, FAILED_BY_GOLD = "correct by ", "gold failed by "  # columns; a revision's name follows
_COST = ("calls", "input_tokens", "output_tokens", "dollars", "unpriced")


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
        """Every question's selection, in full."""
        return map(self.selection, self.questions["question_id"])

    @property
    def pool(self) -> Pool:
        """The final candidates of every question."""
        return pool_of((s.question_id, trial) for s in self.selections for trial in s.trials)

    def row(self, label: str = "") -> dict[str, Any]:
        """EX with its interval, and what a question needs on average."""
        asked = self.questions
        return accuracy(asked, label or self.name) | {
            "calls": asked["calls"].mean(),
            "tokens": (asked["input_tokens"] + asked["output_tokens"]).mean(),
            "dollars": asked["dollars"].mean(),
            **_by_golds(asked),
            "run": self.id,
        }


def accuracy(frame: pd.DataFrame, label: str = "", column: str = "correct") -> dict[str, Any]:
    """A row of a table: the mean of a verdict in percent, its interval clustered by database, and N.

    A frame of trials weighs every question alike, however many trials it has.
    """
    means = frame.groupby("question_id", sort=False).agg({column: "mean", "db_id": "first"})
    interval = mean_interval(means[column].astype(float).tolist(), means["db_id"].tolist())
    return {
        "system": label,
        "n": len(means),
        "EX": 100 * interval.mean,
        "low": 100 * interval.low,
        "high": 100 * interval.high,
        "run": " ".join(frame["run"].unique()) if "run" in frame else "",
    } | ({"counted": "all"} if _of_all(frame, column) else {})


def _by_golds(asked: pd.DataFrame) -> dict[str, float]:
    """Cells of a table: for each other gold its EX, and the paired difference to EX on the same questions."""
    row: dict[str, float] = {}
    for column in asked.columns[asked.columns.str.startswith(BY_GOLD)]:
        part = asked[asked[column].notna()]
        if part.empty:
            continue
        name = column.removeprefix(BY_GOLD)
        row |= cells(f"EX, {name}", accuracy(part, column=column))
        after, before, clusters = (
            dict(zip(part["question_id"], part[key], strict=True))
            for key in (column, "correct", "db_id")
        )
        paired = compare(after, before, clusters)
        ends = {"EX": paired.difference, "low": paired.low, "high": paired.high}
        row |= cells(f"change, {name}", {end: 100 * value for end, value in ends.items()})
    return row


def _of_all(frame: pd.DataFrame, column: str) -> bool:
    """Whether a verdict is about every candidate and not about the chosen one; `trace` reads the answer."""
    return column in {"oracle", "adversary"} or ("chosen" in frame and not frame["chosen"].all())


def by_difficulty(run: Run, label: str = "") -> dict[str, Any]:
    """A row of a table: EX in percent at each difficulty, easiest first, and of `all`, with intervals."""
    asked = run.questions
    parts = {str(name): part for name, part in asked.groupby("difficulty", sort=False) if name}
    row: dict[str, Any] = {"system": label or run.name, "n": len(asked)}
    for name, part in [*((name, parts[name]) for name in ordered(parts)), ("all", asked)]:
        row |= cells(name, accuracy(part))
    return row | {"run": run.id}


def across(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Accuracies as a wide table: a row for each system, EX with its interval for each value of a column."""
    wide: list[dict[str, Any]] = []
    for system, part in rows.groupby("system", sort=False):
        row: dict[str, Any] = {"system": system}
        for found in part.to_dict("records"):
            row |= cells(str(found[column]), found)
        wide.append(row | {"run": " ".join(dict.fromkeys(" ".join(part["run"]).split()))})
    return pd.DataFrame(wide)


def cells(name: str, found: Mapping[Any, Any]) -> dict[str, float]:
    """An accuracy as three columns: its name, and the ends of its interval."""
    return {name: found["EX"], f"{name} low": found["low"], f"{name} high": found["high"]}


def frames(
    run: str,
    benchmark: Benchmark,
    kept: Mapping[str, QuestionRecords],
    executor: Executor,
    revisions: Sequence[Revision] = (),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables of a run. Each revision adds its verdict, and whether its gold query fails, to the questions."""
    right = _verdicts(benchmark, kept, executor)
    trials, questions = [], []
    for question in benchmark.questions:
        record = kept[question.id]
        about = {
            "run": run,
            "question_id": question.id,
            "db_id": question.db_id,
            "difficulty": difficulty(benchmark, question),
        }
        candidates = record.attempt["trials"]
        groups = group_numbers([candidate["fingerprint"] for candidate in candidates])
        chosen = record.selection["chosen"]
        verdicts = [right[question.id, candidate["sql"]] for candidate in candidates]
        for index, candidate in enumerate(candidates):
            first, attempts = _first(candidate)
            trials.append(
                about
                | {
                    "generator": candidate["generator"],
                    "sample": candidate["sample"],
                    "sql": candidate["sql"],
                    "status": candidate["status"],
                    "problem": candidate["problem"],
                    "correct": verdicts[index],
                    "first_sql": first["sql"],
                    "first_status": first["status"],
                    "correct_first": right[question.id, first["sql"]],
                    "attempts": attempts,
                    "group": groups[index],
                    "chosen": index == chosen,
                }
            )
        picked = None if chosen is None else candidates[chosen]
        costs = (record.attempt["cost"], record.selection["cost"])
        questions.append(
            about
            | {
                "sql": picked["sql"] if picked else "",
                "status": picked["status"] if picked else "missing",
                "correct": chosen is not None and verdicts[chosen],
                "oracle": any(verdicts),
                "adversary": bool(verdicts) and all(verdicts),
                "candidates": len(candidates),
                "groups": len({*groups} - {-1}),
                "gold_failed": not right[question.id, benchmark.golds[question.id].sql],
            }
            | {name: sum(cost[name] for cost in costs) for name in _COST}
        )
    asked = pd.DataFrame(questions)
    answers = dict(zip(asked["question_id"], asked["sql"], strict=True))
    under = right_under(benchmark, answers, revisions, executor, Limits()) if revisions else {}
    for one in revisions:
        by_gold = under[one.name]
        asked[BY_GOLD + one.name] = [float(by_gold.get(key, math.nan)) for key in answers]
        failed = asked["question_id"].isin(failed_golds(benchmark, one, executor))
        asked[FAILED_BY_GOLD + one.name] = failed
    return pd.DataFrame(trials), asked


def run_id(asked: str, kept: Mapping[str, QuestionRecords]) -> str:
    """A hash of what was asked, and one of what was answered and what that cost.

    Changed code gives a run another id exactly if it gives other answers, so that a stored run is never replaced by
    one with other content. The keys of calls are left out: they hold the version of the embedded model.
    """
    answered = {
        question: [
            list(map(_answer, one.attempt["trials"])),
            one.attempt["cost"],
            {**one.selection, "call_keys": ()},
        ]
        for question, one in kept.items()
    }
    return f"{asked}-{content_hash('answers', answered).removeprefix('answers:')[:8]}"


def _answer(trial: Record) -> Record:
    """A trial and those that it was repaired from, without the keys of their calls."""
    before = trial["repaired_from"]
    return {**trial, "call_keys": (), "repaired_from": before and _answer(before)}


def _first(record: Record) -> tuple[Record, int]:
    """The candidate before any fix, and the number of its fixes."""
    fixes = 0
    while record["repaired_from"]:
        record = record["repaired_from"]
        fixes += 1
    return record, fixes


def _verdicts(
    benchmark: Benchmark, kept: Mapping[str, QuestionRecords], executor: Executor
) -> dict[tuple[str, str], bool]:
    """The verdict on each candidate before and after its fixes, and on the gold query."""
    known = {
        (question.id, trial["sql"]): trial["fingerprint"]
        for question in benchmark.questions
        for candidate in kept[question.id].attempt["trials"]
        for trial in (candidate, _first(candidate)[0])
    }
    golds = [(question.id, benchmark.golds[question.id].sql) for question in benchmark.questions]
    pairs = list(dict.fromkeys([*golds, *known]))
    return dict(zip(pairs, ex_verdicts(benchmark, pairs, executor, known=known), strict=True))
