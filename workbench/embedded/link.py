"""A question as it is understood before any SQL is thought of: which of its words speak of what.

A mention is a few neighbouring tokens that fit a column or a table, by the words of its name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from workbench.embedded.hints import Definition, definitions
from workbench.embedded.index import Index, Pieces, columns_of, index
from workbench.embedded.words import WORDS, Cue, Token, alike, cues, tokens
from workbench.types import Context

_GAP = 3  # tokens that may stand between two words of one mention
_KEPT, _PLACES = 60, 3  # columns looked at further, and mentions of one column
_WEAKEST = 0.12  # the strength of a mention
Features = dict[str, float]


class Mention(NamedTuple):
    """Tokens from `first` up to `end` that may speak of a column, or of a table."""

    first: int
    end: int
    mask: int
    name: float  # the part of its name that is said, by weight
    whole: bool  # every word of the name, as written
    strength: float
    hints: int = 0  # the clause of the hint that says so


Mentions = dict[int, list[Mention]]  # of each column or table, the strongest first


def link(text: Sequence[Token], made: Index) -> tuple[Mentions, Mentions]:
    """The mentions of columns and of tables in these tokens."""
    places: dict[str, list[int]] = {}  # tokens by their stems
    for i, token in enumerate(text):
        command = token.low in WORDS["commands"] and (i > 0 or token.low in {"number", "total"})
        if (token.content and token.number is None) or command:
            places.setdefault(token.stem, []).append(i)

    @cache
    def hits(word: str) -> list[tuple[int, float]]:
        """The tokens like a word. Only long words may hide one that begins otherwise: countryname."""
        stems = (stem for stem in places if stem[0] == word[0] or len(word) >= 8)
        return [(i, how) for s in stems if (how := alike(s, word)) > 0 for i in places[s]]

    def mentions(*names: Sequence[str]) -> list[Mention]:
        """The mentions of these names in the text; hits with few tokens between them are one mention."""
        found: list[Mention] = []
        for words in names:
            groups: list[list[tuple[int, int, float]]] = []
            for hit in sorted((i, n, how) for n, word in enumerate(words) for i, how in hits(word)):
                between = text[groups[-1][-1][0] + 1 : hit[0]] if groups else ()
                if not groups or len(between) >= _GAP or WORDS["breaks"] & {t.low for t in between}:
                    groups.append([])
                groups[-1].append(hit)
            found += (mention(group, words) for group in groups)
        kept: list[Mention] = []
        for one in sorted(found, key=lambda m: (-m.strength, m.first)):
            if one.strength >= _WEAKEST and not one.mask & union(m.mask for m in kept):
                kept.append(one)
        return kept[:_PLACES]

    def mention(group: list[tuple[int, int, float]], words: Sequence[str]) -> Mention:
        best: dict[int, float] = {}  # how well each word of the name is said
        for _, number, how in group:
            best[number] = max(best.get(number, 0.0), how)
        total = sum(made.words[word] for word in words) or 1.0
        name = sum(made.words[words[number]] * how for number, how in best.items()) / total
        whole = len(best) == len(words) and min(best.values()) == 1.0
        mask = union(1 << i for i, _, _ in group)
        return Mention(lowest(mask), mask.bit_length(), mask, name, whole, name + 0.25 * whole)

    fields = {column.id: mentions(column.words, column.heading) for column in made.fields}
    spoken = sorted((i for i in fields if fields[i]), key=lambda i: (-fields[i][0].strength, i))
    tables = {sheet.id: found for sheet in made.sheets if (found := mentions(sheet.words))}
    return {i: fields[i] for i in sorted(spoken[:_KEPT])}, tables


@dataclass(slots=True)
class Part:
    """A piece of a query, the tokens and clauses of the hint that ask for it, and its score."""

    pieces: Pieces
    mask: int
    features: Features
    score: float
    first: int  # where in the question it is asked for
    fields: list[int]
    tables: frozenset[int]
    hints: int = 0
    column: int = -1  # of an equality: the column, or -1


@dataclass(slots=True)
class Reading:
    """A question, read against its schema and hint."""

    context: Context
    made: Index
    weights: Mapping[str, float]
    text: tuple[Token, ...]
    cues: dict[str, list[Cue]]  # by kind
    definitions: list[Definition]
    fields: Mentions
    tables: Mentions
    openings: list[int]  # the tokens after the words that ask, as "which" and "list"
    said: dict[int, float]  # how surely each table is spoken of
    named: int  # tokens that name columns
    nearest_tables: dict[int, set[int]] = field(default_factory=dict)

    def part(self, pieces: Pieces, mask: int, features: Features, **about: Any) -> Part:
        """A part with its score by the weights and its place in the question."""
        first = lowest(mask) if mask else len(self.text)
        fields = columns_of([pieces])
        tables = frozenset(self.made.fields[i].table for i in fields)
        return Part(pieces, mask, features, self.score(features), first, fields, tables, **about)

    def score(self, features: Features) -> float:
        """The features' values times their weights, added up."""
        get = self.weights.get
        return sum(get(name, 0.0) * value for name, value in features.items() if value)

    def all_cues(self, *kinds: str) -> list[Cue]:
        """The cues of these kinds."""
        return [cue for kind in kinds for cue in self.cues.get(kind, ())]

    def cue_before(self, place: int, kinds: Iterable[str], reach: int) -> Cue | None:
        """The nearest cue of these kinds that ends at most so many tokens before the place."""
        near = [cue for cue in self.all_cues(*kinds) if 0 <= place - cue.end <= reach]
        return max(near, key=lambda c: (c.end, c.end - c.first), default=None)

    def beside(self, table: int, place: int) -> float:
        """Whether the table spoken of nearest to this place is this one: 1 if so, -1 if it is another."""
        if place not in self.nearest_tables:
            near = [
                (abs(m.first - place) + 2 * (m.first > place), other)
                for other, mentions in self.tables.items()
                for m in mentions
                if m.strength > 0.4
            ]
            least = min(near, default=(99, -1))[0]
            self.nearest_tables[place] = {t for gap, t in near if gap == least <= 6}
        tables = self.nearest_tables[place]
        return 0.0 if not tables else 1.0 if table in tables else -1.0

    def nearest(self, column: int, first: int, end: int) -> tuple[Mention | None, int]:
        """The mention of a column that stands nearest to these tokens, and how far away."""
        gaps = [(max(0, first - m.end, m.first - end), m) for m in self.fields.get(column, ())]
        gap, mention = min(gaps, key=lambda found: found[0], default=(99, None))
        return mention, gap


def read_question(context: Context, weights: Mapping[str, float]) -> Reading:
    """The question of a context with its cues, links and definitions."""
    made, text = index(context.schema), tokens(context.question.text)
    fields, tables = link(text, made)
    whole = {m.mask for some in fields.values() for m in some if m.whole and m.mask.bit_count() > 1}
    by_kind: dict[str, list[Cue]] = {}
    for cue in cues(text):  # "first" of "first name" is none
        within = any(mask >> cue.first & 1 and 1 << cue.end <= mask << 1 for mask in whole)
        if not (within and cue.kind in {"max", "min", "count", "most", "sum"}):
            by_kind.setdefault(cue.kind, []).append(cue)
    openings = {cue.end for cue in by_kind.get("count", ()) if text[cue.first].low == "how"}
    for cue in by_kind.get("wh", ()):
        low, before = text[cue.first].low, text[cue.first - 1].low if cue.first else "."
        # "which" in the middle of a sentence is relative, but for "in which"
        asks = low in {"what", "how"} or (low in WORDS["questions"] and before in WORDS["asked_in"])
        openings |= {cue.end} if asks or before in WORDS["openings"] else set()
    defined = definitions(context.question.evidence, text, made)
    for clause in defined:  # a defined phrase speaks of the column that it is defined by
        first, end = lowest(clause.mask), clause.mask.bit_length()
        for formula in clause.formulas if clause.mask else ():
            plain = len(formula.inner or formula.pieces) == 1
            for column in formula.fields if formula.kind == "row" or plain else ():
                fit, hints = clause.fit, 1 << clause.number
                mention = Mention(first, end, clause.mask, fit, True, fit + 0.75, hints)
                fields.setdefault(column, []).insert(0, mention)
    said = {table: min(1.0, mentions[0].strength) for table, mentions in tables.items()}
    named = union(m.mask for some in fields.values() for m in some if m.name >= 0.5)
    start = sorted(openings) or [0]
    return Reading(
        context, made, weights, text, by_kind, defined, fields, tables, start, said, named
    )


def added(*some: Features) -> Features:
    """Features with the sums of their values."""
    result: Features = {}
    for features in some:
        for name, value in features.items():
            result[name] = result.get(name, 0.0) + value
    return result


def lowest(mask: int) -> int:
    """The place of the first token of a mask; -1 without any."""
    return (mask & -mask).bit_length() - 1


def union(masks: Iterable[int]) -> int:
    """All the bits of some masks."""
    result = 0
    for mask in masks:
        result |= mask
    return result


def closest(mentions: Iterable[Mention], place: int) -> Mention:
    """The mention that begins nearest to a place of the question."""
    return min(mentions, key=lambda m: abs(m.first - place))
