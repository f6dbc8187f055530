"""What runs cost."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.html.parts import Html, table, view
from workbench.llm.money import dollars

if TYPE_CHECKING:
    from workbench.study.run import Run


def costs_html(runs: Sequence["Run"]) -> Html:
    """What each run would cost without the cache."""
    names = ("calls", "input_tokens", "output_tokens")
    rows = [
        (
            run.name,
            run.id,
            *(f"{run.questions[name].sum():,.10g}" for name in names),
            dollars(run.questions["dollars"].sum(), int(run.questions["unpriced"].sum())),
        )
        for run in runs
    ]
    columns = ("system", "run", *names, "dollars")
    return view("What each would cost without the cache", table(columns, rows))
