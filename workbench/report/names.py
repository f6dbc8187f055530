"""The names of systems and generators as readers know them, and their order in a figure."""

from collections.abc import Iterable
from typing import Any

# Generators and systems as readers know them; a name's place in its line is its look.
_NAMED = """
divide and conquer | query plan | synthetic examples | direct | chess candidate | decomposer | all together
CHASE-SQL | CHESS (IR, SS, CG) | MAC-SQL | CHESS (IR, CG, UT) | zero-shot | direct, chain of thought | zero-shot, chain of thought | gold
"""
_LEVELS = ["simple", "moderate", "challenging", "easy", "medium", "hard", "extra"]


def key(name: object) -> str:
    return " ".join(str(name).casefold().replace("_", " ").replace("-", " ").split())


GROUPS = [line.split(" | ") for line in _NAMED.strip().splitlines()]
_SHOWN = {key(name): name for group in GROUPS for name in group}
PLACES = {key(name): place for group in GROUPS for place, name in enumerate(group)}
PLACES["chess"] = PLACES["chess (ir, cg, ut)"]  # as a part of longer names


def shown(name: object) -> str:
    """The name as readers know it: "query plan" for `query_plan`."""
    return _SHOWN.get(key(name), str(name))


def root(name: object) -> str:
    """The system or generator that a name contains: "CHASE-SQL, majority", "w/o query plan"."""
    return max((known for known in PLACES if known in key(name)), key=len, default="")


def ordered(names: Iterable[Any]) -> list[Any]:
    """Each name once, difficulties last and from easy to hard."""
    return sorted(dict.fromkeys(names), key=lambda n: _LEVELS.index(n) if n in _LEVELS else -1)
