"""How pruning narrows a schema, and how its size affects accuracy: CHESS's figures 3, 4, 5 and 16."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from workbench.report.drawing import palette, style
from workbench.report.drawing.palette import Look
from workbench.report.drawing.style import ONE, TWO, Picture, canvas, need
from workbench.report.figures import marks
from workbench.types import Schema

_BLUES = ("#9ECAE1", "#6BAED6", "#3182BD", "#08519C", "#08306B")
_STEPS = [Look(blue, marker, "", "-") for blue, marker in zip(_BLUES, "os^Dv", strict=True)]


def sizes(stages: Mapping[str, Schema]) -> pd.DataFrame:
    """The numbers of tables and columns of one question's schema that each stage leaves, by the stage's name."""
    return pd.DataFrame(
        [
            {"stage": name, "tables": len(schema.tables), "columns": len(schema.columns())}
            for name, schema in stages.items()
        ]
    )


def accuracy_by_columns(points: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 3: EX against the number of columns, on a logarithmic axis; a line for pass@1 and one for pass@5.

    Columns `columns`, `EX` and `metric`; `low` and `high` are drawn where they are given.
    """
    return _lines(points, "columns", "metric", "columns in the schema", stamp, logarithmic=True)


def accuracy_by_tests(points: pd.DataFrame, label: str | None = None, *, stamp: object) -> Picture:
    """Figure 4: EX against the number of unit tests: columns `tests` and `EX`, `low` and `high`."""
    return _lines(points, "tests", label, "unit tests per question", stamp)


def _lines(
    points: pd.DataFrame,
    x: str,
    label: str | None,
    x_label: str,
    stamp: object,
    *,
    logarithmic: bool = False,
) -> Picture:
    need(points, x, "EX", *([label] if label else []))
    parts = marks.by_series(points, label)
    looks = palette.looks(parts)
    many = len(parts) > 2
    with canvas(TWO if many else ONE, 2.0, points, stamp) as figure:
        axes = figure.subplots()
        for index, (name, rows) in enumerate(parts.items()):
            part = rows.sort_values(x)
            look, at = looks[name], part[x]
            bounded = "low" in part and "high" in part
            if bounded and many:  # bands would hide each other
                at = at * 1.03 ** (index - (len(parts) - 1) / 2) if logarithmic else at
                axes.vlines(at, part["low"], part["high"], color=look.colour, linewidth=0.8)
            elif bounded:
                axes.fill_between(at, part["low"], part["high"], color=look.colour, alpha=0.12)
            axes.plot(at, part["EX"], **look.curve)
        axes.set_xlabel(x_label)
        if logarithmic:
            axes.set_xscale("log")
            _plain_ticks(axes, points[x].unique().tolist())
        else:
            axes.xaxis.set_major_locator(
                MaxNLocator(8, integer=True, min_n_ticks=1, steps=[1, 2, 5, 10])
            )
        marks.percent(axes, "y", "EX")
        axes.grid(axis="y")
        if label:
            keys = {name: marks.line_key(look) for name, look in looks.items()}
            marks.legend(figure, keys, "right" if many else "above")
    return figure


def _plain_ticks(axes: Axes, values: Sequence[float]) -> None:
    """On a logarithmic axis whole numbers at the data, as long as they stand apart; else powers of ten."""
    ordered = sorted(values)
    apart = all(b >= 1.5 * a for a, b in pairwise(ordered))
    if apart and len(ordered) <= 7:
        axes.set_xticks(ordered, [f"{value:,.0f}" for value in ordered])
        axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def columns_left(stages: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 5: the mean number of columns left after each stage, by database.

    Columns `db_id`, `stage` and `columns`: a row for each question and stage, stages in their order.
    """
    need(stages, "db_id", "stage", "columns")
    data = stages.groupby(["db_id", "stage"], sort=False).agg(
        columns=("columns", "mean"), n=("columns", "size")
    )
    data = data.reset_index().assign(run=style.runs(stages))
    rows, names = list(dict.fromkeys(data["db_id"])), list(dict.fromkeys(data["stage"]))
    with canvas(ONE, 0.55 + 0.2 * len(rows), data, stamp) as figure:
        axes = figure.subplots()
        for row, name in enumerate(rows):
            part = data[data["db_id"] == name]
            least, most = part["columns"].min(), part["columns"].max()
            axes.hlines(row, least, most, color=palette.PALE, linewidth=1, zorder=0)
            for _, stage in part.iterrows():
                look = _step(names.index(stage["stage"]))
                axes.plot(stage["columns"], row, look.marker, color=look.colour, markersize=5)
        marks.name_rows(axes, rows)
        marks.round_ticks(axes)
        axes.set_xlabel("columns left (mean)")
        axes.grid(axis="x")
        marks.legend(
            figure, {str(n): marks.line_key(_step(i), "none") for i, n in enumerate(names)}
        )
    return figure


def _step(index: int) -> Look:
    return _STEPS[min(index, len(_STEPS) - 1)]


def funnel(stages: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 16: one question's tables and columns after each stage: columns `stage`, `tables`, `columns`."""
    need(stages, "stage", "tables", "columns")
    names = stages["stage"].tolist()
    with canvas(ONE, 0.35 + 0.36 * len(names), stages, stamp) as figure:
        axes = figure.subplots()
        most = max(1, stages["columns"].max())
        for row, (_, stage) in enumerate(stages.iterrows()):
            share = stage["columns"] / most
            axes.barh(row, share, 0.8, left=-share / 2, color=_step(row).colour)
        marks.name_rows(axes, names, 80)
        left = zip(stages["tables"], stages["columns"], strict=True)
        marks.notes_beside(
            axes, [f"tables {tables:,}\ncolumns {columns:,}" for tables, columns in left]
        )
        axes.set_xlim(-0.52, 0.52)
        axes.set_xticks([])
        axes.spines[:].set_visible(False)
    return figure
