"""Who is drawn how: a generator, system or selector has one colour, marker, hatch and line everywhere.

Colour is never the only sign. The colours are Okabe and Ito's (2008), which colour-blind readers can tell
apart; names that nobody foresaw get one of Paul Tol's muted colours by their hash.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, PALE, INK = "#7F7F7F", "#D9D9D9", "#222222"


@dataclass(frozen=True, slots=True)
class Look:
    """How one name is drawn."""

    colour: str
    marker: str
    hatch: str
    line: Any  # a Matplotlib line style: a word or (offset, dashes)


_SHAPES = (
    ("o", "", "-"),
    ("s", "////", (0, (5, 1.5))),
    ("^", "....", (0, (1, 1))),
    ("D", "\\\\\\\\", (0, (5, 1, 1, 1))),
    ("v", "xxxx", (0, (3, 1, 1, 1, 1, 1))),
    ("P", "----", (0, (8, 2))),
    ("X", "||||", (0, (2, 2))),
)
HATCHES = tuple(hatch for _, hatch, _ in _SHAPES)


def _looks(*named: tuple[str, str]) -> dict[str, Look]:
    return {
        name: Look(colour, *shape) for (name, colour), shape in zip(named, _SHAPES, strict=False)
    }


_KNOWN = {
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
        ("chase sql", BLUE),
        ("chess (ir, cg, ut)", VERMILION),
        ("chess (ir, ss, cg)", ORANGE),
        ("mac-sql", GREEN),
        ("zero-shot, chain of thought", GREY),
        ("zero-shot", PURPLE),
        ("gold", BLACK),
    ),
    # selectors
    **_looks(
        ("majority", SKY),
        ("pairwise", BLUE),
        ("trained", VERMILION),
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
_SHOWN = {name: name for name in _KNOWN} | {
    "chase sql": "CHASE-SQL",
    "chess (ir, cg, ut)": "CHESS (IR, CG, UT)",
    "chess (ir, ss, cg)": "CHESS (IR, SS, CG)",
    "mac-sql": "MAC-SQL",
}
_ALIASES = {
    "online examples": "synthetic examples",
    "online synthetic examples": "synthetic examples",
    "self-consistency": "majority",
    "chase-sql": "chase sql",
}
_OTHERS = tuple(
    Look(colour, *shape)
    for shape in _SHAPES
    for colour in ("#332288", "#882255", "#44AA99", "#999933", "#AA4499", "#661100", "#6699CC")
)


def ordered(names: Iterable[Any]) -> list[Any]:
    """Each name once, as they come; difficulties the easiest first."""
    return sorted(
        dict.fromkeys(names), key=lambda name: _LEVELS.index(name) if name in _LEVELS else -1
    )


def look(name: str) -> Look:
    """The look of a name, the same whenever it is asked for alone."""
    return looks([name])[name]


def looks(names: Collection[str]) -> dict[str, Look]:
    """The looks of names that stand in one figure; two unknown names never share one there."""
    found = {name: _KNOWN[_fold(name)] for name in names if _fold(name) in _KNOWN}
    free = list(_OTHERS)
    for name in sorted(set(names) - set(found)):
        digest = hashlib.sha256(name.encode("utf-8", "replace")).digest()
        at = int.from_bytes(digest[:4]) % len(_OTHERS)
        turned = [one for one in _OTHERS[at:] + _OTHERS[:at] if one in free] or list(_OTHERS)
        used = Counter(one.colour for one in found.values())
        found[name] = min(turned, key=lambda one: used[one.colour])
        free = [one for one in free if one != found[name]]
    return {name: found[name] for name in names}


def shown(name: object) -> str:
    """The name as a reader knows it: "synthetic examples" for `online_examples`."""
    return _SHOWN.get(_fold(str(name)), str(name))


def _fold(name: str) -> str:
    plain = " ".join(name.casefold().replace("_", " ").split())
    return _ALIASES.get(plain, plain)
