"""A run: a system's candidates and answers for every question, with verdicts, as tables; and runs side by side."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.predictions import COLUMNS
from workbench.canonical import content_hash
from workbench.evaluate.ex import ex_verdicts
from workbench.evaluate.judge import difficulty
from workbench.evaluate.stats import compare, mean_interval
from workbench.llm.money import Tally
from workbench.report import tables
from workbench.report.display import group_numbers
from workbench.report.figures import differences, paired_differences
from workbench.report.papers import published
from workbench.report.stamp import Stamp
from workbench.report.stamp import runs as ids_of
from workbench.report.style import Picture, ordered
from workbench.sql.executor import Executor
from workbench.study.solve import QuestionRecords, Record
from workbench.systems.system import System
from workbench.types import Selection

BY_GOLD, FAILED_BY_GOLD = "correct by ", "gold_failed by "  # the name of revised golds follows
_COST = ("calls", "input_tokens", "output_tokens", "dollars", "unpriced")
_TRIAL = ("generator", "sample", "sql", "status", "problem")


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
        """The table beside the paper's; `options` are those of `wb.tables.beside`: columns, title, note."""
        given = published(paper, source)
        if self.empty:
            options["note"] = f"No rows of ours: this experiment is on {self.stamp.benchmark}."
        elif "change low" in self:
            options.setdefault("note", "The intervals of changes are over questions.")
        label = str(self.columns[0])
        return tables.beside(pd.DataFrame(self), given, self.stamp, label=label, **options)

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

    @property
    def trials(self) -> pd.DataFrame:
        """The candidates of all runs; the column `system` has the run's name."""
        return pd.concat(run.trials.assign(system=name) for name, run in self.items())

    def accuracy(self, against: str = "", by: str = "") -> Table:
        """EX of each run; its change `against` one of them, with the interval; or EX at each value `by` a column."""
        if by:
            tall = [accuracy(part, name) | {by: value} for name, run in self.items()
                    for value, part in _parts(run.questions, by)]  # fmt: skip
            return Table.of(across(pd.DataFrame(tall), by), self._stamp)
        return self._compared(table_of(self, self._stamp, accuracy), against)

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


def accuracy(frame: pd.DataFrame, label: str = "", column: str = "correct") -> dict[str, Any]:
    """A row of a table: the mean of a verdict in percent, its interval clustered by database, and N.

    A frame of trials weighs every question alike, however many trials it has.
    """
    # `trace` has to know whether a verdict is about every candidate, and not about the chosen one.
    counts_all = "counted" in frame or ("chosen" in frame and not frame["chosen"].all())
    means = frame.groupby("question_id", sort=False).agg({column: "mean", "db_id": "first"})
    interval = mean_interval(means[column].astype(float).tolist(), means["db_id"].tolist())
    bounds = {"EX": interval.mean, "low": interval.low, "high": interval.high}
    row = {"system": label, "n": len(means)} | {name: 100 * x for name, x in bounds.items()}
    return row | {"run": ids_of(frame)} | ({"counted": "all"} if counts_all else {})


def costs(questions: pd.DataFrame, label: str = "") -> dict[str, Any]:
    """The accuracy, and the mean calls, tokens and dollars of a question; NaN dollars are unknown."""
    row = accuracy(questions, label) | {
        "calls": questions["calls"].mean(),
        "tokens": (questions["input_tokens"] + questions["output_tokens"]).mean(),
        "dollars": math.nan if questions["unpriced"].any() else questions["dollars"].mean(),
    }
    for column in questions.columns[questions.columns.str.startswith(BY_GOLD)]:
        judged = questions[questions[column].notna()]  # the questions that the golds revise
        if not judged.empty:
            name, keyed = column.removeprefix(BY_GOLD), judged.set_index("question_id")
            paired = compare(*(dict(keyed[key]) for key in (column, "correct", "db_id")))
            change = {"EX": paired.difference, "low": paired.low, "high": paired.high}
            row |= cells(f"EX, {name}", accuracy(judged, column=column))
            row |= cells(f"change, {name}", {end: 100 * x for end, x in change.items()})
    return row


def _parts(frame: pd.DataFrame, by: str) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each value of a column, the easiest first, and all of them."""
    parts = {str(name): part for name, part in frame.groupby(by, sort=False) if name}
    return [*((name, parts[name]) for name in ordered(parts)), ("all", frame)]


def across(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Accuracies as a wide table: a row for each system, EX with its interval for each value of a column."""
    wide: list[dict[str, Any]] = []
    for system, system_rows in rows.groupby("system", sort=False):
        row: dict[str, Any] = {"system": system, "n": system_rows["n"].max()}
        for found in system_rows.to_dict("records"):
            row |= cells(str(found[column]), found)
        wide.append(row | {"run": ids_of(system_rows)})
    return pd.DataFrame(wide)


def cells(name: str, row: Mapping[Any, Any]) -> dict[str, Any]:
    """An accuracy as three columns: its name, and the ends of its interval."""
    return {name: row["EX"], f"{name} low": row["low"], f"{name} high": row["high"]}


def run_tables(run: str, benchmark: Benchmark, records: Mapping[str, QuestionRecords], executor: Executor,
               golds: Mapping[str, Benchmark] | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:  # fmt: skip
    """The two tables of a run. Revised golds add their verdict, and whether their query fails, to the questions."""
    asked = benchmark.questions
    known = {
        (question.id, one["sql"]): one["fingerprint"]
        for question in asked
        for trial in records[question.id].candidates["trials"]
        for one in (trial, _unfixed(trial))
    }
    own = [(question.id, benchmark.golds[question.id].sql) for question in asked]
    pairs = list(dict.fromkeys([*own, *known]))
    right = dict(zip(pairs, ex_verdicts(benchmark, pairs, executor, known=known), strict=True))
    trials: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    for question, gold in zip(asked, own, strict=True):
        key, solved = question.id, records[question.id]
        about = {"run": run, "question_id": key, "db_id": question.db_id}
        about |= {"difficulty": difficulty(benchmark, question)}
        found, chosen = solved.candidates["trials"], solved.selection["chosen"]
        groups = group_numbers([trial["fingerprint"] for trial in found])
        correct = [right[key, trial["sql"]] for trial in found]
        for index, trial in enumerate(found):
            row = about | {name: trial[name] for name in _TRIAL} | {"correct": correct[index]}
            before = _unfixed(trial)
            row |= {"first_sql": before["sql"], "first_status": before["status"]}
            row |= {"correct_first": right[key, before["sql"]], "group": groups[index]}
            trials.append(row | {"chosen": index == chosen})
        answer = {"sql": "", "status": "missing"} if chosen is None else found[chosen]
        row = about | {"sql": answer["sql"], "status": answer["status"]}
        row |= {"correct": chosen is not None and correct[chosen], "oracle": any(correct)}
        row |= {"adversary": bool(correct) and all(correct), "candidates": len(found)}
        row |= {"groups": len({*groups} - {-1}), "gold_failed": not right[gold]}
        spent = (solved.candidates["cost"], solved.selection["cost"])
        questions.append(row | {name: sum(cost[name] for cost in spent) for name in _COST})
    frame = pd.DataFrame(questions)
    for name, revised in (golds or {}).items():
        ids = {question.id for question in revised.questions}
        answers = list(zip(frame["question_id"], frame["sql"], strict=True))
        golden = {key: (key, revised.golds[key].sql) for key, _ in answers if key in ids}
        pairs = [*golden.values(), *(one for one in answers if one[0] in ids)]
        right = dict(zip(pairs, ex_verdicts(revised, pairs, executor), strict=True))
        frame[BY_GOLD + name] = [float(right.get(one, math.nan)) for one in answers]
        frame[FAILED_BY_GOLD + name] = [not right.get(golden.get(k, k), True) for k, _ in answers]
    return pd.DataFrame(trials), frame


def _unfixed(trial: Record) -> Record:
    """The candidate before any fix."""
    while trial["repaired_from"]:
        trial = trial["repaired_from"]
    return trial


def run_id(input_hash: str, records: Mapping[str, QuestionRecords]) -> str:
    """The input's hash, and a hash of the answers and their cost.

    Changed code gives a run another id exactly if it gives other answers, so that a stored run is never replaced by
    one with other content. The keys of calls are left out: they hold the version of the embedded model.
    """

    def keyless(record: Record) -> Record:
        earlier = record.get("repaired_from")
        return {**record, "call_keys": ()} | (
            {"repaired_from": keyless(earlier)} if earlier else {}
        )

    answers = {
        key: [[*map(keyless, made.candidates["trials"])], made.candidates["cost"], keyless(made.selection)]
        for key, made in records.items()
    }  # fmt: skip
    return f"{input_hash}-{content_hash('answers', answers).removeprefix('answers:')[:8]}"
