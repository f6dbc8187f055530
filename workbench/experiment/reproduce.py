"""An experiment's notebooks, several at a time: threads around kernels, which are processes.

A notebook that fails is reported and stops no other. One that ran before with all that it depends on
unchanged is left alone; what a stopped one had paid for is in the lab book, so running again goes on.
"""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from workbench.errors import BadInputError
from workbench.experiment.manifest import Record, common, digest, key, place
from workbench.experiment.notebooks import Kernel, check_parameters, execute
from workbench.study.settings import CHECKOUT, Experiment

NOTEBOOKS = "notebooks"
_MOMENT = 5.0  # seconds that a stopped notebook has to keep what it paid for


@dataclass(slots=True)
class Job:
    """One notebook of a run: what it is given, how far it is, and what came of it."""

    name: str
    notebook: Path
    parameters: Mapping[str, Any]
    key: str
    output: Path
    kernel: Kernel = field(default_factory=Kernel)
    began: float = 0.0
    state: str = "waiting"  # then running, done, unchanged, failed or stopped
    error: str = ""
    seen: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def lines(self) -> Path:
        """Where the notebook tells how far it is."""
        return self.output.with_suffix(".progress")

    def look(self) -> None:
        """Read what the notebook has told since."""
        if self.state == "running" and self.lines.is_file():
            told = self.lines.read_bytes().splitlines()
            self.seen = [orjson.loads(line) for line in told if line.endswith(b"}")]

    def last(self) -> dict[Any, Mapping[str, Any]]:
        """The newest line of each of its runs, and of each time that it asked for one."""
        return {(line["id"], line.get("began")): line for line in self.seen if "id" in line}

    def total(self, what: str) -> float:
        """Calls, hits or dollars of all its runs."""
        return sum(float(line[what]) for line in self.last().values())


def plan(experiment: Experiment, only: Sequence[str] = (), limit: int | None = None) -> list[Job]:
    """The notebooks that an experiment names, checked before any is run."""
    own = experiment.folder / NOTEBOOKS
    folder = own if own.is_dir() else CHECKOUT / NOTEBOOKS
    ours = experiment.path.parent == CHECKOUT / "experiments"
    named = experiment.name if ours else str(experiment.path)
    unknown = sorted(set(only) - set(experiment.notebooks))
    if unknown:
        raise BadInputError(
            f"{experiment.name} has no notebook {', '.join(unknown)}; it has "
            f"{', '.join(experiment.notebooks) or 'none'}"
        )
    shared = common(experiment)
    sources = ""
    jobs = []
    for notebook, told in experiment.notebooks.items():
        path = folder / f"{notebook}.ipynb"
        if not path.is_file():
            raise BadInputError(
                f"{experiment.name} names the notebook {notebook}, and there is no {path}"
            )
        check_parameters(path, told)
        sources += path.read_text(encoding="utf-8")
        parameters: dict[str, Any] = {"experiment": named, **told}
        if limit is not None:
            parameters["limit"] = limit
        check_parameters(path, parameters)
        if only and notebook not in only:
            continue
        jobs.append(
            Job(
                notebook,
                path,
                parameters,
                key(shared, path, parameters),
                place(experiment, limit, notebook),
            )
        )
    for role in experiment.models:
        if not re.search(rf"""["']{re.escape(role)}\\?["']""", sources):
            raise BadInputError(f"{experiment.path}: models: no notebook of it has a role {role}")
    return jobs


def run(
    jobs: Sequence[Job],
    figures: Path,
    *,
    at_once: int | None = None,
    again: bool = False,
    environment: Mapping[str, str] = MappingProxyType({}),
    watch: Callable[[Sequence[Job]], None] | None = None,
) -> list[Record]:
    """Run the jobs, as many at once as there are processors; each says what came of it.

    The records are of those that stand.

    `again` runs the unchanged ones as well, `environment` is what kernels find in theirs. `watch` is told of all jobs, twice a second.
    """
    records: dict[str, Record] = {}
    for job in jobs:
        known = Record.load(job.output.with_suffix(".json"))
        if known and not again and known.key == job.key and known.stands(figures):
            job.state = "unchanged"
            records[job.name] = known
    open_ = [job for job in jobs if job.state == "waiting"]
    told = {
        "WORKBENCH_FIGURES": str(figures),
        "WORKBENCH_BEGAN": str(time.time()),
        "PYTHONHASHSEED": "0",  # sums of numbers in a set are the same to the last bit
        **environment,
    }
    threads = ThreadPoolExecutor(at_once or os.cpu_count() or 1)
    futures: dict[Future[Record | None], Job] = {
        threads.submit(_one, job, figures, told): job for job in open_
    }
    try:
        waiting = set(futures)
        while waiting:
            done, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in done:
                if record := future.result():
                    records[record.notebook] = record
            if watch:
                watch(jobs)
    finally:
        for future in futures:
            future.cancel()
        for job in open_:
            if job.state == "running":
                job.kernel.interrupt()
        wait(futures, timeout=_MOMENT)
        for job in open_:
            job.kernel.stop()
        threads.shutdown(cancel_futures=True)
    return [records[job.name] for job in jobs if job.name in records]


def _one(job: Job, figures: Path, environment: Mapping[str, str]) -> Record | None:
    job.began = time.monotonic()
    job.state = "running"
    job.output.parent.mkdir(parents=True, exist_ok=True)
    job.lines.unlink(missing_ok=True)
    own = {"WORKBENCH_PROGRESS": str(job.lines)}
    try:
        job.error = execute(
            job.notebook, job.output, job.parameters, {**environment, **own}, job.kernel
        )
    except BaseException as error:
        job.state, job.error = "failed", f"{type(error).__name__}: {error}"
        raise
    job.look()
    if job.error:
        job.state = "stopped" if job.kernel.stopped else "failed"
        return None
    job.state = "done"
    if failed := sum(line.get("failed", 0) for line in job.seen):
        job.error = f"{failed:,} calls got no answer, and its numbers lack them: run it again"
    record = Record(
        notebook=job.name,
        key=job.key,
        parameters=dict(job.parameters),
        seconds=round(time.monotonic() - job.began, 1),
        calls=int(job.total("calls")),
        hits=int(job.total("hits")),
        dollars=job.total("dollars"),
        files=dict(_files(job, figures)),
    )
    if not job.error:  # else it is run again, and asks only for what is missing
        record.save(job.output.with_suffix(".json"))
    job.lines.unlink(missing_ok=True)
    return record


def _files(job: Job, figures: Path) -> Iterator[tuple[str, str]]:
    """The files that the notebook saved, with their hashes."""
    for name in sorted({line["saved"] for line in job.seen if "saved" in line}):
        for path in sorted(figures.glob(f"{name}.*")):
            yield path.name, digest(path)
