"""The questions that each generator solves: CHASE-SQL's figure 3a (Venn), and how far systems agree."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from workbench.errors import BadInputError, one_of
from workbench.report.drawing import lettering, palette
from workbench.report.drawing.style import ONE, TWO, Picture, canvas, need, runs
from workbench.report.figures.marks import bar_key, legend

SEVERAL = " & "
"""Joins the names of generators that solve a question together."""


def solved(frame: pd.DataFrame, by: str = "generator") -> pd.DataFrame:
    """A row for each question and a column for each value of `by`: whether any of its rows is right."""
    need(frame, "question_id", "correct", by)
    wide = frame.pivot_table(
        index="question_id", columns=by, values="correct", aggfunc="max", sort=False
    )
    return wide.fillna(0).astype(bool)[list(dict.fromkeys(frame[by]))]


def overlap(frame: pd.DataFrame, by: str = "generator") -> pd.DataFrame:
    """For each combination of solvers the questions that exactly these solve: number, percent and ids."""
    wide = solved(frame, by)
    return pd.DataFrame(
        [
            {
                "solved_by": SEVERAL.join(str(n) for n, has in zip(wide, who, strict=True) if has),
                "n": len(theirs),
                "percent": 100 * len(theirs) / len(wide),
                "run": runs(frame),
                by: SEVERAL.join(map(str, wide)),
                "question_ids": " ".join(map(str, theirs)),
                "counted": "all",
            }
            for who in product((True, False), repeat=len(wide.columns))
            for theirs in [wide.index[(wide == list(who)).all(axis=1)]]
        ]
    )


def venn(frame: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 3a: the questions that each of two or three solves at least once, areas to scale."""
    wide = solved(frame)
    names = [str(name) for name in wide]
    if len(names) not in {2, 3}:
        raise BadInputError(
            f"a Venn diagram shows two or three, and there are {len(names)}: use `agreement` for more"
        )
    sizes = {
        "".join("01"[has] for has in who): int((wide == list(who)).all(axis=1).sum())
        for who in product((False, True), repeat=len(names))
    }
    looks = palette.looks(names)
    colours = [looks[name].colour for name in names]
    with canvas(TWO, 2.6, overlap(frame), stamp) as figure:
        axes, aside = figure.subplots(1, 2, width_ratios=(1.0, 1.1))
        _circles(axes, colours, sizes)
        _listing(aside, looks, sizes)
        plain = {name: bar_key(replace(look, hatch="")) for name, look in looks.items()}
        legend(figure, plain)
    return figure


def _circles(axes: Axes, colours: Sequence[str], sizes: Mapping[str, int]) -> None:
    # Imported here, since it imports SciPy, which takes half a second.
    from matplotlib_venn import layout, venn2, venn3  # noqa: PLC0415

    draw, by = (venn2, layout.venn2) if len(colours) == 2 else (venn3, layout.venn3)
    regions = {key: size for key, size in sizes.items() if "1" in key}
    sets = [
        sum(n for key, n in regions.items() if key[index] == "1") for index in range(len(colours))
    ]
    even = None if all(sets) else (1,) * len(regions)  # a circle of no area cannot be drawn
    drawn = draw(
        subsets=regions,
        set_labels=None,
        set_colors=colours,
        alpha=0.45,
        ax=axes,
        layout_algorithm=by.DefaultLayoutAlgorithm(fixed_subset_sizes=even),
    )
    if even:
        axes.set_title("areas not in proportion: one solves none", fontsize=lettering.SMALL)
    for key, size in regions.items():
        label, patch = drawn.get_label_by_id(key), drawn.get_patch_by_id(key)
        if label is not None:
            label.set(text=str(size), fontsize=lettering.SIZE)
            placed = label.get_position()
            if patch is not None:  # the middle of a region that is nearly a circle, else as placed
                low, high = patch.get_path().get_extents().get_points()
                label.set_position((low + high) / 2)
            if not _contains(patch, label):
                label.set_position(placed)
            if not size or not _contains(patch, label):
                label.set_text("")


def _contains(patch: Any, label: Any) -> bool:
    """Whether a label lies within its region, all corners included."""
    if patch is None:
        return False
    box = label.get_window_extent()
    corners = [(x, y) for x in (box.x0, box.x1) for y in (box.y0, box.y1)]
    path = patch.get_path().transformed(patch.get_transform())
    return bool(path.contains_points(corners).all())


def _listing(axes: Axes, looks: Mapping[str, palette.Look], sizes: Mapping[str, int]) -> None:
    """All regions in words and numbers, since some are too small for a number."""
    axes.set_axis_off()
    total = sum(sizes.values())
    axes.text(0.82, 1, "questions", va="center", ha="right", fontsize=lettering.SMALL)
    axes.text(1.0, 1, "share", va="center", ha="right", fontsize=lettering.SMALL)
    for line, key in enumerate(sorted(sizes, key=lambda key: (key.count("1"), key), reverse=True)):
        at = 1 - (line + 1) / (len(sizes) + 0.5)
        for column, (has, look) in enumerate(zip(key, looks.values(), strict=True)):
            filling = look.colour if has == "1" else "white"
            x = 0.03 + 0.06 * column
            axes.plot(x, at, "o", markersize=6, color=look.colour, mfc=filling, clip_on=False)
        axes.text(0.22, at, lettering.text(_who(key, list(looks)), 118), va="center")
        axes.text(0.82, at, f"{sizes[key]:,}", va="center", ha="right")
        axes.text(1.0, at, f"{100 * sizes[key] / total:.1f}%", va="center", ha="right")
    axes.set(xlim=(0, 1), ylim=(0, 1))


def _who(key: str, names: Sequence[str]) -> str:
    """Who solves the questions of a region, in words."""
    solvers = [name for has, name in zip(key, names, strict=True) if has == "1"]
    others = [name for has, name in zip(key, names, strict=True) if has == "0"]
    if not solvers or not others:
        return "all" if solvers else "none"
    lone = len(solvers) == 1
    return f"{palette.shown(solvers[0])} alone" if lone else f"all but {palette.shown(others[0])}"


Measure = Literal["same verdict", "row alone"]
_TITLES = {"same verdict": "both right or both wrong", "row alone": "row right, column wrong"}


def agreement(
    frame: pd.DataFrame, by: str = "generator", measure: Measure = "same verdict", *, stamp: object
) -> Picture:
    """A heat map over pairs, in percent of the questions; the diagonal has the questions that each solves.

    "same verdict": both right or both wrong. "row alone": the row's is right and the column's is wrong.
    """
    from seaborn import heatmap  # noqa: PLC0415  it takes half a second

    wide = solved(frame, by)
    names = [str(name) for name in wide]
    one_of(tuple(_TITLES), measure=measure)
    rows = []
    for (a, ours), (b, theirs) in product(wide.items(), repeat=2):
        pair = ours == theirs if measure == "same verdict" else ours & ~theirs
        share = (ours if a == b else pair).mean()
        rows.append({by: a, "other": b, "percent": 100 * share, "run": runs(frame)})
    data = pd.DataFrame(rows)
    values = data["percent"].to_numpy().reshape(len(names), len(names))
    own = np.eye(len(names), dtype=bool)
    pairs = values[~own] if len(names) > 1 else values
    low, high = float(pairs.min()), float(pairs.max())
    with canvas(ONE if len(names) < 4 else TWO, 1.5 + 0.26 * len(names), data, stamp) as figure:
        axes = figure.subplots()
        labels = [lettering.text(palette.shown(name), 110) for name in names]
        heatmap(
            values, vmin=low, vmax=max(high, low + 1), cmap="Blues", annot=True, fmt=".0f", ax=axes,
            mask=own, cbar_kws={"label": "questions, %", "shrink": 0.9},
        )  # fmt: skip
        for index in range(len(names)):  # the diagonal is another measure, so it has no colour
            solves = f"{values[index, index]:.0f}"
            axes.text(index + 0.5, index + 0.5, solves, va="center", ha="center", fontweight="bold")
        axes.tick_params(length=0)
        axes.set_yticklabels(labels, rotation=0)
        axes.set_xticklabels(labels, rotation=40, ha="right", rotation_mode="anchor")
        axes.set_title(f"{_TITLES[measure]}\n(diagonal: solved)", loc="left")
    return figure
