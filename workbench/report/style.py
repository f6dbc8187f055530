"""One look for every figure: print sizes, colours by name, a footer, files that repeat.

A generator or system has one colour and marker in every figure, and bars stand in the order of the
legend, so that colour is never the only sign. The colours are Okabe and Ito's (2008), which
colour-blind readers can tell apart; where text lies on one, it is pale and the text black. Text may
be anything that databases and models write: `$` starts no formula, and a character that the font
lacks is written as its number. The stamp, in the footer of a figure and the caption of a table,
says which model answered, on which questions, by which metric.
"""

import math
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

import matplotlib.style
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, PercentFormatter
from matplotlib.typing import ColorType
from pandas import DataFrame
from PIL import Image

from workbench.errors import BadInputError
from workbench.report.names import PLACES, key, root, shown
from workbench.report.published import Published
from workbench.report.stamp import PARSER, stamped
from workbench.store import home
from workbench.terminal import visible

ONE, TWO = 3.2, 6.4  # the width of one and of two columns of print, in inches
DPI = 200  # of a PNG; `savefig.dpi` of workbench.mplstyle
PIXELS = 110  # of a page for an inch, so that text is as large as the page's
SMALL = 6.5  # the size of small text, in points; other text has 8
LETTERS = 14.5  # of text in an inch
SMALL_LETTERS, BOLD_LETTERS = 17.9, 13.5  # of small and of bold text
LINE, SMALL_LINE = 0.16, 0.1  # the height of a line of text, in inches
COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#7F7F7F",
    "#000000",
)
BLUE, ORANGE, _, RED, PURPLE, SKY, GREY, BLACK = COLOURS
PALE, INK = "#D9D9D9", "#222222"
MARKERS = "os^DvPX<"
_UNSAID = {  # of a file's metadata, so that the same figure has the same bytes
    "svg": ["Date", "Creator"],
    "png": ["Software"],
    "pdf": ["CreationDate", "Creator", "Producer"],
}
settings = matplotlib.style.context(
    str(Path(__file__).with_name("workbench.mplstyle")), after_reset=True
)
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


Looks = Mapping[str, Look]


def looks(
    names: Iterable[Any], sizes: "pd.Series[int] | None" = None
) -> dict[str, Look]:
    """Return the looks of the names in one figure; their labels say their `sizes`.

    A variant has the colour of its system or generator, paler; other names take what is free.
    """
    places = dict.fromkeys(names, -1)
    for name in sorted(places, key=lambda name: key(name) not in PLACES):
        known = root(name)
        # A known name keeps its colour: its further places are as many on as there are colours.
        wanted = count(PLACES[known], len(COLOURS)) if known else count()
        places[name] = next(place for place in wanted if place not in places.values())
    looks = {}
    for name, place in places.items():
        label = text(shown(name), 28) if name else ""
        if label.startswith("_"):  # legends skip "_..."
            label = f" {label}"
        if sizes is not None:
            label += f" (N = {sizes[name]:,})"
        paler, number = divmod(place, len(COLOURS))
        shade = to_rgba(COLOURS[number], 0.6**paler)
        marker = MARKERS[(number + paler) % len(MARKERS)]
        looks[name] = Look(label, shade, marker)
    return looks


def text(value: object, most: int = 1000) -> str:
    """Return a value as one line of what the font can show, cut in the middle if it is long."""
    words = visible(str(value)).split()
    line = " ".join(words) or "(empty)"
    for sign in set(line):
        if ord(sign) not in _glyphs():
            line = line.replace(sign, f"[U+{ord(sign):04X}]")
    if len(line) <= most:
        return line
    half = most // 2
    start, end = line[:half], line[1 - half :]  # and a sign between them
    return f"{start.rstrip()}…{end.lstrip()}"


@cache
def _glyphs() -> frozenset[int]:
    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


class Picture(Figure):
    """A figure with the data that it shows; a notebook displays it as the PNG of its file."""

    data: DataFrame  # for the CSV beside it

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        wide, high = self.get_size_inches()
        return rendered(self, "png"), {
            "width": round(PIXELS * wide),
            "height": round(PIXELS * high),
        }


def need(frame: DataFrame, *columns: str) -> None:
    """Raise BadInputError if the frame lacks one of the columns, or has no rows."""
    for name in columns:
        if name in frame:
            continue
        message = (
            f"the table has no column {name}: the figure needs {', '.join(columns)}"
        )
        if name == "generator" and "system" in frame:
            message += (
                "; these are the answers of systems: give the candidates, `run.trials`"
            )
        raise BadInputError(message)
    if frame.empty:
        raise BadInputError("the table has no rows: there is nothing to draw")


def series(rows: DataFrame, label: str) -> dict[str, DataFrame]:
    """Return the rows of each value of the column `label`; without a label, one nameless series."""
    if not label:
        return {"": rows}
    return {str(name): part for name, part in rows.groupby(label, sort=False)}


def spread(rows: DataFrame, value: str = "EX") -> "list[pd.Series[float]] | None":
    """Return the distances from a value to `low` and `high`, as `errorbar` takes them, if known."""
    if not {"low", "high"} <= set(rows):
        return None
    return [rows[value] - rows["low"], rows["high"] - rows[value]]


def blank(high: float, wide: float = ONE) -> tuple[Picture, Axes]:
    """Return a figure of one panel, its size in inches."""
    figure = Picture(figsize=(wide, max(1.0, high)), layout="constrained")
    return figure, figure.subplots()


def panels(high: float, number: int) -> tuple[Picture, list[Axes]]:
    """Return a figure of panels, two side by side in a row, that share their vertical axis."""
    if number == 1:
        figure, axes = blank(high)
        return figure, [axes]
    rows = math.ceil(number / 2)
    figure = Picture(figsize=(TWO, rows * high), layout="constrained")
    grid = figure.subplots(rows, 2, sharey=True).ravel()
    for unused in grid[number:]:
        unused.remove()
    return figure, list(grid[:number])


def printed_name(paper: Published) -> str:
    return f"paper, {paper.model}" if paper.model else "paper"


def printed_look(paper: Published) -> dict[str, Any]:
    """Return the hollow grey mark of a paper's value, named after the paper's model."""
    return {
        "label": printed_name(paper),
        "marker": "D",
        "ms": 4,
        "mfc": "white",
        "mec": "#555555",
        "mew": 1,
        "ls": "",
        "zorder": 9,
        "clip_on": False,
    }


def printed(paper: Published, names: Iterable[object]) -> DataFrame:
    """Return a paper's values in the order of our names; NaN where it has no row of a name."""
    rows = paper.frame().set_index("label").drop(columns="printed")
    return rows.rename(index=key).reindex([key(name) for name in names])


def fill(colour: ColorType) -> ColorType:
    """Return a colour so pale that black text on it is well read."""
    return to_rgba(colour, 0.5)


def bars(
    values: DataFrame,
    looks: Looks,
    wide: float,
    number: str = "{:.1f}",
    theirs: DataFrame | None = None,
    paper: Published | None = None,
) -> tuple[Picture, Axes]:
    """Draw horizontal bars with their numbers, a group for each row of the values.

    Where `theirs` has a value for a bar, it stands in brackets behind ours.
    """
    figure, axes = blank(0.7 + len(values) * (0.06 + 0.14 * len(looks)), wide)
    _draw_bars(axes, values, looks)
    name_rows(axes, [*values.index], 25 if wide == ONE else 40)
    for name, bars_of_name in zip(looks, _containers(axes), strict=True):
        texts = values[name].map(number.format)
        if theirs is not None and name in theirs:
            printed = theirs[name].reindex(values.index)
            brackets = printed.map(" ({:g})".format, na_action="ignore")
            texts += brackets.astype(object).fillna("")
        axes.bar_label(bars_of_name, texts, fontsize=SMALL, padding=2)
    room = 1.12
    if paper is not None and theirs is not None and theirs.notna().any(axis=None):
        room = 1.3 if wide == ONE else 1.15
        # An unseen bar, for the legend.
        axes.barh(0, 0, fc="none", label=f"in brackets: {printed_name(paper)}")
    longest: Any = values.max(axis=None)
    axes.set_xlim(0, room * max(1, longest))
    return figure, axes


def stack(values: DataFrame, looks: Looks) -> Picture:
    """Draw a bar of pieces in percent for each row of the values."""
    figure, axes = blank(0.7 + 0.26 * len(values), TWO)
    _draw_bars(axes, values, looks, stacked=True)
    name_rows(axes, [*values.index], 40)
    percent(axes.xaxis, "questions")
    axes.set_xlim(0, 100)
    for pieces in _containers(axes):
        # A smaller piece has no room for its number.
        texts = [f"{share:.1f}" if share >= 4 else "" for share in pieces.datavalues]
        axes.bar_label(pieces, texts, fontsize=SMALL, label_type="center", c="black")
    return figure


def _draw_bars(
    axes: Axes, values: DataFrame, looks: Looks, *, stacked: bool = False
) -> None:
    labels = [look.label for look in looks.values()]
    columns = values[[*looks]].set_axis(labels, axis=1)
    colours: Any = [look.colour for look in looks.values()]
    look_of_all: Any = {"edgecolor": "white", "lw": 0.4, "width": 0.84}
    columns.plot.barh(
        ax=axes, stacked=stacked, legend=False, color=colours, **look_of_all
    )


def _containers(axes: Axes) -> list[Any]:
    return [*axes.containers]


def name_rows(axes: Axes, names: list[Any], most: int = 25) -> None:
    """Name the rows of horizontal bars, the first one on top."""
    axes.set_yticks(range(len(names)), [text(shown(name), most) for name in names])
    axes.set(ylim=(len(names) - 0.5, -0.5), ylabel="")
    axes.tick_params(axis="y", length=0, grid_alpha=0)


def percent(axis: Axis, label: str) -> None:
    """Let an axis be in whole percent."""
    few = MaxNLocator(6, steps=[1, 2, 5, 10], integer=True)
    axis.set(
        major_formatter=PercentFormatter(decimals=0),
        major_locator=few,
        label_text=label,
    )


def logarithmic(axes: Axes) -> None:
    """Let the horizontal axis be logarithmic, with a few round numbers."""
    axes.set_xscale("log")
    low, high = axes.dataLim.intervalx
    steps = (1, 3) if high < 1000 * low else (1,)
    axes.xaxis.set(major_locator=LogLocator(subs=steps), minor_locator=NullLocator())
    axes.xaxis.set_major_formatter("{x:,.12g}")


def finish(
    figure: Picture,
    data: DataFrame,
    stamp: object,
    title: str,
    note: str = "",
    *,
    beside: bool = False,
) -> Picture:
    """Write title, legend, stamp and note, for which the figure grows; fix the layout.

    The legend stands below the title, or in a wide figure `beside` its panels.
    """
    wide, high = figure.get_size_inches()
    heading = textwrap.wrap(text(title), int(BOLD_LETTERS * wide), max_lines=3)
    letters = int(SMALL_LETTERS * wide)
    source = stamped(stamp, data).replace(PARSER, " (no language model)")
    source = text(source, 2 * letters - 8).replace(
        " = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
    )
    whole = f"{source}. {text(note)}" if note else source
    footer = textwrap.wrap(whole, letters, max_lines=4, break_on_hyphens=False)
    figure.supxlabel(
        "\n".join(footer), x=0.01, ha="left", fontsize=SMALL, color="#555555"
    )
    signs = _signs(figure)
    if beside and wide == TWO:
        place: Any = "outside right center"
        figure.legend([*signs.values()], [*signs], loc=place)
        high = max(high, LINE * len(signs))
        signs = {}
    rows = _add_heading(figure, "\n".join(heading), signs)
    high += 0.14 * len(heading) + SMALL_LINE * len(footer) + LINE * rows
    figure.set_figheight(high)
    figure.data = data
    figure.draw_without_rendering()
    figure.set_layout_engine(None)  # "none" would lay it out once more for each file
    return figure


def _add_heading(figure: Picture, heading: str, signs: dict[str, Any]) -> int:
    """Write the heading with the legend below it, and return how many rows the legend has."""
    room = int(LETTERS * figure.get_figwidth())
    taken = [len(label) + 8 for label in signs]  # a sign takes eight letters
    columns = max(1, len(signs))
    if sum(taken) > room:
        columns = max(1, room // max(taken))
    place: Any = "outside upper left"
    bold: Any = {"size": 8, "weight": "bold"}
    figure.legend(
        [*signs.values()],
        [*signs],
        loc=place,
        ncols=columns,
        title=heading,
        title_fontproperties=bold,
        alignment="left",
    )
    return math.ceil(len(signs) / columns)


def _signs(figure: Picture) -> dict[str, Any]:
    """Return the signs of all panels by their names.

    A single one needs no legend, unless it is the paper's: the axis names it.
    """
    signs: dict[str, Any] = {}
    for axes in figure.axes:
        for sign, label in zip(*axes.get_legend_handles_labels(), strict=True):
            signs.setdefault(label, sign)
    if len(signs) == 1 and "paper" not in "".join(signs):
        return {}
    return signs


def save(figure: Figure, path: Path) -> None:
    """Write PATH.png, and the figure as .svg and .pdf into a folder of the workbench's home."""
    folder = home() / "figures" / path.parent.name
    folder.mkdir(parents=True, exist_ok=True)
    for kind, parent in (("png", path.parent), ("svg", folder), ("pdf", folder)):
        (parent / f"{path.name}.{kind}").write_bytes(rendered(figure, kind))


def page_width(png: Path) -> int:
    """Return the width at which a page shows a figure's file, so that text has one size in all."""
    with Image.open(png) as image:
        return round(PIXELS * image.width / DPI)


@settings
def rendered(figure: Figure, kind: str) -> bytes:
    """Return an image file without date and program; a PNG has a palette, which halves it."""
    file = BytesIO()
    figure.savefig(file, format=kind, metadata=dict.fromkeys(_UNSAID[kind]))
    if kind != "png":
        return file.getvalue()
    image = Image.open(file).convert("RGB").quantize(255, dither=Image.Dither.NONE)
    small = BytesIO()
    image.save(small, format="png", optimize=True)
    return small.getvalue()
