"""Which words of the question and the hint speak of which tables and columns.

A mention is a few neighbouring tokens that fit a column or a table: by its name, by telling words of its
description, or by being an abbreviation of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.embedded.linking.index import Index
from workbench.english.words import Token, alike

_GAP = 3  # tokens that may stand between two words of one mention
_KEPT = 60  # columns looked at further
_PLACES = 3  # mentions of one column
_WEAKEST = 0.12  # the strength of a mention
_COMMANDS = {"name", "state", "list", "number", "count", "total", "first", "last", "report"}
_BREAKS = frozenset({",", ";", ".", "?", "and", "or", ":", "who", "that"})


@dataclass(slots=True)
class Mention:
    """Tokens from `first` up to `end` that may speak of a column, or of a table."""

    first: int
    end: int
    mask: int
    name: float  # the part of its name that is said, by weight
    told: float  # how much of what is said stands in its description
    whole: bool  # every word of the name, as written
    hint: int = -1  # the clause of the hint that says so
    measured: bool = False  # only an adjective speaks of it

    @property
    def hints(self) -> int:
        return 1 << self.hint if self.hint >= 0 else 0

    @property
    def strength(self) -> float:
        return self.name + 0.25 * self.whole + self.told


@dataclass(slots=True)
class Linked:
    """The mentions of a text, the strongest first for each column and table."""

    fields: dict[int, list[Mention]] = field(default_factory=dict)
    tables: dict[int, list[Mention]] = field(default_factory=dict)


_Hit = tuple[int, int, float]  # token, which word of the name (-1: of the description), how alike


def link(text: Sequence[Token], made: Index) -> Linked:
    """The mentions of columns and tables in these tokens."""
    linker = _Linker(text, made)
    linked = Linked()
    for column in made.fields:
        names = [column.words]
        if column.heading and set(column.heading) != set(column.words):
            names.append(column.heading)
        if found := linker.mentions(names, column.told):
            linked.fields[column.id] = found
    for sheet in made.sheets:
        if found := linker.mentions([sheet.words], frozenset()):
            linked.tables[sheet.id] = found
    if len(linked.fields) > _KEPT:
        best = sorted(linked.fields, key=lambda i: (-linked.fields[i][0].strength, i))[:_KEPT]
        linked.fields = {i: linked.fields[i] for i in sorted(best)}
    return linked


class _Linker:
    """Compares each word of a schema with the text once, however many names have the word."""

    def __init__(self, text: Sequence[Token], made: Index) -> None:
        self.text = text
        self.weights = made.words
        self.places: dict[str, list[int]] = {}  # tokens by their stems
        self.by_letter: dict[str, list[str]] = {}
        self.near: dict[str, list[tuple[int, float]]] = {}
        for i, token in enumerate(text):
            command = token.low in _COMMANDS and (i > 0 or token.low in {"number", "total"})
            if (token.content and token.number is None) or command:
                self.places.setdefault(token.stem, []).append(i)
        for stem in self.places:
            self.by_letter.setdefault(stem[0], []).append(stem)

    def _hits(self, word: str) -> list[tuple[int, float]]:
        """The tokens like a word. Only long words may hide one that begins otherwise: countryname."""
        if word not in self.near:
            stems = self.by_letter.get(word[0], []) if len(word) < 8 else self.places
            found = [(stem, alike(stem, word)) for stem in stems]
            self.near[word] = [(i, how) for s, how in found if how > 0 for i in self.places[s]]
        return self.near[word]

    def mentions(self, names: Sequence[Sequence[str]], told: frozenset[str]) -> list[Mention]:
        """Where one of its names is said, or something of its description."""
        found: list[Mention] = []
        other: list[_Hit] = [
            (i, -1, 1.0) for w in told & self.places.keys() for i in self.places[w]
        ]
        for words in names:
            hits = [(i, n, how) for n, word in enumerate(words) for i, how in self._hits(word)]
            if hits or other:
                found += self._clusters(hits + other, words, len(told))
        kept: list[Mention] = []
        for mention in sorted(found, key=lambda m: (-m.strength, m.first)):
            if len(kept) < _PLACES and not any(m.mask & mention.mask for m in kept):
                kept.append(mention)
        return kept

    def _clusters(self, hits: list[_Hit], words: Sequence[str], told: int) -> list[Mention]:
        """The mentions that these hits make up: hits with few tokens between them are one."""
        groups: list[list[_Hit]] = []
        for hit in sorted(hits):
            last = groups[-1][-1][0] if groups else -_GAP
            between = self.text[last + 1 : hit[0]] if groups else ()
            if hit[0] - last <= _GAP and groups and _BREAKS.isdisjoint(t.low for t in between):
                groups[-1].append(hit)
            else:
                groups.append([hit])
        mentions = (self._mention(group, words, told) for group in groups)
        return [mention for mention in mentions if mention.strength >= _WEAKEST]

    def _mention(self, group: list[_Hit], words: Sequence[str], told: int) -> Mention:
        best: dict[int, float] = {}  # how well each word of the name is said
        mask = 0
        for i, number, how in group:
            if number >= 0:
                best[number] = max(best.get(number, 0.0), how)
                mask |= 1 << i
        tells = 0.0
        for i, number, _ in group:
            if number < 0 and not mask >> i & 1:
                mask |= 1 << i
                tells += self.weights[self.text[i].stem]
        total = sum(self.weights[word] for word in words) or 1.0
        name = sum(self.weights[words[number]] * how for number, how in best.items()) / total
        # A word of a long description is weak evidence: such a text mentions half of the language.
        description = min(1.0, tells * (0.45 + 1.2 / (3 + told)))
        whole = len(best) == len(words) and min(best.values(), default=0.0) == 1.0
        first = (mask & -mask).bit_length() - 1
        return Mention(first, mask.bit_length(), mask, name, description, whole)
