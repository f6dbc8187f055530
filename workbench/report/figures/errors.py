"""The causes of wrong answers, from labels: figures 8 and 13 of CHASE-SQL, 18 of CHESS, 6 of MAC-SQL.

A table of labels has a row for each label, or one for each kind of error with its `count`. `error` is the
kind, and `detail` the subkind, if the paper has any. There is a panel for each system or benchmark. Labels by people
and labels by rules (`automatic`) have panels of their own, if there are both.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from workbench.report.drawing import lettering, palette
from workbench.report.drawing.style import ONE, TWO, Picture, canvas, need, runs
from workbench.report.figures.marks import by_series, name_rows, percent

_COLOURS = [palette.BLUE, palette.ORANGE, palette.GREEN, palette.VERMILION]
_COLOURS += [palette.SKY, palette.PURPLE, palette.GREY, palette.YELLOW]
Signs = Mapping[tuple[str, str], tuple[Any, str]]  # (kind, detail) -> colour, hatch


def tally(labels: pd.DataFrame, panel: str | None = None) -> pd.DataFrame:
    """The count of each kind and detail, and its percent of the panel; the most frequent kinds first."""
    need(labels, "error", *([panel] if panel else []))
    of = panel or "panel"
    rows = labels.assign(
        count=labels.get("count", 1),
        detail=labels.get("detail", pd.Series("", labels.index)).fillna(""),
        **({} if panel else {"panel": ""}),
    )
    rows = rows[rows["count"] > 0].astype({of: str, "error": str, "detail": str})
    need(rows)
    rows["_kind"] = rows.groupby("error")["count"].transform("sum")
    rows["_detail"] = rows.groupby(["error", "detail"])["count"].transform("sum")
    rows["_panel"] = rows[of].map({name: n for n, name in enumerate(dict.fromkeys(rows[of]))})
    rows = rows.sort_values(
        ["_panel", "_kind", "error", "_detail", "detail"],
        ascending=[True, False, True, False, True],
        kind="stable",
    )
    found = rows.groupby([of, "error", "detail"], sort=False)["count"].sum().reset_index()
    found["percent"] = 100 * found["count"] / found.groupby(of)["count"].transform("sum")
    return found.assign(run=runs(labels))


def _people_apart(labels: pd.DataFrame, panel: str | None) -> tuple[pd.DataFrame, str | None]:
    """The labels and the name of their panel column; labels by people and by rules get different panels."""
    if "automatic" not in labels:
        return labels, panel
    rules = labels["automatic"].astype(bool) | (labels["error"] == palette.UNLABELLED)
    if rules.nunique() < 2:
        return labels, panel
    by = rules.map({True: "by rules", False: "by people"})
    names = by if panel is None else labels[panel].astype(str) + ", " + by
    return labels.assign(labelled=names).sort_values("labelled", kind="stable"), "labelled"


def error_pies(labels: pd.DataFrame, panel: str | None = None, *, stamp: object) -> Picture:
    """A pie for each panel, with a ring of details."""
    labels, panel = _people_apart(labels, panel)
    data = tally(labels, panel)
    parts = by_series(data, panel)
    signs = _signs(data)
    lines = max(len(_lines(part)) for part in parts.values())
    across = min(2, len(parts))
    down = -(-len(parts) // across)
    heights = [1.5, 0.15 * lines]
    with canvas((0, ONE, TWO)[across], down * (0.35 + sum(heights)), data, stamp) as figure:
        grid = figure.subplots(2 * down, across, squeeze=False, height_ratios=heights * down)
        for axes in grid.ravel():
            axes.set_axis_off()
        for n, (name, part) in enumerate(parts.items()):
            pie, listing = grid[n // 2 * 2 : n // 2 * 2 + 2, n % 2]
            total = f"N = {int(part['count'].sum()):,}"
            named = f"{lettering.text(palette.shown(name), 150)} ({total})"
            pie.set_title(named if panel else total)
            _rings(pie, part, signs)
            listing.set(xlim=(0, 225), ylim=(lines, 0))
            for at, (kind, detail, rows) in enumerate(_lines(part)):
                _line(listing, at + 0.5, signs[kind, detail], detail or kind, rows, bool(detail))
    return figure


def _signs(data: pd.DataFrame) -> Signs:
    """A colour and hatch for each kind, and lighter shades for its details; the same in all panels."""
    signs: dict[tuple[str, str], tuple[Any, str]] = {}
    for n, (kind, rows) in enumerate(data.groupby("error", sort=False)):
        colour = _COLOURS[n % len(_COLOURS)]
        signs[str(kind), ""] = (colour, palette.HATCHES[n % len(palette.HATCHES)])
        details = [detail for detail in dict.fromkeys(rows["detail"]) if detail]
        for index, detail in enumerate(details):
            signs[str(kind), detail] = (_shade(colour, 0.2 + 0.6 * index / len(details)), "")
    return signs


def _lines(part: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """(kind, "", its rows) for each kind, followed by (kind, detail, its rows) for each detail."""
    lines = []
    for kind, rows in part.groupby("error", sort=False):
        lines.append((str(kind), "", rows))
        lines += [
            (str(kind), str(detail), row)
            for detail, row in rows.groupby("detail", sort=False)
            if detail
        ]
    return lines


def _rings(axes: Axes, part: pd.DataFrame, signs: Signs) -> None:
    kinds = part.groupby("error", sort=False)["count"].sum()
    nested = bool((part["detail"] != "").any())
    axes.pie(
        kinds.tolist(),
        radius=0.68 if nested else 1.0,
        startangle=90,
        counterclock=False,
        colors=[signs[str(kind), ""][0] for kind in kinds.index],
        hatch=[signs[str(kind), ""][1] for kind in kinds.index],
        wedgeprops={"edgecolor": "white", "linewidth": 0.8},
    )
    if nested:
        axes.pie(
            part["count"].tolist(),
            startangle=90,
            counterclock=False,
            colors=[signs[key][0] for key in zip(part["error"], part["detail"], strict=True)],
            wedgeprops={"edgecolor": "white", "linewidth": 0.8, "width": 0.3},
        )


def _line(
    axes: Axes, at: float, sign: tuple[Any, str], name: str, rows: pd.DataFrame, inset: bool
) -> None:
    left, right = 16 if inset else 4, 221
    axes.barh(at, 10, 0.7, left=left, color=sign[0], hatch=sign[1], edgecolor="white", linewidth=0)
    axes.text(left + 14, at, lettering.text(name, right - left - 90), va="center")
    axes.text(right - 34, at, f"{int(rows['count'].sum()):,}", va="center", ha="right")
    axes.text(right, at, f"{rows['percent'].sum():.1f}%", va="center", ha="right")


def error_bars(labels: pd.DataFrame, panel: str | None = None, *, stamp: object) -> Picture:
    """The errors as bars with the details under their kind, to compare panels line by line."""
    labels, panel = _people_apart(labels, panel)
    data = tally(labels, panel)
    parts = by_series(data, panel)
    lines = list(_signs(data))
    looks = palette.looks(parts)
    high = 0.75 + 0.2 * len(lines)
    with canvas(ONE if len(parts) < 2 else TWO, high, data, stamp) as figure:
        grid = figure.subplots(1, len(parts), squeeze=False, sharex=True, sharey=True)[0]
        for axes, (name, part) in zip(grid, parts.items(), strict=True):
            _bars(axes, part, lines, looks[name].colour)
            axes.set_title(lettering.text(palette.shown(name), 150) if panel else "", loc="left")
            axes.tick_params(axis="y", length=0)
        name_rows(grid[0], [detail or kind for kind, detail in lines], 125)
        for label, (_, detail) in zip(grid[0].get_yticklabels(), lines, strict=True):
            label.set(fontweight="normal" if detail else "bold")
        for axes in grid:
            percent(axes, "x", "errors")
            axes.set_xlim(0, 1.2 * max(float(other.dataLim.x1) for other in grid))
    return figure


def _bars(axes: Axes, part: pd.DataFrame, lines: Sequence[tuple[str, str]], colour: str) -> None:
    kinds = part.groupby("error")["percent"].sum()
    details = part.groupby(["error", "detail"])["percent"].sum()
    values = [
        float(details.get((kind, detail), 0) if detail else kinds.get(kind, 0))
        for kind, detail in lines
    ]
    colours = [_shade(colour, 0.55) if detail else to_rgb(colour) for _, detail in lines]
    bars = axes.barh(range(len(lines)), values, 0.7, color=colours)
    axes.bar_label(bars, [f"{v:.1f}" for v in values], padding=2, fontsize=lettering.SMALL)
    axes.grid(axis="x")


def _shade(colour: str, light: float) -> tuple[float, ...]:
    return tuple(part + (1 - part) * light for part in to_rgb(colour))
