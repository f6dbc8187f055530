"""What a notebook works with: an experiment's benchmark and models, runs of systems, and where figures go."""

import atexit
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Self, TypeVar

import pandas as pd
from matplotlib.figure import Figure

from workbench.benchmarks.benchmark import Benchmark, some
from workbench.benchmarks.named import open_benchmark
from workbench.canonical import content_hash
from workbench.db.execute import Executor
from workbench.evaluate.efficiency import measure, ves_interval
from workbench.evaluate.judge import judge
from workbench.lab import Lab
from workbench.llm.budget import Budget
from workbench.llm.client import Client
from workbench.pool import chosen
from workbench.report.display import install
from workbench.report.stamp import Stamp
from workbench.report.tables import Table
from workbench.store import Store
from workbench.study.kept import identity, models
from workbench.study.preview import previewed, stand_in, tell_estimates
from workbench.study.progress import Progress, tell
from workbench.study.runs import Run, cells, frames
from workbench.study.saved import Claim, Saved
from workbench.study.settings import Experiment, load_experiment
from workbench.study.solving import selection_of, solve_all
from workbench.systems.system import System, stages
from workbench.types import Context, Question

_Shown = TypeVar("_Shown", Figure, Table)
EMBEDDED = "embedded/parser"


@dataclass(frozen=True, slots=True, repr=False)
class Study:
    """An opened experiment. `benchmark` holds the questions that are asked; `folder` takes the figures."""

    experiment: Experiment
    benchmark: Benchmark
    lab: Lab
    saved: Saved
    _budget: Budget | None
    _open: ExitStack
    _weight: float = 0.0  # in a preview: how many questions each of the few stands for

    @property
    def model(self) -> str:
        """The model that speaks wherever no other is named."""
        return self.experiment.model

    @property
    def models(self) -> Mapping[str, str]:
        """The models of single roles; a role that the experiment does not name is the model's."""
        return _Roles(self.experiment.models, self.model)

    @property
    def options(self) -> Mapping[str, Any]:
        """The experiment's further settings."""
        return self.experiment.options

    @property
    def stamp(self) -> Stamp:
        """What every number here is: model, benchmark, questions, and the sense of execution accuracy.

        What is made of runs says which models these asked: of a frame the stamp is `stamp.of(frame)`.
        """
        sense = "EX (Spider)" if self.benchmark.family == "spider" else "EX (BIRD)"
        n = len(self.benchmark.questions)
        return Stamp(self.model, self.benchmark.name, n, sense, asked=self.saved.asked)

    def fewer(self, limit: int | None) -> "Study":
        """The same study of so many questions, spread evenly: for what takes long."""
        if self._weight:
            many = round(self._weight * len(self.benchmark.questions))
            share = min(limit or many, many) / len(self.benchmark.questions)
            return replace(self, _weight=share)
        asked = some(self.benchmark.questions, limit)
        return replace(self, benchmark=replace(self.benchmark, questions=tuple(asked)))

    def run(self, system: System, name: str = "") -> Run:
        """What the system did with every question; from the lab book as far as it is there."""
        name = name or system.name
        lab = replace(self.lab, client=_client(self.lab.client.store, self._budget), system=name)
        run = self._run_id(system)
        own_first = sorted(models(system), key=lambda model: (model != self.model, model))
        self.saved.asked[run] = tuple(own_first)
        with Progress(name, run) as progress:
            try:
                kept = solve_all(system, self.benchmark.questions, lab, progress)
            finally:
                progress.end(lab.client.ledger.total())
        if self._weight:
            tell_estimates(lab.client.ledger, self._weight)
        questions = {question.id: question for question in self.benchmark.questions}
        trials, asked = frames(run, self.benchmark, kept, lab.executor)
        about = zip(asked["question_id"], asked["db_id"], asked["difficulty"], strict=True)
        told = [(kept[question].key, question, *more) for question, *more in about]
        self.saved.keep_run(run, name, self.benchmark.name, system, told)
        if failed := sum(lab.client.ledger.failed.values()):
            tell(failed=failed)
        return Run(
            run,
            name,
            system,
            trials,
            asked,
            lambda question: selection_of(kept[question], questions[question], lab),
        )

    def stages(self, system: System) -> Iterator[tuple[Question, list[Context]]]:
        """Each question with its context after retrieval and after each step of pruning."""
        lab = replace(self.lab, client=_client(self.lab.client.store, self._budget))
        for question in self.benchmark.questions:
            yield question, list(stages(system, question, lab))
        if failed := sum(lab.client.ledger.failed.values()):
            tell(failed=failed)
        if self._weight:
            tell_estimates(lab.client.ledger, self._weight)

    def verdicts(self, run: Run) -> pd.DataFrame:
        """What was chosen, judged in every sense: EX as BIRD and as Spider have it, EM, Soft-F1."""
        pool = chosen(run.name, run.selections)
        return judge(self.benchmark, pool, self.lab.executor).assign(run=run.id)

    def efficiency(self, run: Run) -> dict[str, float]:
        """Cells of a table: VES of what was chosen, with its interval.

        By SQLite's opcodes and not by time: the same on every machine.
        """
        asked = run.questions.set_index("question_id")
        ratios = [
            measure(
                self.lab.executor,
                self.benchmark.database(question.db_id),
                str(asked["sql"][question.id]),
                self.benchmark.golds[question.id].sql,
                repeats=1,
            ).opcode_ratio
            if asked["correct"][question.id]
            else None
            for question in self.benchmark.questions
        ]
        found = ves_interval(ratios, [question.db_id for question in self.benchmark.questions])
        ends = {"EX": found.mean, "low": found.low, "high": found.high}
        return cells("VES, opcodes", {end: 100 * value for end, value in ends.items()})

    def save(
        self, name: str, shown: _Shown, data: pd.DataFrame | None = None, stamp: object = ""
    ) -> _Shown:
        """Keep a figure or a table under a name, with the data behind it; the last line of a cell shows it.

        `stamp` says what its numbers are, where they are not all the study's.
        """
        self.saved.save(name, shown, data, stamp or self.stamp)
        return shown

    def claim(self, text: str, holds: bool, detail: str = "") -> Claim:
        """Say whether a claim of the paper holds here; kept with what was saved last."""
        return self.saved.claim(Claim(text, bool(holds), detail))

    def close(self) -> None:
        """End the workers and close the lab book."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{self.experiment.name}: {self.stamp}"

    def _repr_html_(self) -> str:
        return f"<p class='mathjax_ignore'><b>{escape(self.experiment.name)}</b>: {escape(str(self.stamp))}</p>"

    def _run_id(self, system: System) -> str:
        servers = {model: self.lab.client.endpoint(model) for model in sorted(models(system))}
        servers.pop(EMBEDDED, None)  # its version changes with its code: the run stays the same one
        asked = [self.benchmark.name, self.benchmark.fingerprint(), servers, identity(system)]
        return content_hash("run", asked).removeprefix("run:")[:12]


class _Roles(dict[str, str]):
    """The models of roles; any role may be asked for."""

    def __init__(self, named: Mapping[str, str], model: str) -> None:
        super().__init__(named)
        self._model = model

    def __missing__(self, role: str) -> str:
        return self._model


def open_study(
    experiment: str | Experiment, *, limit: int | None = None, figures: Path | None = None
) -> Study:
    """The experiment of that name or path, ready to run; `limit` asks fewer questions than it would.

    Figures go to the folder that WORKBENCH_FIGURES names, or to one named after the experiment; those of a
    `limit` to one of their own, so that they never replace those of all questions.
    """
    told = load_experiment(experiment) if isinstance(experiment, str) else experiment
    whole = open_benchmark(told.benchmark, told.root)
    asked = some(some(whole.questions, told.limit), limit)
    own = told.name if limit is None else f"{told.name}-{limit}"
    where = figures or Path(os.environ.get("WORKBENCH_FIGURES") or told.folder / "figures" / own)
    with ExitStack() as stack:
        store = stack.enter_context(Store())
        executor = stack.enter_context(Executor(store))
        budget = _left(told, store)
        few = some(asked, previewed() or None)
        lab = Lab(_client(store, budget), executor, whole.database, told.prompts)
        part = replace(whole, questions=tuple(few))
        many = min(filter(None, (told.stands_for or len(asked), limit, told.limit)))
        weight = many / len(few) if previewed() else 0.0
        study = Study(told, part, lab, Saved(where, store), budget, stack.pop_all(), weight)
    atexit.register(study.close)
    install()
    return study


def _client(store: Store, budget: Budget | None) -> Client:
    """Whoever answers: the models, or in a preview one that stands in for them."""
    if previewed():  # at an address of its own, so that no answer is ever taken for a model's
        return Client(store, send=stand_in, api_base="http://stand-in.invalid")
    return Client(store, budget=budget)


def _left(told: Experiment, store: Store) -> Budget | None:
    """What the experiment may spend: what `reproduce` paid since it began is spent of it."""
    if told.dollars is None and told.calls is None:
        return None
    since = float(os.environ.get("WORKBENCH_BEGAN") or "inf")
    ((paid, spent),) = store.read(
        "SELECT count(*), total(cost) FROM calls WHERE created >= ?", (since,)
    )
    budget = Budget(told.dollars, calls=told.calls)
    budget.spent, budget.made = spent, paid
    return budget
