"""Build the queries that a question may ask for, score them, and draw from them.

A query is made of parts: outputs, totals, an order, tests. Which words of the question ask for a
part is known before any query is built. A score is a sum of features times weights (log-linear):
exp(score) is, up to a factor, the probability that the model gives a query. Scores are rounded
before they are compared; between equal ones the order of names decides.
"""

import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain, product
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
    "max": (" DESC LIMIT 1",),
    "most": (" DESC LIMIT 1",),
    "min": (" LIMIT 1",),
    "fewest": (" LIMIT 1",),
}
_SAYING = {  # what else may say in the question what a kind of formula in the hint says
    "max": ("max", "most", "fewest"),
    "min": ("min", "most", "fewest"),
    "total": ("sum", "avg", "count", "percent", "differ"),
}
_ASKING = {*_FUNCTIONS, "most", "fewest", "percent", "differ", "each", "sort", "not"}
_ROLES = ("output", "total", "order", "having", "test")
_TRIED = 10  # parts of each role
_BEAM = 20  # queries that are kept at each step
_SHORTEST = 0.4  # the share of a value that must be said
_NEAR = 8  # tokens
T = TypeVar("T")


@dataclass(eq=False)
class Part:
    """A piece of a query, and the tokens and the clause of the hint that ask for it."""

    role: str  # of _ROLES
    pieces: Pieces
    places: Places
    features: Features
    clause: int = 0
    is_total: bool = False  # it is about many rows
    counted: Sheet | None = None  # the table whose rows it counts
    score: float = 0.0

    @cached_property
    def sheets(self) -> set[Sheet]:
        """The tables that it needs."""
        sheets = {field.sheet for field in fields_of(self.pieces)}
        return sheets | {self.counted} if self.counted else sheets

    @cached_property
    def template(self) -> str:
        """Its SQL without the names of tables."""
        return "".join(p if isinstance(p, str) else p.name for p in self.pieces)


class Reading:
    """A question, read against its schema and hint: which of its words speak of what."""

    def __init__(self, context: Context, weights: Features) -> None:
        """Find what the question speaks of."""
        question = context.question.text
        self.context = context
        self.weights = weights
        self.schema = index(context.schema)
        self.tokens = tokens(question)
        self.cues = cues(question)
        self.definitions = definitions(context.question.evidence, question, self.schema)
        self.tables = {s: mentions(s.words, question) for s in self.schema.sheets}
        self.columns: dict[Field, list[Mention]] = {}
        for field in chain(*self.schema.named.values()):
            by_heading = mentions(field.heading, question)
            self.columns[field] = mentions(field.words, question) + by_heading
        for clause, places, fit, formula in self.definitions:
            if formula.kind == "row":
                for field in fields_of(formula.pieces):
                    self.columns[field].insert(0, Mention(places, fit, clause))
        self.losses = self._losses()
        self.connect = cache(self.schema.connect)

    def _losses(self) -> dict[str, set[int]]:
        """Return the tokens that must be explained, by the feature of those that are not."""
        losses = defaultdict(set)
        for place, token in enumerate(self.tokens):
            if token.number and token.low != "one":
                losses["left.number"].add(place)
            elif token.content:
                losses["left.name" if token.name else "left.word"].add(place)
        for cue in self.cues:
            if cue.kind in _ASKING:
                losses[f"left.{cue.kind}"].add(cue.first)
        return losses

    def score(self, features: Features) -> float:
        """Return the features' values times their weights, added up."""
        terms = (self.weights[name] * value for name, value in features.items())
        return round(math.fsum(terms), 6)

    def gain(self, part: Part) -> float:
        """Return a part's score and what its words would cost if nothing explained them."""
        spared = {}
        for loss, places in self.losses.items():
            spared[loss] = len(places & part.places)
        return round(part.score - self.score(spared), 6)

    def cues_of(self, *kinds: str) -> list[Cue]:
        """Return the cues of these kinds."""
        return [cue for cue in self.cues if cue.kind in kinds]

    def places_of(self, *kinds: str) -> Places:
        """Return the tokens of the cues of these kinds."""
        return Places().union(*(cue.places for cue in self.cues_of(*kinds)))


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
            features = {
                f"output.{kind}": 1.0,
                "output.name": mention.share,
                "output.far": _far(reading, mention.first),
            }
            yield Part("output", pieces, mention.places, features, mention.clause)
    for sheet, cue in product(reading.tables, reading.cues_of("who")):
        who = "who.person" if len(sheet.label) > 1 else "who"
        yield Part("output", sheet.label, cue.places, {who: 1.0})


def _far(reading: Reading, place: int) -> float:
    """Return how far a token stands after the words that ask, from 0 to 1."""
    opened = [cue.end for cue in reading.cues_of("wh", "count") if cue.end <= place]
    start = max(opened, default=0)
    return min(10, place - start) / 10


def _counts(reading: Reading) -> Iterator[Part]:
    """Return counts of rows, and orders by them, that the question asks for."""
    for cue in reading.cues_of("count", "most", "fewest"):
        role = "total" if cue.kind == "count" else "order"
        pieces = ("COUNT(*)", *_FIRST.get(cue.kind, ()))
        asked = {cue.kind: 1.0}
        yield Part(role, pieces, cue.places, asked, is_total=True)
        for sheet, places, near in _near(reading.tables, cue.end):
            said = places | cue.places
            features = {**near, **asked}
            yield Part(role, pieces, said, features, is_total=True, counted=sheet)


def _functions(reading: Reading) -> Iterator[Part]:
    """Return functions of columns, and orders by columns, that the question asks for."""
    descending = " DESC" if reading.cues_of("descending") else ""
    for cue in reading.cues_of(*_FUNCTIONS, "sort"):
        for field, places, near in _near(reading.columns, cue.end):
            kind = "key" if field.key else field.kind
            said = places | cue.places
            if cue.kind == "sort":
                yield Part("order", (field, descending), said, near)
                continue
            features = {**near, f"total.{kind}": 1.0, f"total.{cue.kind}": 1.0}
            pieces = (_FUNCTIONS[cue.kind], field, ")")
            yield Part("total", pieces, said, features, is_total=True)
            if cue.kind in _FIRST:
                features = {**near, f"order.{kind}": 1.0}
                yield Part("order", (field, *_FIRST[cue.kind]), said, features)


def _told(reading: Reading) -> Iterator[Part]:
    """Return the formulas that the hint gives."""
    for clause, places, fit, (kind, is_total, pieces) in reading.definitions:
        if kind == "row":
            continue
        role = "order" if kind in _FIRST else kind  # "longest refers to MAX(len_m)"
        also_said = reading.places_of(*_SAYING.get(kind, ()))
        features = {f"told.{kind}": 1.0, "told.fit": fit}
        whole = (*pieces, *_FIRST.get(kind, ()))
        yield Part(role, whole, places | also_said, features, clause, is_total)


def _tests(reading: Reading) -> Iterator[Part]:
    """Return tests for values and for numbers."""
    shown: dict[tuple[Field, str], None] = {}
    for match in reading.context.values:
        for field in reading.schema.find(match.column):
            if match.table in ("", field.sheet.name):
                shown[field, match.value] = None
    for field in reading.columns:
        if field.kind == "text":
            shown |= dict.fromkeys((field, value) for value in field.examples)
    for field, value in shown:
        for mention in mentions(words_of(value), reading.context.question.text)[:1]:
            if mention.share >= _SHORTEST:
                words = [reading.tokens[place] for place in mention.places]
                features = {
                    "value": 1.0,
                    "value.part": mention.share,
                    "value.whole": mention.share == 1.0,
                    "value.stop": not any(word.content for word in words),
                }
                pieces = (field, f" = {literal(value)}")
                yield Part("test", pieces, mention.places, features)
    for place, token in enumerate(reading.tokens):
        if token.number and token.low != "one":
            yield from _number_tests(reading, place, token.number)


def _number_tests(reading: Reading, place: int, number: str) -> Iterator[Part]:
    """Return comparisons of columns, and of the rows in a group, with a number of the question."""
    sign, asked = _sign(reading, place)
    test = f" {sign} {number}"
    for field, places, near in _near(reading.columns, place):
        if field.kind == "number" and not field.key:
            yield Part("test", (field, test), places | asked, {**near, "number": 1.0})
    for field in reading.columns:
        if field.says("year") and len(number) == 4:
            yield Part("test", (field, test), asked, {"year": 1.0})
    for sheet, places, near in _near(reading.tables, place):
        features = {**near, "having": 1.0}
        pieces = (f"COUNT(*){test}",)
        said = places | asked
        yield Part("having", pieces, said, features, is_total=True, counted=sheet)


def _sign(reading: Reading, place: int) -> tuple[str, Places]:
    """Return how a number is compared, by the words beside it, and the tokens that say so."""
    for cue in reading.cues_of(*_SIGNS):
        is_before = place - 1 <= cue.end <= place
        is_after = place < cue.first <= place + 2 and cue.kind in {"atleast", "atmost"}
        if is_before or is_after:  # "more than 2", "2 or more"
            return _SIGNS[cue.kind], cue.places | {place}
    return "=", Places({place})


def _of(parts: Iterable[Part], role: str) -> list[Part]:
    return [part for part in parts if part.role == role]


@dataclass(frozen=True, eq=False)
class Query:
    """A query that a question may ask for."""

    reading: Reading
    parts: tuple[Part, ...]
    tree: list[Joined]
    group: Pieces
    whole: Features  # that are of no part
    score: float  # the log of its probability up to a constant
    left: Places  # the tokens that nothing explains

    @property
    def features(self) -> Features:
        """All features that its score is the sum of."""
        features = Counter(self.whole)
        for part in self.parts:
            features.update(part.features)
        return features

    @property
    def fields(self) -> list[Field]:
        """The columns that it uses."""
        pieces = [*self.group]
        for part in self.parts:
            pieces += part.pieces
        return [*dict.fromkeys(fields_of(pieces))]

    @property
    def missed(self) -> list[str]:
        """The words of the question that nothing of it explains."""
        return [self.reading.tokens[place].text for place in sorted(self.left)]

    @cached_property
    def sql(self) -> str:
        """Its SQL."""
        shown = self._texts("output") + self._texts("total")
        outputs = ", ".join(shown)
        first, *others = self.tree
        source = quote(first.sheet.name)
        sql = f"SELECT {outputs} FROM {source}"
        for sheet, on in others:
            sql += f" INNER JOIN {quote(sheet.name)} ON {on}"
        if self._texts("test"):
            sql += f" WHERE {' AND '.join(self._conditions())}"
        if self.group:
            sql += f" GROUP BY {self._text(self.group)}"
        having = self._texts("having")
        if having:
            sql += f" HAVING {' AND '.join(having)}"
        order = self._texts("order")
        if order:
            sql += f" ORDER BY {', '.join(order)}"
        return sql

    def _conditions(self) -> list[str]:
        """Return the tests; equalities on a column are alternatives."""
        tests = defaultdict(list)
        for part in _of(self.parts, "test"):
            column = part.template.partition(" = ")[0]
            tests[column].append(self._text(part.pieces))
        conditions = []
        for alternatives in tests.values():
            condition = " OR ".join(alternatives)
            is_plain = len(alternatives) == 1
            conditions.append(condition if is_plain else f"({condition})")
        return conditions

    def _texts(self, role: str) -> list[str]:
        return [self._text(part.pieces) for part in _of(self.parts, role)]

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


def _query(reading: Reading, parts: Sequence[Part]) -> list[Query]:
    """Return the query of these parts, with its score; none if its tables cannot be joined."""
    sheets = frozenset[Sheet]().union(*(part.sheets for part in parts))
    tree = reading.connect(sheets)
    if tree is None:
        return []
    said = [part.places for part in parts]
    explained = set[int]().union(*said)
    features: dict[str, float] = defaultdict(float, tables=len(tree))
    features["overlap"] = sum(map(len, said)) - len(explained)
    for sheet, _ in tree:
        explained.update(*(mention.places for mention in reading.tables[sheet]))
    group = _group_of(parts)
    if group:
        each = reading.places_of("each")
        explained |= each
        features["group.unasked"] = bool(_of(parts, "total")) and not each
    for kind, fit in _unused(reading, parts):
        features[f"unused.{kind}"] += 0.3 + 0.7 * fit
    outputs = {part.pieces[0] for part in _of(parts, "output")}
    tested = {part.pieces[0] for part in _of(parts, "test")}
    features["output.tested"] = len(outputs & tested)
    left = Places()
    for loss, places in reading.losses.items():
        unexplained = places - explained
        features[loss] = len(unexplained)
        left |= unexplained
    score = sum(part.score for part in parts) + reading.score(features)
    return [Query(reading, tuple(parts), tree, group, features, round(score, 6), left)]


def _unused(reading: Reading, parts: Iterable[Part]) -> Iterator[tuple[str, float]]:
    """Return of each clause of the hint that no part uses the kind of its formula, and its fit."""
    used = {part.clause for part in parts}
    for clause, _, fit, formula in reading.definitions:
        if clause not in used:
            used.add(clause)
            yield formula.kind, fit


def _group_of(parts: Iterable[Part]) -> Pieces:
    """Return what to group by: the key of the table whose rows are named, or the columns.

    Two persons may have one name, so that grouping by the name would add up their rows.
    """
    outputs = _of(parts, "output")
    if not outputs or not any(part.is_total for part in parts):
        return ()
    first = fields_of(outputs[0].pieces)[0]
    if first in first.sheet.label and len(first.sheet.key) == 1:
        return first.sheet.key
    pieces: list[str | Field] = []
    for output in outputs:
        pieces += [", ", *output.pieces]
    return tuple(pieces[1:])


def propose(reading: Reading, kept: int = _BEAM) -> list[Query]:
    """Return the queries that a question may ask for, the best first, no two the same.

    A beam search: outputs or a total come first, then, with and without each, the other parts.
    """
    parts: list[Part] = []
    for find in (_outputs, _counts, _functions, _told, _tests):
        parts += find(reading)
    best = {role: _best_parts(reading, parts, role) for role in _ROLES}
    outputs, totals, orders, having, tests = best.values()
    beam = []
    for part in outputs + totals:
        beam += _query(reading, [part])
    stages = [outputs, outputs, totals[:3], orders, having, *([test] for test in tests)]
    for choices in stages:
        for query, part in product(beam, choices):
            if _fits(query, part):
                beam += _query(reading, (*query.parts, part))
        beam = sorted(beam, key=lambda query: -query.score)[:kept]
    unique: dict[str, Query] = {}
    for query in beam:
        if query.tree:
            unique.setdefault(query.sql, query)
    return [*unique.values()]


def _best_parts(reading: Reading, parts: Iterable[Part], role: str) -> list[Part]:
    """Return the best parts of a role, the best first, of each piece of SQL the best."""
    playing = _of(parts, role)
    for part in playing:
        part.score = reading.score(part.features)
    unique: dict[Pieces, Part] = {}
    for part in sorted(playing, key=reading.gain, reverse=True):
        unique.setdefault(part.pieces, part)
    return [*unique.values()][:_TRIED]


def _fits(query: Query, part: Part) -> bool:
    """Return whether a query may have one part more."""
    roles = [other.role for other in query.parts]
    if part.role == "output":  # "the name and age"
        end = max(query.parts[-1].places, default=-1) + 1
        between = query.reading.tokens[end : min(part.places, default=0)]
        lows = {token.low for token in between}
        return roles[-1] == "output" and bool(lows) and lows <= WORDS["joining"]
    if part.role == "total":
        return "total" not in roles
    if part.role != "test":
        return "output" in roles
    for other in query.parts:
        if other.role == "test" and other.places & part.places:
            return False  # no words of the question ask for two tests
        if part.template in other.template or 0 < part.clause == other.clause:
            return False
    return True


@lru_cache(maxsize=64)
def hypotheses(context: Context) -> list[Query]:
    """Return the queries that the question may ask for, the most probable first."""
    return propose(Reading(context, WEIGHTS))


def draw(scores: Sequence[float], temperature: float, seed: str) -> int:
    """Return the place of a score, drawn by its softmax; at temperature 0 that of the highest.

    The last digit of exp() differs between processors.
    """
    best = max(scores)  # subtracted, since exp() of a large score would overflow
    if temperature == 0:
        return scores.index(best)
    weights = []
    for score in scores:
        weight = math.exp((score - best) / temperature)
        weights.append(round(weight, 9))
    chance = random.Random(seed)  # noqa: S311  no secret
    return chance.choices(range(len(scores)), weights)[0]
