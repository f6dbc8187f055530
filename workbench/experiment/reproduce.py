"""An experiment's notebooks, several at a time, each in a process of its own.

A notebook that fails is reported and stops no other. A notebook that ran before with the same key and whose
files are unchanged is not run again. The calls of a stopped notebook are cached, so a second run continues it.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from workbench.errors import BadInputError, redact
from workbench.experiment.failure import failed_cell
from workbench.experiment.manifest import (
    NotebookRecord,
    notebook_key,
    notebook_path,
    saved_hashes,
    shared_inputs_hash,
)
from workbench.experiment.notebooks import check_parameters
from workbench.study.experiment import Experiment, shipped

_POLL_SECONDS = 0.3  # between two polls of the processes
_STOP_SECONDS = 2.5  # that a stopped notebook has to store paid replies


@dataclass(slots=True)
class Job:
    """One notebook of a run: its parameters, how far it is, and how it ended."""

    name: str
    notebook: Path
    parameters: Mapping[str, Any]
    key: str
    output: Path
    started: float = 0.0
    state: str = "waiting"  # then running, done, unchanged, failed or stopped
    error: str = ""
    cells_done: int = 0
    cell_count: int = 0
    reports: list[Mapping[str, Any]] = field(default_factory=list)
    _bytes_read: int = 0  # of the progress file, that are in `reports`
    _output_time: int = 0  # when the output that `update` read was written, in nanoseconds

    @property
    def progress_file(self) -> Path:
        return self.output.with_suffix(".progress")

    def start(self, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        """Start the notebook's process, which ends when its standard input does."""
        self.started, self.state = time.monotonic(), "running"
        self.output.parent.mkdir(parents=True, exist_ok=True)
        self.progress_file.unlink(missing_ok=True)
        self.output.unlink(missing_ok=True)
        given = [str(self.notebook), str(self.output), orjson.dumps(dict(self.parameters)).decode()]
        with self.output.with_suffix(".log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "workbench.experiment.kernel", *given],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=os.environ | {**environment, "WORKBENCH_PROGRESS": str(self.progress_file)},
                start_new_session=True,  # a terminal's Ctrl-C reaches `reproduce` alone
            )

    def update(self) -> None:
        """Read the reports of the notebook, and which of its cells are done."""
        with suppress(FileNotFoundError), self.progress_file.open("rb") as file:
            file.seek(self._bytes_read)
            for line in file:
                if line.endswith(b"\n"):  # else it is being written
                    self.reports.append(orjson.loads(line))
                    self._bytes_read += len(line)
        with suppress(OSError, ValueError):  # Papermill may be writing it just now
            if (written := self.output.stat().st_mtime_ns) != self._output_time:
                cells = orjson.loads(self.output.read_bytes())["cells"]
                states = [cell["metadata"].get("papermill", {}).get("status") for cell in cells]
                self.cell_count = len(cells)
                self.cells_done = sum(state in {"completed", "failed"} for state in states)
                self._output_time = written

    def failure(self) -> str:
        """The cell that failed and why, else the last line that the process wrote."""
        with suppress(OSError, ValueError):
            if failed := failed_cell(orjson.loads(self.output.read_bytes())["cells"]):
                return redact(failed)
        log = self.output.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
        return redact(f"the kernel ended: {(log.strip().splitlines() or ['no reason given'])[-1]}")

    def total(self, name: str) -> float:
        """Calls, hits, dollars or calls of unknown price of all its runs; a run that starts twice counts as two."""
        last = {(line["id"], line.get("began")): line for line in self.reports if "id" in line}
        return sum(float(report[name]) for report in last.values())


def plan(experiment: Experiment, only: Sequence[str] = (), limit: int | None = None) -> list[Job]:
    """The notebooks that an experiment names, checked before any is run."""
    folder = experiment.folder / "notebooks"
    folder = folder if folder.is_dir() else shipped("notebooks")
    is_bundled = experiment.path.parent == shipped("experiments")
    experiment_name = experiment.name if is_bundled else str(experiment.path)
    if unknown := sorted(set(only) - set(experiment.notebooks)):
        raise BadInputError(
            f"{experiment.name} has no notebook {', '.join(unknown)}; it has "
            f"{', '.join(experiment.notebooks) or 'none'}"
        )
    shared_inputs = shared_inputs_hash(experiment)
    jobs = []
    for notebook, notebook_parameters in experiment.notebooks.items():
        path = folder / f"{notebook}.ipynb"
        if not path.is_file():
            raise BadInputError(
                f"{experiment.name} names the notebook {notebook}, and there is no {path}"
            )
        limited = {} if limit is None else {"limit": limit}
        parameters = {"experiment": experiment_name, **notebook_parameters, **limited}
        check_parameters(path, parameters)
        if only and notebook not in only:
            continue
        key = notebook_key(shared_inputs, path, parameters)
        output = notebook_path(experiment, limit, notebook)
        jobs.append(Job(notebook, path, parameters, key, output))
    return jobs


def run(
    jobs: Sequence[Job],
    figures: Path,
    *,
    at_once: int | None = None,
    again: bool = False,
    environment: Mapping[str, str] = MappingProxyType({}),
    watch: Callable[[Sequence[Job]], None] | None = None,
) -> list[NotebookRecord]:
    """Run the jobs, as many at once as there are processors, and return the records of the completed notebooks.

    `again` runs unchanged notebooks as well; `environment` is added to that of the kernels; `watch` is called
    with all jobs several times a second. Ctrl-C ends all kernels within about two seconds.
    """
    records: dict[str, NotebookRecord] = {}
    for job in jobs:
        previous = NotebookRecord.load(job.output.with_suffix(".json"))
        if previous and not again and previous.key == job.key and previous.is_current(figures):
            job.state = "unchanged"
            records[job.name] = previous
    kernel_environment = {
        "WORKBENCH_FIGURES": str(figures),
        "WORKBENCH_BEGAN": str(time.time()),
        "PYTHONHASHSEED": "0",  # sums of numbers in a set are the same to the last bit
        **environment,
    }
    waiting = [job for job in jobs if job.state == "waiting"]
    running: dict[str, tuple[Job, subprocess.Popen[bytes]]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < (at_once or os.cpu_count() or 1):
                job = waiting.pop(0)
                running[job.name] = job, job.start(kernel_environment)
            time.sleep(_POLL_SECONDS)
            for job, process in list(running.values()):
                code = process.poll()
                job.update()
                if code is not None:
                    del running[job.name]
                    process.communicate()
                    if record := _finish(job, code, figures):
                        records[record.notebook] = record
            if watch:
                watch(jobs)
    finally:
        _stop(running.values())
    return [records[job.name] for job in jobs if job.name in records]


def _stop(running: Iterable[tuple[Job, "subprocess.Popen[bytes]"]]) -> None:
    """Interrupt the notebooks; after `_STOP_SECONDS` kill the processes that still run."""
    deadline = time.monotonic() + _STOP_SECONDS
    for job, process in running:
        job.state = "stopped"
        if process.stdin:
            process.stdin.close()
    for _, process in running:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()  # its kernel notices within a second
            process.wait()


def _finish(job: Job, exit_code: int, figures: Path) -> NotebookRecord | None:
    """Note how a notebook ended; returns its record if every cell ran."""
    if exit_code:
        job.state, job.error = "failed", job.failure()
        return None
    job.state = "done"
    if failed := sum(line.get("failed", 0) for line in job.reports):
        job.error = f"{failed:,} calls got no answer, and its numbers lack them: run it again"
    saved = {line["saved"] for line in job.reports if "saved" in line}
    record = NotebookRecord(
        notebook=job.name,
        key=job.key,
        parameters=dict(job.parameters),
        seconds=round(time.monotonic() - job.started, 1),
        calls=int(job.total("calls")),
        hits=int(job.total("hits")),
        dollars=job.total("dollars"),
        files=saved_hashes(figures, saved),
        unpriced=int(job.total("unpriced")),
    )
    if not job.error:  # else it is run again, and asks only for what is missing
        record.save(job.output.with_suffix(".json"))
    job.progress_file.unlink(missing_ok=True)
    return record
