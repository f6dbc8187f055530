"""One question's schema as it is pruned: CHESS's figure 17."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from workbench.errors import BadInputError
from workbench.report.drawing import lettering, palette
from workbench.report.drawing.style import TWO, Picture, canvas, need
from workbench.report.figures.marks import legend
from workbench.types import Schema, lower_name

_LINE, _ACROSS = 0.135, 4  # inches a line; blocks side by side


def survival(stages: Mapping[str, Schema], used: Iterable[tuple[str, str]] = ()) -> pd.DataFrame:
    """A row for each column: the last stage that kept it, its keys, and whether the gold query uses it.

    `stages` maps each stage's name to the schema that it left, the whole schema first; `used` are the gold
    query's columns.
    """
    if not stages:
        raise BadInputError("no stages: give the whole schema, and what each stage left of it")
    wanted = {(lower_name(table), lower_name(column)) for table, column in used}
    left = {
        name: {(lower_name(t), lower_name(c)) for t, c in schema.columns()}
        for name, schema in stages.items()
    }
    return pd.DataFrame(
        [
            {
                "table": table.name,
                "column": column.name,
                "stage": [n for n, names in left.items() if key in names][-1],
                "place": [p for p, names in enumerate(left.values()) if key in names][-1],
                "stages": len(left),
                "primary_key": column.name in table.primary_key,
                "foreign_key": ", ".join(
                    k.ref_table for k in table.foreign_keys if column.name in k.columns
                ),
                "used": key in wanted,
            }
            for table in next(iter(stages.values())).tables
            for column in table.columns
            for key in [(lower_name(table.name), lower_name(column.name))]
        ]
    )


def pruned_schema(columns: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 17: tables as blocks of columns, as `survival` returns them; the longer kept, the darker.

    Primary keys are underlined, foreign keys in italics with the table that they refer to, and the gold
    query's columns starred.
    """
    need(
        columns, "table", "column", "stage", "place", "stages", "primary_key", "foreign_key", "used"
    )
    blocks = list(columns.groupby("table", sort=False))
    stacks: list[list[tuple[str, pd.DataFrame]]] = [[] for _ in range(min(_ACROSS, len(blocks)))]
    heights = [0.0] * len(stacks)
    for name, block in blocks:  # each block under the shortest stack
        index = heights.index(min(heights))
        stacks[index].append((str(name), block))
        heights[index] += len(block) + 2
    names = columns.drop_duplicates("place").sort_values("place")
    last = max(1, int(columns["stages"].iloc[0]) - 1)
    high = max(heights) * _LINE
    with canvas(TWO, high + 0.2, columns, stamp) as figure:
        axes = figure.subplots()
        axes.set_axis_off()
        wide = (TWO * 72 - 20) / _ACROSS
        for index, stack in enumerate(stacks):
            at = 0.0
            for name, block in stack:
                _block(axes, index * wide, at, wide - 10, name, block, last)
                at += len(block) + 2
        axes.set(xlim=(0, wide * _ACROSS), ylim=(max(heights), 0))
        keys: dict[str, Any] = {
            f"left by {row['stage']}" if row["place"] else f"only in {row['stage']}": Patch(
                facecolor=_shade(row["place"] / last), edgecolor=palette.GREY, linewidth=0.5
            )
            for _, row in names.iterrows()
        }
        if columns["used"].any():
            keys["used by the gold query"] = Line2D(
                [], [], linestyle="none", marker="*", markersize=7, color=palette.INK
            )
        legend(figure, keys)
    return figure


def _block(
    axes: Axes, x: float, y: float, wide: float, name: str, block: pd.DataFrame, last: int
) -> None:
    alive = block["place"].max() / last
    head = lettering.text(name, 0.85 * wide - 8)  # bold is wider than what is measured
    colour = palette.INK if alive else palette.GREY
    axes.text(x + 3, y + 0.5, head, va="center", fontweight="bold", color=colour)
    for line, (_, row) in enumerate(block.iterrows(), 1):
        shade = row["place"] / last
        face, edge = _shade(shade), palette.PALE
        axes.add_patch(Rectangle((x, y + line), wide, 1, fc=face, ec=edge, lw=0.4))
        star = "\N{BLACK STAR} " if row["used"] else ""
        lead = f" \N{RIGHTWARDS ARROW} {row['foreign_key']}" if row["foreign_key"] else ""
        label = axes.text(
            x + 3,
            y + line + 0.5,
            lettering.text(f"{star}{row['column']}{lead}", wide - 8, lettering.SMALL),
            va="center",
            fontsize=lettering.SMALL,
            fontstyle="italic" if lead else "normal",
            color="white" if shade > 0.7 else palette.INK,
        )
        if row["primary_key"]:
            under = x + 3 + lettering.width(label.get_text().replace(r"\$", "$"), lettering.SMALL)
            axes.plot([x + 3, under], [y + line + 0.92] * 2, color=label.get_color(), linewidth=0.5)
    frame = Rectangle((x, y + 1), wide, len(block), fill=False, ec=palette.GREY, lw=0.7)
    axes.add_patch(frame)


def _shade(depth: float) -> tuple[float, float, float]:
    """From white for columns that went first to dark blue for those that stayed."""
    red, green, blue = (1 - (1 - part) * depth for part in to_rgb(palette.BLUE))
    return red, green, blue
