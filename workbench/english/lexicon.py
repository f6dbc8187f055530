"""A table of the English words and phrases that ask for operations.

Each line of `cues.txt` gives a cue and the phrases that express it. A cue is only a hint: which operation
follows is for the learned weights to say. Each line of `attributes.txt` gives an adjective and what it
measures, as stems to look for in names and descriptions: "the cheapest" is about a price.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.english.words import NUMBERS, Token, stem

# Adjectives of age point the other way on dates of birth and of building.
OLD = frozenset(
    {"oldest", "older", "eldest", "old", "youngest", "younger", "young", "newest", "newer"}
)


@dataclass(frozen=True, slots=True)
class Cue:
    """A phrase that asks for something: tokens `first` up to but not including `end`."""

    kind: str
    first: int
    end: int
    word: str

    @property
    def mask(self) -> int:
        return (1 << self.end) - (1 << self.first)


def _lines(name: str) -> list[str]:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()


def _table() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """The phrases that start with each word, the longest first."""
    table: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for line in _lines("cues.txt"):
        kind, _, phrases = line.partition(" ")
        for phrase in phrases.split("|"):
            words = tuple(phrase.split())
            table.setdefault(words[0], []).append((words, kind))
    return {first: sorted(found, key=lambda item: -len(item[0])) for first, found in table.items()}


_CUES = _table()
_ATTRIBUTES = {
    word: tuple(map(stem, names)) for word, *names in map(str.split, _lines("attributes.txt"))
}


def cues(question: Sequence[Token]) -> list[Cue]:
    """The cues in a question, of each kind the longest that starts at a word."""
    lows = [token.low for token in question]
    found: list[Cue] = []
    for index, low in enumerate(lows):
        if question[index].quoted:
            continue
        kinds: set[str] = set()
        for words, kind in _CUES.get(low, ()):
            end = index + len(words)
            if kind not in kinds and tuple(lows[index:end]) == words:
                kinds.add(kind)
                found.append(Cue(kind, index, end, words[-1]))
        if low.endswith("n't") and "not" not in kinds:
            found.append(Cue("not", index, index + 1, low))
        if low.endswith("est") and len(low) > 4 and not kinds & {"max", "min"}:
            found.append(Cue("max", index, index + 1, low))
        following = lows[index + 1 : index + 2] == ["than"]
        if low.endswith("er") and following and not kinds:
            found.append(Cue("more", index, index + 2, low))
    return [c for c in found if not any(_inside(c, other) for other in found)]


def _inside(cue: Cue, other: Cue) -> bool:
    """Whether the cue is a part of a longer one, as "least" is of "at least"."""
    if other.kind in {"wh", "contain"} or (
        other.kind in {"most", "fewest"} and cue.kind in {"max", "min"}
    ):
        return False
    shorter = cue.end - cue.first < other.end - other.first
    return shorter and other.first <= cue.first and cue.end <= other.end


def attributes(words: Sequence[str]) -> tuple[str, ...]:
    """The stems that name what these adjectives measure, themselves included."""
    found: list[str] = []
    for word in words:
        for root in (word, *(word.removesuffix(ending) for ending in ("est", "er", "st"))):
            for base in (root, root + "e", root[:-1]):
                found += _ATTRIBUTES.get(base, ())
        found.append(stem(word))
    return tuple(dict.fromkeys(found))


def small_number(token: Token) -> int | None:
    """A count as "top 5" or "three most" gives it."""
    if token.number is not None and token.number == int(token.number) and 0 < token.number <= 1000:
        return int(token.number)
    return NUMBERS.get(token.low)
