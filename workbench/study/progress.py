"""The progress of a run: a bar while it works, and in a notebook one line when it has ended."""

import sys
from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from workbench.llm.money import Tally, dollars
from workbench.terminal import bar_stream


class Progress(tqdm):  # type: ignore[misc]
    """Shows the questions that are done, calls asked and cached, and dollars. `solve_all` calls it."""

    def __init__(self, name: str, total: int) -> None:
        # A notebook shows stderr on red, even the empty line that a closed bar leaves.
        self._notebook = type(sys.stderr).__module__.startswith("ipykernel")
        self._name, self._number, self._said = name, total, ""
        how: Any = {"file": sys.stdout, "disable": False} if self._notebook else {"file": bar_stream(), "disable": None}  # fmt: skip
        super().__init__(total=total, desc=name, unit=" questions", delay=1, leave=False, **how)

    def __call__(self, done: int, tally: Tally) -> None:
        spent = f"{tally.calls:,} calls asked, {tally.hits:,} cached, {dollars(tally.cost, tally.unpriced)}"
        self._said = f"{self._name}: {done:,} of {self._number:,} questions, {spent}"
        self.update(done - self.n)
        self.set_postfix_str(spent, refresh=False)

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self._notebook and self._said:
            print(self._said)


def report_failed_calls(system: str, failed: Mapping[str, int]) -> None:
    """Say on standard error how many calls of a system ended without an answer, by fault."""
    if failed:
        faults = ", ".join(f"{fault} {number:,}" for fault, number in sorted(failed.items()))
        line = f"{sum(failed.values()):,} calls got no answer ({faults}), and the numbers lack them: run it again"
        print(f"{system}: {line}" if system else line, file=sys.stderr)
