"""Which words of the question and the hint speak of which tables and columns.

A mention is a few neighbouring tokens that fit a column or a table: by its name, by words of its
description that tell something, or by being an abbreviation of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.embedded.index import Index
from workbench.embedded.words import Token, alike

_GAP = 3  # tokens that may stand between two words of one mention
_KEPT = 60  # columns looked at further
_PLACES = 3  # where one of them may be spoken of
_COMMANDS = frozenset(
    {"name", "state", "list", "number", "count", "total", "first", "last", "report"}
)


@dataclass(slots=True)
class Mention:
    """Tokens from `first` up to `end` that may speak of a column, or of a table."""

    id: int  # of the column or table
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


_Hit = tuple[int, int, float, bool]  # token, which word, how alike, whether a word of the name


def link(text: Sequence[Token], made: Index) -> Linked:
    """The mentions of columns and tables in these tokens."""
    places: dict[str, list[int]] = {}
    for i, token in enumerate(text):
        command = token.low in _COMMANDS and (i > 0 or token.low in {"number", "total"})
        if (token.content and token.number is None) or command:
            places.setdefault(token.stem, []).append(i)
    by_letter: dict[str, list[str]] = {}
    for stem in places:
        by_letter.setdefault(stem[0], []).append(stem)
    near: dict[str, list[tuple[int, float]]] = {}

    def hits(word: str) -> list[tuple[int, float]]:
        if word not in near:
            stems = by_letter.get(word[0], []) if len(word) < 8 else list(places)
            found = [(s, alike(s, word)) for s in stems]
            near[word] = [(i, how) for s, how in found if how > 0 for i in places[s]]
        return near[word]

    said = places.keys()
    linked = Linked()

    def mentions(owner: int, names: Sequence[Sequence[str]], told: frozenset[str]) -> list[Mention]:
        """Where one of its names is said, or something of what is told of it."""
        found: list[Mention] = []
        other: list[_Hit] = [(i, -1, 1.0, False) for word in told & said for i in places[word]]
        for words in names:
            named = [(i, n, how, True) for n, word in enumerate(words) for i, how in hits(word)]
            if named or other:
                found += _clusters(owner, named + other, words, made, text, len(told))
        found.sort(key=lambda m: (-m.strength, m.first))
        kept: list[Mention] = []
        for mention in found:
            if len(kept) < _PLACES and not any(m.mask & mention.mask for m in kept):
                kept.append(mention)
        return kept

    for column in made.fields:
        names = [column.words]
        if column.heading and set(column.heading) != set(column.words):
            names.append(column.heading)
        if found := mentions(column.id, names, column.told):
            linked.fields[column.id] = found
    for sheet in made.sheets:
        if found := mentions(sheet.id, [n for n in (sheet.words, sheet.alias) if n], frozenset()):
            linked.tables[sheet.id] = found
    if len(linked.fields) > _KEPT:
        best = sorted(linked.fields, key=lambda i: (-linked.fields[i][0].strength, i))[:_KEPT]
        linked.fields = {i: linked.fields[i] for i in sorted(best)}
    return linked


def _clusters(
    owner: int,
    hits: list[_Hit],
    words: Sequence[str],
    made: Index,
    text: Sequence[Token],
    told: int,
) -> list[Mention]:
    """The mentions that these hits make up: hits with few tokens between them are one."""
    hits.sort()
    total = sum(made.words[word] for word in words) or 1.0
    mentions: list[Mention] = []
    start = 0
    for end in range(1, len(hits) + 1):
        if (
            end < len(hits)
            and hits[end][0] - hits[end - 1][0] <= _GAP
            and not _broken(text, hits[end - 1][0], hits[end][0])
        ):
            continue
        group, start = hits[start:end], end
        best: dict[int, float] = {}
        mask = other = 0
        tells = 0.0
        for i, number, how, of_name in group:
            if of_name:
                best[number] = max(best.get(number, 0.0), how)
                mask |= 1 << i
        for i, _, _, of_name in group:
            if not of_name and not mask >> i & 1 and not other >> i & 1:
                other |= 1 << i
                tells += made.words[text[i].stem]
        name = sum(made.words[words[number]] * how for number, how in best.items()) / total
        covered = mask | other
        first = (covered & -covered).bit_length() - 1
        mention = Mention(
            owner,
            first,
            covered.bit_length(),
            covered,
            name,
            min(1.0, tells * (0.45 + 1.2 / (3 + told))),
            len(best) == len(words) and min(best.values(), default=0.0) == 1.0,
        )
        if mention.strength >= 0.12:
            mentions.append(mention)
    return mentions


def _broken(text: Sequence[Token], first: int, second: int) -> bool:
    """Does a mark or a conjunction part these two tokens?"""
    between = text[first + 1 : second]
    return any(
        token.low in {",", ";", ".", "?", "and", "or", ":", "who", "that"} for token in between
    )
