"""A run: a system's candidates and answers with their verdicts; and runs side by side."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.predictions import COLUMNS
from workbench.errors import BadInputError
from workbench.evaluate.ex import ex_verdicts
from workbench.evaluate.judge import difficulty
from workbench.evaluate.stats import compare, mean_interval, number_interval
from workbench.llm.money import Tally
from workbench.report import tables
from workbench.report.cases import Case, Cases, UnreadReply
from workbench.report.display import group_numbers
from workbench.report.names import ordered
from workbench.report.published import published
from workbench.report.stamp import Stamp, common
from workbench.report.stamp import runs as ids_of
from workbench.report.tables import share
from workbench.sql.executor import Executor
from workbench.study.solve import Record, RecordsById
from workbench.systems.system import System
from workbench.types import Execution, Selection

if TYPE_CHECKING:
    from workbench.report.style import Picture

Row = dict[str, Any]
Parts = Mapping[str, "Run | pd.DataFrame"]  # runs, or frames of questions or trials
# Of the gold and the predicted execution.
Metric = Callable[[Execution, Execution], float]
_COST = ("calls", "input_tokens", "output_tokens", "dollars", "unpriced")
_TRIAL = ("generator", "sample", "sql", "status", "problem")
_NO_ANSWER: Row = {"sql": "", "status": "missing", "correct": False}


@dataclass(frozen=True, slots=True)
class Run:
    """`trials` has a row for every final candidate, `questions` one for every question.

    `correct` is execution accuracy in the benchmark's own sense, BIRD's or Spider's.
    `correct_first`, `first_sql` and `first_status` are of a candidate before it was fixed. Costs
    are those of all calls that a question needs, paid now or cached; `paid` has those that this run
    made. `queries` counts those that an agent ran to look at the database. `metrics` names the
    columns of `questions` that are of one's own, and `prompts` the folder that replaced ours.
    """

    id: str
    name: str
    system: System = field(repr=False)
    trials: pd.DataFrame = field(repr=False)
    questions: pd.DataFrame = field(repr=False)
    selection: Callable[[str], Selection] = field(repr=False)
    case: Callable[[str], Case] = field(repr=False)
    stamp: Stamp = field(repr=False)
    metrics: tuple[str, ...] = field(default=(), repr=False)
    prompts: Path | None = field(default=None, repr=False)
    paid: Tally = field(default_factory=Tally, repr=False)

    @property
    def selections(self) -> Iterator[Selection]:
        return map(self.selection, self.questions["question_id"])

    @property
    def answers(self) -> pd.DataFrame:
        """The answers as predictions of one generator, the run, with their db_id."""
        return self.questions.assign(generator=self.name, sample=0)[[*COLUMNS, "db_id"]]

    @property
    def oracle(self) -> pd.DataFrame:
        """The questions, right wherever one of the candidates is: the upper bound of selection."""
        return self.questions.assign(correct=self.questions["oracle"], counted="all")

    @property
    def adversary(self) -> pd.DataFrame:
        """The questions, right only where all candidates are: the lower bound of selection."""
        return self.questions.assign(correct=self.questions["adversary"], counted="all")

    def cases(
        self, questions: Iterable[str] | pd.DataFrame, show: Sequence[str] = ()
    ) -> Cases:
        """Return cases as the papers' figures show them, gold beside the prediction.

        `questions` are ids, or a frame with the column `question_id`, such as labels of errors.
        `show` names parts of the way to the answer: reply, generators, repairs, plan, calls.

        >>> study = wb.open_study("bundled-dev", limit=4)
        >>> study.run(study.direct()).cases(["13"], show=["reply"]).cases[0].question.db_id
        'cinema'
        """
        rows = questions
        if not isinstance(rows, pd.DataFrame):
            rows = pd.DataFrame({"question_id": list(rows)})
        if "run" in rows:
            rows = rows[rows["run"] == self.id]
        cases = []
        for row in rows.to_dict("records"):
            label = _error_label(row) if "error" in rows else ""
            cases.append(replace(self.case(row["question_id"]), label=label))
        return Cases(cases, tuple(show))

    def unread(self) -> pd.DataFrame:
        """Return the replies that were not in the form that their prompt asks for.

        `wanted` is the form that the model was asked for once more, and `read` whether its second
        reply was read. The questions are solved again by cached calls alone.

        >>> study = wb.open_study("bundled-dev", limit=4)
        >>> len(study.run(study.direct()).unread())
        0
        """
        rows: list[UnreadReply] = []
        for id_ in self.questions["question_id"]:
            rows += self.case(id_).unread()
        return pd.DataFrame(rows, columns=list(UnreadReply._fields))

    def accuracy(self) -> "Table":
        """Return one row: EX with its interval."""
        return table_of({self.name: self}, self.stamp, accuracy)

    def costs(self) -> "Table":
        """Return one row: EX with its interval, and a question's mean calls, tokens and dollars."""
        return table_of({self.name: self}, self.stamp, costs)


def _error_label(row: Mapping[Any, Any]) -> str:
    """Return an error with its detail, who gave it, and why."""
    error = f"{row['error']}: {row['detail']}" if row["detail"] else row["error"]
    who = "by a rule" if row["automatic"] else "by a person"
    return f"{error} ({who}). {row['note']}".removesuffix(". ")


class Table(pd.DataFrame):
    """Rows of numbers under the labels of their first column, with their stamp."""

    _metadata: ClassVar[list[str]] = ["stamp"]
    stamp: Stamp | None = None

    @property
    def _constructor(self) -> type["Table"]:
        return Table

    def __finalize__(self, other: Any, method: str | None = None, **how: Any) -> Self:
        """Keep the stamp of the table, or of the tables, that these rows were made of."""
        table: Self = super().__finalize__(other, method=method, **how)  # type: ignore[misc]
        # Pandas gives the frame, which `super` has read, or what `concat` or `merge` were given.
        ends = [getattr(other, end, None) for end in ("left", "right")]
        parts = getattr(other, "objs", ends)
        stamps = [part.stamp for part in parts if isinstance(part, Table)]
        if stamps:
            table.stamp = common(stamps)
        return table

    @property
    def _origin(self) -> Stamp:
        if self.stamp is None:
            raise BadInputError(
                "these rows have lost their stamp (of other questions or of another study than"
                " those that they were joined with): make the table with study.table(rows)"
            )
        return self.stamp

    @classmethod
    def of(cls, rows: pd.DataFrame, stamp: Stamp) -> "Table":
        table = cls(rows.set_axis(rows.iloc[:, 0].tolist()))
        table.stamp = stamp
        return table

    def beside(self, paper: str, source: str, **options: Any) -> tables.ResultTable:
        """Return the table beside the paper's; `options` are those of `tables.beside`."""
        if self.empty:
            options["note"] = (
                f"No rows of ours: this experiment is on {self._origin.benchmark}."
            )
        elif "change low" in self:
            options.setdefault("note", "The intervals of changes are over questions.")
        options["label"] = str(self.columns[0])
        return tables.beside(
            pd.DataFrame(self), published(paper, source), self._origin, **options
        )

    def alone(self, title: str, note: str = "") -> tables.ResultTable:
        """The table of our numbers alone."""
        return tables.alone(pd.DataFrame(self), self._origin, title, note)

    def _repr_html_(self) -> str:
        """Return the rows as a saved table shows them: rounded, without ids of runs."""
        if "run" in self and self.columns[0] == "system":
            return str(self.alone("")._repr_html_())
        # A `$` opens no formula.
        with pd.option_context("display.html.use_mathjax", False):
            return str(super()._repr_html_())  # type: ignore[misc]


class Runs(dict[str, Run]):
    """Runs by name, on the same questions."""

    def __init__(self, runs: Mapping[str, Run], stamp: Stamp) -> None:
        super().__init__(runs)
        self._stamp = stamp

    @property
    def questions(self) -> pd.DataFrame:
        """The questions of all runs; the column `system` has the run's name."""
        return pd.concat(
            run.questions.assign(system=name) for name, run in self.items()
        )

    def accuracy(self, against: str = "", by: str = "") -> Table:
        """Return EX of each run, with the change `against` one, or EX `by` a column's values."""
        if not by:
            return self._compared(table_of(self, self._stamp, accuracy), against)
        levels = ordered(filter(None, self.questions[by].unique()))
        rows = []
        for name, run in self.items():
            for level in levels:
                part = run.questions[run.questions[by] == level]
                rows.append(accuracy(part, name) | {by: level})
            rows.append(accuracy(run.questions, name) | {by: "all"})
        return Table.of(across(pd.DataFrame(rows), by), self._stamp)

    def costs(self, against: str = "") -> Table:
        """Return EX of each run, and a question's calls, tokens and dollars, paid now or cached."""
        return self._compared(table_of(self, self._stamp, costs), against)

    def lead(self, name: str, over: Iterable[str] = ()) -> pd.DataFrame:
        """Return how far a run is ahead of others, by default all; no rows if it was not made."""
        if name not in self:
            return leads(pd.DataFrame(), {})
        others = list(over)
        if not others:
            others = [other for other in self if other != name]
        parts = {f"over {other}": self[other] for other in others if other in self}
        return leads(self[name], parts)

    def differences(self, against: str | None = None) -> "Picture | tables.ResultTable":
        """The paired differences against a run, by default the first, as a figure."""
        from workbench.report.accuracy import paired_differences  # noqa: PLC0415  draws

        return paired_differences(self.questions, against, stamp=self._stamp)

    def _compared(self, rows: Table, against: str) -> Table:
        if not against:
            return rows
        from workbench.report.accuracy import differences  # noqa: PLC0415

        paired = differences(self.questions, against).set_index("system")
        paired = paired.reindex(rows.index)
        place = list(rows).index("high")
        rows.insert(place + 1, "change", paired["difference"])
        rows.insert(place + 2, "change low", paired["low"])
        rows.insert(place + 3, "change high", paired["high"])
        return rows


def table_of(
    parts: Parts,
    stamp: Stamp,
    row: Callable[[pd.DataFrame, str], Row],
) -> Table:
    """Return a row for each run, or frame of questions or trials, under its name."""
    rows = []
    for name, part in parts.items():
        if isinstance(part, Run):
            rows.append(row(part.questions, name) | metric_cells(part))
        else:
            rows.append(row(part, name))
    columns = None if rows else ["system", "n", "EX", "low", "high", "run"]
    frame = pd.DataFrame(rows, columns=columns).astype({"system": str})
    if "queries" in frame and not frame["queries"].any():  # no system ran any
        frame = frame.drop(columns="queries")
    return Table.of(frame, stamp)


def leads(ahead: Run | pd.DataFrame, others: Parts) -> pd.DataFrame:
    """Return how far EX is ahead of each other's on the same questions, with its interval.

    A frame of trials counts a question by the share of its candidates that are right.

    >>> study = wb.open_study("bundled-dev", limit=4)
    >>> run = study.run(study.direct())
    >>> wb.leads(run, {"itself": run})["difference"].tolist()
    [0.0]
    """
    rows = {}
    for name, other in others.items():
        theirs = _shares(other)["share"].rename("theirs")
        both = _shares(ahead).join(theirs, how="inner")
        a, b, clusters = both["share"], both["theirs"], both["db_id"]
        if {*a, *b} <= {0.0, 1.0}:  # verdicts, in place of shares of several candidates
            paired = compare(a.to_dict(), b.to_dict(), clusters.to_dict())
            points = (paired.difference, paired.low, paired.high)
        else:
            interval = number_interval((a - b).tolist(), clusters.tolist())
            points = (interval.mean, interval.low, interval.high)
        rows[name] = [100 * point for point in points]
    return pd.DataFrame.from_dict(
        rows, orient="index", columns=["difference", "low", "high"]
    )


def _shares(part: Run | pd.DataFrame) -> Any:
    """Return for each question its database, and the share of its candidates that are right."""
    frame = part.questions if isinstance(part, Run) else part
    questions = frame.groupby("question_id", sort=False)
    shares = questions.agg(share=("correct", "mean"), db_id=("db_id", "first"))
    return shares.astype({"share": float})


def metric_cells(run: Run) -> dict[str, float]:
    """Return the mean of each metric of one's own with its interval, clustered by database."""
    row: dict[str, float] = {}
    clusters = run.questions["db_id"].tolist()
    for metric in run.metrics:
        mean = mean_interval(run.questions[metric].tolist(), clusters)
        row |= cells(metric, mean.mean, mean.low, mean.high)
    return row


def accuracy(frame: pd.DataFrame, label: str = "") -> Row:
    """Return a row: the mean of `correct` in percent, its interval clustered by database, and N.

    A frame of trials weighs every question alike, however many trials it has.
    """
    # `trace` has to know whether the verdicts are about every candidate, as a bound's are, or as
    # in a frame of trials; or about the chosen one.
    counts_all = "counted" in frame or ("chosen" in frame and not frame["chosen"].all())
    shares = _shares(frame)
    row = {"system": label} | share(shares["share"], shares["db_id"])
    row["run"] = ids_of(frame)
    if counts_all:
        row["counted"] = "all"
    return row


def costs(questions: pd.DataFrame, label: str = "") -> Row:
    """Return the accuracy, and a question's mean calls, tokens and dollars; NaN is unknown."""
    return accuracy(questions, label) | {
        "calls": questions["calls"].mean(),
        "queries": questions["queries"].mean(),
        "tokens": (questions["input_tokens"] + questions["output_tokens"]).mean(),
        "dollars": math.nan
        if questions["unpriced"].any()
        else questions["dollars"].mean(),
    }


def across(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a row for each system: EX with its interval for each value of a column."""
    wide = []
    for system, part in rows.groupby("system", sort=False):
        row: Row = {"system": system, "n": part["n"].max()}
        for values in part.to_dict("records"):
            name = str(values[column])
            row |= cells(name, values["EX"], values["low"], values["high"])
        row["run"] = ids_of(part)
        wide.append(row)
    return pd.DataFrame(wide)


def cells(name: str, mean: float, low: float, high: float) -> dict[str, float]:
    """Return a mean as three columns: its name, and the ends of its interval."""
    return {name: mean, f"{name} low": low, f"{name} high": high}


def run_tables(
    benchmark: Benchmark, records: RecordsById, executor: Executor
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the candidates and the questions of a run, with verdicts."""
    right = _verdicts(benchmark, records, executor)
    trials = []
    questions = []
    for question in benchmark.questions:
        _, attempt, choice = records[question.id]
        histories = attempt["trials"]
        origin: Row = {"question_id": question.id, "db_id": question.db_id}
        origin["difficulty"] = difficulty(benchmark, question)
        groups = group_numbers([history[-1]["fingerprint"] for history in histories])
        rows = []
        for number, history in enumerate(histories):
            row = origin | _trial_row(history, question.id, right)
            row["group"] = groups[number]
            row["chosen"] = number == choice["chosen"]
            rows.append(row)
        summary = _question_row(rows, choice)
        gold = benchmark.golds[question.id]
        # A query that fails is not right by itself. With stored results nobody runs it.
        is_right = right[question.id, gold.sql]
        summary["gold_failed"] = not is_right and not gold.results
        for name in _COST:
            summary[name] = attempt["cost"][name] + choice["cost"][name]
        summary["queries"] = sum(history[0]["queries"] for history in histories)
        trials += rows
        questions.append(origin | summary)
    return pd.DataFrame(trials), pd.DataFrame(questions)


def _verdicts(
    benchmark: Benchmark, records: RecordsById, executor: Executor
) -> dict[tuple[str, str], bool]:
    """Return whether a query is right, by question and query."""
    golds = [
        (question.id, benchmark.golds[question.id].sql)
        for question in benchmark.questions
    ]
    fingerprints: dict[tuple[str, str], str] = {}
    for id_, _ in golds:
        for history in records[id_].candidates["trials"]:
            for trial in (history[0], history[-1]):
                fingerprints[id_, trial["sql"]] = trial["fingerprint"]
    pairs = list(dict.fromkeys([*golds, *fingerprints]))
    verdicts = ex_verdicts(benchmark, pairs, executor, known=fingerprints)
    return dict(zip(pairs, verdicts, strict=True))


def _trial_row(
    history: list[Record], id_: str, right: Mapping[tuple[str, str], bool]
) -> Row:
    """Return a row of a candidate and of what it was before it was fixed."""
    first, last = history[0], history[-1]
    row = {name: last[name] for name in _TRIAL}
    return row | {
        "correct": right[id_, last["sql"]],
        "first_sql": first["sql"],
        "first_status": first["status"],
        "correct_first": right[id_, first["sql"]],
    }


def _question_row(rows: list[Row], choice: Record) -> Row:
    """Return a question's answer, and what its candidates are together."""
    answer = _NO_ANSWER
    if choice["chosen"] is not None:
        answer = rows[choice["chosen"]]
    verdicts = [row["correct"] for row in rows]
    groups = {row["group"] for row in rows if row["group"] != -1}
    return {
        "sql": answer["sql"],
        "status": answer["status"],
        "correct": answer["correct"],
        "oracle": any(verdicts),
        "adversary": bool(verdicts) and all(verdicts),
        "candidates": len(rows),
        "groups": len(groups),
    }
