"""The progress of a run: a bar for a person, lines of JSON for `workbench reproduce`."""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import orjson

from workbench.llm.money import Tally
from workbench.terminal import bar_stream

if TYPE_CHECKING:
    from tqdm import tqdm

_INTERVAL = 0.5  # seconds between two reports of a run


class Progress:
    """Shows a bar, or appends each state to the file that WORKBENCH_PROGRESS names. `solve_all` calls it."""

    def __init__(self, name: str, run: str) -> None:
        self._name = name
        self._run = run
        self._reports = bool(os.environ.get("WORKBENCH_PROGRESS"))
        self._began_at = time.time()  # tells apart two runs of one id
        self._reported_at = 0.0
        self._done_and_total = (0, 0)
        self._bar: tqdm[None] | None = None

    def __call__(self, done: int, total: int, tally: Tally) -> None:
        self._done_and_total = done, total
        if self._reports:
            if time.monotonic() - self._reported_at > _INTERVAL or done == total:
                self._reported_at = time.monotonic()
                self.report(tally)
            return
        if self._bar is None:
            from tqdm import tqdm  # noqa: PLC0415  it takes long to import, and a line of JSON needs none

            # A notebook shows stderr on red, even the empty line that a closed bar leaves.
            notebook = type(sys.stderr).__module__.startswith("ipykernel")
            file = sys.stdout if notebook else bar_stream()
            self._bar = tqdm(
                total=total,
                desc=self._name,
                unit=" questions",
                delay=1,
                leave=False,
                file=file,
                disable=False if notebook else None,  # None: not in a file
            )
        self._bar.update(done - self._bar.n)
        cost = f"${tally.cost:.2f}{' and unknown prices' if tally.unpriced else ''}"
        self._bar.set_postfix_str(f"{tally.calls:,} calls, {cost}", refresh=False)

    def report(self, tally: Tally) -> None:
        """Report the state of the run, also after it ended or was stopped."""
        done, total = self._done_and_total
        state = {"id": self._run, "run": self._name, "began": self._began_at}
        report(**state, done=done, total=total, **counts(tally))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def counts(tally: Tally) -> dict[str, float]:
    """The calls, tokens and dollars of a run, as each of its lines reports them."""
    names = ("calls", "hits", "input_tokens", "output_tokens", "unpriced")
    return {"dollars": tally.cost} | {name: getattr(tally, name) for name in names}


def report_failed_calls(system: str, failed: Mapping[str, int]) -> None:
    """Report how many calls of a system ended without an answer, by fault; `workbench reproduce` prints its own line."""
    if os.environ.get("WORKBENCH_PROGRESS"):
        report(failed=sum(failed.values()))
        return
    faults = ", ".join(f"{fault} {number:,}" for fault, number in sorted(failed.items()))
    line = f"{sum(failed.values()):,} calls got no answer ({faults}), and the numbers lack them: run it again"
    print(f"{system}: {line}" if system else line, file=sys.stderr)


def report(**event: Any) -> None:
    """Report another event to `workbench reproduce`: a saved figure, failed calls."""
    if file := os.environ.get("WORKBENCH_PROGRESS"):
        with Path(file).open("ab") as lines:
            lines.write(orjson.dumps(event) + b"\n")
