"""The progress of a run: a bar while it works, and one line when it has ended."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

from workbench.llm.money import Tally, dollars
from workbench.terminal import bar_stream

if TYPE_CHECKING:
    from tqdm import tqdm


class Progress:
    """Shows the questions that are done, calls asked and cached, and dollars. `solve_all` calls it."""

    def __init__(self, name: str) -> None:
        self._name, self._said = name, ""
        self._bar: tqdm[None] | None = None

    def __call__(self, done: int, total: int, tally: Tally) -> None:
        spent = f"{tally.calls:,} calls asked, {tally.hits:,} cached, {dollars(tally.cost, tally.unpriced)}"
        self._said = f"{self._name}: {done:,} of {total:,} questions, {spent}"
        # A notebook shows stderr on red, even the empty line that a closed bar leaves.
        self._notebook = type(sys.stderr).__module__.startswith("ipykernel")
        if self._bar is None:
            from tqdm import tqdm  # noqa: PLC0415  a tenth of a second

            file = sys.stdout if self._notebook else bar_stream()
            shown = None if not self._notebook else False  # None: on a terminal
            self._bar = tqdm(total=total, desc=self._name, unit=" questions", delay=1, leave=False,
                             file=file, disable=shown)  # fmt: skip
        self._bar.update(done - self._bar.n)
        self._bar.set_postfix_str(spent, refresh=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
            if self._notebook:
                print(self._said)


def report_failed_calls(system: str, failed: Mapping[str, int]) -> None:
    """Say on standard error how many calls of a system ended without an answer, by fault."""
    if failed:
        faults = ", ".join(f"{fault} {number:,}" for fault, number in sorted(failed.items()))
        line = f"{sum(failed.values()):,} calls got no answer ({faults}), and the numbers lack them: run it again"
        print(f"{system}: {line}" if system else line, file=sys.stderr)
