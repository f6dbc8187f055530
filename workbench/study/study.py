"""An opened experiment: its benchmark and models, the runs of systems, and the folder of its figures."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

import pandas as pd
from matplotlib.figure import Figure

from workbench.benchmarks.benchmark import Benchmark, size, some
from workbench.canonical import content_hash
from workbench.evaluate.efficiency import By, efficiency
from workbench.evaluate.judge import judge
from workbench.evaluate.stats import mean_interval
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.money import Budget
from workbench.llm.parameters import left_out
from workbench.report.display import Html
from workbench.report.stamp import Stamp
from workbench.report.tables import ResultTable, alone
from workbench.retrieve.named import by_letters, with_retrieval
from workbench.study.analysis.notes import notes_on
from workbench.study.experiment import Experiment
from workbench.study.previewing import EMBEDDED_PARSER, StandIn, preview_questions
from workbench.study.progress import Progress, report_failed_calls
from workbench.study.result_cache import (
    endpoints,
    identity_of,
    model_names,
    prompts_hash,
    system_keys,
)
from workbench.study.runs import Run, cells, run_id, run_tables
from workbench.study.saved import Claim, Saved
from workbench.study.solving import ClusterSolver, prepare_once, selection_of, solve_all
from workbench.systems.system import System, rebuilt, with_suspect
from workbench.types import Context, Limits, Question, Selection, Suspect

_Shown = TypeVar("_Shown", Figure, ResultTable)


@dataclass(frozen=True, slots=True, repr=False)
class Study:
    """An opened experiment. `benchmark` holds the questions that are asked; `folder` takes the figures."""

    experiment: Experiment
    benchmark: Benchmark
    lab: Lab
    saved: Saved
    _budget: Budget | None
    _resources: ExitStack
    _solver: ClusterSolver | None = None  # solves questions on a cluster
    _question_weight: float = 0.0  # in a preview: how many questions each question stands for
    golds: Mapping[str, Benchmark] = field(default_factory=dict)
    """Benchmarks with revised golds, by which runs are judged, too."""

    @property
    def model(self) -> str:
        """The model of every role for which the experiment names no other."""
        return self.experiment.model

    @property
    def models(self) -> Mapping[str, str]:
        """The models of roles; a role that the experiment does not name uses `model`."""
        return defaultdict(lambda: self.model, self.experiment.models)

    @property
    def suspect(self) -> Suspect | None:
        """The results that every step treats as suspect; None means that each step uses its own setting.

        On Spider only failed queries are suspect, since an empty result is the right answer to some questions.
        """
        spider: Suspect | None = "failed" if self.benchmark.sense == "spider" else None
        return self.experiment.suspect or spider

    @property
    def stamp(self) -> Stamp:
        """The origin of this study's numbers: model, benchmark, questions, and the sense of execution accuracy.

        `stamp.of(frame)` is the stamp of a frame, with the models that its runs called.
        """
        sense = "EX (Spider)" if self.benchmark.sense == "spider" else "EX (BIRD)"
        n = len(self.benchmark.questions)
        by_run, store = self.saved.models_by_run, self.lab.client.cache
        models = {self.model, *(model for models in by_run.values() for model in models)}
        refused = {model: parameters for model in models if (parameters := left_out(store, model))}
        return Stamp(
            self.model,
            self.benchmark.name,
            n,
            sense,
            dropped=refused,
            models_by_run=by_run,
            similarity_by_run=self.saved.similarity_by_run,
        )

    def fewer(self, limit: float | None) -> "Study":
        """The study with fewer questions: `limit` is their number, or a share of each database's, such as 0.1."""
        questions = self.benchmark.questions
        if self._question_weight:
            total = round(self._question_weight * len(questions))
            return replace(self, _question_weight=size(total, limit) / len(questions))
        questions = tuple(some(questions, limit))
        return replace(self, benchmark=replace(self.benchmark, questions=questions))

    def with_settings(self, system: System) -> System:
        """The system with the experiment's `retrieval` and `suspect`, as `run` runs it."""
        if setting := self.experiment.retrieval:
            system = rebuilt(system, lambda step: with_retrieval(step, setting))
        return with_suspect(system, self.suspect) if self.suspect else system

    def run(self, system: System, name: str = "") -> Run:
        """Run the system on every question; cached results are reused."""
        name = name or system.name
        system = self.with_settings(system)
        lab = replace(self.lab, client=self._client(), system=name)
        input_hash = self._input_hash(system)
        with Progress(name, input_hash) as progress:
            try:
                records = solve_all(system, self.benchmark.questions, lab, progress, self._solver)
            finally:
                progress.report(lab.client.ledger.total())
        self._report(lab)
        run = run_id(input_hash, records)
        own_first = sorted(model_names(system), key=lambda model: (model != self.model, model))
        self.saved.models_by_run[run] = tuple(own_first)
        self.saved.similarity_by_run[run] = "letters" if by_letters(system) else ""
        by_id = {question.id: question for question in self.benchmark.questions}
        trials, questions = run_tables(run, self.benchmark, records, lab.executor, self.golds)
        rows = questions[["question_id", "db_id", "difficulty"]].itertuples(index=False, name=None)
        selections = [(records[question].key, question, *rest) for question, *rest in rows]
        self.saved.store_run(run, name, self.benchmark.name, system, selections)

        def selection(question: str) -> Selection:
            return selection_of(records[question], by_id[question], lab)

        return Run(run, name, system, trials, questions, selection, lab.client.ledger.total())

    def table(self, *runs: Run) -> ResultTable:
        """A row for each run: EX with its interval, and the calls, tokens and dollars of a question."""
        rows = pd.DataFrame([run.row() for run in runs])
        note = "Calls, tokens and dollars are the mean of a question, whether paid now or cached."
        note = f"{note} {notes_on(runs)}".rstrip()
        return alone(rows, self.stamp, f"Systems on {self.benchmark.name}", note)

    def stages(self, system: System) -> Iterator[tuple[Question, list[Context]]]:
        """Each question with its context after retrieval and after each step of pruning."""
        lab = replace(self.lab, client=self._client())
        system = self.with_settings(system)
        keys = system_keys(system, lab)
        for question in self.benchmark.questions:
            question_keys = keys.of_question(question, lab)
            yield question, [*prepare_once(system, question_keys, question, lab).contexts]
        self._report(lab)

    def _report(self, lab: Lab) -> None:
        """Report the number of failed calls and, in a preview, of expected calls."""
        if failed := lab.client.ledger.failed:
            report_failed_calls(lab.system, failed)
        if isinstance(lab.client.send, StandIn):
            lab.client.send.report(self._question_weight)

    def verdicts(self, run: Run) -> pd.DataFrame:
        """The verdicts on every chosen query in every sense: EX as BIRD and Spider define it, EM, Soft-F1."""
        return judge(self.benchmark, run.answers, self.lab.executor).assign(run=run.id)

    def efficiency(self, run: Run, runs: int = 10, repeats: int = 5) -> dict[str, float]:
        """Cells of a table: VES of the chosen queries with its interval, in percent; BIRD times 100 runs.

        With the embedded parser it counts SQLite's opcodes, which are the same on every machine, and is named so.
        """
        by: By = "opcodes" if self.model.startswith("embedded/") else "time"
        scored = efficiency(self.benchmark, run.questions, self.lab.executor, by, runs, repeats)
        # An interval is of values from 0 to 1, and a score has no upper bound: scale by the highest one.
        top = max(1.0, scored["ves"].max())
        found = mean_interval((scored["ves"] / top).tolist(), scored["db_id"].tolist())
        row = {"EX": found.mean, "low": found.low, "high": found.high}
        name = "VES, opcodes" if by == "opcodes" else "VES"
        return cells(name, {bound: 100 * top * value for bound, value in row.items()})

    def save(
        self, name: str, shown: _Shown, data: pd.DataFrame | None = None, stamp: object = ""
    ) -> _Shown:
        """Save a figure or a table under a name, with the data behind it, and return it for display.

        `stamp` replaces the study's stamp if the numbers have another origin.
        """
        self.saved.save(name, shown, data, stamp or self.stamp)
        return shown

    def claim(self, text: str, holds: bool, detail: str = "") -> Claim:
        """Store whether a claim of the paper holds, with the last saved figure. A parser's answers judge no claim."""
        judged = not self.model.startswith("embedded/")
        return self.saved.claim(Claim(text, bool(holds) if judged else None, detail))

    def close(self) -> None:
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{self.experiment.name}: {self.stamp}"

    def _repr_html_(self) -> str:
        form = Html('<p class="mathjax_ignore tex2jax_ignore"><b>{}</b>: {}</p>')
        return form.format(self.experiment.name, self.stamp)

    def _client(self) -> Client:
        """A client with a ledger of its own."""
        return client_of(self.lab.client.cache, self._budget, batch=self.experiment.batch)

    def _input_hash(self, system: System) -> str:
        """A hash of the system and of its input: models, parameters, prompts, questions and gold queries."""
        model_endpoints = endpoints(system, self.lab)
        # The embedded model's version changes whenever its code does, but its answers rarely change.
        model_endpoints.pop(EMBEDDED_PARSER, None)
        inputs = [
            self.benchmark.name,
            self.benchmark.fingerprint(),
            model_endpoints,
            identity_of(system),
            *([self.lab.limits] if self.lab.limits != Limits() else []),
            *([prompts_hash(self.lab.prompts)] if self.lab.prompts else []),
        ]
        return content_hash("run", inputs).removeprefix("run:")[:12]


def client_of(store: Cache, budget: Budget | None, *, batch: bool = False) -> Client:
    """A client that calls the models, or in a preview the embedded parser."""
    if preview_questions():
        # The address is part of a call's key, so the parser's replies do not pass for the models'.
        return Client(store, send=StandIn(), api_base="http://stand-in.invalid")
    return Client(store, budget=budget, batch=batch)
