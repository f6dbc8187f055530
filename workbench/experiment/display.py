"""What `workbench reproduce` shows while it works: notebooks, runs, calls, hits, cost and time left."""

import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from workbench.experiment.reproduce import Job
from workbench.llm.money import dollars

_INTERVAL = 30.0  # seconds between two lines where no terminal is attached


class Display:
    """A few lines that replace themselves on a terminal; elsewhere a line whenever a notebook ends, and every 30 s."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._live = self._out.isatty()
        self._started = self._shown_at = time.monotonic()
        self._ended_names: set[str] = set()
        self._live_lines = 0  # lines now on the terminal that the next ones replace

    def __call__(self, jobs: Sequence[Job]) -> None:
        ended = [job for job in jobs if job.state not in {"waiting", "running"}]
        lines = [_ended_line(job) for job in ended if job.name not in self._ended_names]
        self._ended_names |= {job.name for job in ended}
        running = [job for job in jobs if job.state == "running"]
        if self._live:
            if self._live_lines:
                self._out.write(f"\033[{self._live_lines}F\033[J")
            live = [*map(_running_line, running), self._summary_line(jobs)]
            width = shutil.get_terminal_size().columns - 1
            lines += [line[:width] for line in live]
            self._live_lines = len(live)
        elif time.monotonic() - self._shown_at > _INTERVAL:
            self._shown_at = time.monotonic()
            lines += [self._summary_line(jobs), *(f"  {_running_line(job)}" for job in running)]
        if lines:
            self._out.write("\n".join(lines) + "\n")
            self._out.flush()

    def _summary_line(self, jobs: Sequence[Job]) -> str:
        states = [job.state for job in jobs]
        waiting, running = states.count("waiting"), states.count("running")
        seconds = time.monotonic() - self._started
        share = sum(_share_done(job) for job in jobs) / max(len(jobs), 1)
        known = seconds > 5 and 0.05 < share < 1
        left = f", about {_clock(seconds / share - seconds)} left" if known else ""
        done = len(jobs) - waiting - running
        counts = f"{done} done, {running} running, {waiting} waiting"
        return f"{counts}; {spent(jobs)}; {_clock(seconds)}{left}"


def spent(jobs: Sequence[Job]) -> str:
    """The calls of all notebooks, those that were cached, and the dollars."""
    names = ("calls", "hits", "dollars", "unpriced")
    calls, hits, paid, unpriced = (sum(job.total(name) for job in jobs) for name in names)
    return f"{calls:,.0f} calls, {hits:,.0f} cached, {dollars(paid, int(unpriced))}"


def _ended_line(job: Job) -> str:
    duration = f" in {_clock(time.monotonic() - job.started)}" if job.started else ""
    reason = f": {job.error}" if job.state in {"failed", "done"} and job.error else ""
    return f"{job.name}: {job.state}{duration}{reason}"


def _running_line(job: Job) -> str:
    line = f"{job.name}: cell {min(job.cells_done + 1, job.cell_count)} of {job.cell_count}"
    report = _newest_report(job)
    if report and report["done"] < report["total"]:
        line += f", {report['run']}, {report['done']:,} of {report['total']:,} questions"
    return line


def _newest_report(job: Job) -> Mapping[str, Any] | None:
    return next((line for line in reversed(job.reports) if "run" in line), None)


def _share_done(job: Job) -> float:
    """The share of a notebook that is done, by its cells and by the questions of the running cell."""
    if job.state == "waiting":
        return 0.0
    if job.state != "running":
        return 1.0
    report = _newest_report(job)
    part = report["done"] / max(report["total"], 1) if report else 0.0
    return min(1.0, (job.cells_done + part * 0.99) / max(job.cell_count, 1))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours = f"{minutes // 60}:{minutes % 60:02}"
    return f"{minutes if minutes < 60 else hours}:{rest:02}"
