"""What `workbench reproduce` shows while it works: notebooks, runs, calls, hits, cost and time left."""

import shutil
import sys
import time
from collections.abc import Sequence
from typing import TextIO

from workbench.experiment.reproduce import Job
from workbench.llm.budget import dollars


class Display:
    """A few lines that replace themselves on a terminal; elsewhere a line for each notebook that ends."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._live = self._out.isatty()
        self._began = time.monotonic()
        self._told: set[str] = set()
        self._high = 0  # lines now on the terminal that the next ones replace

    def __call__(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            job.look()
        ended = [
            job
            for job in jobs
            if job.state not in {"waiting", "running"} and job.name not in self._told
        ]
        lines = [_ended(job) for job in ended]
        self._told |= {job.name for job in ended}
        if self._live:
            if self._high:
                self._out.write(f"\033[{self._high}F\033[J")
            now = [_running(job) for job in jobs if job.state == "running"] + [self._sum(jobs)]
            width = shutil.get_terminal_size().columns - 1
            lines += [line[:width] for line in now]
            self._high = len(now)
        if lines:
            self._out.write("\n".join(lines) + "\n")
            self._out.flush()

    def _sum(self, jobs: Sequence[Job]) -> str:
        done = sum(job.state not in {"waiting", "running"} for job in jobs)
        calls = sum(job.total("calls") for job in jobs)
        hits = sum(job.total("hits") for job in jobs)
        spent = sum(job.total("dollars") for job in jobs)
        took = time.monotonic() - self._began
        share = sum(_share(job) for job in jobs) / max(len(jobs), 1)
        left = (
            f", about {_clock(took / share - took)} left" if took > 5 and 0.05 < share < 1 else ""
        )
        return (
            f"{done} of {len(jobs)} notebooks, {calls:,.0f} calls, {hits:,.0f} answers held, "
            f"{dollars(spent)}, {_clock(took)}{left}"
        )


def _ended(job: Job) -> str:
    took = f" in {_clock(time.monotonic() - job.began)}" if job.began else ""
    why = f": {job.error}" if job.state in {"failed", "done"} and job.error else ""
    return f"{job.name}: {job.state}{took}{why}"


def _running(job: Job) -> str:
    line = f"{job.name}: cell {job.kernel.cells + 1} of {job.kernel.of}"
    newest = next((told for told in reversed(job.seen) if "run" in told), None)
    if newest and newest["done"] < newest["total"]:
        line += f", {newest['run']}, {newest['done']:,} of {newest['total']:,} questions"
    return line


def _share(job: Job) -> float:
    """How much of a notebook is done: its cells, and the questions of the cell that runs."""
    if job.state == "waiting":
        return 0.0
    if job.state != "running":
        return 1.0
    newest = next((told for told in reversed(job.seen) if "run" in told), None)
    part = newest["done"] / max(newest["total"], 1) if newest else 0.0
    return min(1.0, (job.kernel.cells + part * 0.99) / max(job.kernel.of, 1))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return (
        f"{minutes}:{rest:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
    )
