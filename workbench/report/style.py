"""One look for every figure: print sizes, colours by name, a footer that says what is shown, files that repeat.

A generator or system has one colour and marker in every figure, and bars stand in the order of the legend, so that
colour is never the only sign. The colours are Okabe and Ito's (2008), which colour-blind readers can tell apart. Text
may be anything that databases and models write: `$` starts no formula, and a character that the font lacks is written
as its number. The stamp, in the footer of a figure and the caption of a table, says which model answered, on which
questions, by which metric.
"""

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from matplotlib.patheffects import withStroke
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator, PercentFormatter
from matplotlib.typing import ColorType
from pandas import DataFrame
from PIL import Image

from workbench.errors import BadInputError
from workbench.store import home
from workbench.terminal import visible

ONE, TWO = 3.35, 6.9  # the width of one and of two columns of print, in inches
SMALL = 6.5  # the size of small text, in points; other text has 8
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7F7F7F", "#000000")
BLUE, ORANGE, _, _, PURPLE, SKY, GREY, BLACK = COLOURS
PALE, INK = "#D9D9D9", "#222222"
MARKERS = "os^DvPX<"
settings = style.context(str(Path(__file__).with_name("workbench.mplstyle")), after_reset=True)
"""A decorator of functions that draw: our look, whatever a notebook has set."""
# Generators and systems as readers know them; a name's place in its line is its look.
_NAMED = """
divide and conquer | query plan | synthetic examples | direct | chess candidate | decomposer | all together
CHASE-SQL | CHESS (IR, SS, CG) | MAC-SQL | CHESS (IR, CG, UT) | zero-shot | direct, chain of thought | zero-shot, chain of thought | gold
"""
_LEVELS = ["simple", "moderate", "challenging", "easy", "medium", "hard", "extra"]


def _key(name: object) -> str:
    return " ".join(str(name).casefold().replace("_", " ").replace("-", " ").split())


_GROUPS = [line.split(" | ") for line in _NAMED.strip().splitlines()]
_SHOWN = {_key(name): name for group in _GROUPS for name in group}
_PLACES = {_key(name): place for group in _GROUPS for place, name in enumerate(group)}
_PLACES["chess"] = _PLACES["chess (ir, cg, ut)"]  # as a part of longer names


@dataclass(frozen=True, slots=True)
class Look:
    """The label, colour and marker of one name."""

    label: str
    colour: ColorType
    marker: str = "o"

    @property
    def mark(self) -> dict[str, Any]:
        return {"color": self.colour, "marker": self.marker, "label": self.label}


def shown(name: object) -> str:
    """The name as readers know it: "query plan" for `query_plan`."""
    return _SHOWN.get(_key(name), str(name))


def _root(name: object) -> str:
    """The system or generator that a name contains: "CHASE-SQL, majority", "w/o query plan"."""
    return max((known for known in _PLACES if known in _key(name)), key=len, default="")


def colour(name: object) -> str:
    """The colour of the system or generator in a name; ink if there is none."""
    return COLOURS[_PLACES[_root(name)] % 8] if _root(name) else INK


def looks(names: Iterable[Any], sizes: "pd.Series[int] | None" = None) -> dict[str, Look]:
    """The looks of the names in one figure; their labels say the `sizes`.

    A variant has the colour of its system or generator, paler; other names take what is free, in their order.
    """
    places = dict.fromkeys(names, -1)
    for name in sorted(places, key=lambda name: _key(name) not in _PLACES):
        root = _root(name)
        start, step = (_PLACES[root], 8) if root else (0, 1)
        places[name] = next(place for place in count(start, step) if place not in places.values())
    found = {}
    for name, place in places.items():
        label = re.sub("^_", " _", text(shown(name), 28)) if name else ""  # legends skip "_..."
        label += f" (N = {sizes[name]:,})" if sizes is not None else ""
        shade = to_rgba(COLOURS[place % 8], 0.6 ** (place // 8))
        found[name] = Look(label, shade, MARKERS[(place + place // 8) % 8])
    return found


def ordered(names: Iterable[Any]) -> list[Any]:
    """Each name once, difficulties last and from easy to hard."""
    return sorted(dict.fromkeys(names), key=lambda n: _LEVELS.index(n) if n in _LEVELS else -1)


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

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        wide, high = (round(110 * inches) for inches in self.get_size_inches())
        return rendered(self, "png"), {"width": wide, "height": high}


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which models answered, on how many questions of which benchmark, and the sense of EX."""

    model: str
    benchmark: str
    n: int
    ex: str = "EX (BIRD)"
    others: tuple[str, ...] = ()  # further models that were asked
    similarity: str = ""  # "letters" where retrieval compares texts by them
    # By model, the parameters that it refuses, so that its calls were sent without them.
    dropped: Mapping[str, Sequence[str]] = field(default_factory=dict)
    models_by_run: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    similarity_by_run: Mapping[str, str] = field(default_factory=dict)

    @property
    def models(self) -> str:
        return ", ".join((self.model, *self.others))

    def of(self, frame: DataFrame) -> "Stamp":
        """The stamp of these rows: it names the models and similarities of their runs, if known."""
        ids = runs(frame).split()
        asked = [name for run in ids for name in self.models_by_run.get(run, ())]
        alike = dict.fromkeys(filter(None, (self.similarity_by_run.get(run) for run in ids)))
        first, *others = dict.fromkeys(asked or [self.model, *self.others])
        similarity = ", ".join(alike) or self.similarity
        return replace(self, model=first, others=tuple(others), similarity=similarity)

    def __str__(self) -> str:
        said = []
        for model in (self.model, *self.others):
            refused = ", ".join(self.dropped.get(model, ()))
            note = f" (takes no {refused})" if refused else ""
            parser = " (a small statistical parser, no language model)"
            said.append(model + (parser if model.startswith("embedded/") else note))
        similarity = f"similarity by {self.similarity}" if self.similarity else ""
        return measured(f"{', '.join(said)} on {self.benchmark}", self.n, self.ex, similarity)


def joined(stamps: Sequence[Stamp | None]) -> Stamp | None:
    """Return the stamp of a table made of several; None if they are on different questions."""
    known = [stamp for stamp in stamps if stamp]
    if len(known) < len(stamps) or len({(stamp.benchmark, stamp.n) for stamp in known}) > 1:
        return None
    whole = known[0]
    for stamp in known[1:]:
        models = dict.fromkeys((*whole.models.split(", "), *stamp.models.split(", ")))
        whole = replace(
            whole,
            others=tuple(models)[1:],
            ex=whole.ex or stamp.ex,
            similarity=whole.similarity or stamp.similarity,
            dropped={**whole.dropped, **stamp.dropped},
            models_by_run={**whole.models_by_run, **stamp.models_by_run},
            similarity_by_run={**whole.similarity_by_run, **stamp.similarity_by_run},
        )
    return whole


def runs(frame: DataFrame) -> str:
    """The ids of the runs that a table's rows came from, each once."""
    named = frame["run"].dropna().astype(str) if "run" in frame else ()
    return " ".join(dict.fromkeys(" ".join(named).split()))


def question_ids(frame: DataFrame) -> str:
    """The ids of the questions of a table's rows, each once."""
    return " ".join(dict.fromkeys(frame["question_id"].astype(str)))


def stamped(stamp: object, frame: DataFrame) -> str:
    return str(stamp.of(frame) if isinstance(stamp, Stamp) else stamp)


def measured(what: str, n: int | None, *metric: str) -> str:
    return ", ".join(filter(None, (what, f"N = {n:,}" if n else "", *metric)))


def need(frame: DataFrame, *columns: str) -> None:
    """Raise BadInputError if the frame lacks one of the columns, or has no rows."""
    if lacks := [name for name in columns if name not in frame]:
        wanted = ", ".join(columns)
        raise BadInputError(f"the table has no column {lacks[0]}: the figure needs {wanted}")
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


def bars(wide: float, values: DataFrame, looks: dict[str, Look], label: str, *, counts: bool = False,
         stacked: bool = False, **finishing: Any) -> Picture:  # fmt: skip
    """A figure of horizontal bars with their numbers: percentages, or counts.

    A row of `values` is a group or a stack of bars, a column one bar of each. `finishing` has the arguments of `finish`.
    """
    high = 0.24 if stacked else len(looks) * 0.145 + 0.06
    figure, (axes,) = panels(0.55 + len(values) * high, wide=wide)
    values = values[[*looks]]
    inks: Any = {"color": [look.colour for look in looks.values()], "edgecolor": "white", "lw": 0.4}
    values.plot.barh(ax=axes, width=0.84, stacked=stacked, legend=False, **inks)
    halo = [withStroke(linewidth=2.5, foreground="white")]
    place: Any = {"label_type": "center", "path_effects": halo} if stacked else {"padding": 2}
    containers: Any = axes.containers
    for look, drawn in zip(looks.values(), containers, strict=True):
        drawn.set_label(look.label)
        # A number does not fit into a piece of a stack under 4 %.
        form = "{:,.0f}" if counts else "{:.1f}"
        numbers = [form.format(x) if not stacked or x >= 4 else "" for x in drawn.datavalues]
        axes.bar_label(drawn, numbers, fontsize=SMALL, **place)
    name_rows(axes, [*values.index], 25 if wide == ONE else 40)
    percent(axes.xaxis, label)
    if counts:
        axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlim(0, 100 if stacked else 1.12 * max(1, values.to_numpy().max()))
    return finish(figure, **finishing)


def name_rows(axes: Axes, names: list[Any], most: int = 25) -> None:
    """Name the rows of horizontal bars, the first one on top."""
    axes.set_yticks(range(len(names)), [text(shown(name), most) for name in names])
    axes.set(ylim=(len(names) - 0.5, -0.5), ylabel="")
    axes.tick_params(axis="y", length=0, grid_alpha=0)


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


def finish(figure: Picture, data: DataFrame, stamp: object, note: str = "") -> Picture:
    """Write the legend of the last panel above, the stamp and a note below, for which the figure grows; fix the layout."""
    handles, labels = figure.axes[-1].get_legend_handles_labels()
    said = stamped(stamp, data)
    line = text(f"{said.removesuffix('.')}. {note}" if note else said)
    footer = textwrap.wrap(line, int(17.9 * figure.get_figwidth()), max_lines=8)
    high = figure.get_figheight() + 0.1 * len(footer)
    if labels:
        # The room is in characters; the sign beside a label takes eight.
        across = int(14.5 * figure.get_figwidth()) // (max(map(len, labels)) + 8)
        columns = max(1, min(len(labels), across))
        high += 0.16 * -(-len(labels) // columns)
        figure.legend(handles, labels, loc="outside upper left", ncols=columns)
    figure.set_figheight(high)
    figure.supxlabel("\n".join(footer), x=0.01, ha="left", fontsize=SMALL, color="#555555")
    figure.data = data
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


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
