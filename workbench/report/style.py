"""One look for every figure: print sizes, colours by name, a footer that says what is shown, files that repeat.

A generator or system has one colour, marker and hatch in every figure, so that colour is never the only sign. The
colours are Okabe and Ito's (2008), which colour-blind readers can tell apart. Text may be anything that databases
and models write: `$` starts no formula, and a character that the font lacks is written as its number.
"""

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import (
    EngFormatter,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
    PercentFormatter,
)
from PIL import Image

from workbench.errors import BadInputError
from workbench.report.stamp import stamped
from workbench.store import home
from workbench.terminal import visible

ONE, TWO = 3.35, 6.9  # the width of one and of two columns of print, in inches
SMALL = 6.5  # the size of small text, in points; other text has 8
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7F7F7F", "#000000")
BLUE, ORANGE, _, _, PURPLE, SKY, GREY, BLACK = COLOURS
PALE, INK = "#D9D9D9", "#222222"
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "||||", "oo")
MARKERS = "os^DvPX<"
UNLABELLED = "not labelled"  # the error that neither a person nor a rule labelled
settings = style.context(str(Path(__file__).with_name("workbench.mplstyle")), after_reset=True)
"""A decorator of functions that draw: our look, whatever a notebook has set."""
# Names as readers know them; a name's place in its line is its look. The first two lines have generators and systems.
_NAMED = """
divide and conquer | query plan | synthetic examples | direct | chess candidate | decomposer | all together
CHASE-SQL | CHESS (IR, SS, CG) | MAC-SQL | CHESS (IR, CG, UT) | zero-shot | direct, chain of thought | zero-shot, chain of thought | gold
pairwise | majority | unit tests | ranker | adversary | oracle
pass@1 | pass@5 | pass@1, schema selector | pass@5, schema selector
simple | moderate | challenging
easy | medium | hard | extra
"""
_LEVELS = ("simple", "easy", "moderate", "medium", "challenging", "hard", "extra")


def _key(name: object) -> str:
    return " ".join(str(name).casefold().replace("_", " ").replace("-", " ").split())


_GROUPS = [line.split(" | ") for line in _NAMED.strip().splitlines()]
_SHOWN = {_key(name): name for group in _GROUPS for name in group}
_PLACES = {_key(name): place for group in _GROUPS for place, name in enumerate(group)}
_ROOTS = [*map(_key, _GROUPS[0] + _GROUPS[1]), "chess"]
_PLACES["chess"] = _PLACES["chess (ir, cg, ut)"]  # as a part of longer names


@dataclass(frozen=True, slots=True)
class Look:
    """The colour, marker and hatch of one name."""

    colour: str
    marker: str = "o"
    hatch: str = ""

    @property
    def mark(self) -> dict[str, Any]:
        return {"color": self.colour, "marker": self.marker}

    @property
    def bar(self) -> dict[str, Any]:
        return {"fc": self.colour, "hatch": self.hatch, "edgecolor": "white", "linewidth": 0}


def shown(name: object) -> str:
    """The name as readers know it: "query plan" for `query_plan`."""
    return _SHOWN.get(_key(name), str(name))


def _root(name: object) -> str:
    """The system or generator that a name contains: "CHASE-SQL, majority", "w/o query plan"."""
    return max((known for known in _ROOTS if known in _key(name)), key=len, default="")


def colour(name: object) -> str:
    """The colour of the system or generator in a name; ink if there is none."""
    return COLOURS[_PLACES[_root(name)] % 8] if _root(name) else INK


def looks(names: Iterable[Any]) -> dict[str, Look]:
    """The looks of the names in one figure, no two of 64 alike.

    A variant has the colour of its system or generator; other names take what is free, in their order.
    """
    places: dict[str, int] = {}
    for name in sorted(dict.fromkeys(names), key=lambda name: _key(name) not in _PLACES):
        root = _key(name) if _key(name) in _PLACES else _root(name)
        start, step = (_PLACES[root], 8) if root else (0, 1)
        places[name] = next(place for place in count(start, step) if place not in places.values())
    shapes = {name: (place + place // 8) % 8 for name, place in places.items()}
    return {
        name: Look(COLOURS[places[name] % 8], MARKERS[shapes[name]], HATCHES[shapes[name]])
        for name in names
    }


def shade(colour: str, light: float) -> str:
    """A colour mixed with white."""
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * light):02X}" for part in parts)


def ordered(names: Iterable[Any]) -> list[Any]:
    """Each name once in the given order; difficulties after the others, from easy to hard."""
    place = {level: number for number, level in enumerate(_LEVELS)}
    return sorted(dict.fromkeys(names), key=lambda name: place.get(name, -1))


def text(value: object, most: int = 1000) -> str:
    """A value as one line for Matplotlib: `$` escaped, and cut in the middle to at most so many characters."""
    line = " ".join(visible(str(value)).split()) or "(empty)"
    line = "".join(one if ord(one) in _glyphs() else f"[U+{ord(one):04X}]" for one in line)
    if len(line) > most:
        line = f"{line[: most // 2].rstrip()}…{line[len(line) + 1 - most // 2 :].lstrip()}"
    return line.replace("$", r"\$")


@cache
def _glyphs() -> frozenset[int]:
    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


class Picture(Figure):
    """A figure with the data that it shows; a notebook displays it as the PNG of its file."""

    data: pd.DataFrame
    """The rows that the figure shows, for the CSV beside it."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        wide, high = (round(110 * inches) for inches in self.get_size_inches())
        return rendered(self, "png"), {"width": wide, "height": high}


def need(frame: pd.DataFrame, *columns: str) -> None:
    """Raise BadInputError if the frame lacks one of the columns, or has no rows."""
    if missing := [name for name in columns if name not in frame.columns]:
        wanted = ", ".join(columns)
        raise BadInputError(f"the table has no column {missing[0]}: the figure needs {wanted}")
    if frame.empty:
        raise BadInputError("the table has no rows: there is nothing to draw")


def series(rows: pd.DataFrame, label: str | None) -> dict[str, pd.DataFrame]:
    """The rows of each value of the column `label`; without a label, one series whose name is empty."""
    parts = rows.groupby(label, sort=False) if label else [("", rows)]
    return {str(name): part for name, part in parts}


def spread(rows: pd.DataFrame, value: str = "EX") -> list[pd.Series] | None:
    """The distances from a value to `low` and to `high`, as `Axes.errorbar` takes them."""
    ends = {"low", "high"} <= set(rows)
    return [rows[value] - rows["low"], rows["high"] - rows[value]] if ends else None


def panels(
    wide: float, high: float, number: int = 1, across: int = 1
) -> tuple[Picture, list[Axes]]:
    """A figure of a size in inches with panels side by side, which have a common vertical axis."""
    figure = Picture(figsize=(wide, max(1.0, high)), layout="constrained")
    grid = figure.subplots(-(-number // across), across, squeeze=False, sharey=True).ravel()
    for axes in grid[number:]:
        axes.remove()
    return figure, list(grid[:number])


def bars(
    wide: float,
    values: pd.DataFrame,
    looks: Mapping[str, Look],
    form: str,
    *,
    stacked: bool = False,
) -> tuple[Picture, Axes]:
    """A figure of horizontal bars with their numbers: a group or a stack for each row, a bar for each column."""
    high = 0.24 if stacked else len(looks) * 0.145 + 0.06
    figure, (axes,) = panels(wide, 0.55 + len(values) * high)
    values[[*looks]].plot.barh(ax=axes, width=0.84, stacked=stacked, legend=False)
    halo = {"path_effects": [withStroke(linewidth=2.5, foreground="white")]}
    place: dict[str, Any] = {"label_type": "center", **halo} if stacked else {"padding": 2}
    containers: Any = axes.containers
    for look, drawn in zip(looks.values(), containers, strict=True):
        for patch in drawn:
            patch.set(**look.bar)
        # A piece of a stack that is narrower than 4 % cannot hold its number.
        least = 4 if stacked else float("-inf")
        numbers = ["" if value < least else form.format(value) for value in drawn.datavalues]
        axes.bar_label(drawn, numbers, fontsize=SMALL, **place)
    name_rows(axes, [*values.index])
    axes.grid(axis="x")
    return figure, axes


def pie(axes: Axes, counts: Any, looks: Iterable[Look], names: Iterable[str]) -> None:
    """A pie with its names, counts and percentages below."""
    wedges, *_ = axes.pie(counts, startangle=90, counterclock=False)
    labels = []
    for wedge, look, name, n in zip(wedges, looks, names, counts, strict=True):
        wedge.set(**look.bar | {"linewidth": 0.8})
        labels.append(f"{text(name, 36)}  {n:,} ({100 * n / sum(counts):.1f}%)")
    axes.legend(wedges, labels, loc="upper center", bbox_to_anchor=(0.5, 0.02), handlelength=1.2)


def name_rows(axes: Axes, names: list[Any], most: int = 25) -> None:
    """Name the rows of horizontal bars, the first one on top."""
    axes.set_yticks(range(len(names)), [text(shown(name), most) for name in names])
    axes.set(ylim=(len(names) - 0.5, -0.5), ylabel="")
    axes.tick_params(axis="y", length=0)


def percent(axes: Axes, which: str, label: str, *, whole: bool = False) -> None:
    """The axis x or y in percent: from 0 to 100 if `whole`, else as far as the data reach."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(PercentFormatter(decimals=0))
    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], integer=True))
    axis.set_label_text(label)
    low, high = axis.get_view_interval()
    # 112: room for the number beside a full bar
    axes.set(**{f"{which}lim": (0, 112) if whole else (max(-3, low - 1), min(103, high + 1))})
    if whole:
        axis.set_ticks(range(0, 101, 25))


def logarithmic(axes: Axes) -> None:
    """A logarithmic horizontal axis with a few round numbers."""
    axes.set_xscale("log")
    low, high = axes.dataLim.intervalx
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3) if high < 1000 * low else (1,)))
    axes.xaxis.set_minor_locator(NullLocator())
    short = EngFormatter(sep="")
    form = FuncFormatter(lambda value, _: short(value) if value >= 1000 else f"{value:g}")
    axes.xaxis.set_major_formatter(form)


def line_key(look: Look, line: Any = "-", **other: Any) -> Line2D:
    """A line's sign in a legend, or a mark's if the line is empty."""
    return Line2D([], [], linestyle=line, **look.mark | other)


def legend(figure: Picture, keys: Mapping[str, Any], *, right: bool = False) -> None:
    """A legend above the axes, in as many columns as fit, or at their right, beside many marks.

    A key is a `Look`, drawn as a bar, or an artist of Matplotlib. The figure grows by the height of a legend above it.
    """
    room = int(14.5 * figure.get_figwidth())  # in characters; a key takes eight
    names = [text(shown(name), room // (1 + right) - 8) for name in keys]
    columns = 1 if right else max(1, min(len(names), room // (max(map(len, names)) + 8)))
    if not right:
        figure.set_figheight(figure.get_figheight() + 0.16 * -(-len(names) // columns))
    place: Any = "outside right upper" if right else "outside upper left"
    handles = [Patch(**key.bar) if isinstance(key, Look) else key for key in keys.values()]
    figure.legend(handles, names, loc=place, ncols=columns)


def finish(figure: Picture, data: pd.DataFrame, stamp: object, note: str = "") -> Picture:
    """Write the stamp and a note below the figure, which grows by them, and fix the layout once."""
    said = stamped(stamp, data)
    line = text(f"{said.removesuffix('.')}. {note}" if note else said)
    footer = textwrap.wrap(line, int(17.9 * figure.get_figwidth()), max_lines=8)
    figure.set_figheight(figure.get_figheight() + 0.1 * len(footer))
    figure.supxlabel("\n".join(footer), x=0.01, ha="left", fontsize=SMALL, color="#555555")
    figure.data = data
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write path.png, 200 dots an inch; .svg and .pdf into a folder of the workbench's home."""
    folder = home() / "figures" / path.parent.name
    folder.mkdir(parents=True, exist_ok=True)
    for kind, parent in (("png", path.parent), ("svg", folder), ("pdf", folder)):
        (parent / f"{path.name}.{kind}").write_bytes(rendered(figure, kind))


@settings
def rendered(figure: Figure, kind: str) -> bytes:
    """The bytes of an image file, equal for equal figures: without a date and the name of a program.

    A PNG has a palette of 255 colours, which makes it half as large or less.
    """
    file, unsaid = BytesIO(), {"svg": ("Date", "Creator"), "png": ("Software",)}
    unsaid |= {"pdf": ("CreationDate", "Creator", "Producer")}
    figure.savefig(file, format=kind, metadata=dict.fromkeys(unsaid[kind]))
    if kind == "png":
        image = Image.open(file).convert("RGB").quantize(255, dither=Image.Dither.NONE)
        image.save(file := BytesIO(), format="png", optimize=True)
    return file.getvalue()
