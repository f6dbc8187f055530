"""The parts of queries: heads, and tests with the sets of them that fit together. The weights say which fit a question.

A head lists columns, counts, totals, takes the first of an order, or does so for each of some groups. A prompt may show
values that have nothing to do with the question, so a value counts only by the part of it that the question says,
letter by letter if need be.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from workbench.embedded.link import (
    OPERATIONS,
    Features,
    Mention,
    Part,
    Reading,
    added,
    closest,
    lowest,
    union,
)
from workbench.embedded.words import STOPWORDS, WORDS, Pieces, Token, columns_of, said, tokens
from workbench.sql.reading import quote
from workbench.types import lower_name

_FUNCTIONS = {"avg": "AVG", "sum": "SUM", "max": "MAX", "min": "MIN"}
_SIGNS = {"more": ">", "less": "<", "atleast": ">=", "atmost": "<=", "after": ">", "before": "<"}
_COUNT: Pieces = ("COUNT(*)",)
_MOST, _EXTREME = frozenset({"most"}), frozenset({"extreme"})
_SINGLES = 14  # outputs that lists are made of
_HEADS, _TESTS = 72, 48  # heads and tests looked at
_SETS = 14  # sets of tests
_SHORTEST = 0.3  # the part of a value that must be said
_YEAR = re.compile(r"(1[6-9]|20)\d\d")


@dataclass
class Head:
    """The columns and totals that a query selects, and its grouping, order and limit."""

    shape: str  # list, count, total, formula, group, having or ordered
    select: tuple[Pieces, ...]
    mask: int  # the tokens that ask for it
    features: Features
    operations: frozenset[str] = frozenset({"list"})
    hints: int = 0  # the clauses of the hint that it uses
    needs: tuple[int, ...] = ()  # tables beyond those of its columns
    group: tuple[int, ...] = ()
    having: Pieces = ()
    order: Pieces = ()
    descending: bool = False
    limit: int = 0
    inner_tests: tuple[Pieces, ...] = ()  # conditions inside its totals
    first: int = -1  # where the last of its outputs is asked for
    score: float = 0.0
    tables: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        self.first = self.first if self.first >= 0 else lowest(self.mask)

    @cached_property
    def selected(self) -> frozenset[int]:
        return frozenset(columns_of(self.select))

    @cached_property
    def fields(self) -> frozenset[int]:
        return self.selected.union(columns_of((self.order, self.having, self.group)))

    def about(self, listed: "Head", said: int = 0, **changed: Any) -> "Head":
        """A head that lists, groups, orders or totals, put together with the list that it is about."""
        features, mask = added(listed.features, self.features), listed.mask | self.mask | said
        select, hints = listed.select + self.select, listed.hints | self.hints
        return replace(self, features=features, mask=mask, select=select, hints=hints, **changed)


def heads(reading: Reading) -> list[Head]:
    """The heads worth trying, the best first."""
    listed = _lists(reading)
    totals = [*_counts(reading), *_ranked(reading, _totals(reading), 12)]
    found = [*listed[:24], *totals, *_told_heads(reading)]
    for order in _ranked(reading, _orders(reading), 7):
        found += (head for listing in listed[:10] for head in _ordered(reading, order, listing))
    found += _groups(reading, listed, _ranked(reading, totals, 6))
    for condition in _ranked(reading, _conditions(reading), 8):
        found += (condition.about(h, group=_group_of(reading, h)) for h in listed[:8])
    for head in found:
        if head.shape != "formula":  # a formula of the hint needs no other word
            for name, kinds, _ in OPERATIONS:
                if name in head.operations and reading.cues.keys().isdisjoint(kinds):
                    head.features[f"{name}.unasked"] = 1.0
        head.score = reading.score(head.features)
        head.tables = frozenset(reading.made.fields[i].table for i in head.fields).union(head.needs)
    return sorted(found, key=lambda h: (-h.score, h.shape, str(h.select)))[:_HEADS]


def _ranked(reading: Reading, some: Iterable[Head], kept: int | None = None) -> list[Head]:
    def key(head: Head) -> tuple[float, int, str]:
        return -reading.score(head.features), head.first, str((head.select, head.order))

    return sorted(some, key=key)[:kept]


def _group_of(reading: Reading, head: Head) -> tuple[int, ...]:
    """The columns to group a list by: the key of the table whose rows it names, or its own columns.

    Two persons may have one name, so that grouping by the name would add up their rows.
    """
    fields = columns_of(head.select)
    sheet = reading.made.sheets[reading.made.fields[fields[0]].table]
    labelled = sheet.key and head.selected.intersection(sheet.label + sheet.key)
    return sheet.key if labelled else tuple(fields)


def _lists(reading: Reading) -> list[Head]:
    """Heads that list the columns asked for: single outputs, and two or three named one after the other."""
    best: dict[tuple[object, int], Head] = {}
    for head in reversed(_ranked(reading, _outputs(reading))):
        best[head.select, head.first] = head
    singles = _ranked(reading, best.values(), _SINGLES)
    groups, found = singles, [*singles]
    for kept in (12, 5):
        longer = (
            replace(one, features=added(one.features, _pair(reading, head, one))).about(head)
            for head, one in product(groups[:_SINGLES], sorted(singles, key=lambda h: h.first))
            if one.first > head.first and not (one.mask & head.mask or head.selected & one.selected)
        )
        groups = _ranked(reading, longer, kept)
        found += groups
    return _ranked(reading, found)


def _pair(reading: Reading, one: Head, two: Head) -> Features:
    """The score of an output after the one before it."""
    between = [token.low for token in reading.text[one.mask.bit_length() : two.first]]
    return {
        "pair": 1.0,
        "pair.joined": bool(between) and WORDS["joining"].issuperset(between),
        "pair.and": "and" in between or "," in between,
        "pair.head": any(one.first < start <= two.first for start in reading.openings),
    }


def _position(reading: Reading, mention: Mention, name: str) -> Features:
    """The place of a mention after the words that ask, such as "which" and "list"."""
    opened = [start for start in reading.openings if start <= mention.end - 1]
    if not opened:
        return {f"{name}.at.front": 1.0}
    between = [t.low for t in reading.text[opened[-1] : max(opened[-1], mention.first)]]
    return {
        f"{name}.at.far": min(10, len(between)) / 10,
        f"{name}.at.clean": WORDS["between"].isdisjoint(between),
    }


def _outputs(reading: Reading) -> Iterator[Head]:
    """Columns that the question names, and those that say what a row of a table is called."""
    made, last = reading.made, len(reading.text)
    labels = {i for sheet in made.sheets for i in sheet.label}
    for column, mentions in reading.fields.items():
        field = made.fields[column]
        for mention in mentions:
            features = _position(reading, mention, "out") | {
                "out": 1.0,
                "out.name": mention.name,
                "out.whole": mention.whole,
                f"out.{field.key or field.kind}": 1.0,
                "out.label": column in labels,
                "out.beside": reading.beside(field.table, mention.first),
            }
            yield Head("list", ((column,),), mention.mask, features, hints=mention.hints)
    for sheet in made.sheets:
        pieces = tuple(p for i in sheet.label for p in (", ", i))[1:]
        for mention in reading.tables.get(sheet.id, ())[:2]:
            features = {"label": 1.0, "label.strength": mention.strength}
            features |= _position(reading, mention, "label")
            yield Head("list", (pieces,), mention.mask, features)
        person = len(sheet.label) > 1  # a first name and a surname
        if person or any(made.fields[i].named for i in sheet.label):
            if person or len(made.sheets) < 8:
                yield Head("list", (pieces,), 0, {"label.unsaid": 1.0}, first=last)
            said = reading.said.get(sheet.id, 0.0)
            for cue in reading.all_cues("who"):
                features = {"who": 1.0, "who.person": person, "who.said": said}
                yield Head("list", (pieces,), cue.mask, features)


def _rows(reading: Reading, place: int) -> Iterator[tuple[tuple[int, ...], int, float, int]]:
    """The tables whose rows may be counted, none in particular first, with the mention nearest to a place.

    Of the mention: its tokens, its strength, and how far it begins after the place.
    """
    yield (), 0, 0.0, 0
    for table, mentions in reading.tables.items():
        mention = closest(mentions, place)
        yield (table,), mention.mask, mention.strength, mention.first - place


def _orders(reading: Reading) -> Iterator[Head]:
    """Orders that the superlatives of the question and the hint may ask for, without a list."""
    cues = reading.all_cues("most", "max", "fewest", "min")
    for clause in reading.definitions:
        told: Features = {"best": 1.0, "best.fit": clause.fit}
        head = Head("ordered", (), clause.mask, told, _MOST, 1 << clause.number)
        for formula in clause.formulas:
            if formula.kind == "best":  # "longest refers to MAX(len_m)"
                kind = _MOST if formula.of_total else _EXTREME
                found = replace(head, order=formula.pieces, descending=formula.top)
                yield replace(found, operations=kind)
            elif formula.kind == "total" and cues:
                mask, top = head.mask | cues[0].mask, cues[0].kind in {"most", "max"}
                yield replace(head, order=formula.pieces, mask=mask, descending=top)
    for cue in cues:
        top = cue.kind in {"most", "max"}
        if cue.kind in {"most", "fewest"}:  # the most rows, of any table or of one
            for needs, mask, strength, gap in _rows(reading, cue.end):
                features = {"ord.count": 1.0, "ord.count.strength": strength}
                features["ord.gap"] = 1.2 if gap < 0 else min(6, gap) / 5
                head = Head("ordered", (), cue.mask | mask, features, _MOST, 0, needs)
                yield replace(head, order=_COUNT, descending=top)
            continue
        for column, mentions in reading.fields.items():  # columns near a superlative
            field = reading.made.fields[column]
            mention = closest(mentions, cue.end)
            gap = mention.first - cue.end
            if not field.key and -3 <= gap <= 5:
                features = {"ord.near": 1.0, "ord.gap": abs(gap) / 5, f"ord.{field.kind}": 1.0}
                features["ord.strength"] = mention.strength
                head = Head("ordered", (), mention.mask | cue.mask, features, _EXTREME)
                # The oldest has the largest age, but the smallest date of birth.
                turned = cue.word in WORDS["old"] and not field.dates and "ag" in field.words
                yield replace(head, order=(column,), descending=top != turned)


def _ordered(reading: Reading, order: Head, listed: Head) -> Iterator[Head]:
    """A list cut to the first of an order; with a total, to the first of the groups."""
    total = order.operations == _MOST
    if total or listed.select[1:] or not listed.fields & order.fields:  # "the largest size" is MAX
        limit, said = _limit(reading, order.mask, listed.mask & -listed.mask)
        group = _group_of(reading, listed) if total else ()
        yield order.about(listed, said, limit=limit, group=group)


def _limit(reading: Reading, *masks: int) -> tuple[int, int]:
    """The number that a question asks for ("top 5", "the three oldest", "two streets"), and its token."""
    for mask in filter(None, masks):
        first, end = lowest(mask), mask.bit_length() + 1
        for i in (*range(max(0, first - 2), first), *range(first, min(end, len(reading.text)))):
            number = reading.text[i].number or 0
            if 1 < number <= 50 and number == int(number):
                return int(number), 1 << i
    return 1, 0


def _counts(reading: Reading) -> Iterator[Head]:
    """Counts of rows and of different values of a column."""
    cue = next(iter(reading.all_cues("count")), None)
    base, start = (cue.mask, cue.end) if cue else (0, 0)
    for needs, mask, strength, gap in _rows(reading, start):
        features = {"count": 1.0, "count.gap": min(8, abs(gap)) / 8, "count.table": strength}
        features["count.next"] = bool(needs) and abs(gap) <= 1
        yield Head("count", (_COUNT,), base | mask, features, frozenset({"count"}), 0, needs)
    distinct = union(c.mask for c in reading.all_cues("distinct") if 0 <= c.first - start <= 1)
    for column, mentions in reading.fields.items():
        mention = closest(mentions, start)
        if (gap := abs(mention.first - start)) <= 4:
            features = {"count": 1.0, "count.gap": gap / 8, "count.next": gap <= 1}
            select: Pieces = ("COUNT(DISTINCT ", column, ")")
            mask, kind = base | mention.mask | distinct, frozenset({"count", "distinct"})
            yield Head("count", (select,), mask, features, kind)


def _totals(reading: Reading) -> Iterator[Head]:
    """SUM, AVG, MAX and MIN of a column."""
    for cue in reading.all_cues(*_FUNCTIONS, "count"):
        for column in reading.fields:
            field = reading.made.fields[column]
            mention, gap = reading.nearest(column, cue.first, cue.end)
            near = field.kind == "number" and mention and 0 <= mention.first - cue.end <= 1
            if field.key or mention is None or (cue.kind == "count" and not near):
                continue
            features = {"total": 1.0, f"total.of_{field.kind}": 1.0, "total.gap": min(8, gap) / 8}
            features |= {"total.strength": mention.strength, "total.how_many": cue.kind == "count"}
            kind = {"extreme" if cue.kind in {"max", "min"} else cue.kind}
            kind |= {"sum"} if cue.kind == "count" else set()  # "how many tonnes"
            select: Pieces = (f"{_FUNCTIONS.get(cue.kind, 'SUM')}(", column, ")")
            mask = mention.mask | cue.mask
            yield Head("total", (select,), mask, features, frozenset(kind), mention.hints)


def _told_heads(reading: Reading) -> Iterator[Head]:
    """The totals that the hint spells out."""
    for clause in reading.definitions:
        for formula in (f for f in clause.formulas if f.kind == "total"):
            text = "".join(p for p in formula.pieces if isinstance(p, str))
            kind = {name for name in ("count", "sum", "avg") if text.startswith(f"{name.upper()}(")}
            kind |= {"percent"} if "* 100" in text else {"differ"} if " - " in text else set()
            features = {"formula": 1.0, "formula.fit": clause.fit}
            head = Head("formula", (formula.pieces,), clause.mask, features, frozenset(kind))
            yield replace(head, hints=1 << clause.number, inner_tests=formula.tests)


def _groups(reading: Reading, listed: Sequence[Head], totals: Sequence[Head]) -> Iterator[Head]:
    """A count or a total for each row of a list."""
    each = {cue.end + gap: cue.mask for cue in reading.all_cues("each") for gap in range(3)}
    if not (each or reading.all_cues("count") or len(reading.openings) > 1):
        return
    keys = sorted(
        listed, key=lambda h: -reading.score(h.features) - 2.5 * (lowest(h.mask) in each)
    )[:8]
    for total, key in product(totals, keys):
        if not total.fields & key.fields:
            said = each.get(lowest(key.mask), 0)
            group = total.about(key, said, shape="group", group=_group_of(reading, key))
            group.operations |= {"group"}
            group.features |= {"group": 1.0, "group.each": bool(said)}
            yield group


def _conditions(reading: Reading) -> Iterator[Head]:
    """Conditions on groups, as yet without a list: of at least so many rows, or as the hint says."""
    plain = Head("having", (), 0, {"having": 1.0}, frozenset({"having"}))
    for clause in reading.definitions:
        for formula in (f for f in clause.formulas if f.kind == "group_test"):
            head = replace(plain, mask=clause.mask, hints=1 << clause.number)
            features = {"having": 1.0, "having.hint": 1.0}
            yield replace(head, having=formula.pieces, features=features)
    for cue in reading.all_cues("more", "less", "atleast", "atmost"):
        near = range(max(0, cue.first - 2), min(len(reading.text), cue.end + 2))
        for place in [i for i in near if reading.text[i].number is not None][:1]:
            having = (f"COUNT(*) {_SIGNS[cue.kind]} {reading.text[place].number:g}",)
            for needs, mask, strength, _ in _rows(reading, place):
                features = {"having": 1.0, "having.count": 1.0, "having.table": strength}
                head = replace(plain, mask=cue.mask | 1 << place | mask, having=having)
                yield replace(head, features=features, needs=needs)


class Tests:
    """Tests that hold together; those of one column's values are alternatives."""

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.mask, self.hints = union(p.mask for p in parts), union(p.hints for p in parts)
        self.worth = round(sum(part.score for part in parts), 6)
        self.fields = {i for part in parts for i in part.fields}
        self.tables = frozenset[int]().union(*(part.tables for part in parts))
        self.columns = [part.column for part in parts if part.column >= 0]


@lru_cache(maxsize=8)  # what is spoken of and the hypotheses have the same
def tests(reading: Reading) -> list[Part]:
    """The tests worth trying, the best first."""
    makers = (_told_tests, _values, _numbers, _without)
    found = sorted((p for make in makers for p in make(reading)), key=lambda p: p.score)
    best = {part.pieces: part for part in found}
    return sorted(best.values(), key=lambda p: (-p.score, p.first, str(p.pieces)))[:_TESTS]


def sets(parts: list[Part], gain: Mapping[int, float]) -> list[Tests]:
    """The best sets of tests, of which no two use the same words or the same clause of the hint.

    A beam search: each test is added to each of the best sets so far, or not. `gain` is what it is worth
    to explain a token; without it the empty set would win over tests that cost a little.
    """
    beam: list[tuple[float, tuple[Part, ...], int, int]] = [(0.0, (), 0, 0)]
    for part in parts:
        gained = round(part.score + sum(w for i, w in gain.items() if part.mask >> i & 1), 6)
        beam += [
            (worth + gained, (*held, part), mask | part.mask, hints | part.hints)
            for worth, held, mask, hints in beam
            if not (mask & part.mask or hints & part.hints)
        ]
        beam = sorted(beam, key=lambda found: -found[0])[: _SETS * 3]
    return [Tests(held) for _, held, _, _ in beam[:_SETS]]


def _told_tests(reading: Reading) -> Iterator[Part]:
    """Tests that the hint spells out."""
    for clause in reading.definitions:
        for formula in (f for f in clause.formulas if f.kind == "test" and f.fields):
            text = "".join(p for p in formula.pieces if isinstance(p, str))
            shown = (v for i in formula.fields for v in reading.made.fields[i].examples)
            known = len(clause.formulas) > 1 and any(f"'{value}'" in text for value in shown)
            equal = len(formula.pieces) == 2 and str(formula.pieces[1]).startswith(" = ")
            column, hints = formula.fields[0] if equal else -1, 1 << clause.number
            features = {"hint": 1.0, "hint.known": known}
            yield reading.part(formula.pieces, clause.mask, features, hints=hints, column=column)


def _without(reading: Reading) -> Iterator[Part]:
    """Tests that no row of a table that is spoken of refers to this one: "pilots without a licence"."""
    for edge in reading.made.keys:
        for mention in reading.tables.get(edge.child, ())[:2]:
            cue = reading.cue_before(mention.first, ("not",), 5)
            if cue and mention.strength >= 0.4 and len(edge.pairs) == 1:
                features = {"without": 1.0, "without.parent": reading.said.get(edge.parent, 0.0)}
                ((source, target),) = edge.pairs
                table, column = map(quote, reading.made.where(source))
                test = (target, f" NOT IN (SELECT {column} FROM {table})")
                yield reading.part(test, mention.mask | cue.mask, features)


def _values(reading: Reading) -> Iterator[Part]:
    """Tests for the values that the prompt shows, where the question seems to say them."""
    compared = {
        token.low
        for i, token in enumerate(reading.text)
        if token.number is not None and reading.cue_before(i, (*_SIGNS, "between"), 1)
    }
    shown = {  # and whether retrieval found them
        (field.id, value): False
        for field in reading.made.fields
        if field.kind == "text"
        for value in field.examples
        if not _is_number(value)
    }
    for match in reading.context.values:
        for column in reading.made.named.get(lower_name(match.column), ()):
            if match.table in {"", reading.made.where(column)[0]}:
                shown[column, match.value] = True
    for (column, value), given in shown.items():
        field, number = reading.made.fields[column], _is_number(value)
        mask, fit, exact = _said(value, reading.context.question.text)
        if fit < _SHORTEST:
            continue
        words = [t for i, t in enumerate(reading.text) if mask >> i & 1]
        empty = all(t.low in STOPWORDS for t in words)
        if (empty and fit < 0.99) or (number and value in compared):
            continue
        features = {
            "value": 1.0,
            "value.given": given,
            "value.fit": fit,
            "value.whole": fit > 0.99,
            "value.exact": exact,
            "value.plain": not any(t.capital or t.quoted or t.number is not None for t in words),
            "value.stop": empty,
            "value.number": number,
            "value.beside": reading.beside(field.table, lowest(mask)),
        }
        plain = field.kind == "number" and number
        written = value if plain else "'" + value.replace("'", "''") + "'"
        yield reading.part((column, f" = {written}"), mask, features, column=column)


@lru_cache(maxsize=65536)  # prompts about a question show the same values
def _said(value: str, question: str) -> tuple[int, float, float]:
    wanted = [token for token in tokens(value[:120]) if token.low[0].isalnum()]
    return said(wanted, tokens(question))


def _is_number(value: str) -> bool:
    return value.replace(".", "", 1).lstrip("-").isdigit()


def _numbers(reading: Reading) -> Iterator[Part]:
    """Comparisons of a column with each number of the question, or of its dates with a year."""
    text = reading.text
    for i, token in enumerate(text):
        if token.number is None or token.low in {"one", "once", "hundred", "thousand"}:
            continue
        number, mask = _written(token), 1 << i
        between = reading.cue_before(i, ("between",), 1)
        to = [j for j in range(i + 2, min(i + 6, len(text))) if text[j].number is not None]
        late = [c for c in reading.all_cues("atleast", "atmost") if i < c.first <= i + 2]
        cue = late[0] if late else reading.cue_before(i, _SIGNS, 1)
        test = f" = {number}"
        if between and to and any(t.low in {"and", "to"} for t in text[i : to[0]]):
            test = f" BETWEEN {number} AND {_written(text[to[0]])}"
            mask |= 1 << to[0] | between.mask
        elif cue:
            test = f" {_SIGNS[cue.kind]} {number}"
            mask |= cue.mask
        for field in reading.made.fields:
            mention, gap = reading.nearest(field.id, i, i + 1)
            numeric = field.kind == "number"
            dated = field.dates or {"year", "yr"} & {*field.words}
            year = bool(_YEAR.fullmatch(number) and dated)
            if not (year or number in field.examples or (numeric and mention and gap <= 8)):
                continue
            strength = mention.strength if mention else 0.0
            features: Features = {
                "number": 1.0,
                "number.near": max(0.0, 1 - gap / 8) * min(1.2, strength),
                "number.next": gap == 0 and strength > 0.4,
                "number.year": year,
                "number.date": field.kind == "date",
                "number.beside": reading.beside(field.table, i),
            }
            left = field.part("%Y") if year else (field.id,)
            plain = numeric or field.dates == "year"  # years are numbers, parts of dates are text
            right = test if plain else re.sub(r"[\d.]+", r"'\g<0>'", test)
            named = mention.mask if mention and numeric and strength > 0.5 else 0
            column = field.id if test.startswith(" = ") and not year else -1
            yield reading.part((*left, right), mask | named, features, column=column)


def _written(token: Token) -> str:
    """A number of the question as SQL writes it."""
    return token.low.replace(",", "") if token.low[0].isdigit() else f"{token.number:g}"
