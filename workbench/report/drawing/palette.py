"""Each generator, system and selector has one colour, marker, hatch and line style in every figure.

Colour is never the only sign. The colours are Okabe and Ito's (2008), which colour-blind readers can tell
apart; an unknown name gets one of Paul Tol's muted colours by its hash.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, PALE, INK = "#7F7F7F", "#D9D9D9", "#222222"
UNLABELLED = "not labelled"  # the error that neither a person nor a rule labelled


@dataclass(frozen=True, slots=True)
class Look:
    """How one name is drawn."""

    colour: str
    marker: str
    hatch: str
    line: Any  # a Matplotlib line style: a word, or (offset, dashes)

    @property
    def bar(self) -> dict[str, Any]:
        """The look of bars, as arguments of Matplotlib's `barh`."""
        return {"color": self.colour, "hatch": self.hatch, "edgecolor": "white", "linewidth": 0}

    @property
    def curve(self) -> dict[str, Any]:
        """The look of a line, as arguments of Matplotlib's `plot`."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line}


_SHAPES = (
    ("o", "", "-"),
    ("s", "////", (0, (5, 1.5))),
    ("^", "....", (0, (1, 1))),
    ("D", "\\\\\\\\", (0, (5, 1, 1, 1))),
    ("v", "xxxx", (0, (3, 1, 1, 1, 1, 1))),
    ("P", "----", (0, (8, 2))),
    ("X", "||||", (0, (2, 2))),
    ("<", "oo", (0, (3, 1, 3, 1, 1, 1))),
)
HATCHES = tuple(hatch for _, hatch, _ in _SHAPES)


def _looks(*named: tuple[str, str]) -> dict[str, Look]:
    shapes = _SHAPES[: len(named)]
    return {name: Look(colour, *shape) for (name, colour), shape in zip(named, shapes, strict=True)}


# Names as readers know them.
_NAMED = {
    **_looks(("", BLUE)),  # the only series of a figure
    # generators
    **_looks(
        ("divide and conquer", BLUE),
        ("query plan", ORANGE),
        ("synthetic examples", GREEN),
        ("direct", GREY),
        ("chess candidate", VERMILION),
        ("decomposer", PURPLE),
        ("all together", BLACK),
    ),
    # systems
    **_looks(
        ("CHASE-SQL", BLUE),
        ("CHESS (IR, CG, UT)", VERMILION),
        ("CHESS (IR, SS, CG)", ORANGE),
        ("MAC-SQL", GREEN),
        ("zero-shot, chain of thought", GREY),
        ("zero-shot", PURPLE),
        ("gold", BLACK),
        ("direct, chain of thought", SKY),
    ),
    # selectors
    **_looks(
        ("majority", SKY),
        ("pairwise", BLUE),
        ("unit tests", GREEN),
        ("ranker", PURPLE),
        ("oracle", BLACK),
        ("adversary", GREY),
    ),
    # pass@k, and with CHESS's schema selector
    **_looks(
        ("pass@1", BLUE),
        ("pass@5", ORANGE),
        ("pass@1, schema selector", SKY),
        ("pass@5, schema selector", VERMILION),
    ),
    # difficulties, BIRD's and Spider's
    **_looks(("simple", SKY), ("moderate", ORANGE), ("challenging", VERMILION)),
    **_looks(("easy", SKY), ("medium", ORANGE), ("hard", VERMILION), ("extra", PURPLE)),
}
_LEVELS = ("simple", "easy", "moderate", "medium", "challenging", "hard", "extra")
_OTHERS = tuple(
    Look(colour, *shape)
    for shape in _SHAPES
    for colour in ("#332288", "#882255", "#44AA99", "#999933", "#AA4499", "#661100", "#6699CC")
)


def ordered(names: Iterable[Any]) -> list[Any]:
    """Each name once in the given order; difficulties after the others, from easy to hard."""
    return sorted(
        dict.fromkeys(names), key=lambda name: _LEVELS.index(name) if name in _LEVELS else -1
    )


def look(name: str) -> Look:
    return looks([name])[name]


def looks(names: Collection[str]) -> dict[str, Look]:
    """The looks of the names in one figure; two unknown names in it never look the same."""
    chosen = {name: _LOOKS[_key(name)] for name in names if _key(name) in _LOOKS}
    free = list(_OTHERS)
    for name in sorted(set(names) - set(chosen)):
        digest = hashlib.sha256(name.encode("utf-8", "replace")).digest()
        start = int.from_bytes(digest[:4]) % len(_OTHERS)
        turned = _OTHERS[start:] + _OTHERS[:start]
        candidates = [other for other in turned if other in free] or list(_OTHERS)
        used = Counter(other.colour for other in chosen.values())
        chosen[name] = min(candidates, key=lambda other: used[other.colour])
        free = [other for other in free if other != chosen[name]]
    return {name: chosen[name] for name in names}


def shown(name: object) -> str:
    """The name as readers know it: "query plan" for `query_plan`."""
    return _SHOWN.get(_key(str(name)), str(name))


def _key(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split())


_LOOKS = {_key(name): look for name, look in _NAMED.items()}
_SHOWN = {_key(name): name for name in _NAMED}
