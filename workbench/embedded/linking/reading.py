"""All that is understood of a question before any SQL is thought of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from workbench.embedded.linking.hints import Definition, definitions
from workbench.embedded.linking.index import Index, Pieces, index
from workbench.embedded.linking.mentions import Linked, Mention, link
from workbench.english.lexicon import Cue, attributes, cues
from workbench.english.words import Token, tokens
from workbench.types import Context, lower_name

Features = dict[str, float]

_OPENINGS = {".", ",", ";", ":", "?", "please", "and", "then", "also", "can", "you"}  # fmt: skip
_PREPOSITIONS = {"in", "on", "at", "for", "by", "to", "from", "of", "with", "under",
    "into"}  # fmt: skip
_QUESTIONS = frozenset({"what", "which", "who", "whose", "how", "when", "where"})


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
    value: str = ""  # the value it tests for
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
    linked: Linked
    hinted: dict[int, float]  # columns that the hint or a found description names, and how surely
    openings: list[int]  # the tokens after the words that ask, as "which" and "list"
    said: dict[int, float] = field(default_factory=dict)  # how surely each table is spoken of
    named: int = 0  # tokens that name columns
    whole_tables: int = 0  # tokens that name tables in full
    nearest_tables: dict[int, set[int]] = field(default_factory=dict)

    def part(self, pieces: Pieces, mask: int, features: Features, **about: Any) -> Part:
        """A part with its score by the weights and its place in the question."""
        first = (mask & -mask).bit_length() - 1 if mask else len(self.text)
        fields = [piece for piece in pieces if isinstance(piece, int)]
        tables = frozenset(self.made.fields[i].table for i in fields)
        return Part(pieces, mask, features, self.score(features), first, fields, tables, **about)

    def score(self, features: Features) -> float:
        """The features' values times their weights, added up."""
        get = self.weights.get
        return sum(get(name, 0.0) * value for name, value in features.items() if value)

    def all_cues(self, *kinds: str) -> list[Cue]:
        """The cues of these kinds."""
        return [cue for kind in kinds for cue in self.cues.get(kind, ())]

    def cue_before(self, place: int, kinds: tuple[str, ...], reach: int) -> Cue | None:
        """The nearest cue of these kinds that ends at most so many tokens before the place."""
        near = [c for k in kinds for c in self.cues.get(k, ()) if 0 <= place - c.end <= reach]
        return max(near, key=lambda c: (c.end, c.end - c.first), default=None)

    def cue_after(self, place: int, kinds: tuple[str, ...], reach: int) -> Cue | None:
        """The nearest cue of these kinds that begins at most so many tokens after the place."""
        near = [c for k in kinds for c in self.cues.get(k, ()) if 0 <= c.first - place <= reach]
        return min(near, key=lambda c: (c.first, c.first - c.end), default=None)

    def beside(self, table: int, place: int) -> float:
        """Whether the table spoken of nearest to this place is this one: 1 if so, -1 if it is another."""
        if place not in self.nearest_tables:
            near = [
                (abs(m.first - place) + 2 * (m.first > place), other)
                for other, mentions in self.linked.tables.items()
                for m in mentions
                if m.strength > 0.4
            ]
            closest = min(near, default=(99, -1))[0]
            self.nearest_tables[place] = {t for gap, t in near if gap == closest <= 6}
        tables = self.nearest_tables[place]
        return 0.0 if not tables else 1.0 if table in tables else -1.0

    def nearest(self, column: int, first: int, end: int) -> tuple[Mention | None, int]:
        """The mention of a column that stands nearest to these tokens, and how far away."""
        gaps = [
            (max(0, first - mention.end, mention.first - end), mention)
            for mention in self.linked.fields.get(column, ())
        ]
        gap, mention = min(gaps, key=lambda found: found[0], default=(99, None))
        return mention, gap


def added(several: Iterable[Features]) -> Features:
    """The features of several things together: each the sum of theirs."""
    total: Features = {}
    for features in several:
        for name, value in features.items():
            if value:
                total[name] = total.get(name, 0.0) + value
    return total


def closest(mentions: Iterable[Mention], place: int) -> Mention:
    """The mention that begins nearest to a place of the question."""
    return min(mentions, key=lambda m: abs(m.first - place))


@lru_cache(maxsize=256)  # a question is asked about one column after the other
def _words(text: str) -> tuple[tuple[Token, ...], tuple[Cue, ...]]:
    """The tokens and cues of a text, which no schema changes."""
    words = tokens(text)
    return words, tuple(cues(words))


def read_question(context: Context, weights: Mapping[str, float]) -> Reading:
    """The question of a context with its cues, links and definitions."""
    made = index(context.schema)
    text, found = _words(context.question.text)
    linked = link(text, made)
    by_kind = _by_kind(found, linked)
    defined = definitions(context.question.evidence, text, made)
    hinted = _hinted(context, made, defined)
    for definition in defined:
        _as_mentions(definition, linked)
    openings = _openings(text, by_kind)
    reading = Reading(context, made, weights, text, by_kind, defined, linked, hinted, openings)
    _implied(reading)
    for table, mentions in linked.tables.items():
        reading.said[table] = min(1.0, mentions[0].strength)
        reading.whole_tables |= mentions[0].mask * mentions[0].whole
    for mentions in linked.fields.values():
        for mention in mentions:
            reading.named |= mention.mask * (mention.name >= 0.5)
    return reading


def _by_kind(cues: Iterable[Cue], linked: Linked) -> dict[str, list[Cue]]:
    """The cues by kind, without those that are but a part of a column's name: "first" of "first name"."""
    mentions = [m for found in linked.fields.values() for m in found if m.whole]
    names = {m.mask for m in mentions if m.mask.bit_count() > 1}
    found: dict[str, list[Cue]] = {}
    for cue in cues:
        within = any(mask >> cue.first & 1 and 1 << cue.end <= mask << 1 for mask in names)
        if not (within and cue.kind in {"max", "min", "count", "most", "sum"}):
            found.setdefault(cue.kind, []).append(cue)
    return found


def _hinted(context: Context, made: Index, defined: list[Definition]) -> dict[int, float]:
    """The columns that the hint defines something by, that it mentions, or whose description was found."""
    hinted = {column: 1.0 for definition in defined for column in definition.fields}
    if context.question.evidence:
        for column, mentions in link(tokens(context.question.evidence), made).fields.items():
            if mentions[0].strength > 0.5:
                hinted.setdefault(column, min(0.5, 0.4 * mentions[0].strength))
    for match in context.descriptions:
        found = made.by_name.get((lower_name(match.table), lower_name(match.column)))
        if found is not None:
            hinted.setdefault(found, 0.2)
    return hinted


def _as_mentions(definition: Definition, linked: Linked) -> None:
    """A defined phrase speaks of the column that it is defined by."""
    mask = definition.mask
    first, end = (mask & -mask).bit_length() - 1, mask.bit_length()
    for formula in definition.formulas if mask else ():
        plain = len(formula.pieces) == 1 or (formula.kind == "best" and len(formula.inner) == 1)
        if formula.kind == "row" or plain:
            for column in formula.fields:
                mention = Mention(first, end, mask, definition.fit, 0.5, True, definition.number)
                linked.fields.setdefault(column, []).insert(0, mention)


def _openings(text: tuple[Token, ...], by_kind: dict[str, list[Cue]]) -> list[int]:
    """The places right after the words that ask: what, which, how many, list."""
    found = []
    for cue in by_kind.get("wh", ()):
        low = text[cue.first].low
        before = text[cue.first - 1].low if cue.first else "."
        opens = before in _OPENINGS
        # "which" in the middle of a sentence is relative, but for "in which"
        if opens or low in {"what", "how"} or (low in _QUESTIONS and before in _PREPOSITIONS):
            found.append(cue.end)
    found += [cue.end for cue in by_kind.get("count", ()) if text[cue.first].low == "how"]
    return sorted(set(found)) or [0]


def _implied(reading: Reading) -> None:
    """Some words speak of a column without naming it: "oldest" of a year of birth, "cheapest" of a price."""
    plain = [field for field in reading.made.fields if not field.key]
    for cue in reading.all_cues("max", "min", "more", "less", "who", "when", "where"):
        words = reading.text[cue.first : cue.end]
        wanted = set(attributes([t.low for t in words])).difference(t.stem for t in words)
        for column in plain if wanted else ():
            by_name = not wanted.isdisjoint(column.words)
            if by_name or wanted & column.told:
                sure = 0.3 + 0.2 * by_name
                mention = Mention(cue.first, cue.end, cue.mask, 0.0, sure, False, measured=True)
                reading.linked.fields.setdefault(column.id, []).append(mention)
