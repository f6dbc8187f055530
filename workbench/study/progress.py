"""What a run says while it goes on: the questions that are done, and the calls that failed."""

import sys
from collections.abc import Mapping

from tqdm import tqdm

from workbench.llm.money import Tally, dollars
from workbench.terminal import bar_stream


class Progress(tqdm):  # type: ignore[misc]
    """Shows the questions that are done, calls asked and cached, and dollars."""

    def __init__(self, name: str, total: int) -> None:
        is_notebook = type(sys.stderr).__module__.startswith("ipykernel")
        if is_notebook:  # shows stderr on red, and keeps the last line
            line = "{desc}: {n:,} of {total:,} questions{postfix}"
            super().__init__(total=total, desc=name, file=sys.stdout, bar_format=line)
        else:
            super().__init__(
                total=total,
                desc=name,
                unit=" questions",
                file=bar_stream(),
                disable=None,  # where there is no terminal
                delay=1,
                leave=False,
            )

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
    print(
        f"{system}: {number:,} calls got no answer ({faults}), and the numbers lack them:"
        " run it again",
        file=sys.stderr,
    )
