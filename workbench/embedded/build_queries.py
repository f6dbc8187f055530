"""Build the queries that a question may ask for, score them, and draw from them.

A query is made of parts: outputs, an order, tests. Which words of the question ask for a part is
known before any query is built. A score is a sum of features times weights (log-linear): exp(score)
is, up to a factor, the probability that the model gives a query. Scores are rounded before they are
compared; between equal ones the order of names decides.
"""

import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

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
    said,
    tokens,
    union,
)
from workbench.embedded.read_hint import definitions
from workbench.sql.reading import quote
from workbench.types import Context

WEIGHTS_FILE = Path(__file__).with_name("weights.json")  # written by learn
WEIGHTS: dict[str, float] = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
Features = Mapping[str, float]
_FUNCTIONS = {"sum": "SUM", "avg": "AVG", "max": "MAX", "min": "MIN"}
_ASKING = {*_FUNCTIONS, "count", "most", "fewest", "percent", "differ", "each", "sort", "not"}
_TOTALS = ("COUNT(", "SUM(", "AVG(", "MAX(", "MIN(", "CAST(")  # how they begin
_SIGNS = {"more": ">", "less": "<", "atleast": ">=", "atmost": "<=", "after": ">", "before": "<"}
_OUTPUTS, _ORDERS, _TESTS = 14, 5, 10  # that are tried
_BEAM = 40  # queries that are kept at each step
_SHORTEST = 0.4  # the part of a value that must be said


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of a query, and the tokens and the clause of the hint that ask for it."""

    role: str  # output, total, having, order or test
    pieces: Pieces
    mask: int
    features: Features
    score: float
    hint: int = 0
    counted: Sheet | None = None  # whose rows it counts

    @cached_property
    def sheets(self) -> set[Sheet]:
        """The tables that it needs."""
        sheets = {field.sheet for field in fields_of(self.pieces)}
        return sheets | {self.counted} if self.counted else sheets

    @property
    def groups(self) -> bool:
        """Whether it is about groups of rows, if the query has other outputs."""
        first = self.pieces[0]
        return isinstance(first, str) and first.startswith(_TOTALS)


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
            self.tables[sheet] = mentions(question, sheet.words)
        for field in self.schema.fields:
            self.columns[field] = mentions(question, field.words, field.heading)
        for definition in self.definitions:
            if definition.kind == "row":
                mention = Mention(definition.mask, definition.fit, definition.clause)
                for field in fields_of(definition.pieces):
                    self.columns[field].insert(0, mention)
        self.losses = self._losses()
        self.trees: dict[frozenset[Sheet], tuple[Tree, int] | None] = {}

    def _losses(self) -> dict[str, int]:
        """Return the tokens that must be explained, by the feature that each is if nothing does."""
        named = union(mention.mask for some in self.columns.values() for mention in some)
        losses: dict[str, int] = {}
        for place, token in enumerate(self.text):
            kind = ""
            if token.number and token.low != "one":
                kind = "number"
            elif token.content:
                is_column = named >> place & 1 and not token.name
                kind = "column" if is_column else "name" if token.name else "word"
            if kind:
                losses[f"left.{kind}"] = losses.get(f"left.{kind}", 0) | 1 << place
        for cue in self.cues:
            if cue.kind in _ASKING:
                losses[f"left.{cue.kind}"] = losses.get(f"left.{cue.kind}", 0) | 1 << cue.first
        return losses

    def part(
        self,
        role: str,
        pieces: Pieces,
        mask: int,
        features: Features,
        hint: int = 0,
        counted: Sheet | None = None,
    ) -> Part:
        """Return a part with its score."""
        return Part(role, pieces, mask, features, self.score(features), hint, counted)

    def score(self, features: Features) -> float:
        """Return the features' values times their weights, added up."""
        total = 0.0
        for name, value in features.items():
            total += self.weights.get(name, 0.0) * value
        return round(total, 6)

    def gain(self, part: Part) -> float:
        """Return what a part adds to the score of a query that explains none of its tokens."""
        score = part.score
        for loss, mask in self.losses.items():
            score -= self.weights.get(loss, 0.0) * (mask & part.mask).bit_count()
        return round(score, 6)

    def best(self, parts: Iterable[Part], kept: int) -> list[Part]:
        """Return the best parts, the best first, of each piece of SQL the best."""
        unique: dict[Pieces, Part] = {}
        for part in sorted(parts, key=self.gain, reverse=True):
            unique.setdefault(part.pieces, part)
        return [*unique.values()][:kept]

    def cues_of(self, *kinds: str) -> list[Cue]:
        """Return the cues of these kinds."""
        return [cue for cue in self.cues if cue.kind in kinds]

    def connect(self, sheets: frozenset[Sheet]) -> tuple[Tree, int] | None:
        """Return the joins of these tables, and the tokens that speak of the tables."""
        if sheets not in self.trees:
            tree = self.schema.connect(sheets)
            spoken_of = (
                [mention for sheet in tree.sheets for mention in self.tables[sheet]] if tree else []
            )
            mask = union(mention.mask for mention in spoken_of)
            self.trees[sheets] = (tree, mask) if tree else None
        return self.trees[sheets]


def _outputs(reading: Reading) -> Iterator[Part]:
    """Return the columns that the question names, and those that say what a row is called."""
    for field, spoken_of in reading.columns.items():
        for mention in spoken_of:
            features = {
                "output": 1.0,
                "output.name": mention.name,
                "output.whole": mention.name == 1.0,
                "output.far": _far(reading, mention.first),
                f"output.{field.key or field.kind}": 1.0,
            }
            yield reading.part("output", (field,), mention.mask, features, mention.hint)
    for sheet, spoken_of in reading.tables.items():
        label = (sheet.label[0], *(piece for field in sheet.label[1:] for piece in (", ", field)))
        for mention in spoken_of:
            features = {
                "label": 1.0,
                "label.name": mention.name,
                "label.far": _far(reading, mention.first),
            }
            yield reading.part("output", label, mention.mask, features)
        for cue in reading.cues_of("who"):
            yield reading.part(
                "output", label, cue.mask, {"who": 1.0, "who.person": len(label) > 1}
            )
        if sheet.label[0].says("names"):
            yield reading.part("output", label, 0, {"label.unsaid": 1.0})


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
            if end and between and len(parts) < 4 and WORDS["joining"].issuperset(between):
                lists.append([*parts, output])
    return lists


def _near(reading: Reading, cue: Cue, reach: int) -> Iterator[tuple[Field, int, Features]]:
    """Return the columns spoken of near a cue, with the tokens of both and the features."""
    for field, spoken_of in reading.columns.items():
        if spoken_of and not field.key:
            mention = min(spoken_of, key=lambda m: abs(m.first - cue.end))
            gap = abs(mention.first - cue.end)
            if gap <= reach:
                features = {"near": 1.0, "near.name": mention.name, "near.gap": gap / 8}
                features[f"near.{field.kind}"] = 1.0
                yield field, cue.mask | mention.mask, features


def _rows(reading: Reading, cue: Cue) -> Iterator[tuple[Sheet | None, int, Features]]:
    """Return tables whose rows a cue may count: one that is spoken of, or none in particular."""
    yield None, cue.mask, {"rows": 1.0}
    for sheet, spoken_of in reading.tables.items():
        if spoken_of:
            mention = min(spoken_of, key=lambda m: abs(m.first - cue.end))
            gap = min(8, abs(mention.first - cue.end)) / 8
            features = {"rows.name": mention.name, "rows.gap": gap}
            yield sheet, cue.mask | mention.mask, features


def _totals(reading: Reading) -> Iterator[Part]:
    """Return counts, SUM, AVG, MAX and MIN of columns, and the totals that the hint spells out."""
    distinct = union(cue.mask for cue in reading.cues_of("distinct"))
    for cue in reading.cues_of("count"):
        for sheet, mask, features in _rows(reading, cue):
            yield reading.part("total", ("COUNT(*)",), mask, {**features, "count": 1.0}, 0, sheet)
        for field, mask, features in _near(reading, cue, 3):
            if distinct:
                pieces = ("COUNT(DISTINCT ", field, ")")
                yield reading.part(
                    "total", pieces, mask | distinct, {**features, "count.distinct": 1.0}
                )
            elif field.kind == "number":  # "how many tonnes"
                yield reading.part(
                    "total", ("SUM(", field, ")"), mask, {**features, "count.sum": 1.0}
                )
    for cue in reading.cues_of(*_FUNCTIONS):
        for field, mask, features in _near(reading, cue, 8):
            pieces = (f"{_FUNCTIONS[cue.kind]}(", field, ")")
            yield reading.part("total", pieces, mask, {**features, f"total.{cue.kind}": 1.0})
    asked = union(cue.mask for cue in reading.cues_of(*_FUNCTIONS, "count", "percent", "differ"))
    for part in _told(reading, "total"):
        yield reading.part("total", part.pieces, part.mask | asked, part.features, part.hint)


def _told(reading: Reading, kind: str) -> Iterator[Part]:
    """Return the formulas of a kind that the hint gives."""
    for clause, mask, fit, told, pieces in reading.definitions:
        if told == kind:
            features = {f"told.{kind}": 1.0, f"told.{kind}.fit": fit}
            yield reading.part(kind, pieces, mask, features, clause)


def _orders(reading: Reading) -> Iterator[Part]:
    """Return the orders that superlatives, words such as "sorted by", and the hint ask for."""
    descending = bool(reading.cues_of("descending"))
    for kind in ("max", "min"):  # "longest refers to MAX(len_m)"
        for part in _told(reading, kind):
            pieces = _first_of(reading, part.pieces, part.mask, descending=kind == "max")
            asked = union(cue.mask for cue in reading.cues_of(kind, "most", "fewest"))
            yield reading.part("order", pieces, part.mask | asked, part.features, part.hint)
    for cue in reading.cues_of("most", "fewest"):
        pieces = _first_of(reading, ("COUNT(*)",), cue.mask, descending=cue.kind == "most")
        for sheet, mask, features in _rows(reading, cue):
            yield reading.part("order", pieces, mask, {**features, "most": 1.0}, 0, sheet)
    for cue in reading.cues_of("max", "min", "sort"):
        for field, mask, features in _near(reading, cue, 6):
            if cue.kind == "sort":
                pieces: Pieces = (field, " DESC" if descending else "")
            else:
                pieces = _first_of(reading, (field,), cue.mask, descending=cue.kind == "max")
            yield reading.part("order", pieces, mask, {**features, f"order.{cue.kind}": 1.0})


def _first_of(reading: Reading, pieces: Pieces, mask: int, *, descending: bool) -> Pieces:
    """Return an order with a limit: the number beside the words that ask for it, else 1."""
    limit = "1"
    start = max(0, lowest(mask) - 2)
    for token in reading.text[start : mask.bit_length() + 1]:
        if token.number.isdigit() and int(token.number) <= 50:
            limit = token.number
    return (*pieces, f"{' DESC' if descending else ''} LIMIT {limit}")


def _tests(reading: Reading) -> Iterator[Part]:
    """Return tests for what the hint says, for values, and for numbers."""
    yield from _told(reading, "test")
    yield from _told(reading, "having")
    shown: dict[tuple[Field, str], bool] = {}  # and whether retrieval has it
    for field in reading.schema.fields:
        for value in field.examples:
            shown[field, value] = False
    for match in reading.context.values:
        for field in reading.schema.find(match.column):
            if match.table in ("", field.sheet.name):
                shown[field, match.value] = True
    for (field, value), retrieved in shown.items():
        mask, fit = said(value, reading.context.question.text)
        if fit >= _SHORTEST and field.kind == "text":
            words = [token for place, token in enumerate(reading.text) if mask >> place & 1]
            features = {
                "value": 1.0,
                "value.fit": fit,
                "value.whole": fit == 1.0,
                "value.retrieved": retrieved,
                "value.name": any(word.name for word in words),
                "value.stop": not any(word.content for word in words),
                "value.key": field.key != "",
            }
            escaped = value.replace("'", "''")
            yield reading.part("test", (field, f" = '{escaped}'"), mask, features)
    for place, token in enumerate(reading.text):
        if token.number and token.low != "one":
            yield from _number_tests(reading, place)


def _number_tests(reading: Reading, place: int) -> Iterator[Part]:
    """Return comparisons of columns, and of the rows in a group, with a number of the question."""
    number = reading.text[place].number
    sign, asked = _sign(reading, place)
    for field, spoken_of in reading.columns.items():
        is_year = len(number) == 4 and ("year" in field.words or field.kind == "date")
        mention = min(spoken_of, key=lambda m: abs(m.first - place), default=Mention(0, 0.0))
        if field.kind == "text" or not (is_year or mention.mask or number in field.examples):
            continue
        features = {
            "number": 1.0,
            "number.name": mention.name,
            "number.gap": min(9, abs(mention.first - place)) / 9 if mention.mask else 0.0,
            "number.year": is_year,
            "number.key": field.key != "",
            "number.shown": number in field.examples,
        }
        pieces: Pieces = (field, f" {sign} {number}")
        if field.kind == "date":
            pieces = ("STRFTIME('%Y', ", field, f") {sign} '{number}'")
        yield reading.part("test", pieces, asked | mention.mask, features)
    cue = Cue("", place, place + 1)
    for sheet, mask, features in _rows(reading, cue):
        if sheet:
            having = {**features, "having": 1.0, "having.sign": sign != "="}
            yield reading.part(
                "having", (f"COUNT(*) {sign} {number}",), asked | mask, having, 0, sheet
            )


def _sign(reading: Reading, place: int) -> tuple[str, int]:
    """Return how a number is compared, by the words beside it, and the tokens that say so."""
    for cue in reading.cues_of(*_SIGNS):
        after = place < cue.first <= place + 2 and cue.kind in {"atleast", "atmost"}  # "2 or more"
        if after or place - 1 <= cue.end <= place:
            return _SIGNS[cue.kind], cue.mask | 1 << place
    return "=", 1 << place


@dataclass(frozen=True)
class Query:
    """A query that a question may ask for."""

    reading: Reading
    parts: tuple[Part, ...]
    tree: Tree
    group: tuple[Field, ...]
    whole: Features  # that are of no part
    score: float  # the log of its probability up to a constant
    left: int  # the tokens that nothing explains, as a mask

    @property
    def features(self) -> Features:
        """All features that its score is the sum of."""
        features = {**self.whole}
        for part in self.parts:
            for name, value in part.features.items():
                features[name] = features.get(name, 0.0) + value
        return features

    @property
    def fields(self) -> list[Field]:
        """The columns that it uses, those of its joins included."""
        fields = [*self.group]
        for pieces in (
            *(part.pieces for part in self.parts),
            *(join.on for join in self.tree.joins),
        ):
            fields += fields_of(pieces)
        return [*dict.fromkeys(fields)]

    @property
    def missed(self) -> list[str]:
        """The words of the question that nothing of it explains."""
        words = [t for place, t in enumerate(self.reading.text) if self.left >> place & 1]
        return [word.text for word in words]

    @cached_property
    def sql(self) -> str:
        """Its SQL in the manner of BIRD: T1, T2, INNER JOIN."""
        first, *others = self.tree.sheets
        source = quote(first.name)
        aliases = {}
        if others:
            aliases = {sheet: f"T{n}" for n, sheet in enumerate(self.tree.sheets, 1)}
            source += " AS T1"
        for sheet, join in zip(others, self.tree.joins, strict=True):
            on = _text(join.on, aliases)
            source += f" INNER JOIN {quote(sheet.name)} AS {aliases[sheet]} ON {on}"
        clauses: dict[str, list[str]] = {"output": [], "total": [], "having": [], "order": []}
        tests: dict[str, list[str]] = {}
        for part in self.parts:
            sql = _text(part.pieces, aliases)
            if part.role == "test":  # equalities on a column are alternatives
                column, equals, _ = sql.partition(" = ")
                tests.setdefault(column if equals else sql, []).append(sql)
            else:
                clauses[part.role].append(sql)
        outputs = ", ".join(clauses["output"] + clauses["total"])
        once = self.reading.cues_of("distinct") and not clauses["total"] and not self.group
        sql = f"SELECT {'DISTINCT ' if once else ''}{outputs} FROM {source}"
        conditions = []
        for equal in tests.values():
            conditions.append(f"({' OR '.join(equal)})" if len(equal) > 1 else equal[0])
        sql += _clause(" WHERE ", " AND ", conditions)
        sql += _clause(" GROUP BY ", ", ", [_text((field,), aliases) for field in self.group])
        sql += _clause(" HAVING ", " AND ", clauses["having"])
        return sql + _clause(" ORDER BY ", ", ", clauses["order"])


def _query(reading: Reading, parts: Sequence[Part]) -> Query | None:
    """Return the query of these parts, with its score; None if its tables cannot be joined."""
    sheets: set[Sheet] = set()
    mask, hints, twice = 0, 0, 0
    features: dict[str, float] = {}
    score = 0.0
    for part in parts:
        sheets.update(part.sheets)
        twice |= mask & part.mask
        mask |= part.mask
        hints |= part.hint
        score += part.score
    joined = reading.connect(frozenset(sheets))
    if not joined:
        return None
    tree, spoken_of = joined
    mask |= spoken_of
    features["tables"] = len(sheets)
    features["tables.between"] = len(tree.sheets) - len(sheets)
    outputs = [part for part in parts if part.role == "output"]
    group: tuple[Field, ...] = ()
    if outputs and any(part.groups for part in parts):
        group = _group_of(outputs)
        mask |= union(cue.mask for cue in reading.cues_of("each"))
        features["group"] = 1.0
        is_asked = reading.cues_of("each") or not any(part.role == "total" for part in parts)
        features["group.unasked"] = float(not is_asked)
    features["overlap"] = twice.bit_count()
    shown = [field for part in outputs for field in fields_of(part.pieces)]
    tested = [part.pieces[0] for part in parts if part.role == "test"]
    features["shown.tested"] = float(any(field in tested for field in shown))
    for definition in reading.definitions:
        if not hints & definition.clause:
            hints |= definition.clause  # once
            unused = f"unused.{definition.kind}"
            features[unused] = features.get(unused, 0.0) + 0.3 + 0.7 * definition.fit
    left = 0
    for loss, places in reading.losses.items():
        left |= places & ~mask
        features[loss] = (places & ~mask).bit_count()
    score = round(score + reading.score(features), 6)
    return Query(reading, tuple(parts), tree, group, features, score, left)


def _group_of(outputs: Iterable[Part]) -> tuple[Field, ...]:
    """Return what to group by: the key of the table whose rows are named, or the columns themselves.

    Two persons may have one name, so that grouping by the name would add up their rows.
    """
    fields = [field for part in outputs for field in fields_of(part.pieces)]
    sheet = fields[0].sheet
    names_rows = fields[0] in sheet.label or fields[0] in sheet.key[:1]
    return tuple(sheet.key if names_rows and sheet.key else fields)


def propose(reading: Reading, kept: int = _BEAM) -> list[Query]:
    """Return the queries that a question may ask for, the best first, no two the same.

    A beam search: outputs come first, then, with and without each, totals, orders and tests.
    """
    outputs = reading.best(_outputs(reading), _OUTPUTS)
    totals = reading.best(_totals(reading), _OUTPUTS)
    tests = reading.best(_tests(reading), _TESTS)
    orders = reading.best(_orders(reading), _ORDERS)
    heads = [*_lists(reading, outputs), *([total] for total in totals)]
    beam = _ranked(reading, heads, kept)
    for parts in (totals[:3], orders, *([test] for test in tests)):
        longer = []
        for query in beam:
            for part in parts:
                if _fits(query, part):
                    longer.append([*query.parts, part])
        beam = _sorted([*beam, *_ranked(reading, longer, kept)])[:kept]
    unique: dict[str, Query] = {}
    for query in beam:
        if query.tree.sheets:
            unique.setdefault(query.sql, query)
    return [*unique.values()]


def _fits(query: Query, part: Part) -> bool:
    """Return whether a query may have a part: a total needs outputs, and a formula is used once."""
    roles = {other.role for other in query.parts}
    if part.role == "total":
        return "total" not in roles
    if part.role in ("having", "order"):
        return "output" in roles
    for other in query.parts:
        overlap = other.role == "test" and part.mask & other.mask
        if overlap or part.hint & other.hint or _repeats(other, part):
            return False
    return True


def _repeats(total: Part, test: Part) -> bool:
    """Return whether a total of the hint already holds a test."""
    return total.role == "total" and _template(test.pieces) in _template(total.pieces)


def _template(pieces: Pieces) -> str:
    return "".join(piece if isinstance(piece, str) else piece.name for piece in pieces)


def _ranked(reading: Reading, combined: Iterable[Sequence[Part]], kept: int) -> list[Query]:
    queries = [_query(reading, parts) for parts in combined]
    return _sorted(filter(None, queries))[:kept]


def _sorted(queries: Iterable[Query]) -> list[Query]:
    return sorted(queries, key=lambda query: -query.score)


def _clause(keyword: str, between: str, texts: Sequence[str]) -> str:
    return keyword + between.join(texts) if texts else ""


def _text(pieces: Pieces, aliases: Mapping[Sheet, str]) -> str:
    sql = ""
    for piece in pieces:
        if isinstance(piece, str):
            sql += piece
        else:
            alias = f"{aliases[piece.sheet]}." if aliases else ""
            sql += alias + quote(piece.name)
    return sql


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
    best = max(scores, default=0.0)  # subtracted, since exp() of a large score would overflow
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
