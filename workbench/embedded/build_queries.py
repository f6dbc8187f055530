"""Build the queries that a question may ask for, score them, and draw from them.

A query is made of parts: outputs, an order, tests. Which words of the question ask for a part is
known before any query is built. A score is a sum of features times weights (log-linear): exp(score)
is, up to a factor, the probability that the model gives a query. Scores are rounded before they are
compared; between equal ones the order of names decides.
"""

import json
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

from workbench.embedded.find_words import (
    WORDS,
    Cue,
    Field,
    Mention,
    Pieces,
    Sheet,
    Tree,
    cues,
    fields_of,
    index,
    lowest,
    mentions,
    tokens,
    union,
    words_of,
)
from workbench.embedded.read_hint import definitions
from workbench.sql.reading import quote
from workbench.sql.texts import literal
from workbench.types import Context

WEIGHTS_FILE = Path(__file__).with_name("weights.json")  # written by learn
WEIGHTS: dict[str, float] = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
Features = Mapping[str, float]
_FUNCTIONS = {
    "sum": "SUM(",
    "avg": "AVG(",
    "max": "MAX(",
    "min": "MIN(",
    "count": "SUM(",  # "how many tonnes"
    "variety": "COUNT(DISTINCT ",
}
_TOTALS = ("COUNT(", "CAST(", *_FUNCTIONS.values())  # what totals begin with
_SIGNS = {
    "more": ">",
    "less": "<",
    "atleast": ">=",
    "atmost": "<=",
    "after": ">",
    "before": "<",
}
_ASKING = {*_FUNCTIONS, "most", "fewest", "percent", "differ", "each", "sort", "not"}
_TRIED = 10  # parts of each role
_BEAM = 30  # queries that are kept at each step
_SHORTEST = 0.4  # the part of a value that must be said
T = TypeVar("T")


@dataclass(eq=False)
class Part:
    """A piece of a query, and the tokens and the clause of the hint that ask for it."""

    role: str  # output, total, having, order or test
    pieces: Pieces
    mask: int
    features: Features
    clause: int = 0
    counted: Sheet | None = None  # the table whose rows it counts
    score: float = 0.0

    @cached_property
    def sheets(self) -> set[Sheet]:
        """The tables that it needs."""
        sheets = {field.sheet for field in fields_of(self.pieces)}
        if self.counted:
            sheets.add(self.counted)
        return sheets

    @cached_property
    def is_total(self) -> bool:
        """Whether it is about many rows."""
        first = self.pieces[0]
        return isinstance(first, str) and first.startswith(_TOTALS)

    @cached_property
    def template(self) -> str:
        """Its SQL without the names of tables."""
        return "".join(
            piece if isinstance(piece, str) else piece.name for piece in self.pieces
        )


class Reading:
    """A question, read against its schema and hint: which of its words speak of what."""

    def __init__(self, context: Context, weights: Features) -> None:
        question = context.question.text
        self.context = context
        self.weights = weights
        self.schema = index(context.schema)
        self.text = tokens(question)
        self.cues = cues(question)
        self.definitions = definitions(context.question.evidence, question, self.schema)
        self.tables: dict[Sheet, list[Mention]] = {}
        self.columns: dict[Field, list[Mention]] = {}
        for sheet in self.schema.sheets:
            self.tables[sheet] = mentions(sheet.words, question)
        for field in self.schema.fields:
            by_heading = mentions(field.heading, question)
            self.columns[field] = mentions(field.words, question) + by_heading
        for definition in self.definitions:
            if definition.kind == "row":
                mention = Mention(definition.mask, definition.fit, definition.clause)
                for field in fields_of(definition.pieces):
                    self.columns[field].insert(0, mention)
        self.losses = self._losses()
        self.trees: dict[frozenset[Sheet], Tree | None] = {}

    def _losses(self) -> dict[str, int]:
        """Return the tokens that must be explained, by the feature of those that are not."""
        named = 0
        for spoken_of in self.columns.values():
            named |= union(mention.mask for mention in spoken_of)
        losses: dict[str, int] = defaultdict(int)
        for place, token in enumerate(self.text):
            if token.number and token.low != "one":
                losses["left.number"] |= 1 << place
            elif token.content:
                kind = (
                    "name" if token.name else "column" if named >> place & 1 else "word"
                )
                losses[f"left.{kind}"] |= 1 << place
        for cue in self.cues:
            if cue.kind in _ASKING:
                losses[f"left.{cue.kind}"] |= 1 << cue.first
        return losses

    def score(self, features: Features) -> float:
        """Return the features' values times their weights, added up."""
        total = 0.0
        for name, value in features.items():
            total += self.weights.get(name, 0.0) * value
        return round(total, 6)

    def best(self, parts: Iterable[Part], role: str) -> list[Part]:
        """Return the best parts of a role, the best first, of each piece of SQL the best."""
        gains = {}
        for part in parts:
            if part.role != role:
                continue
            part.score = self.score(part.features)
            explained = {
                loss: (mask & part.mask).bit_count()
                for loss, mask in self.losses.items()
            }
            gains[part] = part.score - self.score(explained)
        unique: dict[Pieces, Part] = {}
        for part in sorted(gains, key=lambda part: -round(gains[part], 6)):
            unique.setdefault(part.pieces, part)
        return [*unique.values()][:_TRIED]

    def cues_of(self, *kinds: str) -> list[Cue]:
        """Return the cues of these kinds."""
        return [cue for cue in self.cues if cue.kind in kinds]

    def mask_of(self, *kinds: str) -> int:
        """Return the tokens of the cues of these kinds."""
        return union(cue.mask for cue in self.cues_of(*kinds))

    def connect(self, sheets: frozenset[Sheet]) -> Tree | None:
        """Return the joins of these tables."""
        if sheets not in self.trees:
            self.trees[sheets] = self.schema.connect(sheets)
        return self.trees[sheets]


def _near(
    spoken_of: Mapping[T, list[Mention]], place: int, reach: int
) -> Iterator[tuple[T, int, dict[str, float]]]:
    """Return tables or columns that are spoken of near a place, with tokens and features."""
    for thing, some_mentions in spoken_of.items():
        if some_mentions:
            nearest = min(some_mentions, key=lambda mention: abs(mention.first - place))
            gap = abs(nearest.first - place)
            if gap <= reach:
                yield (
                    thing,
                    nearest.mask,
                    {"near.name": nearest.part, "near.gap": gap / 8},
                )


def _outputs(reading: Reading) -> Iterator[Part]:
    """Return the columns that the question names, and those that say what a row is called."""
    for field, spoken_of in reading.columns.items():
        for mention in spoken_of:
            features = {
                "output": 1.0,
                "output.name": mention.part,
                "output.far": _far(reading, mention.first),
                f"output.{field.key or field.kind}": 1.0,
            }
            yield Part("output", (field,), mention.mask, features, mention.clause)
    for sheet, spoken_of in reading.tables.items():
        for mention in spoken_of:
            features = {
                "label": 1.0,
                "label.name": mention.part,
                "label.far": _far(reading, mention.first),
            }
            yield Part("output", sheet.label, mention.mask, features)
        is_person = len(sheet.label) > 1
        for cue in reading.cues_of("who"):
            yield Part(
                "output", sheet.label, cue.mask, {"who": 1.0, "who.person": is_person}
            )


def _far(reading: Reading, place: int) -> float:
    """Return how far a token stands after the words that ask, from 0 to 1."""
    opened = [cue.end for cue in reading.cues_of("wh", "count") if cue.end <= place]
    start = opened[-1] if opened else 0
    return min(10, place - start) / 10


def _lists(reading: Reading, outputs: Sequence[Part]) -> list[list[Part]]:
    """Return each output, and those that the question names one after the other."""
    lists = [[output] for output in outputs]
    for parts in lists:  # grows as it is read
        end = parts[-1].mask.bit_length()
        for output in outputs:
            between = [token.low for token in reading.text[end : lowest(output.mask)]]
            if between and len(parts) < 4 and WORDS["joining"].issuperset(between):
                lists.append([*parts, output])
    return lists


def _counts(reading: Reading) -> Iterator[Part]:
    """Return counts of rows, and orders by them, that the question asks for."""
    for cue in reading.cues_of("count", "most", "fewest"):
        anything: tuple[Sheet | None, int, dict[str, float]] = (None, 0, {})
        for sheet, mask, features in [anything, *_near(reading.tables, cue.end, 8)]:
            role = "total"
            pieces: Pieces = ("COUNT(*)",)
            if cue.kind != "count":
                role = "order"
                pieces = _first_of(reading, pieces, cue.mask, cue.kind)
            features[f"{cue.kind}.rows" if sheet else cue.kind] = 1.0
            yield Part(role, pieces, mask | cue.mask, features, counted=sheet)


def _functions(reading: Reading) -> Iterator[Part]:
    """Return functions of columns, and orders by columns, that the question asks for."""
    descending = " DESC" if reading.cues_of("descending") else ""
    for cue in reading.cues_of(*_FUNCTIONS, "sort"):
        for field, mask, features in _near(reading.columns, cue.end, 8):
            kind = "key" if field.key else field.kind
            if cue.kind in _FUNCTIONS:
                total = (_FUNCTIONS[cue.kind], field, ")")
                measured = {**features, f"total.{kind}": 1.0, f"total.{cue.kind}": 1.0}
                yield Part("total", total, mask | cue.mask, measured)
            if cue.kind in ("max", "min"):
                order = _first_of(reading, (field,), cue.mask, cue.kind)
                ordered = {**features, f"order.{kind}": 1.0}
                yield Part("order", order, mask | cue.mask, ordered)
            if cue.kind == "sort":
                yield Part(
                    "order",
                    (field, descending),
                    mask | cue.mask,
                    {**features, "sort": 1.0},
                )


def _told(reading: Reading) -> Iterator[Part]:
    """Return the formulas that the hint gives."""
    for definition in reading.definitions:
        kind = definition.kind
        role, pieces, mask = kind, definition.pieces, definition.mask
        if kind in ("max", "min"):  # "longest refers to MAX(len_m)"
            role = "order"
            pieces = _first_of(reading, pieces, mask, kind)
            mask |= reading.mask_of(kind, "most", "fewest")
        elif kind == "total":
            mask |= reading.mask_of("sum", "avg", "count", "percent", "differ")
        if kind != "row":
            features = {f"told.{kind}": 1.0, "told.fit": definition.fit}
            yield Part(role, pieces, mask, features, definition.clause)


def _first_of(reading: Reading, pieces: Pieces, mask: int, kind: str) -> Pieces:
    """Return an order with a limit: the number beside the words that ask for it, else 1."""
    limit = "1"
    for token in reading.text[max(0, lowest(mask) - 2) : mask.bit_length() + 1]:
        if token.number.isdigit() and len(token.number) < 3:
            limit = token.number
    descending = " DESC" if kind in ("max", "most") else ""
    return (*pieces, f"{descending} LIMIT {limit}")


def _tests(reading: Reading) -> Iterator[Part]:
    """Return tests for what the hint says, for values, and for numbers."""
    shown: dict[tuple[Field, str], None] = {}
    for match in reading.context.values:
        for field in reading.schema.find(match.column):
            if match.table in ("", field.sheet.name):
                shown[field, match.value] = None
    for field in reading.schema.fields:
        if field.kind == "text":
            shown |= dict.fromkeys((field, value) for value in field.examples)
    for field, value in shown:
        for mention in mentions(words_of(value), reading.context.question.text)[:1]:
            words = [
                t for place, t in enumerate(reading.text) if mention.mask >> place & 1
            ]
            if mention.part < _SHORTEST:
                continue
            features = {
                "value": 1.0,
                "value.part": mention.part,
                "value.whole": mention.part == 1.0,
                "value.name": any(word.name for word in words),
                "value.stop": not any(word.content for word in words),
            }
            yield Part("test", (field, f" = {literal(value)}"), mention.mask, features)
    for place, token in enumerate(reading.text):
        if token.number and token.low != "one":
            yield from _number_tests(reading, place, token.number)


def _number_tests(reading: Reading, place: int, number: str) -> Iterator[Part]:
    """Return comparisons of columns, and of the rows in a group, with a number of the question."""
    sign, asked = _sign(reading, place)
    test = f" {sign} {number}"
    for field, mask, features in _near(reading.columns, place, 8):
        if field.kind == "number" and not field.key:
            features["number"] = 1.0
            yield Part("test", (field, test), mask | asked, features)
    for field in reading.schema.fields:
        if field.says("year") and len(number) == 4:
            yield Part("test", (field, test), asked, {"year": 1.0})
    for sheet, mask, features in _near(reading.tables, place, 4):
        features["having"] = 1.0
        yield Part(
            "having", (f"COUNT(*){test}",), mask | asked, features, counted=sheet
        )


def _sign(reading: Reading, place: int) -> tuple[str, int]:
    """Return how a number is compared, by the words beside it, and the tokens that say so."""
    for cue in reading.cues_of(*_SIGNS):
        is_before = place - 1 <= cue.end <= place
        is_after = place < cue.first <= place + 2 and cue.kind in {"atleast", "atmost"}
        if is_before or is_after:  # "more than 2", "2 or more"
            return _SIGNS[cue.kind], cue.mask | 1 << place
    return "=", 1 << place


@dataclass(frozen=True, eq=False)
class Query:
    """A query that a question may ask for."""

    reading: Reading
    parts: tuple[Part, ...]
    tree: Tree
    group: Pieces
    whole: Features  # that are of no part
    score: float  # the log of its probability up to a constant
    left: int  # the tokens that nothing explains, as a mask

    @property
    def features(self) -> Features:
        """All features that its score is the sum of."""
        features = dict(self.whole)
        for part in self.parts:
            for name, value in part.features.items():
                features[name] = features.get(name, 0.0) + value
        return features

    @property
    def fields(self) -> list[Field]:
        """The columns that it uses."""
        pieces = [*self.group]
        for part in self.parts:
            pieces += part.pieces
        for join in self.tree.joins:
            pieces += join.on
        return [*dict.fromkeys(fields_of(pieces))]

    @property
    def missed(self) -> list[str]:
        """The words of the question that nothing of it explains."""
        return [
            token.text
            for place, token in enumerate(self.reading.text)
            if self.left >> place & 1
        ]

    @cached_property
    def sql(self) -> str:
        """Its SQL in the manner of BIRD: T1, T2, INNER JOIN."""
        outputs = self._clause(", ", "output", "total")
        if self.reading.cues_of("distinct") and not any(
            part.is_total for part in self.parts
        ):
            outputs = f"DISTINCT {outputs}"
        sql = f"SELECT {outputs} FROM {self._source()}"
        tests: dict[str, list[str]] = {}
        for part in self.parts:
            if part.role == "test":  # equalities on a column are alternatives
                test = self._text(part.pieces)
                column, equals, _ = test.partition(" = ")
                tests.setdefault(column if equals else test, []).append(test)
        conditions = map(_alternatives, tests.values())
        if tests:
            sql += f" WHERE {' AND '.join(conditions)}"
        if self.group:
            sql += f" GROUP BY {self._text(self.group)}"
        having = self._clause(" AND ", "having")
        if having:
            sql += f" HAVING {having}"
        order = self._clause(", ", "order")
        return f"{sql} ORDER BY {order}" if order else sql

    def _clause(self, between: str, *roles: str) -> str:
        texts = []
        for role in roles:
            texts += [
                self._text(part.pieces) for part in self.parts if part.role == role
            ]
        return between.join(texts)

    def _source(self) -> str:
        first, *others = self.tree.sheets
        source = quote(first.name)
        if others:
            source += " AS T1"
        for number, join in enumerate(self.tree.joins):
            name = quote(others[number].name)
            source += f" INNER JOIN {name} AS T{number + 2} ON {self._text(join.on)}"
        return source

    def _text(self, pieces: Pieces) -> str:
        text = ""
        for piece in pieces:
            if isinstance(piece, str):
                text += piece
            else:
                if self.tree.joins:
                    text += f"T{self.tree.sheets.index(piece.sheet) + 1}."
                text += quote(piece.name)
        return text


def _alternatives(tests: Sequence[str]) -> str:
    return f"({' OR '.join(tests)})" if len(tests) > 1 else tests[0]


def _query(reading: Reading, parts: Sequence[Part]) -> Query | None:
    """Return the query of these parts, with its score; None if its tables cannot be joined."""
    sheets = frozenset[Sheet]().union(*(part.sheets for part in parts))
    tree = reading.connect(sheets)
    if not tree:
        return None
    mask = overlap = clauses = 0
    score = 0.0
    for part in parts:
        overlap |= mask & part.mask
        mask |= part.mask
        clauses |= part.clause
        score += part.score
    for sheet in tree.sheets:
        for mention in reading.tables[sheet]:
            mask |= mention.mask
    features = {
        "tables": float(len(sheets)),
        "tables.between": float(len(tree.sheets) - len(sheets)),
        "overlap": float(overlap.bit_count()),
    }
    group = _group_of(parts)
    if group:
        each = reading.mask_of("each")
        mask |= each
        is_asked = each or not any(part.role == "total" for part in parts)
        features["group" if is_asked else "group.unasked"] = 1.0
    for definition in reading.definitions:
        if not clauses & definition.clause:
            clauses |= definition.clause  # once for each clause
            unused = f"unused.{definition.kind}"
            features[unused] = features.get(unused, 0.0) + 0.3 + 0.7 * definition.fit
    if _tests_outputs(parts):
        features["output.tested"] = 1.0
    left = 0
    for loss, places in reading.losses.items():
        left |= places & ~mask
        features[loss] = float((places & ~mask).bit_count())
    score = round(score + reading.score(features), 6)
    return Query(reading, tuple(parts), tree, group, features, score, left)


def _group_of(parts: Iterable[Part]) -> Pieces:
    """Return what to group by: the key of the table whose rows are named, or the columns.

    Two persons may have one name, so that grouping by the name would add up their rows.
    """
    outputs = [part for part in parts if part.role == "output"]
    if not outputs or not any(part.is_total for part in parts):
        return ()
    first = fields_of(outputs[0].pieces)[0]
    names_rows = first in first.sheet.label or first in first.sheet.key
    if names_rows and len(first.sheet.key) == 1:
        return first.sheet.key
    pieces: list[str | Field] = []
    for output in outputs:
        pieces += [", ", *output.pieces]
    return tuple(pieces[1:])


def _tests_outputs(parts: Iterable[Part]) -> bool:
    """Return whether a column is both shown and tested."""
    shown = {part.pieces[0] for part in parts if part.role == "output"}
    return any(part.role == "test" and part.pieces[0] in shown for part in parts)


def propose(reading: Reading, kept: int = _BEAM) -> list[Query]:
    """Return the queries that a question may ask for, the best first, no two the same.

    A beam search: outputs come first, then, with and without each, totals, orders and tests.
    """
    parts: list[Part] = []
    for find in (_outputs, _counts, _functions, _told, _tests):
        parts += find(reading)
    outputs = reading.best(parts, "output")
    totals = reading.best(parts, "total")
    heads = [*_lists(reading, outputs), *([total] for total in totals)]
    beam = _best_queries(reading, heads, [], kept)
    tests = reading.best(parts, "test")
    stages = [totals[:3], reading.best(parts, "order"), reading.best(parts, "having")]
    stages += [[test] for test in tests]
    for choices in stages:
        longer: list[Sequence[Part]] = []
        for query in beam:
            longer += [(*query.parts, part) for part in choices if _fits(query, part)]
        beam = _best_queries(reading, longer, beam, kept)
    unique: dict[str, Query] = {}
    for query in beam:
        if query.tree.sheets:
            unique.setdefault(query.sql, query)
    return [*unique.values()]


def _best_queries(
    reading: Reading, longer: Iterable[Sequence[Part]], beam: Iterable[Query], kept: int
) -> list[Query]:
    """Return the best of a beam and of the queries of some parts, the best first."""
    queries = [*beam]
    for parts in longer:
        query = _query(reading, parts)
        if query:
            queries.append(query)
    return sorted(queries, key=lambda query: -query.score)[:kept]


def _fits(query: Query, part: Part) -> bool:
    """Return whether a query may have one part more."""
    roles = [other.role for other in query.parts]
    if part.role == "total":
        return "total" not in roles
    if part.role in ("having", "order"):
        return "output" in roles
    for other in query.parts:  # no words of the question ask for two tests
        if other.role == "test" and other.mask & part.mask:
            return False
        if other.clause & part.clause or part.template in other.template:
            return False
    return True


@lru_cache(maxsize=64)
def hypotheses(context: Context) -> list[Query]:
    """Return the queries that the question may ask for, the most probable first."""
    return propose(reading_of(context))


@lru_cache(maxsize=64)
def reading_of(context: Context) -> Reading:
    """Return the question of a prompt, read with the learned weights."""
    return Reading(context, WEIGHTS)


def shares(scores: Iterable[float]) -> list[float]:
    """Return what part of the probability each score has: their softmax."""
    scores = [*scores]
    best = max(
        scores, default=0.0
    )  # subtracted, since exp() of a large score would overflow
    # The last digit of exp() and log() differs between processors, and that of sum() between
    # Pythons.
    weights = [round(math.exp(score - best), 9) for score in scores]
    total = math.fsum(weights)
    return [round(weight / total, 9) for weight in weights]


def noisy(scores: Iterable[float], temperature: float, seed: str) -> list[float]:
    """Return scores with noise (Gumbel's), of which the highest is a draw by their shares."""
    chance = random.Random(seed)  # noqa: S311  no secret
    drawn = []
    for score in scores:
        noise = math.log(chance.expovariate(1.0) or 1e-300)
        drawn.append(round(score - temperature * noise, 6))
    return drawn


def draw(scores: Iterable[float], temperature: float, seed: str) -> int:
    """Return the place of a score drawn by its share; at temperature 0 that of the highest."""
    drawn = noisy(scores, temperature, seed)
    return drawn.index(max(drawn))
