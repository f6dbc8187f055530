"""The names of systems and generators as readers know them, and their order in a figure."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import Series

TOGETHER = "all together"
SEVERAL = " & "  # joins the names of generators that solve a question together
# Generators and systems as readers know them; a name's place in its list is its look.
_GENERATORS = [
    "divide and conquer",
    "query plan",
    "synthetic examples",
    "direct",
    "chess candidate",
    "decomposer",
    TOGETHER,
]
_SYSTEMS = [
    "CHASE-SQL",
    "CHESS (IR, SS, CG)",
    "MAC-SQL",
    "CHESS (IR, CG, UT)",
    "zero-shot",
    "direct, chain of thought",
    "zero-shot, chain of thought",
    "gold",
]
_LEVELS = ("simple", "moderate", "challenging", "easy", "medium", "hard", "extra")


def key(name: object) -> str:
    return " ".join(str(name).casefold().replace("_", " ").replace("-", " ").split())


_SHOWN = {key(name): name for name in _GENERATORS + _SYSTEMS}
# No figure has generators beside systems, so that two of them may share a place.
PLACES: dict[str, int] = {}
for _names in (_GENERATORS, _SYSTEMS):
    PLACES |= {key(name): place for place, name in enumerate(_names)}
PLACES["chess"] = PLACES["chess (ir, cg, ut)"]  # as a part of longer names


def shown(name: object) -> str:
    """Return the name as readers know it: "query plan" for `query_plan`."""
    return _SHOWN.get(key(name), str(name))


def leaders(numbers: "Series[Any]") -> str:
    """Return the name of the largest number; several that share it are "A and B"."""
    return " and ".join(map(shown, numbers.index[numbers == numbers.max()]))


def root(name: object) -> str:
    """Return the system or generator in a name: "CHASE-SQL, majority", "w/o query plan"."""
    return max((known for known in PLACES if known in key(name)), key=len, default="")


def ordered(names: Iterable[Any]) -> list[Any]:
    """Return each name once, difficulties last and from easy to hard."""
    places = {level: place for place, level in enumerate(_LEVELS)}
    return sorted(dict.fromkeys(names), key=lambda name: places.get(name, -1))
