"""What `workbench reproduce` shows while it works: notebooks, runs, calls, hits, cost and time left."""

import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from workbench.experiment.reproduce import Job
from workbench.llm.budget import dollars

EVERY = 30.0  # seconds between two lines where no terminal is attached


class Display:
    """A few lines that replace themselves on a terminal; elsewhere a line whenever a notebook ends, and every 30 s."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._live = self._out.isatty()
        self._began = self._shown = time.monotonic()
        self._ended: set[str] = set()
        self._height = 0  # lines now on the terminal that the next ones replace

    def __call__(self, jobs: Sequence[Job]) -> None:
        ended = [job for job in jobs if job.state not in {"waiting", "running"}]
        lines = [_ended(job) for job in ended if job.name not in self._ended]
        self._ended |= {job.name for job in ended}
        running = [job for job in jobs if job.state == "running"]
        if self._live:
            if self._height:
                self._out.write(f"\033[{self._height}F\033[J")
            now = [*map(_running, running), self._sum(jobs)]
            width = shutil.get_terminal_size().columns - 1
            lines += [line[:width] for line in now]
            self._height = len(now)
        elif time.monotonic() - self._shown > EVERY:
            self._shown = time.monotonic()
            lines += [self._sum(jobs), *(f"  {_running(job)}" for job in running)]
        if lines:
            self._out.write("\n".join(lines) + "\n")
            self._out.flush()

    def _sum(self, jobs: Sequence[Job]) -> str:
        states = [job.state for job in jobs]
        waiting, running = states.count("waiting"), states.count("running")
        took = time.monotonic() - self._began
        share = sum(_share(job) for job in jobs) / max(len(jobs), 1)
        left = (
            f", about {_clock(took / share - took)} left" if took > 5 and 0.05 < share < 1 else ""
        )
        return (
            f"{len(jobs) - waiting - running} done, {running} running, {waiting} waiting; "
            f"{spent(jobs)}; {_clock(took)}{left}"
        )


def spent(jobs: Sequence[Job]) -> str:
    """The calls of all notebooks, those that were cached, and the dollars."""
    calls, hits, paid = (
        sum(job.total(what) for job in jobs) for what in ("calls", "hits", "dollars")
    )
    return f"{calls:,.0f} calls, {hits:,.0f} cached, {dollars(paid)}"


def _ended(job: Job) -> str:
    took = f" in {_clock(time.monotonic() - job.began)}" if job.began else ""
    why = f": {job.error}" if job.state in {"failed", "done"} and job.error else ""
    return f"{job.name}: {job.state}{took}{why}"


def _running(job: Job) -> str:
    line = f"{job.name}: cell {min(job.cells_done + 1, job.cell_count)} of {job.cell_count}"
    newest = _newest(job)
    if newest and newest["done"] < newest["total"]:
        line += f", {newest['run']}, {newest['done']:,} of {newest['total']:,} questions"
    return line


def _newest(job: Job) -> Mapping[str, Any] | None:
    return next((line for line in reversed(job.reports) if "run" in line), None)


def _share(job: Job) -> float:
    """The share of a notebook that is done, by its cells and by the questions of the running cell."""
    if job.state == "waiting":
        return 0.0
    if job.state != "running":
        return 1.0
    newest = _newest(job)
    part = newest["done"] / max(newest["total"], 1) if newest else 0.0
    return min(1.0, (job.cells_done + part * 0.99) / max(job.cell_count, 1))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return (
        f"{minutes}:{rest:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
    )
