"""A question as it is understood before any SQL is thought of: which of its words speak of what.

A mention is a few neighbouring tokens that fit a column or a table, by the words of its name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from workbench.embedded.hints import definitions
from workbench.embedded.words import (
    WORDS,
    Cue,
    Index,
    Pieces,
    alike,
    columns_of,
    cues,
    index,
    tokens,
)
from workbench.types import Context

_GAP = 3  # tokens that may stand between two words of one mention
_PLACES = 3  # mentions of one column
_WEAKEST = 0.12  # the strength of a mention
Features = dict[str, float]
# Operations of a query, the cues that ask for each, and the operations that answer such a cue. Without any
# of its cues an operation is `unasked`; a cue that no operation answers is `missed`.
OPERATIONS = (
    ("count", ("count",), {"count", "most"}),
    ("sum", ("sum",), {"sum"}),
    ("avg", ("avg",), {"avg"}),
    ("extreme", ("max", "min", "most", "fewest"), {"extreme", "most"}),
    ("group", ("each",), {"group"}),
    ("distinct", ("distinct",), {"distinct", "list", "group"}),
    ("percent", ("percent",), {"percent"}),
    ("differ", ("differ",), {"differ"}),
)


class Mention(NamedTuple):
    """Tokens, as a mask, that may speak of a column or of a table."""

    mask: int
    name: float  # the part of its name that is said, by weight
    whole: bool  # every word of the name, as written
    hints: int = 0  # the clause of the hint that says so

    @property
    def first(self) -> int:
        return lowest(self.mask)

    @property
    def end(self) -> int:
        return self.mask.bit_length()

    @property
    def strength(self) -> float:
        return self.name + 0.25 * self.whole + 0.5 * bool(self.hints)


Mentions = dict[int, list[Mention]]  # of each column or table, the strongest first


@lru_cache(
    maxsize=65536
)  # many prompts are about one question, and many schemas have the same words
def _hits(question: str, word: str) -> list[tuple[int, float]]:
    """The tokens that may speak of a name by this word of it, and how alike they are."""
    found = []
    for i, token in enumerate(tokens(question)):
        command = token.low in WORDS["commands"] and (i > 0 or token.low in {"number", "total"})
        if (token.content and token.number is None) or command:
            found.append((i, alike(token.stem, word)))
    return [(i, how) for i, how in found if how]


def link(question: str, made: Index) -> tuple[Mentions, Mentions]:
    """The mentions of columns and of tables in a question."""
    text = tokens(question)

    def mentions(*names: Sequence[str]) -> list[Mention]:
        """The mentions of these names in the text; hits with few tokens between them are one mention."""
        found: list[Mention] = []
        for words in names:
            groups: list[list[tuple[int, int, float]]] = []
            for hit in sorted(
                (i, n, how) for n, w in enumerate(words) for i, how in _hits(question, w)
            ):
                between = text[groups[-1][-1][0] + 1 : hit[0]] if groups else ()
                if not groups or len(between) >= _GAP or WORDS["breaks"] & {t.low for t in between}:
                    groups.append([])
                groups[-1].append(hit)
            for group in groups:
                best: dict[int, float] = {}  # how well each word of the name is said
                for _, number, how in group:
                    best[number] = max(best.get(number, 0.0), how)
                total = sum(made.words[word] for word in words) or 1.0
                likeness = sum(made.words[words[number]] * how for number, how in best.items())
                name = round(likeness / total, 6)
                whole = len(best) == len(words) and min(best.values()) == 1.0
                found.append(Mention(union(1 << i for i, _, _ in group), name, whole))
        kept: list[Mention] = []
        for one in sorted(found, key=lambda m: (-m.strength, m.first)):
            if one.strength >= _WEAKEST and not one.mask & union(m.mask for m in kept):
                kept.append(one)
        return kept[:_PLACES]

    fields = {c.id: found for c in made.fields if (found := mentions(c.words, c.heading))}
    return fields, {s.id: found for s in made.sheets if (found := mentions(s.words))}


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


class Reading:
    """A question, read against its schema and hint: which of its words speak of what, and what they ask for."""

    def __init__(self, context: Context, weights: Mapping[str, float]) -> None:
        self.context, self.weights = context, weights
        self.made, self.text = index(context.schema), tokens(context.question.text)
        self.definitions = definitions(context.question.evidence, self.text, self.made)
        self.fields, self.tables = link(context.question.text, self.made)
        self.cues: dict[str, list[Cue]] = {}  # by kind
        for cue in cues(context.question.text):
            self.cues.setdefault(cue.kind, []).append(cue)
        for clause in self.definitions:  # a defined phrase speaks of the column that defines it
            for formula in clause.formulas if clause.mask else ():
                plain = formula.kind == "row" or len(formula.pieces) == 1
                for column in formula.fields if plain else ():
                    mention = Mention(clause.mask, clause.fit, True, 1 << clause.number)
                    self.fields.setdefault(column, []).insert(0, mention)
        self.said = {table: min(1.0, some[0].strength) for table, some in self.tables.items()}
        mentions = (m for some in self.fields.values() for m in some)
        self.named = union(m.mask for m in mentions if m.name >= 0.5)  # tokens that name columns
        self.openings = self._openings()

    def _openings(self) -> list[int]:
        """The tokens after the words that ask, as "which" and "list"."""
        found = {cue.end for cue in self.all_cues("count") if self.text[cue.first].low == "how"}
        for cue in self.all_cues("wh"):
            before = self.text[cue.first - 1].low if cue.first else "."
            # "which" in the middle of a sentence is relative, but for "in which"
            asks = before in WORDS["asked_in"] and self.text[cue.first].low in WORDS["questions"]
            what = self.text[cue.first].low in {"what", "how"}
            found |= {cue.end} if what or asks or before in WORDS["openings"] else set()
        return sorted(found) or [0]

    @cached_property
    def losses(self) -> dict[int, str]:
        """The feature of each token that must be explained, if nothing explains it."""
        kinds = {i: self._loss(i) for i in range(len(self.text))}
        return {i: f"left.{kind}" for i, kind in kinds.items() if kind}

    def _loss(self, place: int) -> str:
        token = self.text[place]
        if token.quoted or token.capital:
            return "name" if token.low.isalnum() and token.content else ""
        if token.number is not None:
            return "number" if token.low != "one" else ""
        if not token.content:
            return ""
        known = "word" if token.stem in self.made.words else "other"
        return "column" if self.named >> place & 1 else known

    @cached_property
    def asked(self) -> list[tuple[str, int, set[str]]]:
        """Each operation that is asked for, with the tokens that do and the operations that answer."""
        masks = [union(cue.mask for cue in self.all_cues(*kinds)) for _, kinds, _ in OPERATIONS]
        return [(o[0], mask, o[2]) for o, mask in zip(OPERATIONS, masks, strict=True) if mask]

    def part(self, pieces: Pieces, mask: int, features: Features, **about: Any) -> Part:
        """A part with its score by the weights and its place in the question."""
        first = lowest(mask) if mask else len(self.text)
        fields = columns_of([pieces])
        tables = frozenset(self.made.fields[i].table for i in fields)
        return Part(pieces, mask, features, self.score(features), first, fields, tables, **about)

    def score(self, features: Features) -> float:
        """The features' values times their weights, added up."""
        get = self.weights.get
        return round(sum(get(name, 0.0) * value for name, value in features.items() if value), 6)

    def all_cues(self, *kinds: str) -> list[Cue]:
        """The cues of these kinds."""
        return [cue for kind in kinds for cue in self.cues.get(kind, ())]

    def cue_before(self, place: int, kinds: Iterable[str], reach: int) -> Cue | None:
        """The nearest cue of these kinds that ends at most so many tokens before the place."""
        near = [cue for cue in self.all_cues(*kinds) if 0 <= place - cue.end <= reach]
        return max(near, key=lambda c: (c.end, c.end - c.first), default=None)

    def beside(self, table: int, place: int) -> float:
        """Whether the table spoken of nearest to this place is this one: 1 if so, -1 if it is another."""
        near = [
            (abs(m.first - place) + 2 * (m.first > place), other)
            for other, mentions in self.tables.items()
            for m in mentions
            if m.strength > 0.4
        ]
        least = min(near, default=(99, -1))[0]
        tables = {other for gap, other in near if gap == least <= 6}
        return 0.0 if not tables else 1.0 if table in tables else -1.0

    def nearest(self, column: int, first: int, end: int) -> tuple[Mention | None, int]:
        """The mention of a column that stands nearest to these tokens, and how far away."""
        gaps = [(max(0, first - m.end, m.first - end), m) for m in self.fields.get(column, ())]
        gap, mention = min(gaps, key=lambda found: found[0], default=(99, None))
        return mention, gap


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
