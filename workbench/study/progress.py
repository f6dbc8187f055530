"""How far a run is: a bar where somebody watches, a line in a file where `workbench reproduce` does."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import orjson
from tqdm import tqdm

from workbench.llm.budget import Tally

EVERY = 0.5  # seconds between two lines


class Progress:
    """Called with what `solve_all` tells. The file that WORKBENCH_PROGRESS names gets the newest state."""

    def __init__(self, name: str, run: str) -> None:
        self._name = name
        self._run = run
        self._file = os.environ.get("WORKBENCH_PROGRESS")
        self._began = time.time()  # one run may be asked for twice, and the second pays nothing
        self._told = 0.0
        self._at = (0, 0)
        self._bar: tqdm[None] | None = None

    def __call__(self, done: int, total: int, tally: Tally) -> None:
        self._at = done, total
        if self._file:
            if time.monotonic() - self._told > EVERY or done == total:
                self._told = time.monotonic()
                self._write(Path(self._file), done, total, tally)
            return
        if self._bar is None:
            self._bar = tqdm(total=total, desc=self._name, unit=" questions", delay=1, leave=False)
        self._bar.update(done - self._bar.n)
        self._bar.set_postfix_str(f"{tally.calls:,} calls, ${tally.cost:.2f}", refresh=False)

    def end(self, tally: Tally) -> None:
        """The run has ended, or was ended: what it came to."""
        if self._file:
            self._write(Path(self._file), *self._at, tally)

    def _write(self, file: Path, done: int, total: int, tally: Tally) -> None:
        state = {
            "id": self._run,
            "run": self._name,
            "began": self._began,
            "done": done,
            "total": total,
            "calls": tally.calls,
            "hits": tally.hits,
            "dollars": tally.cost,
        }
        _append(file, state)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def tell(**told: Any) -> None:
    """Tell `workbench reproduce`, where it listens, what else happened."""
    if file := os.environ.get("WORKBENCH_PROGRESS"):
        _append(Path(file), told)


def _append(file: Path, told: Mapping[str, Any]) -> None:
    with file.open("ab") as lines:
        lines.write(orjson.dumps(told) + b"\n")
