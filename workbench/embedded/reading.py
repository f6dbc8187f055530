"""All that is understood of a question before any SQL is thought of."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from workbench.embedded.dates import When, times
from workbench.embedded.formula import Pieces
from workbench.embedded.hints import Definition, definitions
from workbench.embedded.index import Index, index
from workbench.embedded.lexicon import Cue, attributes, cues
from workbench.embedded.linking import Linked, Mention, link
from workbench.embedded.words import Token, tokens
from workbench.types import Context, fold

Features = dict[str, float]

_OPENINGS = frozenset(re.findall(r"\S+", ". , ; : ? please and then also can you"))
_PREPOSITIONS = frozenset(re.findall(r"\S+", "in on at for by to from of with under into"))


@dataclass(slots=True)
class Part:
    """Something that a query may do, the tokens and clauses of the hint that ask for it, and its score."""

    pieces: Pieces
    mask: int
    hints: int
    features: Features
    score: float = 0.0
    first: int = 0  # where in the question it is asked for
    needs: tuple[int, ...] = ()  # tables it reads beyond those of its columns
    value: str = ""  # the value it tests for
    column: int = -1  # of an equality: the column

    @property
    def fields(self) -> list[int]:
        return [p for p in self.pieces if isinstance(p, int)]


@dataclass(slots=True)
class Reading:
    """A question, read against its schema and hint."""

    context: Context
    made: Index
    weights: Mapping[str, float]
    text: tuple[Token, ...]
    cues: dict[str, list[Cue]]
    times: list[When]
    definitions: list[Definition]
    linked: Linked
    hinted: dict[int, float]  # columns that the hint or a found description names, and how surely
    heads: list[int]  # tokens that open what is asked for
    nearest_table: dict[int, set[int]] = field(default_factory=dict)
    said: dict[int, float] = field(default_factory=dict)  # how surely each table is spoken of

    def part(self, pieces: Pieces, mask: int, features: Features, **more: object) -> Part:
        """A part with its score by the weights and its place in the question."""
        first = (mask & -mask).bit_length() - 1 if mask else len(self.text)
        made = Part(pieces, mask, 0, features, self.score(features), first)
        for name, value in more.items():
            setattr(made, name, value)
        return made

    def score(self, features: Features) -> float:
        get = self.weights.get
        total = 0.0
        for name, value in features.items():
            if value:
                total += get(name, 0.0) * value
        return total

    def cue_before(self, place: int, kinds: tuple[str, ...], reach: int) -> Cue | None:
        """The nearest cue of these kinds that ends at most so many tokens before the place."""
        near = [c for k in kinds for c in self.cues.get(k, ()) if 0 <= place - c.end <= reach]
        return max(near, key=lambda c: (c.end, c.end - c.first), default=None)

    def cue_after(self, place: int, kinds: tuple[str, ...], reach: int) -> Cue | None:
        near = [c for k in kinds for c in self.cues.get(k, ()) if 0 <= c.first - place <= reach]
        return min(near, key=lambda c: (c.first, c.first - c.end), default=None)

    def spoken(self, columns: Iterable[int]) -> float:
        """How surely a table of these columns is spoken of."""
        return max((self.said.get(self.made.fields[i].table, 0.0) for i in columns), default=0.0)

    def beside(self, table: int, place: int) -> float:
        """Whether the table spoken of nearest to this place is this one: 1 if so, -1 if it is another."""
        if place not in self.nearest_table:
            near = [
                (abs(m.first - place) + 2 * (m.first > place), other)
                for other, mentions in self.linked.tables.items()
                for m in mentions
                if m.strength > 0.4
            ]
            closest = min(near, default=(99, -1))[0]
            self.nearest_table[place] = (
                {t for gap, t in near if gap == closest} if closest <= 6 else set()
            )
        near_tables = self.nearest_table[place]
        return 0.0 if not near_tables else 1.0 if table in near_tables else -1.0

    def words(self, mask: int) -> str:
        """These tokens, as the question writes them."""
        return " ".join(t.text for i, t in enumerate(self.text) if mask >> i & 1)

    def all_cues(self, *kinds: str) -> list[Cue]:
        """The cues of these kinds."""
        return [cue for kind in kinds for cue in self.cues.get(kind, ())]

    def mentions(self, column: int) -> list[Mention]:
        return self.linked.fields.get(column, [])

    def nearest(self, column: int, first: int, end: int) -> tuple[Mention | None, int]:
        """The mention of a column that stands nearest to these tokens, and how far away."""
        best: tuple[Mention | None, int] = (None, 99)
        for mention in self.mentions(column):
            gap = max(0, first - mention.end, mention.first - end)
            if gap < best[1]:
                best = (mention, gap)
        return best


def span(first: int, end: int) -> int:
    """The mask of tokens from first up to end."""
    return (1 << end) - (1 << first)


def read_question(context: Context, weights: Mapping[str, float]) -> Reading:
    """The question of a context with its cues, links and definitions."""
    made = index(context.schema)
    text = tokens(context.question.text)
    by_kind: dict[str, list[Cue]] = {}
    for cue in cues(text):
        by_kind.setdefault(cue.kind, []).append(cue)
    linked = link(text, made)
    names = [
        m.mask
        for found in linked.fields.values()
        for m in found
        if m.whole and m.mask & (m.mask - 1)
    ]
    for kind in ("max", "min", "count", "most", "sum"):
        if kind in by_kind:
            kept = [c for c in by_kind[kind] if not any(_within(c, mask) for mask in names)]
            by_kind[kind] = kept
            if not kept:
                del by_kind[kind]
    defined = definitions(context.question.evidence, text, made)
    hinted: dict[int, float] = {}
    for found in defined:
        for column in found.fields:
            hinted[column] = 1.0
        _as_mentions(found, linked)
    if context.question.evidence:
        for column, mentions in link(tokens(context.question.evidence), made).fields.items():
            if mentions[0].strength > 0.5:
                hinted.setdefault(column, min(0.5, 0.4 * mentions[0].strength))
    for match in context.descriptions:
        id_ = made.by_name.get((fold(match.table), fold(match.column)))
        if id_ is not None:
            hinted.setdefault(id_, 0.2)
    reading = Reading(
        context, made, weights, text, by_kind, times(text), defined, linked, hinted,
        _heads(text, by_kind)
    )  # fmt: skip
    for table, mentions in linked.tables.items():
        reading.said[table] = min(1.0, mentions[0].strength)
    _implied(reading)
    return reading


def _within(cue: Cue, mask: int) -> bool:
    """Is the cue but a part of a column's name, as "first" is of "first name"?"""
    return bool(mask >> cue.first & 1) and (1 << cue.end) <= mask << 1


def _as_mentions(found: Definition, linked: Linked) -> None:
    """A defined phrase speaks of the column that it is defined by."""
    if not found.mask:
        return
    first, end = (found.mask & -found.mask).bit_length() - 1, found.mask.bit_length()
    for formula in found.formulas:
        plain = len(formula.pieces) == 1 or (formula.kind == "best" and len(formula.inner) == 1)
        if formula.kind in {"row", "columns"} or plain:
            for column in formula.fields:
                mention = Mention(
                    column, first, end, found.mask, found.fit, 0.5, True, found.number
                )
                linked.fields.setdefault(column, []).insert(0, mention)


def _heads(text: tuple[Token, ...], by_kind: dict[str, list[Cue]]) -> list[int]:
    """The places right after the words that ask: what, which, how many, list."""
    found = []
    for cue in by_kind.get("wh", ()):
        low = text[cue.first].low
        before = text[cue.first - 1].low if cue.first else ""
        asks = low in {"what", "which", "who", "whose", "how", "when", "where"}
        opens = cue.first == 0 or before in _OPENINGS
        relative = asks and low not in {"what", "how"} and not opens and before not in _PREPOSITIONS
        if (asks and not relative) or opens:
            found.append(cue.end)
    found += [cue.end for cue in by_kind.get("count", ()) if text[cue.first].low == "how"]
    return sorted(set(found)) or [0]


def _implied(reading: Reading) -> None:
    """Some words speak of a column without naming it.

    "Oldest" does of a year of birth, "cheapest" of a price; "from" and "into" of keys that are called
    source and target.
    """
    fields = reading.made.fields
    plain = [field for field in fields if not field.key]
    cues = reading.all_cues("max", "min", "more", "less", "who", "when", "where")
    words = [
        (c.first, c.end, attributes([t.low for t in reading.text[c.first : c.end]]), plain)
        for c in cues
    ]
    keys = [fields[i] for i in reading.made.points_at]
    for i, token in enumerate(reading.text):
        if token.low in {"from", "into", "to"}:
            words.append((i, i + 1, attributes([token.low]), keys))
    for first, end, stems, columns in words:
        own = {token.stem for token in reading.text[first:end]}
        wanted = frozenset(stem for stem in stems if stem not in own)
        for column in columns if wanted else ():
            by_name = bool(wanted.intersection(column.words))
            if by_name or wanted & column.told:
                sure = 0.3 + 0.2 * by_name
                mask = span(first, end)
                mention = Mention(column.id, first, end, mask, 0.0, sure, False, measured=True)
                reading.linked.fields.setdefault(column.id, []).append(mention)
