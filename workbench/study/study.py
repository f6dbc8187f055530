"""An opened experiment: its benchmark and models, the runs of systems, and the folder of its figures."""

import atexit
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

import pandas as pd
from matplotlib.figure import Figure
from tqdm import tqdm

from workbench.benchmarks.benchmark import Benchmark, open_benchmark, size, some
from workbench.canonical import canonical, content_hash
from workbench.errors import BudgetError
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.money import Budget, Tally, cautious, dollars
from workbench.prompts import check_folder
from workbench.report.style import Stamp
from workbench.report.tables import ResultTable
from workbench.retrieve.retrieval import by_letters, with_retrieval
from workbench.sql.executor import Executor
from workbench.study import solve
from workbench.study.experiment import MODEL_ROLES, Experiment, experiment_of, settled
from workbench.study.preview import client_of
from workbench.study.run import Run, Runs, Table, accuracy, costs, run_tables, table_of
from workbench.study.saved import Claim, Saved
from workbench.systems import baselines, chase_sql, chess, mac_sql
from workbench.systems.cheaper import cheaper
from workbench.systems.system import System, rebuilt, with_suspect
from workbench.terminal import bar_stream
from workbench.types import Context, Limits, Question

if TYPE_CHECKING:
    import distributed

_Shown = TypeVar("_Shown", Figure, ResultTable)


def open_study(experiment: str | Experiment, *, limit: float | None = None,
               cluster: "str | distributed.Client" = "", **settings: Any) -> "Study":  # fmt: skip
    """Open an experiment, by its name or path, or a benchmark by its name, to run systems on it.

    `limit` is a number of questions, spread evenly, or a share of each database's questions, such as 0.1. `settings`
    replace the experiment's, such as model, root, prompts, dollars or figures. `cluster` is a Dask client, a scheduler's
    address or file, or "local:" and a number of workers.

    Figures are saved to the folder `figures`, else to one named after the experiment and a given `limit`, so that figures
    of a few questions never replace those of all questions.

    >>> with wb.open_study("bundled-dev", limit=4) as study:
    ...     print(study.run(study.direct()).questions["correct"].tolist())
    [False, True, True, False]
    """
    own = experiment_of(experiment) if isinstance(experiment, str) else experiment
    given = {name: setting for name, setting in settings.items() if setting or setting == 0}
    own = settled(partial(replace, own, **given))
    if own.prompts:
        check_folder(own.prompts)
    benchmark = open_benchmark(own.benchmark, own.root)
    asked = some(some(benchmark.questions, own.limit), limit)
    name = own.name if limit is None else f"{own.name}-{limit}"
    folder = Path(own.figures or own.folder / own.output / name)
    number = len(asked)
    if own.preview:
        asked = some(asked, own.preview)
    with ExitStack() as stack:
        store, pool = stack.enter_context(Cache()), None
        if (cluster := cluster or own.cluster) and not own.preview:
            from workbench.cluster import open_pool  # noqa: PLC0415  Dask, an extra

            pool = stack.enter_context(open_pool(cluster))
        budget = cautious(own.dollars, own.calls, own.budget)
        client = client_of(own, store, budget, number / max(1, len(asked)))
        lab = Lab(client, stack.enter_context(Executor(store)), benchmark.database, own.prompts,
                  parameters=own.parameters, limits=Limits(seconds=own.sql_seconds))  # fmt: skip
        own = own if limit is None else replace(own, limit=limit)
        some_of = replace(benchmark, questions=tuple(asked))
        study = Study(own, some_of, number, lab, Saved(folder), budget, stack.pop_all(), pool)
    atexit.register(study.close)
    pd.set_option("display.html.use_mathjax", False)  # a `$` in a frame opens no formula
    return study


@dataclass(frozen=True, slots=True, repr=False)
class Study:
    """An opened experiment. `benchmark` holds the questions that are asked; `saved` takes the figures.

    `stands_for` is their number, or in a preview the number of those for which they are asked.
    The models of roles are attributes (`study.judge`): a role that the experiment does not name uses `model`.
    """

    experiment: Experiment
    benchmark: Benchmark
    stands_for: int
    lab: Lab
    saved: Saved
    _budget: Budget
    _resources: ExitStack
    _pool: "distributed.Client | None" = None
    _asked: dict[str, tuple[str, ...]] = field(default_factory=dict)  # models, by the run's id
    _similarity: dict[str, str] = field(default_factory=dict)  # by the run's id

    def __getattr__(self, role: str) -> str:
        if role not in MODEL_ROLES:
            raise AttributeError(f"a study has no {role!r}; its roles: {', '.join(MODEL_ROLES)}")
        return self.models[role]

    @property
    def model(self) -> str:
        """The model of every role for which the experiment names no other."""
        return self.experiment.model

    @property
    def models(self) -> Mapping[str, str]:
        """The model of each role; the roles that the experiment names are its keys."""
        return defaultdict(lambda: self.model, self.experiment.models)

    def chase_sql(self, **hyper: Any) -> System:
        """CHASE-SQL with the experiment's models; `hyper` are its other parameters."""
        return chase_sql.chase_sql(self.model, self.judge, filtering=self.filtering, **hyper)

    def chess_ir_cg_ut(self, **hyper: Any) -> System:
        return chess.chess_ir_cg_ut(self.model, **hyper)

    def chess_ir_ss_cg(self, **hyper: Any) -> System:
        hyper = {"filtering": self.filtering, "generation": self.generation} | hyper
        return chess.chess_ir_ss_cg(self.rest, **hyper)

    def mac_sql(self, **hyper: Any) -> System:
        """MAC-SQL in its prompts for the family of the benchmark."""
        return mac_sql.mac_sql(self.model, benchmark=self.benchmark.sense, **hyper)

    def zero_shot(self, **hyper: Any) -> System:
        return baselines.zero_shot(self.model, **hyper)

    def direct(self, **hyper: Any) -> System:
        return baselines.direct(self.model, **hyper)

    @property
    def stamp(self) -> Stamp:
        """The origin of this study's numbers: model, benchmark, questions, and the sense of execution accuracy.

        `stamp.of(frame)` is the stamp of a frame, with the models that its runs called.
        """
        benchmark, store = self.benchmark, self.lab.client.cache
        ex = "EX (Spider)" if benchmark.sense == "spider" else "EX (BIRD)"
        models = {self.model, *chain.from_iterable(self._asked.values())}
        dropped = {model: given for model in models if (given := store.left_out(model))}
        return Stamp(self.model, benchmark.name, len(benchmark.questions), ex, dropped=dropped,
                     models_by_run=self._asked, similarity_by_run=self._similarity)  # fmt: skip

    def sample(self, limit: float | str | None) -> "Study":
        """The study on fewer questions: a number, a share of each database's (0.1), or those of another benchmark."""
        questions = self.benchmark.questions
        if isinstance(limit, str):
            questions = open_benchmark(limit, self.experiment.root).questions
            limit = min(len(questions), self.stands_for)
        if self.experiment.preview:
            return replace(self, stands_for=size(self.stands_for, limit))
        return self._on(some(questions, limit))

    def spider(self) -> "Study":
        """The study if it is on Spider, else one without questions."""
        return self if self.benchmark.sense == "spider" else self._on([])

    def _on(self, questions: list[Question]) -> "Study":
        part = replace(self.benchmark, questions=tuple(questions))
        return replace(self, benchmark=part, stands_for=len(questions))

    def with_settings(self, system: System) -> System:
        """The system with the experiment's `retrieval`, `cheaper` and `suspect`, as `run` runs it."""
        if setting := self.experiment.retrieval:
            system = rebuilt(system, lambda step: with_retrieval(step, setting))
        if self.experiment.cheaper:
            system = cheaper(system, self.models.get("filtering", ""))
        suspect = self.experiment.suspect
        return with_suspect(system, suspect) if suspect else system

    @overload
    def run(self, system: System, name: str = "", *, fresh: bool = False) -> Run: ...
    @overload
    def run(self, system: Mapping[str, System], *, fresh: bool = False) -> Runs: ...
    def run(self, system: System | Mapping[str, System], name: str = "", *, fresh: bool = False) -> Run | Runs:  # fmt: skip
        """Run a system, or each of several by name, on every question; cached results are reused, unless `fresh`.

        A reached budget prints the table of the questions that are answered, and says how many are left.
        """
        asked = self.benchmark.questions
        if isinstance(system, Mapping):
            each = system.items() if asked else ()  # of Spider's alone there may be none
            return Runs({name: self.run(one, name, fresh=fresh) for name, one in each}, self.stamp)
        name, system = name or system.name, self.with_settings(system)
        lab = replace(self.lab, client=self._client(), system=name)
        try:
            with Progress(name, len(asked)) as progress:
                records = solve.solve_all(system, asked, lab, progress, self._pool, fresh)
        except BudgetError:
            if done := solve.cached_records(lab.client.cache, solve.keys_of(system, asked, lab)):
                part = self._on([question for question in asked if question.id in done])
                table = part.costs({name: part.run(system, name)})
                print(table.alone("The questions that are answered").to_markdown())
            raise
        report_failed_calls(name, lab.client.ledger.failed)
        trials, questions = run_tables(self.benchmark, records, lab.executor)
        models = sorted(solve.model_names(system), key=lambda model: (model != self.model, model))
        # Changed code gives a run another id exactly if it gives other answers.
        answers = trials.to_csv(), questions.to_csv()
        origin = [name, str(system), self.benchmark.name, *answers]
        run = content_hash("run", origin).removeprefix("run:")[:20]
        for frame in (trials, questions):
            frame.insert(0, "run", run)
        self._asked[run] = tuple(models)
        self._similarity[run] = "letters" if by_letters(system) else ""
        self.saved.names[run] = name
        by_id = {question.id: question for question in asked}
        about = questions[["question_id", "db_id", "difficulty"]].to_numpy().tolist()
        listed = [(records[key].key, key, *more, by_id[key].text) for key, *more in about]
        selections = canonical(listed).decode()
        if not lab.client.cache.read_only:
            row = (run, name, self.benchmark.name, repr(system), selections, time.time())
            with lab.client.cache.write() as database:  # from which `trace` reads
                database.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)", row)
        selection = lambda key: solve.selection_of(records[key], by_id[key], lab)  # noqa: E731
        return Run(run, name, system, trials, questions, selection, lab.client.ledger.total())

    def accuracy(self, parts: Mapping[str, Run | pd.DataFrame]) -> Table:
        """A row for each run, or frame of its questions or trials: EX with its interval."""
        return table_of(parts, self.stamp, accuracy)

    def costs(self, parts: Mapping[str, Run | pd.DataFrame]) -> Table:
        """A row for each run: EX with its interval, and the calls, tokens and dollars of a question."""
        return table_of(parts, self.stamp, costs)

    def table(self, rows: pd.DataFrame) -> Table:
        """Rows of numbers as a table with this study's stamp; the first column names the rows."""
        return Table.of(rows, self.stamp if "EX" in rows else replace(self.stamp, ex=""))

    def stages(self, system: System) -> Iterator[tuple[Question, list[Context]]]:
        """Each question with its context after retrieval and after each step of pruning."""
        system, lab = self.with_settings(system), replace(self.lab, client=self._client())
        keys = solve.keys_of(system, self.benchmark.questions, lab)
        for question in self.benchmark.questions:
            contexts, _ = solve.prepared(system, keys[question.id].context, question, lab)
            yield question, [*contexts]
        report_failed_calls("", lab.client.ledger.failed)

    def save(self, name: str, shown: _Shown, data: pd.DataFrame | None = None, stamp: object = "") -> _Shown:  # fmt: skip
        """Save a figure or a table under a name, with the data behind it, and return it for display.

        `stamp` replaces the study's stamp if the numbers have another origin.
        """
        self.saved.save(name, shown, data, stamp or self.stamp)
        return shown

    def claim(self, text: str, holds: "bool | pd.Series[Any]", of: object = None) -> Claim:
        """Store whether a claim of the paper holds, with the last saved figure. A parser's answers judge no claim.

        `holds` may have a verdict for each row: the claim holds if all do. `of` are the numbers that the claim is about,
        by their labels, or a sentence; by default those of the saved column that the verdicts are named after.
        """
        return self.saved.claim(text, holds, of, judged=not self.model.startswith("embedded/"))

    def close(self) -> None:
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{self.experiment.name}: {self.stamp}"

    def _client(self) -> Client:
        """A client with a ledger of its own."""
        weight = self.stands_for / max(1, len(self.benchmark.questions))
        return client_of(self.experiment, self.lab.client.cache, self._budget, weight)


class Progress(tqdm):  # type: ignore[misc]
    """Shows the questions that are done, calls asked and cached, and dollars. `solve_all` calls it."""

    def __init__(self, name: str, total: int) -> None:
        how: Any = {"file": bar_stream(), "disable": None, "delay": 1, "leave": False}
        if type(sys.stderr).__module__.startswith("ipykernel"):  # which shows stderr on red
            how = {"file": sys.stdout, "bar_format": "{desc}: {n:,} of {total:,} questions{postfix}"}  # fmt: skip
        super().__init__(total=total, desc=name, unit=" questions", **how)

    def __call__(self, done: int, tally: Tally) -> None:
        spent = f"{tally.calls:,} calls asked, {tally.hits:,} cached, {dollars(tally.cost, tally.unpriced)}"
        self.set_postfix_str(spent, refresh=False)
        self.update(done - self.n)


def report_failed_calls(system: str, failed: Mapping[str, int]) -> None:
    """Say on standard error how many calls of a system ended without an answer, by fault."""
    if failed:
        faults = ", ".join(f"{fault} {number:,}" for fault, number in sorted(failed.items()))
        line = f"{sum(failed.values()):,} calls got no answer ({faults}), and the numbers lack them: run it again"
        print(f"{system}: {line}" if system else line, file=sys.stderr)
