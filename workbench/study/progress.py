"""What a run says while it goes on: the questions that are done, and the calls that failed."""

import sys
from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from workbench.llm.money import Tally, dollars
from workbench.terminal import bar_stream


class Progress(tqdm):  # type: ignore[misc]
    """Shows the questions that are done, calls asked and cached, and dollars."""

    def __init__(self, name: str, total: int) -> None:
        how: dict[str, Any] = {
            "file": bar_stream(),
            "disable": None,
            "delay": 1,
            "leave": False,
        }
        # Which shows stderr on red.
        if type(sys.stderr).__module__.startswith("ipykernel"):
            line = "{desc}: {n:,} of {total:,} questions{postfix}"
            how = {"file": sys.stdout, "bar_format": line}
        super().__init__(total=total, desc=name, unit=" questions", **how)

    def __call__(self, done: int, tally: Tally) -> None:
        paid = dollars(tally.cost, tally.unpriced)
        line = f"{tally.calls:,} calls asked, {tally.hits:,} cached, {paid}"
        self.set_postfix_str(line, refresh=False)
        self.update(done - self.n)


def report_failed_calls(system: str, failed: Mapping[str, int]) -> None:
    """Say on standard error how many calls of a system ended without an answer, by fault."""
    if not failed:
        return
    faults = ", ".join(
        f"{fault} {number:,}" for fault, number in sorted(failed.items())
    )
    number = sum(failed.values())
    line = f"{number:,} calls got no answer ({faults}), and the numbers lack them: run it again"
    print(f"{system}: {line}" if system else line, file=sys.stderr)
