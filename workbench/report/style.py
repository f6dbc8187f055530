"""One look for every figure: print sizes, colours by name, a footer, files that repeat.

A generator or system has one colour and marker in every figure, and bars stand in the order of the
legend, so that colour is never the only sign. The colours are Okabe and Ito's (2008), which
colour-blind readers can tell apart. Text may be anything that databases and models write: `$`
starts no formula, and a character that the font lacks is written as its number. The stamp, in the
footer of a figure and the caption of a table, says which model answered, on which questions, by
which metric.
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

import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.ticker import (
    EngFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
    PercentFormatter,
)
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
PIXELS = 110  # of a page for an inch, so that text is as large as the page's
SMALL = 6.5  # the size of small text, in points; other text has 8
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
settings = style.context(
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


def colour(name: object) -> str:
    """Return the colour of the system or generator in a name; ink if there is none."""
    return COLOURS[PLACES[root(name)] % 8] if root(name) else INK


def looks(
    names: Iterable[Any], sizes: "pd.Series[int] | None" = None
) -> dict[str, Look]:
    """Return the looks of the names in one figure; their labels say the `sizes`.

    A variant has the colour of its system or generator, paler; other names take what is free.
    """
    places = dict.fromkeys(names, -1)
    for name in sorted(places, key=lambda name: key(name) not in PLACES):
        known = root(name)
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
    start, end = line[:half], line[1 - half :]
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


def ink_on(ground: ColorType) -> str:
    """Return black or white, whichever has the greater contrast on a colour, as WCAG defines it."""
    *channels, alpha = to_rgba(ground)
    light = 0.0
    for channel, weight in zip(channels, (0.2126, 0.7152, 0.0722), strict=True):
        on_white = 1 - alpha + alpha * channel
        light += weight * on_white**2.2
    return "black" if light > 0.18 else "white"


def bars(
    values: DataFrame,
    looks: Mapping[str, Look],
    wide: float,
    number: str = "{:.1f}",
    theirs: DataFrame | None = None,
    paper: Published | None = None,
) -> tuple[Picture, Axes]:
    """Draw horizontal bars with their numbers, a group for each row of the values.

    Where `theirs` has a value for a bar, the hollow mark of the paper stands on it.
    """
    figure, axes = blank(0.5 + len(values) * (0.06 + 0.14 * len(looks)), wide)
    _draw_bars(axes, values, looks)
    name_rows(axes, [*values.index], 25 if wide == ONE else 40)
    longest: Any = values.max(axis=None)
    if theirs is not None:
        longest = max(longest, theirs.max(axis=None))
    limit = 1.12 * max(1, longest)
    axes.set_xlim(0, limit)
    for name, container in zip(looks, _containers(axes), strict=True):
        numbers = axes.bar_label(container, fmt=number, fontsize=SMALL, padding=2)
        if paper is None or theirs is None or name not in theirs:
            continue
        column = theirs[name].reindex(values.index)
        for bar, label, value in zip(container, numbers, column, strict=True):
            if pd.isna(value):
                continue
            axes.plot(value, bar.get_y() + bar.get_height() / 2, **printed_look(paper))
            # The mark would touch the number.
            if -0.02 < (value - bar.get_width()) / limit < 0.1:
                label.xy = (value + 0.01 * limit, label.xy[1])
    return figure, axes


def stack(values: DataFrame, looks: Mapping[str, Look], pale: object = None) -> Picture:
    """Draw a bar of pieces in percent for each row of the values; a paper's row is `pale`."""
    figure, axes = blank(0.5 + 0.26 * len(values), TWO)
    _draw_bars(axes, values, looks, stacked=True)
    name_rows(axes, [*values.index], 40)
    percent(axes.xaxis, "questions")
    axes.set_xlim(0, 100)
    for look, container in zip(looks.values(), _containers(axes), strict=True):
        shares = container.datavalues
        # Else there is no room.
        texts = [f"{share:.1f}" if share >= 4 else "" for share in shares]
        numbers = axes.bar_label(container, texts, fontsize=SMALL, label_type="center")
        for row, piece, label in zip(values.index, container, numbers, strict=True):
            ground = to_rgba(look.colour, 0.45 if row == pale else 1)
            piece.set_facecolor(ground)
            label.set_color(ink_on(ground))
    return figure


def _draw_bars(
    axes: Axes, values: DataFrame, looks: Mapping[str, Look], *, stacked: bool = False
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


def name_lines(
    axes: Axes, ends: Mapping[str, float], looks: Mapping[str, Look]
) -> None:
    """Name a few lines at their right ends, the names apart from each other."""
    longest = max(len(looks[name].label) for name in ends)
    if not 2 <= len(ends) <= 6 or longest > 28:
        return  # the legend names them
    low, high = axes.get_ylim()
    figure: Any = axes.figure
    gap = (high - low) / (4.6 * figure.get_figheight())
    places: dict[str, float] = {}
    place = -math.inf
    for name in sorted(ends, key=ends.__getitem__):
        place = max(ends[name], place + gap)
        places[name] = place
    too_high = max(0.0, place - high)
    beside = axes.get_yaxis_transform()
    for name, place in places.items():
        look = looks[name]
        axes.text(
            1.02,
            place - too_high,
            look.label,
            c=look.colour,
            va="center",
            transform=beside,
        )


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
    short = EngFormatter(sep="")
    axes.xaxis.set_major_formatter(lambda x, _: short(x) if x >= 1000 else f"{x:g}")


def finish(
    figure: Picture, data: DataFrame, stamp: object, title: str, note: str = ""
) -> Picture:
    """Write title, legend, stamp and note, for which the figure grows; fix the layout."""
    wide = figure.get_figwidth()
    heading = textwrap.wrap(text(title), int(13.5 * wide), max_lines=3)
    letters = int(17.9 * wide)  # of a line of the footer
    source = stamped(stamp, data).replace("a small statistical parser, no", "no")
    source = text(source, 2 * letters - 8).replace(
        " = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
    )
    whole = f"{source}. {text(note)}" if note else source
    footer = textwrap.wrap(whole, letters, max_lines=4, break_on_hyphens=False)
    figure.supxlabel(
        "\n".join(footer), x=0.01, ha="left", fontsize=SMALL, color="#555555"
    )
    rows = _add_legend(figure, "\n".join(heading))
    more = 0.14 * len(heading) + 0.1 * len(footer) + 0.16 * rows
    figure.set_figheight(figure.get_figheight() + more)
    figure.data = data
    figure.draw_without_rendering()
    figure.set_layout_engine(None)  # "none" would lay it out once more for each file
    return figure


def _add_legend(figure: Picture, heading: str) -> int:
    """Write the heading and the legend; return how many rows of the legend stand below the heading.

    A legend that does not fit into one row stands beside the panel of a wide figure.
    """
    signs = _signs(figure)
    wide, high = figure.get_size_inches()
    room = int(14.5 * wide)  # in characters; the sign beside a label takes eight
    taken = [len(label) + 8 for label in signs]
    columns = max(1, len(signs))
    if sum(taken) > room:
        columns = max(1, room // max(taken))
        panel = figure.axes[0]
        has_room = wide == TWO and panel.axison and 0.16 * len(signs) <= high
        if has_room and max(taken) <= 36:
            panel.legend(
                signs.values(), signs, loc="upper left", bbox_to_anchor=(1.01, 1)
            )
            signs = {}
    place: Any = "outside upper left"
    above = figure.legend([*signs.values()], [*signs], loc=place, ncols=columns)
    bold: Any = {"size": 8, "weight": "bold"}
    above.set_title(heading, bold)
    above.set_alignment("left")
    return math.ceil(len(signs) / columns)


def _signs(figure: Picture) -> dict[str, Any]:
    """Return the signs of all panels by their names, without those that stand beside their lines.

    A single one needs no legend: the axis names it.
    """
    written = {label.get_text() for label in figure.axes[-1].texts}
    signs: dict[str, Any] = {}
    for axes in figure.axes:
        for sign, label in zip(*axes.get_legend_handles_labels(), strict=True):
            if label not in written:
                signs.setdefault(label, sign)
    only = next(iter(signs), "")
    if len(signs) == 1 and not only.startswith("paper"):
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
        return round(PIXELS * image.width / 200)


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
