"""A run: a system's candidates and answers for every question, with verdicts, as tables; and runs side by side."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.predictions import COLUMNS
from workbench.evaluate.ex import ex_verdicts
from workbench.evaluate.judge import difficulty
from workbench.evaluate.stats import mean_interval
from workbench.llm.money import Tally
from workbench.report import tables
from workbench.report.display import group_numbers
from workbench.report.figures import differences, paired_differences
from workbench.report.style import Picture, Stamp, ordered
from workbench.report.style import runs as ids_of
from workbench.report.tables import published
from workbench.sql.executor import Executor
from workbench.study.solve import QuestionRecords
from workbench.systems.system import System
from workbench.types import Selection

_COST = ("calls", "input_tokens", "output_tokens", "dollars", "unpriced")
_TRIAL = ("generator", "sample", "sql", "status", "problem")
_NO_ANSWER = {"sql": "", "status": "missing", "correct": False}


@dataclass(frozen=True, slots=True)
class Run:
    """`trials` has a row for every final candidate, `questions` one for every question.

    `correct` is execution accuracy in the benchmark's own sense, BIRD's or Spider's. `correct_first`, `first_sql` and
    `first_status` are of a candidate before it was fixed. Costs are those of all calls that a question needs, paid now
    or cached; `paid` has those that this run made.
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

    @property
    def oracle(self) -> pd.DataFrame:
        """The questions, right wherever one of the candidates is: the upper bound of selection."""
        return self.questions.assign(correct=self.questions["oracle"], counted="all")

    @property
    def adversary(self) -> pd.DataFrame:
        """The questions, right only where all candidates are: the lower bound of selection."""
        return self.questions.assign(correct=self.questions["adversary"], counted="all")


class Table(pd.DataFrame):
    """Rows of numbers under the labels of their first column, with their stamp."""

    _metadata: ClassVar[list[str]] = ["stamp"]
    stamp = Stamp("", "", 0)

    @property
    def _constructor(self) -> type["Table"]:
        return Table

    @classmethod
    def of(cls, rows: pd.DataFrame, stamp: Stamp) -> "Table":
        made = cls(rows.set_axis(rows.iloc[:, 0].tolist()))
        made.stamp = stamp
        return made

    def beside(self, paper: str, source: str, **options: Any) -> tables.ResultTable:
        """The table beside the paper's; `options` are `columns`, `title` and `note` of `tables.beside`."""
        if self.empty:
            options["note"] = f"No rows of ours: this experiment is on {self.stamp.benchmark}."
        elif "change low" in self:
            options.setdefault("note", "The intervals of changes are over questions.")
        options["label"] = str(self.columns[0])
        return tables.beside(pd.DataFrame(self), published(paper, source), self.stamp, **options)

    def alone(self, title: str, note: str = "") -> tables.ResultTable:
        """The table of our numbers alone."""
        return tables.alone(pd.DataFrame(self), self.stamp, title, note)


class Runs(dict[str, Run]):
    """Runs by name, on the same questions."""

    def __init__(self, runs: Mapping[str, Run], stamp: Stamp) -> None:
        super().__init__(runs)
        self._stamp = stamp

    @property
    def questions(self) -> pd.DataFrame:
        """The questions of all runs; the column `system` has the run's name."""
        return pd.concat(run.questions.assign(system=name) for name, run in self.items())

    def accuracy(self, against: str = "", by: str = "") -> Table:
        """EX of each run; its change `against` one of them, with the interval; or EX at each value `by` a column."""
        if not by:
            return self._compared(table_of(self, self._stamp, accuracy), against)
        asked = self.questions
        levels = {level: [level] for level in ordered(filter(None, asked[by].unique()))}
        levels |= {"all": [*asked[by].unique()]}
        tall = [
            accuracy(part[part[by].isin(own)], str(name)) | {by: level}
            for name, part in asked.groupby("system", sort=False)
            for level, own in levels.items()
        ]
        return Table.of(across(pd.DataFrame(tall), by), self._stamp)

    def costs(self, against: str = "") -> Table:
        """EX of each run, and the mean calls, tokens and dollars of a question, whether paid now or cached."""
        return self._compared(table_of(self, self._stamp, costs), against)

    def differences(self, against: str | None = None) -> Picture:
        """The paired differences against a run, by default the first, as a figure."""
        return paired_differences(self.questions, against, stamp=self._stamp)

    def _compared(self, rows: Table, against: str) -> Table:
        if against:
            found = differences(self.questions, against).set_index("system").reindex(rows.index)
            names = {"change": "difference", "change low": "low", "change high": "high"}
            for place, (name, of) in enumerate(names.items(), start=5):
                rows.insert(place, name, found[of])
        return rows


def table_of(parts: Mapping[str, Run | pd.DataFrame], stamp: Stamp,
             row: Callable[[pd.DataFrame, str], dict[str, Any]]) -> Table:  # fmt: skip
    """A row for each run, or frame of questions or trials, under its name."""
    rows = [row(p.questions if isinstance(p, Run) else p, name) for name, p in parts.items()]
    none = dict.fromkeys(("system", "n", "EX", "low", "high", "run"), ())
    return Table.of(pd.DataFrame(rows or none).astype({"system": str}), stamp)


def accuracy(frame: pd.DataFrame, label: str = "") -> dict[str, Any]:
    """A row of a table: the mean of `correct` in percent, its interval clustered by database, and N.

    A frame of trials weighs every question alike, however many trials it has.
    """
    # `trace` has to know whether a verdict is about every candidate, and not about the chosen one.
    counts_all = "counted" in frame or ("chosen" in frame and not frame["chosen"].all())
    means = frame.groupby("question_id", sort=False).agg({"correct": "mean", "db_id": "first"})
    found = mean_interval(means["correct"].astype(float).tolist(), means["db_id"].tolist())
    row = {"system": label, "n": len(means), "EX": 100 * found.mean}
    row |= {"low": 100 * found.low, "high": 100 * found.high, "run": ids_of(frame)}
    return row | ({"counted": "all"} if counts_all else {})


def costs(questions: pd.DataFrame, label: str = "") -> dict[str, Any]:
    """The accuracy, and the mean calls, tokens and dollars of a question; NaN dollars are unknown."""
    return accuracy(questions, label) | {
        "calls": questions["calls"].mean(),
        "tokens": (questions["input_tokens"] + questions["output_tokens"]).mean(),
        "dollars": math.nan if questions["unpriced"].any() else questions["dollars"].mean(),
    }


def across(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Accuracies as a wide table: a row for each system, EX with its interval for each value of a column."""
    wide: list[dict[str, Any]] = []
    for system, part in rows.groupby("system", sort=False):
        row: dict[str, Any] = {"system": system, "n": part["n"].max()}
        for found in part.to_dict("records"):
            row |= cells(str(found[column]), found)
        wide.append(row | {"run": ids_of(part)})
    return pd.DataFrame(wide)


def cells(name: str, row: Mapping[Any, Any]) -> dict[str, Any]:
    """An accuracy as three columns: its name, and the ends of its interval."""
    return {name: row["EX"], f"{name} low": row["low"], f"{name} high": row["high"]}


def run_tables(benchmark: Benchmark, records: Mapping[str, QuestionRecords],
               executor: Executor) -> tuple[pd.DataFrame, pd.DataFrame]:  # fmt: skip
    """The candidates and the questions of a run, with verdicts."""
    golds = {q.id: (q.id, benchmark.golds[q.id].sql) for q in benchmark.questions}
    known = {
        (key, one["sql"]): one["fingerprint"]
        for key in golds
        for fixes in records[key].candidates["trials"]
        for one in (fixes[0], fixes[-1])
    }
    pairs = list(dict.fromkeys([*golds.values(), *known]))
    right = dict(zip(pairs, ex_verdicts(benchmark, pairs, executor, known=known), strict=True))
    trials: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    for question in benchmark.questions:
        key, (_, made, choice) = question.id, records[question.id]
        about = {"question_id": key, "db_id": question.db_id}
        about |= {"difficulty": difficulty(benchmark, question)}
        groups = group_numbers([fixes[-1]["fingerprint"] for fixes in made["trials"]])
        rows = [
            about
            | {name: last[name] for name in _TRIAL}
            | {"correct": right[key, last["sql"]], "first_sql": first["sql"]}
            | {"first_status": first["status"], "correct_first": right[key, first["sql"]]}
            | {"group": groups[n], "chosen": n == choice["chosen"]}
            for n, (first, *_, last) in enumerate([fixes[0], *fixes] for fixes in made["trials"])
        ]
        trials += rows
        answer = next((row for row in rows if row["chosen"]), _NO_ANSWER)
        correct = [row["correct"] for row in rows]
        questions.append(
            about
            | {name: answer[name] for name in _NO_ANSWER}
            | {"oracle": any(correct), "adversary": bool(correct) and all(correct)}
            | {"candidates": len(rows), "groups": len({*groups} - {-1})}
            | {"gold_failed": not (right[golds[key]] or benchmark.golds[key].results)}
            | {name: made["cost"][name] + choice["cost"][name] for name in _COST}
        )
    return pd.DataFrame(trials), pd.DataFrame(questions)
