"""Open an experiment or a benchmark as a study."""

import atexit
import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.benchmarks.benchmark import size, some, with_golds
from workbench.benchmarks.load import open_benchmark
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.money import Budget
from workbench.llm.parameters import check_model
from workbench.prompts.prompt import check_folder
from workbench.report.display import install
from workbench.sql.executor import Executor
from workbench.study.experiment import Experiment, experiment_of
from workbench.study.previewing import preview_questions
from workbench.study.saved import Saved
from workbench.study.study import Study, client_of
from workbench.types import Limits

if TYPE_CHECKING:
    import distributed


def open_study(
    experiment: str | Experiment,
    *,
    model: str = "",
    limit: float | None = None,
    root: str | Path | None = None,
    prompts: str | Path | None = None,
    dollars: float | None = None,
    figures: str | Path | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    batch: bool = False,
    golds: Mapping[str, str | Path] | None = None,
    cluster: "str | distributed.Client" = "",
) -> Study:
    """Open an experiment, by its name or path, or a benchmark by its name, to run systems on it.

    `limit` is a number of questions, spread evenly, or a share of each database's questions, such as 0.1. `root` is
    the folder of the unpacked benchmark, `prompts` a folder of prompts that replace the packaged ones, `dollars` the
    most that may be spent, and `parameters` the parameters of all calls of a model or a role. With `batch`, calls
    are sent in batches, which cost half the price and are answered within a day. `golds` names files of revised gold queries, by which answers are judged, too. `cluster` is a Dask client, a
    scheduler's address or file, or "local:" and a number of workers; without it, WORKBENCH_CLUSTER names the cluster,
    if one is used.

    Figures are saved to `figures`, else to the folder that WORKBENCH_FIGURES names, else to a folder named
    after the experiment. The name of this last folder includes a given `limit`, so that figures of a few questions
    never replace those of all questions.
    """
    if golds and not isinstance(golds, Mapping):
        raise BadInputError(
            f"golds is {golds!r:.60}: give a file for each name, {{'new': 'new.json'}}"
        )
    settings = experiment_of(experiment) if isinstance(experiment, str) else experiment
    settings = replace(
        settings,
        model=model or settings.model,
        root=Path(root) if root else settings.root,
        prompts=Path(prompts) if prompts else settings.prompts,
        dollars=settings.dollars if dollars is None else dollars,
        parameters=parameters or settings.parameters,
        golds={name: Path(file) for name, file in (golds or settings.golds).items()},
        batch=batch or settings.batch or bool(os.environ.get("WORKBENCH_BATCH")),
    )
    if model:
        check_model(model)
    if settings.prompts:
        check_folder(settings.prompts)
    benchmark = open_benchmark(settings.benchmark, settings.root)
    revised = {name: with_golds(benchmark, file) for name, file in settings.golds.items()}
    questions = some(some(benchmark.questions, settings.limit), limit)
    name = settings.name if limit is None else f"{settings.name}-{limit}"
    own_folder = settings.folder / settings.output / name
    folder = Path(figures or settings.figures or os.environ.get("WORKBENCH_FIGURES") or own_folder)
    preview = preview_questions()
    with ExitStack() as stack:
        store = stack.enter_context(Cache())
        cluster_solver = sandbox = None
        if (
            cluster := cluster or settings.cluster or os.environ.get("WORKBENCH_CLUSTER", "")
        ) and not preview:
            from workbench.study.solving.on_cluster import cluster_of  # noqa: PLC0415  Dask, an extra

            cluster_solver, sandbox = stack.enter_context(cluster_of(cluster, store))
        executor = stack.enter_context(Executor(store, sandbox=sandbox))
        budget = _budget(settings)
        opened = some(questions, preview or None)
        client = client_of(store, budget, batch=settings.batch)
        lab = Lab(
            client,
            executor,
            benchmark.database,
            settings.prompts,
            parameters=settings.parameters,
            limits=Limits(seconds=settings.sql_seconds),
        )
        total = size(size(settings.stands_for or len(benchmark.questions), settings.limit), limit)
        question_weight = total / len(opened) if preview else 0.0
        study = Study(
            settings if limit is None else replace(settings, limit=limit),
            replace(benchmark, questions=tuple(opened)),
            lab,
            Saved(folder, store),
            budget,
            stack.pop_all(),
            cluster_solver,
            question_weight,
            revised,
        )
    atexit.register(study.close)
    install()
    return study


def _budget(experiment: Experiment) -> Budget | None:
    """The experiment's budget, which all kernels of one `workbench reproduce` share."""
    if experiment.dollars is None and experiment.calls is None:
        return None
    began = experiment.budget or os.environ.get("WORKBENCH_BEGAN", "")
    return Budget(experiment.dollars, calls=experiment.calls, name=began)
