"""One look for every figure: print sizes, colours by name, a footer that says what is shown, files that repeat.

A generator or system has one colour and marker in every figure, and bars stand in the order of the legend, so that
colour is never the only sign. The colours are Okabe and Ito's (2008), which colour-blind readers can tell apart. Text
may be anything that databases and models write: `$` starts no formula, and a character that the font lacks is written
as its number. The stamp, in the footer of a figure and the caption of a table, says which model answered, on which
questions, by which metric.
"""

import re
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
from matplotlib.axis import Axis
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator, PercentFormatter
from matplotlib.typing import ColorType
from pandas import DataFrame
from PIL import Image

from workbench.errors import BadInputError
from workbench.report.names import PLACES, key, root, shown
from workbench.report.published import Published
from workbench.report.stamp import stamped
from workbench.store import home
from workbench.terminal import visible

ONE, TWO = 3.2, 6.4  # the width of one and of two columns of print, in inches
SMALL = 6.5  # the size of small text, in points; other text has 8
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7F7F7F", "#000000")
BLUE, ORANGE, _, RED, PURPLE, SKY, GREY, BLACK = COLOURS
PALE, INK = "#D9D9D9", "#222222"
MARKERS = "os^DvPX<"
settings = style.context(str(Path(__file__).with_name("workbench.mplstyle")), after_reset=True)
"""A decorator of functions that draw: our look, whatever a notebook has set."""


@dataclass(frozen=True, slots=True)
class Look:
    """The label, colour and marker of one name."""

    label: str
    colour: ColorType
    marker: str = "o"

    @property
    def mark(self) -> dict[str, Any]:
        return {"color": self.colour, "marker": self.marker, "label": self.label}


def colour(name: object) -> str:
    """The colour of the system or generator in a name; ink if there is none."""
    return COLOURS[PLACES[root(name)] % 8] if root(name) else INK


def looks(names: Iterable[Any], sizes: "pd.Series[int] | None" = None) -> dict[str, Look]:
    """The looks of the names in one figure; their labels say the `sizes`.

    A variant has the colour of its system or generator, paler; other names take what is free, in their order.
    """
    places = dict.fromkeys(names, -1)
    for name in sorted(places, key=lambda name: key(name) not in PLACES):
        known = root(name)
        start, step = (PLACES[known], 8) if known else (0, 1)
        places[name] = next(place for place in count(start, step) if place not in places.values())
    found = {}
    for name, place in places.items():
        label = re.sub("^_", " _", text(shown(name), 28)) if name else ""  # legends skip "_..."
        label += f" (N = {sizes[name]:,})" if sizes is not None else ""
        shade = to_rgba(COLOURS[place % 8], 0.6 ** (place // 8))
        found[name] = Look(label, shade, MARKERS[(place + place // 8) % 8])
    return found


def text(value: object, most: int = 1000) -> str:
    """A value as one line of what the font can show, cut in the middle to at most so many characters."""
    line = " ".join(visible(str(value)).split()) or "(empty)"
    line = "".join(one if ord(one) in _glyphs() else f"[U+{ord(one):04X}]" for one in line)
    half = most // 2
    return line if len(line) <= most else f"{line[:half].rstrip()}…{line[1 - half :].lstrip()}"


@cache
def _glyphs() -> frozenset[int]:
    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


class Picture(Figure):
    """A figure with the data that it shows; a notebook displays it as the PNG of its file."""

    data: DataFrame  # for the CSV beside it
    title: str  # what is seen

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        wide, high = (round(110 * inches) for inches in self.get_size_inches())
        return rendered(self, "png"), {"width": wide, "height": high}


def need(frame: DataFrame, *columns: str) -> None:
    """Raise BadInputError if the frame lacks one of the columns, or has no rows."""
    for name in columns:
        if name in frame:
            continue
        wanted = ", ".join(columns)
        hint = ""
        if name == "generator" and "system" in frame:
            hint = "; these are the answers of systems: give the candidates, `run.trials`"
        raise BadInputError(f"the table has no column {name}: the figure needs {wanted}{hint}")
    if frame.empty:
        raise BadInputError("the table has no rows: there is nothing to draw")


def series(rows: DataFrame, label: str) -> dict[str, DataFrame]:
    """The rows of each value of the column `label`; without a label, one series whose name is empty."""
    parts = rows.groupby(label, sort=False) if label else [("", rows)]
    return {str(name): part for name, part in parts}


def spread(rows: DataFrame, value: str = "EX") -> list[pd.Series] | None:
    """The distances from a value to `low` and to `high`, as `Axes.errorbar` takes them; None without such columns."""
    ends = {"low", "high"} <= set(rows)
    return [rows[value] - rows["low"], rows["high"] - rows[value]] if ends else None


def panels(high: float, number: int = 1, wide: float = ONE) -> tuple[Picture, list[Axes]]:
    """A figure of panels that are `high` inches each, two side by side in a row, with one vertical axis."""
    rows, across = -(-number // 2), min(2, number)
    size = (TWO if number > 1 else wide, max(1.0, rows * high))
    figure = Picture(figsize=size, layout="constrained")
    grid = figure.subplots(rows, across, squeeze=False, sharey=True).ravel()
    for axes in grid[number:]:
        axes.remove()
    return figure, list(grid[:number])


def printed_name(paper: Published) -> str:
    return f"paper, {paper.model}" if paper.model else "paper"


def printed_look(paper: Published) -> dict[str, Any]:
    """The hollow grey mark of a paper's value, named after the model that the paper asked."""
    look = {"ls": "", "marker": "D", "ms": 4, "mfc": "white", "mec": "#555555", "mew": 1}
    return {**look, "zorder": 9, "clip_on": False, "label": printed_name(paper)}


def printed(paper: Published, names: Iterable[object]) -> DataFrame:
    """A paper's values in the order of our names; NaN where it has no row of a name."""
    rows = paper.frame().set_index("label").drop(columns="printed")
    return rows.rename(index=key).reindex([key(name) for name in names])


def ink_on(ground: ColorType) -> str:
    """Black or white, whichever has the greater contrast on a colour, as WCAG defines it."""
    red, green, blue, alpha = to_rgba(ground)
    light = 0.0
    for part, weight in ((red, 0.2126), (green, 0.7152), (blue, 0.0722)):
        light += weight * (1 - alpha + alpha * part) ** 2.2
    return "black" if light > 0.18 else "white"


@dataclass(frozen=True, slots=True)
class Bars:
    """Horizontal bars with their numbers: percentages, or counts.

    A row of the values is a group or a stack of bars, a column one bar of each. The last `pale` rows of a stack are
    pale: a paper's.
    """

    wide: float
    label: str
    counts: bool = False
    stacked: bool = False
    pale: int = 0

    def __call__(
        self,
        values: DataFrame,
        looks: Mapping[str, Look],
        data: DataFrame,
        stamp: object,
        title: str,
        note: str = "",
        *,
        paper: Published | None = None,
        theirs: DataFrame | None = None,
    ) -> Picture:
        """Draw the bars, and on those that `theirs` has a value for the hollow mark of the paper."""
        high = 0.26 if self.stacked else len(looks) * 0.14 + 0.06
        figure, (axes,) = panels(0.5 + len(values) * high, wide=self.wide)
        values = values[[*looks]]
        inks: Any = {"color": [look.colour for look in looks.values()], "lw": 0.4}
        values.plot.barh(
            ax=axes, width=0.84, stacked=self.stacked, legend=False, edgecolor="white", **inks
        )
        marks = []
        containers: Any = axes.containers
        for name, drawn in zip(looks, containers, strict=True):
            drawn.set_label(looks[name].label)
            self._number(axes, drawn, looks[name].colour)
            if theirs is None or name not in theirs:
                continue
            for row, bar in zip(values.index, drawn, strict=True):
                if row in theirs.index and pd.notna(theirs[name][row]):
                    marks.append((theirs[name][row], bar.get_y() + bar.get_height() / 2))
        name_rows(axes, [*values.index], 25 if self.wide == ONE else 40)
        percent(axes.xaxis, self.label)
        if self.counts:
            axes.xaxis.set_major_formatter("{x:,.0f}")
        most = max([1, values.to_numpy().max(), *(value for value, _ in marks)])
        axes.set_xlim(0, 100 if self.stacked else 1.12 * most)
        if paper is not None and marks:
            across, down = zip(*marks, strict=True)
            axes.plot(across, down, **printed_look(paper))
        return finish(figure, data, stamp, title, note)

    def _number(self, axes: Axes, drawn: Any, colour: ColorType) -> None:
        """Write the number of each bar behind it, or into its piece of a stack if it is wide enough."""
        texts = []
        for value in drawn.datavalues:
            is_narrow = self.stacked and value < 4
            texts.append("" if is_narrow else f"{value:,.0f}" if self.counts else f"{value:.1f}")
        if not self.stacked:
            axes.bar_label(drawn, texts, fontsize=SMALL, padding=2)
            return
        numbers = axes.bar_label(drawn, texts, fontsize=SMALL, label_type="center")
        for row, (bar, number) in enumerate(zip(drawn, numbers, strict=True)):
            is_pale = 0 < len(drawn) - self.pale <= row
            ground = to_rgba(colour, 0.45 if is_pale else 1)
            bar.set_facecolor(ground)
            number.set_color(ink_on(ground))


def name_rows(axes: Axes, names: list[Any], most: int = 25) -> None:
    """Name the rows of horizontal bars, the first one on top."""
    axes.set_yticks(range(len(names)), [text(shown(name), most) for name in names])
    axes.set(ylim=(len(names) - 0.5, -0.5), ylabel="")
    axes.tick_params(axis="y", length=0, grid_alpha=0)


def regular(steps: "pd.Series[Any]") -> list[int]:
    """The places of a line's marks: its first point, its last one, and regular steps between."""
    last = len(steps) - 1
    every = max(1, round(last / 8))
    return sorted({*range(0, last - every // 2, every), last})


def name_lines(
    axes: Axes, parts: Mapping[str, DataFrame], looks: Mapping[str, Look], x: str, y: str
) -> None:
    """Name each line at its right end, the names apart from each other; a legend is left to what fits no line."""
    longest = max(len(looks[name].label) for name in parts)
    if not 2 <= len(parts) <= 6 or longest > 28:
        return
    low, high = axes.get_ylim()
    figure: Any = axes.figure
    gap = (high - low) / (4.6 * figure.get_figheight())
    ends = sorted((part.sort_values(x)[y].iloc[-1], name) for name, part in parts.items())
    places: list[float] = []
    for end, _ in ends:
        places.append(max(end, places[-1] + gap) if places else end)
    over = max(0.0, places[-1] - high)
    for place, (_, name) in zip(places, ends, strict=True):
        at = (1.02, place - over)
        look = looks[name]
        axes.annotate(
            look.label, at, xycoords=axes.get_yaxis_transform(), va="center", color=look.colour
        )
    drawn_lines: list[Any] = []
    for panel in figure.axes:
        drawn_lines += [*panel.lines, *panel.containers]
    for drawn in drawn_lines:
        if drawn.get_label() in {looks[name].label for name in parts}:
            drawn.set_label("_named")


def percent(axis: Axis, label: str) -> None:
    """An axis in whole percent."""
    few = MaxNLocator(6, steps=[1, 2, 5, 10], integer=True)
    axis.set(major_formatter=PercentFormatter(decimals=0), major_locator=few, label_text=label)


def logarithmic(axes: Axes) -> None:
    """A logarithmic horizontal axis with a few round numbers."""
    axes.set_xscale("log")
    low, high = axes.dataLim.intervalx
    few, short = LogLocator(subs=(1, 3) if high < 1000 * low else (1,)), EngFormatter(sep="")
    axes.xaxis.set(major_locator=few, minor_locator=NullLocator())
    axes.xaxis.set_major_formatter(lambda x, _: short(x) if x >= 1000 else f"{x:g}")


def finish(figure: Picture, data: DataFrame, stamp: object, title: str, note: str = "") -> Picture:
    """Write the title and the legend above, a note and the stamp below, for which the figure grows; fix the layout."""
    wide = figure.get_figwidth()
    heading = textwrap.wrap(text(title), int(13.5 * wide), max_lines=3)
    letters = int(17.9 * wide)
    source = stamped(stamp, data).replace("small statistical parser", "parser")
    footer = textwrap.wrap(text(note), letters, max_lines=4) if note else []
    footer += textwrap.wrap(text(source, 2 * letters - 8), letters, max_lines=3)
    handles, labels = _legend(figure)
    # The room is in characters; the sign beside a label takes eight.
    longest = max(map(len, labels), default=0)
    columns = max(1, min(len(labels), int(14.5 * wide) // (longest + 8)))
    rows = -(-len(labels) // columns)
    figure.set_figheight(
        figure.get_figheight() + 0.14 * len(heading) + 0.1 * len(footer) + 0.16 * rows
    )
    above = figure.legend(handles, labels, loc="outside upper left", ncols=columns)
    bold: Any = {"size": 8, "weight": "bold"}
    above.set_title("\n".join(heading), bold)
    above.set_alignment("left")
    figure.supxlabel("\n".join(footer), x=0.01, ha="left", fontsize=SMALL, color="#555555")
    figure.data = data
    figure.title = title
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def _legend(figure: Picture) -> tuple[list[Any], list[str]]:
    """The signs and names of all panels, each once; none for a single one, which the axis names."""
    signs: dict[str, Any] = {}
    for axes in figure.axes:
        for sign, label in zip(*axes.get_legend_handles_labels(), strict=True):
            signs.setdefault(label, sign)
    if len(signs) == 1 and not next(iter(signs)).startswith("paper"):
        return [], []
    return [*signs.values()], [*signs]


def save(figure: Figure, path: Path) -> None:
    """Write PATH.png, and the figure as .svg and .pdf into a folder of the workbench's home."""
    folder = home() / "figures" / path.parent.name
    folder.mkdir(parents=True, exist_ok=True)
    for kind, parent in (("png", path.parent), ("svg", folder), ("pdf", folder)):
        (parent / f"{path.name}.{kind}").write_bytes(rendered(figure, kind))


@settings
def rendered(figure: Figure, kind: str) -> bytes:
    """The bytes of an image file, without date and program; a PNG has a palette, so it is at most half as large."""
    unsaid = {"svg": "Date Creator", "png": "Software", "pdf": "CreationDate Creator Producer"}
    figure.savefig(file := BytesIO(), format=kind, metadata=dict.fromkeys(unsaid[kind].split()))
    if kind == "png":
        image = Image.open(file).convert("RGB").quantize(255, dither=Image.Dither.NONE)
        image.save(file := BytesIO(), format="png", optimize=True)
    return file.getvalue()
