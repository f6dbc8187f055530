"""Build the queries that a question may ask for, score them, and draw from them.

A query is made of parts: outputs, totals, an order, tests. Which words of the question ask for a
part is known before any query is built. A score is a sum of features times weights (log-linear):
exp(score) is, up to a factor, the probability that the model gives a query. Scores are rounded
before they are compared; between equal ones the order of names decides.
"""

import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import TypeVar

from workbench.embedded.find_words import (
    WORDS,
    Cue,
    Field,
    Joined,
    Mention,
    Pieces,
    Sheet,
    best_mention,
    cues,
    fields_of,
    index,
    mentions,
    tokens,
    words_of,
)
from workbench.embedded.read_hint import definitions
from workbench.sql.reading import quote
from workbench.sql.texts import literal
from workbench.types import Context

WEIGHTS_FILE = Path(__file__).with_name("weights.json")  # written by learn
WEIGHTS: dict[str, float] = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
Features = Mapping[str, float]
Places = frozenset[int]  # of tokens in the question
_FUNCTIONS = {
    "sum": "SUM(",
    "avg": "AVG(",
    "max": "MAX(",
    "min": "MIN(",
    "count": "SUM(",  # "how many tonnes"
    "variety": "COUNT(DISTINCT ",
}
_SIGNS = {
    "more": ">",
    "less": "<",
    "atleast": ">=",
    "atmost": "<=",
    "after": ">",
    "before": "<",
}
_FIRST = {  # how an order ends that takes the first row
    "max": " DESC LIMIT 1",
    "most": " DESC LIMIT 1",
    "min": " LIMIT 1",
    "fewest": " LIMIT 1",
}
_ASKING = {*_FUNCTIONS, "most", "fewest", "percent", "differ", "each", "sort", "not"}
_TRIED = 8  # parts of each role
_BEAM = 15  # queries that are kept at each step
_SHORTEST = 0.4  # the share of a value that must be said
_NEAR = 8  # tokens
_SPREAD = (
    2.0  # at a temperature of 1 scores are drawn from as if they were half as far apart
)
T = TypeVar("T")


@dataclass(eq=False)
class Part:
    """A piece of a query, and the tokens and the clause of the hint that ask for it."""

    role: str  # output, total, order, having or test
    pieces: Pieces
    places: Places
    features: Features
    clause: int = 0
    is_total: bool = False  # it is about many rows
    counted: Sheet | None = None  # the table whose rows it counts
    score: float = 0.0

    @cached_property
    def fields(self) -> frozenset[Field]:
        """The columns that it uses."""
        return frozenset(fields_of(self.pieces))

    @cached_property
    def sheets(self) -> frozenset[Sheet]:
        """The tables that it needs."""
        sheets = {field.sheet for field in self.fields}
        if self.counted:
            sheets.add(self.counted)
        return frozenset(sheets)


class Reading:
    """A question, read against its schema and hint: which of its words speak of what."""

    def __init__(self, context: Context, weights: Features) -> None:
        """Find what the question speaks of."""
        self.context = context
        self.question = context.question.text
        self.weights = weights
        self.schema = index(context.schema)
        self.connect = cache(self.schema.connect)
        self.tokens = tokens(self.question)
        self.cues = cues(self.question)
        self.each = self.places_of("each")
        self.tables: dict[Sheet, list[Mention]] = {}
        self.naming: dict[Sheet, Places] = {}  # the tokens that speak of each table
        self.columns: dict[Field, list[Mention]] = {}
        for sheet in self.schema.sheets:
            by_name = mentions(sheet.words, self.question)
            self.tables[sheet] = by_name
            self.naming[sheet] = Places().union(*[said.places for said in by_name])
            for field in sheet.fields:
                by_name = mentions(field.words, self.question)
                by_heading = mentions(field.heading, self.question)
                self.columns[field] = by_name + by_heading
        self.definitions = definitions(
            context.question.evidence, self.question, self.schema
        )
        for clause, places, fit, formula in self.definitions:
            if formula.kind == "row":
                said = Mention(places=places, share=fit, clause=clause)
                for field in fields_of(formula.pieces):
                    self.columns[field].insert(0, said)
        self.losses = self._losses()
        self.costs = {place: weights[loss] for place, loss in self.losses.items()}

    def _losses(self) -> dict[int, str]:
        """Return the tokens that must be explained, with the feature of one that is not."""
        losses = {}
        for place, token in enumerate(self.tokens):
            if token.number:
                losses[place] = "left.number"
            elif token.content:
                losses[place] = "left.word"
        for cue in self.cues:
            if cue.kind in _ASKING:
                losses[cue.first] = "left.cue"
        return losses

    def score(self, features: Features) -> float:
        """Return the features' values times their weights, added up."""
        terms = [self.weights[name] * value for name, value in features.items()]
        return round(math.fsum(terms), 6)

    def gain(self, part: Part) -> float:
        """Return a part's score and what its words would cost if nothing explained them."""
        spared = [self.costs[place] for place in part.places if place in self.costs]
        return round(part.score - math.fsum(spared), 6)

    def cues_of(self, *kinds: str) -> list[Cue]:
        """Return the cues of these kinds."""
        return [cue for cue in self.cues if cue.kind in kinds]

    def places_of(self, *kinds: str) -> Places:
        """Return the tokens of the cues of these kinds."""
        return Places().union(*[cue.places for cue in self.cues_of(*kinds)])


def _near(
    spoken_of: Mapping[T, Sequence[Mention]], place: int
) -> Iterator[tuple[T, Places, Features]]:
    """Return tables or columns that are spoken of near a place, with tokens and features."""
    for thing, said in spoken_of.items():
        if said:
            nearest = min(said, key=lambda mention: abs(mention.first - place))
            gap = abs(nearest.first - place)
            if gap <= _NEAR:
                features = {"near.name": nearest.share, "near.gap": gap / _NEAR}
                yield thing, nearest.places, features


def _outputs(reading: Reading) -> Iterator[Part]:
    """Return the columns that the question names, and those that say what a row is called."""
    things: list[tuple[str, Pieces, list[Mention]]] = []
    for field, said in reading.columns.items():
        things.append((field.key or field.kind, (field,), said))
    for sheet, said in reading.tables.items():
        things.append(("label", sheet.label, said))
    for kind, pieces, said in things:
        for mention in said:
            yield Part(
                role="output",
                pieces=pieces,
                places=mention.places,
                features={
                    f"output.{kind}": 1.0,
                    "output.name": mention.share,
                    "output.far": _far(reading, mention.first),
                },
                clause=mention.clause,
            )
    for sheet, cue in product(reading.tables, reading.cues_of("who")):
        who = "who.person" if len(sheet.label) > 1 else "who"
        yield Part(
            role="output",
            pieces=sheet.label,
            places=cue.places,
            features={who: 1.0},
        )


def _far(reading: Reading, place: int) -> float:
    """Return how far a token stands after the words that ask, from 0 to 1."""
    opened = [cue.end for cue in reading.cues_of("wh", "count") if cue.end <= place]
    start = max(opened, default=0)
    return min(10, place - start) / 10


def _counts(reading: Reading) -> Iterator[Part]:
    """Return counts of rows, and orders by them, that the question asks for."""
    for cue in reading.cues_of("count", "most", "fewest"):
        role = "total" if cue.kind == "count" else "order"
        pieces = ("COUNT(*)", _FIRST.get(cue.kind, ""))
        yield Part(
            role=role,
            pieces=pieces,
            places=cue.places,
            features={cue.kind: 1.0},
            is_total=True,
        )
        for sheet, places, near in _near(reading.tables, cue.end):
            yield Part(
                role=role,
                pieces=pieces,
                places=places | cue.places,
                features={**near, cue.kind: 1.0},
                is_total=True,
                counted=sheet,
            )


def _functions(reading: Reading) -> Iterator[Part]:
    """Return functions of columns, and orders by columns, that the question asks for."""
    for cue in reading.cues_of(*_FUNCTIONS):
        for field, places, near in _near(reading.columns, cue.end):
            kind = "key" if field.key else field.kind
            said = places | cue.places
            yield Part(
                role="total",
                pieces=(_FUNCTIONS[cue.kind], field, ")"),
                places=said,
                features={**near, f"total.{kind}": 1.0, f"total.{cue.kind}": 1.0},
                is_total=True,
            )
            if cue.kind in _FIRST:
                yield Part(
                    role="order",
                    pieces=(field, _FIRST[cue.kind]),
                    places=said,
                    features={**near, f"order.{kind}": 1.0},
                )


def _sorts(reading: Reading) -> Iterator[Part]:
    """Return the orders of all rows that the question asks for."""
    direction = " DESC" if reading.cues_of("descending") else ""
    for cue in reading.cues_of("sort"):
        for field, places, near in _near(reading.columns, cue.end):
            yield Part(
                role="order",
                pieces=(field, direction),
                places=places | cue.places,
                features=near,
            )


def _told(reading: Reading) -> Iterator[Part]:
    """Return the formulas that the hint gives."""
    for clause, places, fit, (kind, is_total, pieces) in reading.definitions:
        if kind != "row":  # a row's is a name of a column
            yield Part(
                role="order" if kind in _FIRST else kind,
                pieces=(*pieces, _FIRST.get(kind, "")),
                places=places,
                features={f"told.{kind}": 1.0, "told.fit": fit},
                clause=clause,
                is_total=is_total,
            )


def _values(reading: Reading) -> Iterator[Part]:
    """Return tests for values that the question says."""
    for field, value in _shown(reading):
        said = best_mention(words_of(value), reading.question)
        if said.share < _SHORTEST:
            continue
        words = [reading.tokens[place] for place in said.places]
        has_content = any(word.content for word in words)
        yield Part(
            role="test",
            pieces=(field, f" = {literal(value)}"),
            places=said.places,
            features={
                "value": 1.0,
                "value.part": said.share,
                "value.whole": said.share == 1.0,
                "value.stop": not has_content,
            },
        )


def _shown(reading: Reading) -> Iterator[tuple[Field, str]]:
    """Return the values that the prompt shows, with their columns."""
    for match in reading.context.values:
        for field in reading.schema.find(match.column):
            if match.table in ("", field.sheet.name):
                yield field, match.value
    for field in reading.columns:
        if field.kind == "text":
            for value in field.examples:
                yield field, value


def _numbers(reading: Reading) -> Iterator[Part]:
    """Return comparisons of columns, and of the rows in a group, with numbers."""
    for place, token in enumerate(reading.tokens):
        if token.number:
            sign, asked = _sign(reading, place)
            test = f" {sign} {token.number}"
            yield from _compared(reading, place, test, asked)
            if len(token.number) == 4:
                yield from _years(reading, test, asked)


def _compared(reading: Reading, place: int, test: str, asked: Places) -> Iterator[Part]:
    """Return comparisons of what is spoken of near a number."""
    for field, places, near in _near(reading.columns, place):
        if field.kind == "number" and not field.key:
            yield Part(
                role="test",
                pieces=(field, test),
                places=places | asked,
                features={**near, "number": 1.0},
            )
    for sheet, places, near in _near(reading.tables, place):
        yield Part(
            role="having",
            pieces=(f"COUNT(*){test}",),
            places=places | asked,
            features={**near, "having": 1.0},
            is_total=True,
            counted=sheet,
        )


def _years(reading: Reading, test: str, asked: Places) -> Iterator[Part]:
    """Return comparisons of the columns that hold years."""
    for field in reading.columns:
        if field.says("year"):
            yield Part(
                role="test",
                pieces=(field, test),
                places=asked,
                features={"year": 1.0},
            )


def _sign(reading: Reading, place: int) -> tuple[str, Places]:
    """Return how a number is compared, by the words beside it, and the tokens that say so."""
    for cue in reading.cues_of(*_SIGNS):
        is_before = place - 1 <= cue.end <= place
        is_after = place < cue.first <= place + 2 and cue.kind in {"atleast", "atmost"}
        if is_before or is_after:  # "more than 2", "2 or more"
            return _SIGNS[cue.kind], cue.places | {place}
    return "=", Places({place})


@dataclass(eq=False)
class Query:
    """A query that a question may ask for."""

    reading: Reading
    parts: tuple[Part, ...]
    tree: list[Joined]
    score: float  # the log of its probability up to a constant
    said: Places  # the tokens that its parts explain
    left: set[int]  # the tokens that nothing explains

    @property
    def features(self) -> Features:
        """The features whose values times weights are its score."""
        features = Counter({"tables": len(self.tree)})
        features.update(self.reading.losses[place] for place in self.left)
        for part in self.parts:
            features.update(part.features)
        return features

    @property
    def fields(self) -> list[Field]:
        """The columns that it uses."""
        fields: list[Field] = []
        for part in self.parts:
            fields += fields_of(part.pieces)
        return fields

    @property
    def missed(self) -> list[str]:
        """The words of the question that nothing of it explains."""
        words = [self.reading.tokens[place].text for place in sorted(self.left)]
        return [*dict.fromkeys(words)]

    @cached_property
    def sql(self) -> str:
        """Its SQL."""
        first, *others = self.tree
        source = quote(first.sheet.name)
        for sheet, on in others:
            source += f" INNER JOIN {quote(sheet.name)} ON {on}"
        named = self._texts("output")
        shown = named + self._texts("total")
        sql = f"SELECT {', '.join(shown)} FROM {source}"
        tests = self._texts("test")
        if tests:
            sql += f" WHERE {' AND '.join(tests)}"
        if _is_grouped(self.parts):
            sql += f" GROUP BY {', '.join(named)}"
        for having in self._texts("having"):  # there is one at most
            sql += f" HAVING {having}"
        for order in self._texts("order"):
            sql += f" ORDER BY {order}"
        return sql

    def _texts(self, role: str) -> list[str]:
        return [self._text(part.pieces) for part in self.parts if part.role == role]

    def _text(self, pieces: Pieces) -> str:
        """Return SQL, with tables before the columns if there are several."""
        text = ""
        for piece in pieces:
            if isinstance(piece, str):
                text += piece
            elif len(self.tree) > 1:
                text += f"{quote(piece.sheet.name)}.{quote(piece.name)}"
            else:
                text += quote(piece.name)
        return text


def _is_grouped(parts: Sequence[Part]) -> bool:
    return parts[0].role == "output" and any(part.is_total for part in parts)


def _query(reading: Reading, parts: tuple[Part, ...]) -> list[Query]:
    """Return the query of these parts, with its score; none if its tables cannot be joined."""
    sheets = frozenset[Sheet]().union(*[part.sheets for part in parts])
    tree = reading.connect(sheets)
    if tree is None:
        return []
    said = Places().union(*[part.places for part in parts])
    explained = set(said)
    for sheet, _ in tree:
        explained |= reading.naming[sheet]
    if _is_grouped(parts):
        explained |= reading.each
    left = reading.costs.keys() - explained
    terms = [part.score for part in parts]
    terms += [reading.costs[place] for place in left]
    terms.append(reading.weights["tables"] * len(tree))
    score = round(math.fsum(terms), 6)
    query = Query(
        reading=reading,
        parts=parts,
        tree=tree,
        score=score,
        said=said,
        left=left,
    )
    return [query]


def propose(reading: Reading, kept: int = _BEAM) -> list[Query]:
    """Return the queries that a question may ask for, the best first, no two the same.

    A beam search: outputs or a total come first, then, with and without each, the other parts.
    """
    parts: list[Part] = []
    for find in (_outputs, _counts, _functions, _sorts, _told, _values, _numbers):
        parts += find(reading)
    outputs = _best_parts(reading, parts, "output")
    totals = _best_parts(reading, parts, "total")
    orders = _best_parts(reading, parts, "order")
    having = _best_parts(reading, parts, "having")
    tests = _best_parts(reading, parts, "test")
    beam = []
    for part in outputs + totals:
        beam += _query(reading, (part,))
    stages = [outputs, outputs, totals[:3], orders, having]
    stages += [[test] for test in tests]
    for choices in stages:
        longer = []
        for query, part in product(beam, choices):
            if _fits(query, part):
                longer += _query(reading, (*query.parts, part))
        beam = sorted(beam + longer, key=lambda query: -query.score)[:kept]
    unique: dict[str, Query] = {}
    for query in beam:
        if query.tree:  # a count alone has no table
            unique.setdefault(query.sql, query)
    return [*unique.values()]


def _best_parts(reading: Reading, parts: Iterable[Part], role: str) -> list[Part]:
    """Return the best parts of a role, the best first, of each piece of SQL the best."""
    playing = [part for part in parts if part.role == role]
    for part in playing:
        part.score = reading.score(part.features)
    playing.sort(key=reading.gain, reverse=True)
    unique: dict[Pieces, Part] = {}
    for part in playing:
        unique.setdefault(part.pieces, part)
    return [*unique.values()][:_TRIED]


def _fits(query: Query, part: Part) -> bool:
    """Return whether a query may have one part more."""
    last = query.parts[-1]
    if part.role == "order":  # perhaps by the column that is shown
        return last.role == "output"
    if not query.said.isdisjoint(part.places):
        return False  # no words ask for two parts
    if part.role == "test":
        return not any(part.fields & other.fields for other in query.parts)
    if part.role == "having":
        return query.parts[0].role == "output"
    if last.role != "output":
        return False
    if part.role == "total":
        return bool(query.reading.each)
    end = max(last.places, default=-1) + 1
    start = min(part.places, default=0)
    between = {token.low for token in query.reading.tokens[end:start]}
    return bool(between) and between <= WORDS["joining"]  # "the name and age"


@lru_cache(maxsize=64)
def hypotheses(context: Context, kept: int = _BEAM) -> list[Query]:
    """Return the queries that the question may ask for, the most probable first."""
    return propose(Reading(context, WEIGHTS), kept)


def draw(scores: Sequence[float], temperature: float, seed: str) -> int:
    """Return the place of a score, drawn by its softmax; at temperature 0 that of the highest.

    The last digit of exp() differs between processors.
    """
    best = max(scores)  # subtracted, since exp() of a large score would overflow
    if temperature == 0:
        return scores.index(best)
    weights = []
    for score in scores:
        weight = math.exp((score - best) / temperature / _SPREAD)
        weights.append(round(weight, 9))
    chance = random.Random(seed)  # noqa: S311  no secret
    return chance.choices(range(len(scores)), weights)[0]
