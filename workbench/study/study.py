"""An opened experiment: its benchmark and models, its runs, and the folder of its figures."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload
from weakref import finalize

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark, open_benchmark, size, some
from workbench.canonical import content_hash
from workbench.errors import BadInputError, BudgetError
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.calls import is_parser
from workbench.llm.client import Client
from workbench.llm.money import Budget, cautious
from workbench.prompts import Prompt, check_folder
from workbench.report.cases import Case
from workbench.report.stamp import Origin, Stamp
from workbench.report.tables import ResultTable
from workbench.retrieve.retrieval import by_letters, with_retrieval
from workbench.sql.executor import Executor
from workbench.study import solve
from workbench.study.experiment import Experiment, Session, session_of
from workbench.study.preview import client_of
from workbench.study.progress import Progress, report_failed_calls
from workbench.study.run import (
    Metric,
    Parts,
    Run,
    Runs,
    Table,
    accuracy,
    costs,
    run_tables,
    table_of,
)
from workbench.study.saved import Piece, Saved
from workbench.study.systems import BY_FUNCTION, constructor
from workbench.study.trace import store_run
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.chase_sql import Pairwise
from workbench.systems.cheaper import cheaper
from workbench.systems.generate import Generate
from workbench.systems.select import Majority
from workbench.systems.system import System, rebuilt, with_suspect
from workbench.types import Context, Limits, Question, Selection

if TYPE_CHECKING:
    import distributed
    from matplotlib.figure import Figure

Variant = System | Prompt


def open_study(
    experiment: str | Path | Experiment | Benchmark | Session,
    *,
    limit: float | None = None,
    cluster: "str | distributed.Client" = "",
    **settings: Any,
) -> "Study":
    """Open an experiment or a benchmark, by its name or path or as a value, to run systems on it.

    `limit` is a number of questions, spread evenly, or a share of each database's questions, such
    as 0.1. `settings` replace the experiment's, such as model, root, prompts, dollars or figures.
    `cluster` is a Dask client, a scheduler's address or file, or "local:" and a number of workers.

    Figures are saved to the folder `figures`, else to one named after the experiment and a given
    `limit`, so that figures of a few questions never replace those of all questions.

    >>> with wb.open_study("bundled-dev", limit=4) as study:
    ...     print(study.run(study.direct()).questions["correct"].tolist())
    [False, False, True, False]
    """
    session = session_of(experiment).with_settings(settings)
    settled = session.experiment
    if settled.prompts:
        check_folder(settled.prompts)
    benchmark = session.benchmark or open_benchmark(settled.benchmark, settled.root)
    questions = some(benchmark.questions, settled.limit)
    questions = some(questions, limit)
    stands_for = len(questions)
    if session.preview:
        questions = some(questions, session.preview)
    folder = session.figures_folder(limit)
    if limit is not None:  # from now on the experiment's own
        session = replace(session, experiment=replace(settled, limit=limit))

    with ExitStack() as stack:
        store = stack.enter_context(Cache())
        executor = Executor(store)
        stack.callback(executor.sandbox.close)
        pool = None
        scheduler = cluster or session.cluster
        if scheduler and not session.preview:
            from workbench.cluster import open_pool  # noqa: PLC0415  Dask, an extra

            pool = stack.enter_context(open_pool(scheduler))
        budget = cautious(settled.dollars, settled.calls, session.budget)
        users = stack.enter_context(Cache(session.cache)) if session.cache else None
        weight = stands_for / max(1, len(questions))
        client = client_of(session, store, budget, weight, users)
        limits = Limits(seconds=settled.sql_seconds)
        lab = Lab(
            client,
            executor,
            benchmark.database,
            settled.prompts,
            parameters=settled.parameters,
            limits=limits,
        )
        # Study and runs hold the executor: all is closed with the last of them, or by `close()`.
        close = finalize(executor, stack.pop_all().close)
    benchmark = replace(benchmark, questions=tuple(questions))
    return Study(
        session, benchmark, stands_for, lab, Saved(folder), budget, close, users, pool
    )


@dataclass(repr=False, eq=False)
class Study:
    """An opened experiment: `benchmark` has the questions asked, `saved` takes the figures.

    `stands_for` is their number, or in a preview the number of those for which they are asked.
    `runs` holds the runs made so far, by their ids, and `origins` what their stamps say. Each named
    system is a method: `study.chase_sql()` is `wb.chase_sql` with the models of the experiment's
    roles.
    """

    session: Session
    benchmark: Benchmark
    stands_for: int
    lab: Lab
    saved: Saved
    _budget: Budget
    _close: Callable[[], object]
    _users: Cache | None = None  # in a preview, the user's own cache
    _pool: "distributed.Client | None" = None
    runs: dict[str, Run] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Callable[..., System]:
        if name not in BY_FUNCTION:
            raise AttributeError(
                f"a study has no {name!r}; its systems: {', '.join(BY_FUNCTION)}"
            )
        return constructor(BY_FUNCTION[name], self.models, self.benchmark.sense)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *BY_FUNCTION]

    @property
    def experiment(self) -> Experiment:
        return self.session.experiment

    @property
    def model(self) -> str:
        """The model of every role for which the experiment names no other."""
        return self.experiment.model

    @property
    def judge_model(self) -> str:
        """The model of selectors."""
        return self.models["judge"]

    @property
    def models(self) -> Mapping[str, str]:
        """The model of each role; the roles that the experiment names are its keys."""
        return defaultdict(lambda: self.model, self.experiment.models)

    @property
    def stamp(self) -> Stamp:
        """The origin of this study's numbers: model, benchmark, questions, and the sense of EX.

        `stamp.of(frame)` is the stamp of a frame, with the models that its runs called.
        """
        benchmark = self.benchmark
        ex = "EX (Spider)" if benchmark.sense == "spider" else "EX (BIRD)"
        return Stamp(
            (self.model,),
            benchmark.name,
            len(benchmark.questions),
            ex,
            dropped=self._dropped([self.model]),
            origins=self.origins,
        )

    def _dropped(self, models: Iterable[str]) -> dict[str, list[str]]:
        """Return for each model the parameters that it refuses."""
        cache = self.lab.client.cache
        return {model: cache.left_out(model) for model in models}

    def sample(self, limit: float | str | None) -> "Study":
        """Return the study on a number of questions, a share (0.1), or another benchmark's."""
        questions = self.benchmark.questions
        if isinstance(limit, str):
            questions = open_benchmark(limit, self.experiment.root).questions
            limit = min(len(questions), self.stands_for)
        if self.session.preview:  # the same questions, for fewer
            return replace(self, stands_for=size(self.stands_for, limit))
        return self._on(some(questions, limit))

    def spider(self) -> "Study":
        """The study if it is on Spider, else one without questions."""
        return self if self.benchmark.sense == "spider" else self._on([])

    def _on(self, questions: list[Question]) -> "Study":
        part = replace(self.benchmark, questions=tuple(questions))
        return replace(self, benchmark=part, stands_for=len(questions))

    def with_settings(self, system: System) -> System:
        """Return the system as `run` runs it, with the experiment's retrieval and the like."""
        if setting := self.experiment.retrieval:
            system = rebuilt(system, lambda step: with_retrieval(step, setting))
        if self.experiment.cheaper:
            system = cheaper(system, self.experiment.models.get("filtering", ""))
        suspect = self.experiment.suspect
        return with_suspect(system, suspect) if suspect else system

    @overload
    def run(
        self,
        system: Variant,
        name: str = "",
        *,
        metrics: Mapping[str, Metric] | None = None,
        fresh: bool = False,
    ) -> Run: ...
    @overload
    def run(
        self,
        system: Mapping[str, Variant],
        *,
        metrics: Mapping[str, Metric] | None = None,
        fresh: bool = False,
    ) -> Runs: ...
    def run(
        self,
        system: Variant | Mapping[str, Variant],
        name: str = "",
        *,
        metrics: Mapping[str, Metric] | None = None,
        fresh: bool = False,
    ) -> Run | Runs:
        """Run a system, or several by name, on every question; reuse the cache, unless `fresh`.

        A `Prompt` stands for one call with it. `metrics` are functions of the gold and the
        predicted execution, whose numbers become columns of `questions` and, as means with
        intervals, of tables. A reached budget prints the table of the questions that are answered,
        and says how many are left.

        >>> with wb.open_study("bundled-dev", limit=4) as study:
        ...     empty = {"empty": lambda gold, predicted: float(not predicted.row_count)}
        ...     print(study.run(study.direct(), metrics=empty).questions["empty"].mean())
        0.0
        """
        if isinstance(system, Mapping):
            runs: dict[str, Run] = {}
            if self.benchmark.questions:  # of Spider's alone there may be none
                for label, variant in system.items():
                    runs[label] = self.run(variant, label, metrics=metrics, fresh=fresh)
            return Runs(runs, self.stamp)
        return self._run(_system(system, self.model), name, metrics or {}, fresh=fresh)

    def _run(
        self, system: System, name: str, metrics: Mapping[str, Metric], *, fresh: bool
    ) -> Run:
        name = name or system.name
        system = self.with_settings(system)
        lab = replace(self.lab, client=self._client(), system=name)
        records = self._solved(system, lab, fresh=fresh)
        report_failed_calls(name, lab.client.ledger.failed)

        trials, questions = run_tables(self.benchmark, records, lab.executor)
        answers = questions.drop(columns="queries")  # ids are older than this column
        run_id = _run_id(name, str(system), self.benchmark.name, trials, answers)
        trials.insert(0, "run", run_id)
        questions.insert(0, "run", run_id)
        for metric, measure in metrics.items():
            questions[metric] = self._measured(measure, questions["sql"].tolist())
        by_id = {question.id: question for question in self.benchmark.questions}
        asked = solve.model_names(system)
        models = sorted(asked - {self.model})
        if self.model in asked:
            models.insert(0, self.model)
        self.origins[run_id] = Origin(
            tuple(models), _remarks(system), self._dropped(models)
        )
        golds = self.benchmark.golds

        # The run holds these two. They hold no study, which would keep its workers.
        def selection(id_: str) -> Selection:
            return solve.selection_of(records[id_], by_id[id_], lab)

        def case(id_: str) -> Case:
            return Case(by_id[id_], golds[id_], selection(id_), system, lab)

        run = Run(
            run_id,
            name,
            system,
            trials,
            questions,
            selection=selection,
            case=case,
            stamp=self.stamp,
            metrics=tuple(metrics),
            prompts=lab.prompts,
            paid=lab.client.ledger.total(),
        )
        store_run(run, self.benchmark, records, lab.executor)
        self.runs[run_id] = run
        return run

    def _solved(self, system: System, lab: Lab, *, fresh: bool) -> solve.RecordsById:
        """Return all records; a reached budget prints the table of the questions answered."""
        questions = self.benchmark.questions
        try:
            with Progress(lab.system, len(questions)) as progress:
                return solve.solve_all(
                    system, questions, lab, progress, self._pool, fresh
                )
        except BudgetError:
            keys = solve.keys_of(system, questions, lab)
            known = solve.cached_records(lab.client.cache, keys)
            answered = [question for question in questions if question.id in known]
            if answered:  # a run of these makes no call
                table = self._on(answered).run(system, lab.system).costs()
                print(table.alone("The questions that are answered").to_markdown())
            raise

    def _measured(self, metric: Metric, queries: list[str]) -> list[float]:
        """Return a metric of the answer of each question."""
        values = []
        for question, sql in zip(self.benchmark.questions, queries, strict=True):
            gold = self.benchmark.golds[question.id].sql
            executions = self.lab.run_many(question, [gold, sql])
            values.append(float(metric(*executions)))
        return values

    def accuracy(self, parts: Parts) -> Table:
        """A row for each run, or frame of its questions or trials: EX with its interval."""
        return table_of(parts, self.stamp, accuracy)

    def costs(self, parts: Parts) -> Table:
        """Return a row for each run: EX with its interval, and a question's calls and cost.

        Queries that a system ran to look at the database are counted beside its calls.
        """
        return table_of(parts, self.stamp, costs)

    def table(self, rows: pd.DataFrame) -> Table:
        """Rows of numbers as a table with this study's stamp; the first column names the rows."""
        stamp = self.stamp if "EX" in rows else replace(self.stamp, ex="")
        return Table.of(rows, stamp)

    def stages(self, system: System) -> Iterator[tuple[Question, list[Context]]]:
        """Each question with its context after retrieval and after each step of pruning."""
        system = self.with_settings(system)
        lab = replace(self.lab, client=self._client())
        keys = solve.keys_of(system, self.benchmark.questions, lab)
        for question in self.benchmark.questions:
            contexts, _ = solve.prepared(
                system, keys[question.id].context, question, lab
            )
            yield question, [*contexts]
        report_failed_calls(system.name, lab.client.ledger.failed)

    def save(
        self,
        name: str,
        shown: "Figure | ResultTable",
        data: pd.DataFrame | None = None,
        stamp: object = "",
    ) -> Piece:
        """Save a figure or a table with its data; return it for display and for claims.

        `stamp` replaces the study's stamp if the numbers have another origin. A parser's answers
        judge no claim.
        """
        names = {id_: run.name for id_, run in self.runs.items()}
        frame = self.saved.save(name, shown, data, stamp or self.stamp, names)
        judged = not is_parser(self.model)
        return Piece(name, shown, frame, self.saved, judged)

    def close(self) -> None:
        """End the workers and close the cache file, as the last use of a study does by itself."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{self.experiment.name}: {self.stamp}"

    def _client(self) -> Client:
        """A client with a ledger of its own."""
        weight = self.stands_for / max(1, len(self.benchmark.questions))
        cache = self.lab.client.cache
        return client_of(self.session, cache, self._budget, weight, self._users)


def _run_id(
    name: str, system: str, benchmark: str, trials: pd.DataFrame, answers: pd.DataFrame
) -> str:
    """Return a run's id: changed code gives it another exactly if it gives other answers."""
    origin = [name, system, benchmark, trials.to_csv(), answers.to_csv()]
    return content_hash("run", origin).removeprefix("run:")[:20]


def _remarks(system: System) -> tuple[str, ...]:
    """Return what a caption says of a system that is run in another way than its paper's."""
    remarks = []
    if by_letters(system):
        remarks.append("similarity by letters")
    if isinstance(system.select, Pairwise) and system.select.by == "result":
        remarks.append("one query of each result judged")
    return tuple(remarks)


def _system(variant: Any, model: str) -> System:
    """Return a system, or that of one call with a prompt."""
    if isinstance(variant, System):
        return variant
    if isinstance(variant, Prompt):
        step = Generate(variant, model)
        return System(variant.name, WHOLE_SCHEMA, (), (step,), (), Majority())
    names = ", ".join(f"study.{name}()" for name in BY_FUNCTION)
    name = getattr(variant, "__name__", "")
    if name in BY_FUNCTION:
        raise BadInputError(
            f"{name} is a function that makes a system: give study.{name}()"
        )
    raise BadInputError(
        f"{variant!r:.60} is no system: give one of {names}, a System of your own, or a Prompt"
    )
