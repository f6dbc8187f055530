"""Parts that several figures share."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from workbench.errors import BadInputError
from workbench.report.style import SMALL, Look, Picture, canvas, name_rows


def need(frame: pd.DataFrame, *columns: str) -> None:
    """Raise BadInputError if the frame lacks one of the columns, or has no rows."""
    if missing := [name for name in columns if name not in frame.columns]:
        wanted = ", ".join(columns)
        raise BadInputError(f"the table has no column {missing[0]}: the figure needs {wanted}")
    if frame.empty:
        raise BadInputError("the table has no rows: there is nothing to draw")


def question_ids(frame: pd.DataFrame) -> str:
    """The ids of the questions of a table's rows."""
    return " ".join(dict.fromkeys(frame["question_id"].astype(str)))


def series(rows: pd.DataFrame, label: str | None) -> dict[str, pd.DataFrame]:
    """The rows of each value of the column `label`; without a label, one series whose name is empty."""
    parts = rows.groupby(label, sort=False) if label else [("", rows)]
    return {str(name): part for name, part in parts}


def bars(
    wide: float, data: pd.DataFrame, y: str, hue: str, looks: Mapping[str, Look], form: str
) -> tuple[Picture, Axes]:
    """A figure of horizontal bars of `value`, one of each `hue` in every row `y`, with their numbers at their ends."""
    from seaborn import barplot  # noqa: PLC0415  it takes half a second

    rows = list(dict.fromkeys(data[y]))
    figure, axes = canvas(wide, 0.55 + len(rows) * (len(looks) * 0.145 + 0.06))
    barplot(
        data, x="value", y=y, hue=hue, orient="h", order=rows, hue_order=list(looks), width=0.86,
        palette={name: look.colour for name, look in looks.items()}, saturation=1, errorbar=None,
        legend=False, ax=axes,
    )  # fmt: skip
    containers: Any = axes.containers
    for look, drawn in zip(looks.values(), containers, strict=True):
        for patch in drawn:
            patch.set(**look.bar)
        axes.bar_label(drawn, fmt=form, padding=2, fontsize=SMALL)
    name_rows(axes, rows)
    axes.grid(axis="x")
    return figure, axes
