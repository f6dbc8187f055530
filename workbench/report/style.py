"""One look for every figure: print sizes, colours by name, a footer that says what is shown, files that repeat.

A generator or system has one colour, marker and hatch in every figure, so that colour is never the only sign. The
colours are Okabe and Ito's (2008), which colour-blind readers can tell apart. Text may be anything that databases
and models write: `$` starts no formula, and a character that the font lacks is named.
"""

import textwrap
import unicodedata
from base64 import b64encode
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator, PercentFormatter
from PIL import Image

from workbench.report.stamp import stamped

ONE, TWO = 3.35, 6.9
"""The width of one and of two columns of print, in inches."""
SMALL = 6.5
"""The size of small text, in points; other text has 8."""
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7F7F7F", "#000000")
BLUE, ORANGE, _, _, PURPLE, SKY, GREY, BLACK = COLOURS
PALE, INK = "#D9D9D9", "#222222"
UNLABELLED = "not labelled"  # the error that neither a person nor a rule labelled
settings = style.context(str(Path(__file__).with_name("workbench.mplstyle")), after_reset=True)
"""A decorator of functions that draw: our look, whatever a notebook has set."""


@dataclass(frozen=True, slots=True)
class Look:
    """How one name is drawn."""

    colour: str
    marker: str = "o"
    hatch: str = ""
    line: Any = "-"  # a Matplotlib line style: a word, or (offset, dashes)

    @property
    def curve(self) -> dict[str, Any]:
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line}

    @property
    def bar(self) -> dict[str, Any]:
        return {"fc": self.colour, "hatch": self.hatch, "edgecolor": "white", "linewidth": 0}


_DASHES = ((5, 1.5), (1, 1), (5, 1, 1, 1), (3, 1, 1, 1, 1, 1), (8, 2), (2, 2), (3, 1, 3, 1, 1, 1))
_LINES = ("-", *((0, dashes) for dashes in _DASHES))
_HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "||||", "oo")
SHAPES: list[tuple[str, str, Any]] = list(zip("os^DvPX<", _HATCHES, _LINES, strict=True))
_ALL = [
    Look(colour, *SHAPES[(number + turn) % len(SHAPES)])
    for turn in range(len(SHAPES))
    for number, colour in enumerate(COLOURS)
]
_LEVELS = ("simple", "easy", "moderate", "medium", "challenging", "hard", "extra")
# Names as readers know them; a name's place in its line is its look.
_NAMED = """
divide and conquer | query plan | synthetic examples | direct | chess candidate | decomposer | all together
CHASE-SQL | CHESS (IR, SS, CG) | MAC-SQL | CHESS (IR, CG, UT) | zero-shot | direct, chain of thought | zero-shot, chain of thought | gold
pairwise | majority | unit tests | ranker | adversary | oracle
pass@1 | pass@5 | pass@1, schema selector | pass@5, schema selector
simple | moderate | challenging
easy | medium | hard | extra
"""


def _key(name: object) -> str:
    return " ".join(str(name).casefold().replace("_", " ").replace("-", " ").split())


_GROUPS = [line.split(" | ") for line in _NAMED.strip().splitlines()]
_LOOKS = {_key(name): _ALL[place] for group in _GROUPS for place, name in enumerate(group)}
_SHOWN = {_key(name): name for group in _GROUPS for name in group}


def shown(name: object) -> str:
    """The name as readers know it: "query plan" for `query_plan`."""
    return _SHOWN.get(_key(name), str(name))


def looks(names: Collection[str]) -> dict[str, Look]:
    """The looks of the names in one figure, no two alike.

    A variant, such as "CHASE-SQL, majority" or "w/o query plan", has the colour of the system or generator in its name;
    other names take what is free, in their order.
    """
    found = {name: _LOOKS[_key(name)] for name in names if _key(name) in _LOOKS}
    for name in dict.fromkeys(names):
        if name not in found:
            root = max((known for known in _LOOKS if known in _key(name)), key=len, default=None)
            free = [look for look in _ALL if look not in found.values()] or _ALL
            own = [look for look in free if root and look.colour == _LOOKS[root].colour]
            used = Counter(look.colour for look in found.values())
            found[name] = own[0] if own else min(free, key=lambda look: used[look.colour])
    return {name: found[name] for name in names}


def shades(count: int) -> list[str]:
    """Blues for the steps of a process, from pale to dark."""
    return [shade(BLUE, 1 - (place + 1) / count) for place in range(count)]


def shade(colour: str, light: float) -> str:
    """A colour mixed with white."""
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * light):02X}" for part in parts)


def ordered(names: Iterable[Any]) -> list[Any]:
    """Each name once in the given order; difficulties after the others, from easy to hard."""
    place = {level: number for number, level in enumerate(_LEVELS)}
    return sorted(dict.fromkeys(names), key=lambda name: place.get(name, -1))


def text(value: object, points: float = 0, size: float = 8) -> str:
    """A value as one line for Matplotlib: `$` escaped, and shortened in the middle to at most `points`."""
    line = whole = _printable(value)[:1000]
    keep = len(line)
    while points and keep > 1 and width(line, size) > points:
        keep = min(keep - 1, int(keep * points / width(line, size)) + 1)
        line = f"{whole[: (keep + 1) // 2].rstrip()}…{whole[len(whole) - keep // 2 :].lstrip()}"
    return line.replace("$", r"\$")


@lru_cache(maxsize=10_000)
def width(line: str, size: float = 8) -> float:
    """The width of a line in points."""
    font = FontProperties(family="DejaVu Sans", size=size)
    return float(text_to_path.get_text_width_height_descent(line, font, ismath=False)[0])


def _printable(value: object) -> str:
    return " ".join("".join(map(_drawn, str(value))).split()) or "(empty)"


def _drawn(character: str) -> str:
    kind = unicodedata.category(character)
    if character.isspace() or kind == "Cc":
        return " "
    if kind in {"Cf", "Mn"} and not unicodedata.combining(character):
        return ""  # joiners, marks of direction and of variation
    if ord(character) in _glyphs():
        return character
    name = unicodedata.name(character, "").lower() if kind == "So" else ""
    return f"[{name or f'U+{ord(character):04X}'}]"


@cache
def _glyphs() -> frozenset[int]:
    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


class Picture(Figure):
    """A figure with the data that it shows; a notebook displays it as the PNG of its file."""

    data: pd.DataFrame
    """The rows that the figure shows, for the CSV beside it."""

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, Any]]:
        wide, high = (round(110 * inches) for inches in self.get_size_inches())
        image = b64encode(rendered(self, "png")).decode()
        size = {"image/png": {"width": wide, "height": high}}
        return {"image/png": image, "text/plain": str(self)}, size


def canvas(wide: float, high: float) -> tuple[Picture, Axes]:
    """A figure of a size in inches, with one pair of axes."""
    figure = Picture(figsize=(wide, max(1.0, high)), layout="constrained")
    return figure, figure.subplots()


def panels(wide: float, high: float, count: int, across: int = 2) -> tuple[Picture, list[Axes]]:
    """A figure with panels side by side, with a common vertical axis."""
    figure = Picture(figsize=(wide, high), layout="constrained")
    down = -(-count // across)
    grid = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
    for axes in grid[count:]:
        axes.remove()
    return figure, list(grid[:count])


def finish(figure: Picture, data: pd.DataFrame, stamp: object, note: str = "") -> Picture:
    """Write the stamp and a note below the figure, which grows by them, and fix the layout once."""
    said = stamped(stamp, data)
    line = _printable(f"{said.removesuffix('.')}. {note}" if note else said)
    room = figure.get_figwidth() * 72 - 10
    across = max(1, int(0.93 * len(line) * room / width(line, SMALL)))
    footer = [text(part, room, SMALL) for part in textwrap.wrap(line, across, max_lines=8)]
    figure.set_figheight(figure.get_figheight() + 0.1 * len(footer))
    figure.supxlabel("\n".join(footer), x=0.01, ha="left", fontsize=SMALL, color="#555555")
    figure.data = data
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def legend(
    figure: Picture, keys: Mapping[str, Any], side: Literal["above", "right"] = "above"
) -> None:
    """A legend outside the axes: above, in as many columns as fit, or at the right, beside many marks.

    A key is a `Look`, drawn as a bar, or an artist of Matplotlib. The figure grows by the height of a legend above it.
    """
    inside = figure.get_figwidth() * 72 - 12
    names = [text(shown(name), (inside / 2 if side == "right" else inside) - 40) for name in keys]
    columns = max(1, min(len(names), int(inside / (max(map(width, names)) + 38))))
    if side == "above":
        figure.set_figheight(figure.get_figheight() + 0.16 * -(-len(names) // columns))
    place: Any = {"above": "outside upper left", "right": "outside right upper"}[side]
    handles = [Patch(**key.bar) if isinstance(key, Look) else key for key in keys.values()]
    figure.legend(handles, names, loc=place, ncols=columns if side == "above" else 1)


def line_key(look: Look, **other: Any) -> Line2D:
    """A line's sign in a legend, or a mark's with `linestyle="none"`."""
    return Line2D([], [], **look.curve | other)


def name_rows(axes: Axes, names: Sequence[object], points: float = 125) -> None:
    """Name the rows of horizontal bars, the first one on top."""
    axes.set_yticks(range(len(names)), [text(shown(name), points) for name in names])
    axes.set(ylim=(len(names) - 0.5, -0.5), ylabel="")
    axes.tick_params(axis="y", length=0)


def percent(axes: Axes, which: Literal["x", "y"], label: str, *, whole: bool = False) -> None:
    """An axis in percent: from 0 to 100 if `whole`, else as far as the data reach."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(PercentFormatter(decimals=0))
    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], integer=True))
    axis.set_label_text(label)
    shared = axes.get_shared_x_axes() if which == "x" else axes.get_shared_y_axes()
    ends = [getattr(other.dataLim, f"interval{which}") for other in shared.get_siblings(axes)]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    margin = max(2.5, (high - low) * 0.08)
    limits = (0.0, 112.0) if whole else (max(-3.0, low - margin), min(103.0, high + margin))
    axes.set(**{f"{which}lim": limits})  # 112: room for the number beside a full bar
    if whole:
        axis.set_ticks(range(0, 101, 25))


def save(figure: Figure, path: Path, vectors: Path | None = None) -> None:
    """Write path.png (200 dots an inch); path.svg and path.pdf, which git ignores, into the folder `vectors`."""
    path.with_name(f"{path.name}.png").write_bytes(rendered(figure, "png"))
    for kind in ("svg", "pdf"):
        file = (vectors or path.parent) / f"{path.name}.{kind}"
        file.write_bytes(rendered(figure, kind))


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
