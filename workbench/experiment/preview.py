"""An estimate of what an experiment or a run costs: a few questions, answered by the embedded parser.

No other model is asked, and the cache of the preview is deleted; a call in the user's own cache is answered from it.
The number of calls is scaled up from the few questions; the length of replies comes from cached calls of the same
prompt and model, or from rules of thumb. The estimate is saved, and the run that follows prints it beside its cost.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from workbench.errors import BadInputError
from workbench.experiment.manifest import preview_path, read_preview
from workbench.experiment.reproduce import Job, plan, run
from workbench.llm.cache import Cache
from workbench.llm.money import Tally, dollars
from workbench.llm.preview import Preview, Row, estimate
from workbench.store import Store, home
from workbench.study import open_study
from workbench.study.experiment import Experiment
from workbench.systems.system import System
from workbench.types import Request


def preview_experiment(
    experiment: Experiment,
    questions: int,
    store: Store,
    watch: Callable[[Sequence[Job]], None] | None = None,
) -> tuple[Preview, list[str]]:
    """Estimate the cost of all notebooks from this number of questions, and name the notebooks that failed with them."""
    with _preview_home(questions, store) as (folder, environment):
        jobs = plan(experiment)
        for job in jobs:
            job.output = folder / "runs" / job.output.name
        run(jobs, folder / "figures", at_once=1, again=True, environment=environment, watch=watch)
        estimates = _estimates(store, (line for job in jobs for line in job.reports))
    if not estimates:
        raise BadInputError(
            f"{experiment.name}: no notebook made a model call: {jobs[0].error or 'the reason is unknown'}"
            if jobs
            else f"{experiment.name} names no notebooks"
        )
    total = Preview(tuple(estimates))
    save_preview(total, preview_path(experiment))
    return total, [f"{job.name}: {job.error}" for job in jobs if job.state == "failed"]


def preview_work(work: Callable[[], object], questions: int, store: Store) -> Preview:
    """Estimate what `work` costs, a function that opens studies and runs systems in this process."""
    before = dict(os.environ)
    with _preview_home(questions, store) as (folder, environment):
        progress_file = folder / "lines"
        os.environ |= environment | {"WORKBENCH_PROGRESS": str(progress_file)}
        try:
            work()
        finally:
            os.environ.clear()
            os.environ.update(before)
        estimates = _estimates(store, map(orjson.loads, progress_file.read_bytes().splitlines()))
    return Preview(tuple(estimates))


def preview_of(
    system: System, experiment: str | Experiment, *, questions: int = 3, **study_options: Any
) -> Preview:
    """Estimate what a system costs on an experiment's or a benchmark's questions; `opened` as for `open_study`."""

    def work() -> None:
        with open_study(experiment, **study_options) as study:
            study.run(system)

    with Cache() as store:
        return preview_work(work, questions, store)


@contextmanager
def _preview_home(questions: int, store: Store) -> Iterator[tuple[Path, dict[str, str]]]:
    """A home with the bundled databases that are built already, and the environment that makes runs there a preview."""
    with tempfile.TemporaryDirectory(prefix="preview") as folder:
        if (built := home() / "bundled").is_dir():
            Path(folder, built.name).symlink_to(built.absolute())
        environment = {"WORKBENCH_HOME": folder, "WORKBENCH_PREVIEW": str(questions)}
        yield Path(folder), environment | {"WORKBENCH_PREVIEW_CACHE": str(store.path)}


def _estimates(store: Store, lines: Iterable[Mapping[str, Any]]) -> list[Row]:
    """The rows of the calls that a stand-in has counted, at the lengths of the replies that are cached."""
    rows = []
    for line in lines:
        if "prompt" in line:
            parameters = {"max_tokens": line["limit"], "service_tier": line["tier"] or None}
            request = Request(line["prompt"], line["model"], (), parameters)
            tokens, calls, cached = line["input_tokens"], line["calls"], line["cached"]
            rows.append(estimate(store, request, tokens, calls, cached))
    return rows


def save_preview(estimated: Preview, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    sums = asdict(estimated.together) | {"rows": [asdict(row) for row in estimated.rows]}
    path.write_bytes(orjson.dumps(sums, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def cost_lines(path: Path, tally: Tally, *, batch: bool = False) -> str:
    """The calls and dollars of a run, and on a second line the estimate of its preview, if there was one.

    In a batch, the estimate is half.
    """
    calls = f"{tally.calls:,} calls, {tally.input_tokens:,} tokens in, {tally.output_tokens:,} out"
    is_paid = tally.cost or tally.unpriced
    paid = f"paid:    {calls}, {dollars(tally.cost, tally.unpriced)}"
    cached = (
        f"{tally.hits:,} further calls were" if tally.calls or tally.hits else "all answers were"
    )
    lines = [f"{paid if is_paid else f'asked:   {calls}, which cost nothing'}; {cached} cached"]
    if found := read_preview(path):
        low, high = (found[name] / (2 if batch else 1) for name in ("low", "high"))
        lines.append(
            f"preview: {found['calls']:,} calls, about {found['input']:,.0f} tokens in, "
            f"{dollars(low)} to {dollars(high)}{' in batches' * batch}"
        )
    return "\n".join(lines)
