"""The tests that a query may make of its rows, and the sets of them that fit together."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from workbench.embedded.grammar.comparisons import numbers
from workbench.embedded.grammar.values import code_tests, value_tests
from workbench.embedded.linking.reading import Part, Reading
from workbench.sql.schema_text import quote

_KEPT = 48  # tests looked at
_SETS = 14  # sets of tests


@dataclass
class Tests:
    """Tests that hold together; those of one column's values are alternatives."""

    parts: tuple[Part, ...] = ()
    mask: int = 0
    hints: int = 0
    worth: float = 0.0  # the sum of their scores
    gained: float = 0.0  # the same, with what it is worth to explain their tokens

    @cached_property
    def fields(self) -> frozenset[int]:
        return frozenset(i for part in self.parts for i in part.fields)

    @cached_property
    def tables(self) -> frozenset[int]:
        return frozenset().union(*(part.tables for part in self.parts))

    @cached_property
    def columns(self) -> frozenset[int]:
        return frozenset(part.column for part in self.parts if part.column >= 0)

    @cached_property
    def alternatives(self) -> bool:
        return len(self.columns) < sum(part.column >= 0 for part in self.parts)

    @cached_property
    def nested(self) -> bool:
        return any("SELECT" in str(part.pieces[-1]) for part in self.parts)


def tests(reading: Reading) -> list[Part]:
    """The tests worth trying, the best first."""
    found = [*_hinted(reading), *value_tests(reading), *code_tests(reading)]
    found += [*numbers(reading), *_without(reading)]
    best: dict[tuple[object, ...], Part] = {}
    for part in found:
        if part.pieces not in best or best[part.pieces].score < part.score:
            best[part.pieces] = part
    return sorted(best.values(), key=lambda p: (-p.score, p.first, str(p.pieces)))[:_KEPT]


def sets(parts: list[Part], gain: dict[int, float]) -> list[Tests]:
    """The best sets of tests, of which no two use the same words or the same clause of the hint.

    A beam search: each test is added to each of the best sets so far, or not. `gain` is what it is worth
    to explain a token; without it the empty set would win over tests that cost a little.
    """
    beam = [Tests()]
    for part in parts:
        worth = part.score + sum(w for i, w in gain.items() if part.mask >> i & 1)
        beam += [
            Tests(
                (*tests.parts, part),
                tests.mask | part.mask,
                tests.hints | part.hints,
                tests.worth + part.score,
                tests.gained + worth,
            )
            for tests in beam
            if not (tests.mask & part.mask or tests.hints & part.hints)
        ]
        beam = sorted(beam, key=lambda t: -t.gained)[: _SETS * 3]
    return beam[:_SETS]


def _hinted(reading: Reading) -> Iterator[Part]:
    """Tests that the hint spells out."""
    for clause in reading.definitions:
        for formula in clause.formulas:
            if formula.kind != "test" or not formula.fields:
                continue
            fields = [reading.made.fields[i] for i in formula.fields]
            text = "".join(p for p in formula.pieces if isinstance(p, str))
            known = any(f"'{v}'" in text for f in fields for v in (*f.examples, *dict(f.codes)))
            features = {
                "hint": 1.0,
                "hint.known": known and len(clause.formulas) > 1,
            }
            part = reading.part(formula.pieces, clause.mask, features, hints=1 << clause.number)
            if len(formula.pieces) == 2 and str(formula.pieces[1]).startswith(" = "):
                part.column, part.value = fields[0].id, str(formula.pieces[1])[3:].strip("'")
            yield part


def _without(reading: Reading) -> Iterator[Part]:
    """Tests that no row of a table that is spoken of refers to this one: "pilots without a licence"."""
    made = reading.made
    for child, parent, pairs in made.keys:
        if len(pairs) > 1:
            continue
        for mention in reading.linked.tables.get(child, ())[:2]:
            cue = reading.cue_before(mention.first, ("not",), 5)
            if cue is None or mention.strength < 0.4:
                continue
            features = {"without": 1.0, "without.parent": reading.said.get(parent, 0.0)}
            ((source, target),) = pairs
            table, column = map(quote, made.where(source))
            test = (target, f" NOT IN (SELECT {column} FROM {table})")
            yield reading.part(test, mention.mask | cue.mask, features)
