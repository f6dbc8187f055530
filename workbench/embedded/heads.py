"""The heads of queries: all but tests and joins. The weights say which shape fits a question.

A query lists columns, counts, totals, takes the first of an order, or does so for each of some groups.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from workbench.embedded.index import Pieces, columns_of
from workbench.embedded.link import Features, Mention, Part, Reading, added, closest, lowest, union
from workbench.embedded.words import NUMBERS, WORDS

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
_FUNCTIONS = {"avg": "AVG", "sum": "SUM", "max": "MAX", "min": "MIN"}
_SIGNS = {"more": ">", "less": "<", "atleast": ">=", "atmost": "<="}
_ROWS: Pieces = ("COUNT(*)",)
_SINGLES = 14  # outputs that lists are made of
_KEPT = 72


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
    nested: bool = False  # the first of an order is found by comparing with MAX or MIN
    inner_tests: tuple[Pieces, ...] = ()  # conditions inside its totals
    score: float = 0.0
    tables: frozenset[int] = frozenset()

    @cached_property
    def selected(self) -> frozenset[int]:
        return frozenset(columns_of(self.select))

    @cached_property
    def fields(self) -> frozenset[int]:
        return self.selected.union(columns_of((self.order, self.having, self.group)))

    def about(self, listed: "Head", **changed: Any) -> "Head":
        """A head that groups, orders or totals, put together with the list that it is about."""
        features, mask = listed.features | self.features, listed.mask | self.mask
        select, hints = listed.select + self.select, listed.hints | self.hints
        merged = {"features": features, "mask": mask, "select": select, "hints": hints}
        return replace(self, **{**merged, **changed})


def heads(reading: Reading) -> list[Head]:
    """The heads worth trying, the best first."""

    def best(some: Iterable[Head], kept: int) -> list[Head]:
        return sorted(some, key=lambda h: (-reading.score(h.features), str(h.order)))[:kept]

    listed = _lists(reading)
    totals = [*_counts(reading), *best(_totals(reading), 12)]
    found = [*listed[:24], *totals, *_hinted(reading)]
    for order in best(_orders(reading), 7):
        found += (head for listing in listed[:10] for head in _ordered(reading, order, listing))
    found += _groups(reading, listed, best(totals, 6))
    for condition in best(_conditions(reading), 8):
        found += (condition.about(h, group=_group_of(reading, h)) for h in listed[:8])
    for head in found:
        if head.shape != "formula":  # a formula of the hint needs no other word
            for name, kinds, _ in OPERATIONS:
                if name in head.operations and reading.cues.keys().isdisjoint(kinds):
                    head.features[f"{name}.unasked"] = 1.0
        head.score = reading.score(head.features)
        head.tables = frozenset(reading.made.fields[i].table for i in head.fields).union(head.needs)
    return sorted(found, key=lambda h: (-h.score, h.shape, str(h.select)))[:_KEPT]


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
    best: dict[tuple[object, int], Part] = {}
    for part in sorted((*_mentioned(reading), *_labels(reading)), key=lambda p: p.score):
        best[part.pieces, part.first] = part
    singles = sorted(best.values(), key=lambda p: (-p.score, p.first, str(p.pieces)))[:_SINGLES]
    in_order = sorted(singles, key=lambda p: (p.first, -p.score))
    groups: list[tuple[Head, list[Part]]] = [(_list(reading, [part]), [part]) for part in singles]
    found = list(groups)
    for looked_at, kept in ((_SINGLES, 12), (8, 5)):
        longer = [
            (_list(reading, [*parts, part]), [*parts, part])
            for _, parts in groups[:looked_at]
            for part in in_order
            if part.first > parts[-1].first
            and not any(part.mask & p.mask or {*part.fields} & {*p.fields} for p in parts)
        ]
        groups = sorted(longer, key=lambda found: -found[0].score)[:kept]
        found += groups
    return sorted((head for head, _ in found), key=lambda h: -h.score)


def _list(reading: Reading, parts: list[Part]) -> Head:
    """The list of some outputs, each of which goes more or less well with the next."""
    pairs: list[Features] = []
    for one, two in pairwise(parts):
        between = [t.low for t in reading.text[one.mask.bit_length() : two.first]]
        pairs.append(
            {
                "pair": 1.0,
                "pair.joined": bool(between) and WORDS["joining"].issuperset(between),
                "pair.head": any(one.first < start <= two.first for start in reading.openings),
                "pair.and": "and" in between or "," in between,
            }
        )
    features = added(*(part.features for part in parts), *pairs)
    mask, hints = union(p.mask for p in parts), union(p.hints for p in parts)
    head = Head("list", tuple(p.pieces for p in parts), mask, features, hints=hints)
    head.score = reading.score(features)
    return head


def _position(reading: Reading, mention: Mention, name: str) -> Features:
    """The place of a mention after the words that ask, such as "which" and "list"."""
    opened = [start for start in reading.openings if start <= mention.end - 1]
    if not opened:
        return {f"{name}.at.front": 1.0}
    between = [t.low for t in reading.text[opened[-1] : max(opened[-1], mention.first)]]
    before = reading.text[mention.first - 1].low if mention.first else ""
    return {
        f"{name}.at.far": min(10, len(between)) / 10,
        f"{name}.at.clean": WORDS["between"].isdisjoint(between),
        f"{name}.at.prep": before in WORDS["before"],
    }


def _mentioned(reading: Reading) -> Iterator[Part]:
    """Columns that the question names."""
    labels = {i for sheet in reading.made.sheets for i in sheet.label}
    for column, mentions in reading.fields.items():
        field = reading.made.fields[column]
        of_table = union(m.mask for m in reading.tables.get(field.table, ()) if m.strength > 0.6)
        for mention in mentions:
            features = _position(reading, mention, "out") | {
                "out": 1.0,
                "out.name": mention.name,
                "out.whole": mention.whole,
                f"out.{field.key or field.kind}": 1.0,
                "out.is_table": bool(of_table & mention.mask),
                "out.label": column in labels,
                "out.beside": reading.beside(field.table, mention.first),
                "out.table": reading.said.get(field.table, 0.0),
            }
            yield reading.part((column,), mention.mask, features, hints=mention.hints)


def _labels(reading: Reading) -> Iterator[Part]:
    """Columns that name the rows of a table that is spoken of, or of one that holds persons."""
    made = reading.made
    for sheet in made.sheets:
        pieces = tuple(p for i in sheet.label for p in (", ", i))[1:]
        for mention in reading.tables.get(sheet.id, ())[:2]:
            before = reading.text[mention.first - 1].low if mention.first else ""
            features = {"label": 1.0, "label.strength": mention.strength}
            features |= {"label.which": before in {"which", "what"}}
            features |= _position(reading, mention, "label")
            yield reading.part(pieces, mention.mask, features)
        person = len(sheet.label) > 1
        if person or any(made.fields[i].named for i in sheet.label):
            if person or len(made.sheets) < 8:
                yield reading.part(pieces, 0, {"label.unsaid": 1.0})
            said = reading.said.get(sheet.id, 0.0)
            for cue in reading.all_cues("who"):
                features = {"who": 1.0, "who.person": person, "who.said": said}
                yield reading.part(pieces, cue.mask, features)


def _orders(reading: Reading) -> Iterator[Head]:
    """Orders that the superlatives of the question and the hint may ask for, without a list."""
    first, total = frozenset({"extreme"}), frozenset({"most"})
    cues = reading.all_cues("most", "max", "fewest", "min")
    for clause in reading.definitions:
        told: Features = {"best": 1.0, "best.fit": clause.fit}
        head = Head("ordered", (), clause.mask, told, total, 1 << clause.number)
        for formula in clause.formulas:
            if formula.kind == "best":  # "longest refers to MAX(len_m)"
                kind, order = (total if formula.of_total else first), formula.inner
                yield replace(head, order=order, descending=formula.top, operations=kind)
            elif formula.kind == "total" and cues:
                found = replace(head, order=formula.pieces, features={**told, "best.by_total": 1.0})
                found.mask |= cues[0].mask
                found.descending = cues[0].kind in {"most", "max"}
                yield found
    for cue in cues:
        top = cue.kind in {"most", "max"}
        if cue.kind in {"most", "fewest"}:  # the most rows, of any table or of one
            head = Head("ordered", (), cue.mask, {"ord.count": 1.0}, total, order=_ROWS)
            head.descending = top
            yield head
            for table, mentions in reading.tables.items():
                mention = closest(mentions, cue.end)
                gap = mention.first - cue.end
                features = {"ord.count": 1.0, "ord.count.strength": mention.strength}
                features["ord.gap"] = 1.2 if gap < 0 else min(6, gap) / 5
                mask = cue.mask | mention.mask
                yield replace(head, mask=mask, features=features, needs=(table,))
            continue
        for column, mentions in reading.fields.items():  # columns near a superlative
            field = reading.made.fields[column]
            mention = closest(mentions, cue.end)
            gap = mention.first - cue.end
            if not field.key and -3 <= gap <= 5:
                features = {"ord.near": 1.0, "ord.gap": abs(gap) / 5, f"ord.{field.kind}": 1.0}
                features["ord.strength"] = mention.strength
                head = Head("ordered", (), mention.mask | cue.mask, features, first)
                # The oldest has the largest age, but the smallest date of birth.
                turned = cue.word in WORDS["old"] and not field.dates and "ag" in field.words
                yield replace(head, order=(column,), descending=top != turned)


def _ordered(reading: Reading, order: Head, listed: Head) -> Iterator[Head]:
    """A list cut to the first of an order; with a total, to the first of the groups."""
    total = "most" in order.operations
    if not total and len(listed.select) == 1 and listed.fields & order.fields:
        return  # "the largest size" is MAX(size)
    limit, said = _limit(reading, order.mask, listed.mask & -listed.mask)
    group = _group_of(reading, listed) if total else ()
    first = order.about(listed, limit=limit, group=group)
    first.mask |= said
    yield first
    if not total and limit == 1 and len(order.order) == 1:
        yield replace(first, nested=True, features={**first.features, "nested": 1.0})


def _limit(reading: Reading, *masks: int) -> tuple[int, int]:
    """The number that a question asks for ("top 5", "the three oldest", "two streets"), and its token."""
    for mask in filter(None, masks):
        first, end = lowest(mask), min(mask.bit_length() + 1, len(reading.text))
        for i in (*range(max(0, first - 2), first), *range(first, end)):
            token = reading.text[i]
            number = NUMBERS.get(token.low, 0) if token.number is None else token.number
            if 1 < number <= 50 and number == int(number):
                return int(number), 1 << i
    return 1, 0


def _counts(reading: Reading) -> Iterator[Head]:
    """Counts of rows and of different values of a column."""
    cue = next(iter(reading.all_cues("count")), None)
    base, start = (cue.mask, cue.end) if cue else (0, 0)
    rows = Head("count", (_ROWS,), base, {"count": 1.0}, frozenset({"count"}))
    yield rows
    distinct = union(c.mask for c in reading.all_cues("distinct") if 0 <= c.first - start <= 1)
    for mentions, of_tables in ((reading.tables, True), (reading.fields, False)):
        for number, some in mentions.items():
            mention = closest(some, start)
            gap = abs(mention.first - start)
            features = {"count": 1.0, "count.gap": min(8, gap) / 8, "count.next": gap <= 1}
            mask = base | mention.mask
            if of_tables:
                features["count.table"] = mention.strength
                yield replace(rows, mask=mask, features=features, needs=(number,))
            elif gap <= 4:
                field = reading.made.fields[number]
                features["count.key"] = field.key == "primary"
                features["count.number"] = field.kind == "number" and not field.key
                select: Pieces = ("COUNT(DISTINCT ", number, ")")
                kind = frozenset({"count", "distinct"})
                yield Head("count", (select,), mask | distinct, features, kind)


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


def _hinted(reading: Reading) -> Iterator[Head]:
    """The totals that the hint spells out."""
    for clause in reading.definitions:
        for formula in clause.formulas:
            row = formula.kind == "row" and len(formula.pieces) > 1
            if not row and formula.kind != "total":
                continue
            average = row and "avg" in reading.cues
            pieces = ("AVG(", *formula.pieces, ")") if average else formula.pieces
            text = "".join(p for p in pieces if isinstance(p, str))
            kind = {name for name in ("count", "sum", "avg") if text.startswith(f"{name.upper()}(")}
            kind |= {"percent"} if "* 100" in text else {"differ"} if " - " in text else set()
            features = {"formula": 1.0, "formula.fit": clause.fit}
            head = Head("formula", (pieces,), clause.mask, features, frozenset(kind))
            yield replace(head, hints=1 << clause.number, inner_tests=formula.tests)


def _groups(reading: Reading, listed: Sequence[Head], totals: Sequence[Head]) -> Iterator[Head]:
    """A count or a total for each row of a list."""
    each = {cue.end + gap: cue.mask for cue in reading.all_cues("each") for gap in range(3)}
    if not (each or reading.all_cues("count") or len(reading.openings) > 1):
        return
    keys = sorted(listed, key=lambda h: -h.score - 2.5 * (lowest(h.mask) in each))[:8]
    for total in totals:
        for head in (key for key in keys if not total.fields & key.fields):
            group = total.about(head, shape="group", group=_group_of(reading, head))
            said = each.get(lowest(head.mask), 0)
            group.operations |= {"group"}
            group.mask |= said
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
    for cue in reading.all_cues(*_SIGNS):
        near = range(max(0, cue.first - 2), min(len(reading.text), cue.end + 2))
        for place in [i for i in near if reading.text[i].number is not None][:1]:
            having = (f"COUNT(*) {_SIGNS[cue.kind]} {reading.text[place].number:g}",)
            head = replace(plain, mask=cue.mask | 1 << place, having=having)
            yield replace(head, features={"having": 1.0, "having.count": 1.0})
            for table, mentions in reading.tables.items():
                mention = closest(mentions, place)
                features = {"having": 1.0, "having.count": 1.0, "having.table": mention.strength}
                mask = head.mask | mention.mask
                yield replace(head, mask=mask, features=features, needs=(table,))
