"""What an experiment would cost: its notebooks on a few questions, a model standing in for all others.

The lab book of the preview is thrown away. Nothing is asked of any model but the embedded one, and nothing
of ours is changed. How many calls there would be follows from the few questions; how long answers are, from
calls of the same prompt and model in the lab book, or else from rules of thumb.
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import BadInputError
from workbench.experiment.reproduce import Job, plan, run
from workbench.llm.client import Client
from workbench.llm.preview import Estimate, Preview, preview
from workbench.store import Store
from workbench.study.settings import Experiment


@dataclass(frozen=True, slots=True)
class Cost:
    """What each model would be asked, and all of them; the notebooks that the few questions did not serve."""

    models: dict[str, Preview]
    total: Preview
    failed: tuple[str, ...]


def cost(
    experiment: Experiment,
    questions: int,
    store: Store,
    watch: Callable[[Sequence[Job]], None] | None = None,
) -> Cost:
    """An estimate from so many questions."""
    with tempfile.TemporaryDirectory(prefix="preview") as folder:
        jobs = plan(experiment)
        for job in jobs:
            job.output = Path(folder) / "runs" / job.output.name
        told = {"WORKBENCH_HOME": folder, "WORKBENCH_PREVIEW": str(questions)}
        run(jobs, Path(folder) / "figures", at_once=1, again=True, environment=told, watch=watch)
        lines = [line for job in jobs for line in job.seen if "expected" in line]
    estimates = list(_estimates(lines))
    if not estimates:
        raise BadInputError(
            f"{experiment.name}: no notebook came as far as asking a model: {jobs[0].error or 'why is unknown'}"
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


def _estimates(lines: Iterable[Mapping[str, Any]]) -> Iterable[Estimate]:
    for line in lines:
        yield Estimate(line["prompt"], line["model"], line["expected"], line["tokens"])
