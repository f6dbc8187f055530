"""The progress of a run: a bar while it works, of which a notebook keeps the last line."""

import sys
from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from workbench.llm.money import Tally, dollars
from workbench.terminal import bar_stream


class Progress(tqdm):  # type: ignore[misc]
    """Shows the questions that are done, calls asked and cached, and dollars. `solve_all` calls it."""

    def __init__(self, name: str, total: int) -> None:
        how: Any = {"file": bar_stream(), "disable": None, "delay": 1, "leave": False}
        if type(sys.stderr).__module__.startswith("ipykernel"):  # which shows stderr on red
            how = {"file": sys.stdout, "bar_format": "{desc}: {n:,} of {total:,} questions{postfix}"}  # fmt: skip
        super().__init__(total=total, desc=name, unit=" questions", **how)

    def __call__(self, done: int, tally: Tally) -> None:
        spent = f"{tally.calls:,} calls asked, {tally.hits:,} cached, {dollars(tally.cost, tally.unpriced)}"
        self.set_postfix_str(spent, refresh=False)
        self.update(done - self.n)


def report_failed_calls(system: str, failed: Mapping[str, int]) -> None:
    """Say on standard error how many calls of a system ended without an answer, by fault."""
    if failed:
        faults = ", ".join(f"{fault} {number:,}" for fault, number in sorted(failed.items()))
        line = f"{sum(failed.values()):,} calls got no answer ({faults}), and the numbers lack them: run it again"
        print(f"{system}: {line}" if system else line, file=sys.stderr)
