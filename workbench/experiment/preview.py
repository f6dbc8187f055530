"""An estimate of what an experiment costs: its notebooks on a few questions, answered by the embedded parser.

No other model is asked, and the cache of the preview is thrown away. The number of calls is scaled up from the
few questions; the length of answers comes from cached calls of the same prompt and model, or from rules of thumb.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import BadInputError
from workbench.experiment.reproduce import Job, plan, run
from workbench.llm.client import Client
from workbench.llm.preview import Estimate, Preview, preview
from workbench.store import Store
from workbench.study.settings import Experiment


@dataclass(frozen=True, slots=True)
class Cost:
    """The calls of each model and of all models together; `failed` names notebooks that failed with few questions."""

    models: dict[str, Preview]
    total: Preview
    failed: tuple[str, ...]


def cost(
    experiment: Experiment,
    questions: int,
    store: Store,
    watch: Callable[[Sequence[Job]], None] | None = None,
) -> Cost:
    """Estimate an experiment's cost from this number of questions."""
    with tempfile.TemporaryDirectory(prefix="preview") as folder:
        jobs = plan(experiment)
        for job in jobs:
            job.output = Path(folder) / "runs" / job.output.name
        environment = {"WORKBENCH_HOME": folder, "WORKBENCH_PREVIEW": str(questions)}
        figures = Path(folder) / "figures"
        run(jobs, figures, at_once=1, again=True, environment=environment, watch=watch)
        estimates = [
            Estimate(line["prompt"], line["model"], line["expected"], line["tokens"], line["limit"])
            for job in jobs
            for line in job.reports
            if "expected" in line
        ]
    if not estimates:
        raise BadInputError(
            f"{experiment.name}: no notebook made a model call: {jobs[0].error or 'the reason is unknown'}"
            if jobs
            else f"{experiment.name} names no notebooks"
        )
    client = Client(store)
    names = dict.fromkeys(estimate.model for estimate in estimates)
    by_model = {
        name: preview(client, [], [e for e in estimates if e.model == name]) for name in names
    }
    failed = tuple(f"{job.name}: {job.error}" for job in jobs if job.state == "failed")
    return Cost(by_model, preview(client, [], estimates), failed)
