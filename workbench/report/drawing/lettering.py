"""Text in figures, safe for any data: `$` and emoji in values, very long names, long lines."""

import unicodedata
from functools import cache, lru_cache

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path

FONT = "DejaVu Sans"
"""Matplotlib's own font, by which all text is measured."""
FONTS = [FONT, "Verdana", "Bitstream Vera Sans", "sans-serif"]
"""The fonts that an SVG names: Verdana, for readers without ours, is equally wide."""
SIZE, SMALL = 8.0, 6.5
"""The size of text and of small text, in points."""


def text(value: object, points: float | None = None, size: float = SIZE) -> str:
    """A value as one line for Matplotlib: `$` escaped, and shortened in the middle to at most `points`.

    A character that the font lacks becomes text: an emoji its name, any other its number.
    """
    line = _printable(value)
    if points is not None and width(line, size) > points:
        line = line[:400]
        low, high = 0, len(line) - 1
        while low < high:
            keep = (low + high + 1) // 2
            low, high = (keep, high) if width(_cut(line, keep), size) <= points else (low, keep - 1)
        line = _cut(line, low)
    return line.replace("$", r"\$")


def lines(value: object, points: float, size: float = SIZE) -> str:
    """A text broken between words into lines of at most `points`."""
    done = [""]
    for word in _printable(value).split():
        longer = f"{done[-1]} {word}".strip()
        if done[-1] and width(longer, size) > points:
            done.append(word)
        else:
            done[-1] = longer
    return "\n".join(text(line, points, size) for line in done)


@lru_cache(maxsize=10_000)
def width(line: str, size: float = SIZE) -> float:
    """The width of a line in points."""
    properties = FontProperties(family=FONT, size=size)
    return float(text_to_path.get_text_width_height_descent(line, properties, ismath=False)[0])


def _cut(line: str, keep: int) -> str:
    head = (keep + 1) // 2
    return (
        f"{line[:head].rstrip()}\N{HORIZONTAL ELLIPSIS}{line[len(line) - keep + head :].lstrip()}"
    )


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
    return frozenset(get_font(findfont(FONT)).get_charmap())
