"""The tests that a query may make of its rows, and the sets of them that fit together."""

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.embedded.codes import code_tests, flag_tests, quoted_tests
from workbench.embedded.comparisons import compared, numbers, times
from workbench.embedded.reading import Part, Reading
from workbench.embedded.subqueries import of_others, without_any
from workbench.embedded.values import value_tests

_KEPT = 48  # tests looked at
_SETS = 14  # sets of tests


@dataclass(slots=True)
class Tests:
    """Tests that hold together; `either` says that those on one column are alternatives."""

    parts: tuple[Part, ...] = ()
    mask: int = 0
    score: float = 0.0


def tests(reading: Reading) -> list[Part]:
    """The tests worth a thought, the best first."""
    found = [*_hinted(reading), *value_tests(reading), *code_tests(reading), *flag_tests(reading)]
    found += quoted_tests(reading, found)
    found += numbers(reading)
    found += times(reading)
    found += _nulls(reading)
    found += compared(reading)
    found += without_any(reading)
    found += list(_negated(reading, found))
    found += list(_either(reading, found))
    found += list(of_others(reading, found))
    best: dict[tuple[object, ...], Part] = {}
    for part in found:
        if part.pieces not in best or best[part.pieces].score < part.score:
            best[part.pieces] = part
    return sorted(best.values(), key=lambda p: (-p.score, p.first, str(p.pieces)))[:_KEPT]


def sets(parts: list[Part], gain: dict[int, float]) -> list[Tests]:
    """The best sets of tests, of which no two explain the same words; `gain` is what a token is worth."""
    beam = [Tests()]
    for part in parts:
        more = []
        for held in beam:
            if held.mask & part.mask or any(p.pieces == part.pieces for p in held.parts):
                continue
            if not part.mask and any(p.hints & part.hints for p in held.parts):
                continue
            if any(p.hints & part.hints for p in held.parts):
                continue
            new = part.mask & ~held.mask
            worth = sum(w for i, w in gain.items() if new >> i & 1)
            more.append(
                Tests((*held.parts, part), held.mask | part.mask, held.score + part.score + worth)
            )
        beam = sorted([*beam, *more], key=lambda t: -t.score)[: _SETS * 3]
    return beam[:_SETS]


def _hinted(reading: Reading) -> Iterator[Part]:
    """Tests that the hint spells out."""
    shown = {(m.column, m.value) for m in reading.context.values}
    for found in reading.definitions:
        for rank, formula in enumerate(found.formulas):
            if formula.kind == "literal":
                yield from _literal(reading, found.number, found.mask, str(formula.pieces[0]))
            if formula.kind != "test" or not formula.fields:
                continue
            fields = [reading.made.fields[i] for i in formula.fields]
            text = "".join(p for p in formula.pieces if isinstance(p, str))
            coded = any(f"'{value}'" in text for f in fields for value, _ in f.codes if value)
            coded |= any(f"'{value}'" in text for f in fields for value in f.examples)
            coded |= any(c == f.name and f"'{v}'" in text for f in fields for c, v in shown)
            features = {
                "hint": 1.0,
                "hint.fit": found.fit,
                "hint.unsaid": found.mask == 0,
                "hint.known": float(coded) * (len(found.formulas) > 1),
                "hint.rank": min(rank, 3),
                "hint.table": max(reading.said.get(f.table, 0.0) for f in fields),
            }
            part = reading.part(formula.pieces, found.mask, features, hints=1 << found.number)
            if len(formula.pieces) == 2 and formula.pieces[1].__str__().startswith(" = "):
                part.column, part.value = fields[0].id, str(formula.pieces[1])[3:].strip("'")
            yield part


def _literal(reading: Reading, number: int, mask: int, literal: str) -> Iterator[Part]:
    value = literal.strip("'")
    for field in reading.made.fields:
        if value in field.examples or any(value == v for v, _ in field.codes):
            features = {"hint.literal": 1.0, "hint.table": reading.said.get(field.table, 0.0)}
            yield reading.part(
                (field.id, f" = {literal}"),
                mask,
                features,
                hints=1 << number,
                column=field.id,
                value=value,
            )


def _nulls(reading: Reading) -> Iterator[Part]:
    """Tests that a column holds nothing, or something."""
    for kind, test in (("null", " IS NULL"), ("notnull", " IS NOT NULL")):
        for cue in reading.cues.get(kind, ()):
            for field in reading.made.fields:
                mention, gap = reading.nearest(field.id, cue.first, cue.end)
                if (
                    mention is None
                    or gap > 3
                    or mention.strength < 0.4
                    or field.key == "primary"
                    or mention.measured
                ):
                    continue
                features = {
                    kind: 1.0,
                    f"{kind}.strength": mention.strength,
                    f"{kind}.sure": cue.word
                    in {"missing", "unknown", "null", "blank", "empty", "recorded", "known"},
                    "null.gap": gap,
                }
                mask = mention.mask | cue.mask
                yield reading.part((field.id, test), mask, features)


def _either(reading: Reading, found: list[Part]) -> Iterator[Part]:
    """Two tests of different columns with an "or" between them."""
    ors = [i for i, token in enumerate(reading.text) if token.low == "or"]
    if not ors:
        return
    likely = sorted((p for p in found if p.mask), key=lambda p: -p.score)[:12]
    for place in ors:
        for one in likely:
            for two in likely:
                gap = (place - one.mask.bit_length(), two.first - place - 1)
                if not (0 <= gap[0] <= 3 and 0 <= gap[1] <= 3) or one.mask & two.mask:
                    continue
                if one.column == two.column >= 0:
                    continue
                features = {
                    name: one.features.get(name, 0) + two.features.get(name, 0)
                    for name in one.features | two.features
                }
                features |= {"or": 1.0, "or.gap": sum(gap) / 6}
                pieces = ("(", *one.pieces, " OR ", *two.pieces, ")")
                yield reading.part(
                    pieces, one.mask | two.mask | 1 << place, features, hints=one.hints | two.hints
                )


def _negated(reading: Reading, found: list[Part]) -> Iterator[Part]:
    """The opposite of a test, where a negation stands before it."""
    for part in found:
        end = str(part.pieces[-1])
        if part.column < 0 or not end.startswith(" = ") or not part.mask:
            continue
        cue = reading.cue_before(part.first, ("not",), 4)
        if cue:
            near = 1 - (part.first - cue.end) / 5
            features = {
                **part.features,
                "negated": 1.0,
                "negated.near": near,
                "negated.hint": part.hints > 0,
            }
            mask = part.mask | cue.mask
            yield reading.part(
                (*part.pieces[:-1], f" <> {end[3:]}"), mask, features, hints=part.hints
            )
