"""The columns that a question may ask for, alone and several together."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from workbench.embedded.linking import Mention
from workbench.embedded.reading import Features, Part, Reading

_BREAKS = frozenset(
    re.findall(
        r"\S+",
        "of in for that who which with is are was were did do does has have had from by whose where when on at",
    )
)
_JOINING = frozenset(
    re.findall(
        r"\S+",
        ", and & with along together as well plus the their its his her a or then what which",
    )
)
_KEPT = 14


def outputs(reading: Reading) -> list[Part]:
    """Single columns, or the columns that together name a thing, the best first."""
    found = [*_mentioned(reading), *_labels(reading), *_referred(reading), *_listed(reading)]
    best: dict[tuple[object, int], Part] = {}
    for part in found:
        key = (part.pieces, part.first)
        if key not in best or best[key].score < part.score:
            best[key] = part
    ranked = sorted(best.values(), key=lambda p: (-p.score, p.first, str(p.pieces)))
    return ranked[:_KEPT]


def position(reading: Reading, mention: Mention) -> Features:
    """Where a mention stands after the words that ask."""
    opened = [h for h in reading.heads if h <= mention.end - 1]
    if not opened:
        return {"at.front": 1.0}
    head = opened[-1]
    between = [t.low for t in reading.text[head : max(head, mention.first)]]
    breaks = sum(w in _BREAKS for w in between)
    before = reading.text[mention.first - 1].low if mention.first else ""
    return {
        "at.far": min(10, len(between)) / 10,
        "at.clean": breaks == 0,
        "at.one_break": breaks == 1,
        "at.prep": before
        in {"in", "on", "at", "by", "with", "from", "for", "per", "each", "every"},
        "at.the": before in {"the", "their", "its", "his", "her"},
    }


def _mentioned(reading: Reading) -> Iterator[Part]:
    labels = {i for sheet in reading.made.sheets for i in sheet.label}
    for column, mentions in reading.linked.fields.items():
        field = reading.made.fields[column]
        for mention in mentions[:3]:
            if mention.measured and mention.strength < 0.4 and not _asks_measure(reading, mention):
                continue
            features = {f"out.{name}": value for name, value in position(reading, mention).items()}
            counted = any(
                c.end == mention.first and reading.text[c.first].low == "how"
                for c in reading.cues.get("count", ())
            )
            features |= {
                "out": 1.0,
                "out.name": mention.name,
                "out.told": mention.told,
                "out.whole": mention.whole,
                "out.hint": mention.hint >= 0,
                "out.measured": mention.measured,
                "out.asked_measure": mention.measured and _asks_measure(reading, mention),
                "out.hinted": reading.hinted.get(column, 0.0) * (mention.hint < 0),
                "out.key": field.key == "primary",
                "out.foreign": field.key == "foreign",
                f"out.{field.kind}": 1.0,
                "out.is_table": any(
                    m.mask & mention.mask
                    for m in reading.linked.tables.get(field.table, ())
                    if m.strength > 0.6
                ),
                "out.label": column in labels,
                "out.beside": reading.beside(field.table, mention.first),
                "out.table": reading.said.get(field.table, 0.0),
                "out.counted": counted and field.kind == "number",
            }
            hints = 1 << mention.hint if mention.hint >= 0 else 0
            yield reading.part((column,), mention.mask, features, hints=hints)


def _asks_measure(reading: Reading, mention: Mention) -> bool:
    """Is it "when" or "how old", which ask for the measure itself?"""
    low = reading.text[mention.first].low
    return low in {"when", "where", "who"} or (
        mention.first > 0 and reading.text[mention.first - 1].low == "how"
    )


def _labels(reading: Reading) -> Iterator[Part]:
    """What names the rows of a table that is spoken of, or of one that holds persons."""
    for sheet in reading.made.sheets:
        pieces = tuple(p for i in sheet.label for p in (", ", i))[1:]
        person = len(sheet.label) > 1
        for mention in reading.linked.tables.get(sheet.id, ())[:2]:
            features = {
                f"label.{name}": value for name, value in position(reading, mention).items()
            }
            features |= {"label": 1.0, "label.strength": mention.strength, "label.person": person}
            if mention.first > 0 and reading.text[mention.first - 1].low in {"which", "what"}:
                features["label.which"] = 1.0
            yield reading.part(pieces, mention.mask, features, needs=(sheet.id,))
            for key in sheet.key[:1]:
                if (key,) != sheet.label:
                    yield reading.part(
                        (key,), mention.mask, {**features, "label.key": 1.0}, needs=(sheet.id,)
                    )
        named = [reading.made.fields[i] for i in sheet.label]
        if person or any(f.named for f in named):
            if person or len(reading.made.sheets) < 8:
                features = {"label.unsaid": 1.0, "label.person": person}
                yield reading.part(pieces, 0, features, needs=(sheet.id,))
            for cue in reading.cues.get("who", ()):
                mask = cue.mask
                features = {
                    "who": 1.0,
                    "who.person": person,
                    "who.said": reading.said.get(sheet.id, 0.0),
                }
                features["who.opens"] = float(cue.end in reading.heads)
                yield reading.part(pieces, mask, features, needs=(sheet.id,))


def _referred(reading: Reading) -> Iterator[Part]:
    """What names the rows that a foreign key which is spoken of points at: "which engineer" by `eng`."""
    for column, mentions in reading.linked.fields.items():
        if (target := reading.made.points_at.get(column)) is None:
            continue
        sheet = reading.made.sheets[target]
        pieces = tuple(p for i in sheet.label for p in (", ", i))[1:]
        mention = mentions[0]
        features = {f"label.{name}": value for name, value in position(reading, mention).items()}
        features |= {
            "label": 1.0, "referred": 1.0, "label.strength": mention.strength,
            "label.person": len(sheet.label) > 1
        }  # fmt: skip
        needs = (sheet.id, reading.made.fields[column].table)
        yield reading.part(pieces, mention.mask, features, needs=needs)


def _listed(reading: Reading) -> Iterator[Part]:
    """Columns that the hint lists for a phrase."""
    for found in reading.definitions:
        for formula in found.formulas:
            if formula.kind == "columns":
                fields = [reading.made.fields[i] for i in formula.fields]
                features = {
                    "listed": 1.0,
                    "listed.fit": found.fit,
                    "listed.said": max(reading.said.get(f.table, 0.0) for f in fields),
                }
                yield reading.part(formula.pieces, found.mask, features, hints=1 << found.number)
            elif formula.kind == "row" and len(formula.pieces) > 1:
                features = {"worked": 1.0, "worked.fit": found.fit}
                yield reading.part(formula.pieces, found.mask, features, hints=1 << found.number)


def combinations(reading: Reading, singles: Sequence[Part]) -> list[tuple[Part, ...]]:
    """Single outputs, and two or three that the question names one after the other."""
    ordered = sorted(singles, key=lambda p: (p.first, -p.score))
    pairs: list[tuple[Part, ...]] = [
        (one, two)
        for one in ordered
        for two in ordered
        if one.first < two.first
        and not one.mask & two.mask
        and not set(one.fields) & set(two.fields)
    ]
    pairs.sort(key=lambda pair: -together(reading, pair)[0])
    pairs = pairs[:12]
    triples: list[tuple[Part, ...]] = [
        (*pair, three)
        for pair in pairs[:8]
        for three in ordered
        if three.first > pair[1].first
        and not three.mask & (pair[0].mask | pair[1].mask)
        and not set(three.fields) & {*pair[0].fields, *pair[1].fields}
    ]
    triples.sort(key=lambda triple: -together(reading, triple)[0])
    alone: list[tuple[Part, ...]] = [(single,) for single in singles]
    return alone + pairs + triples[:5]


def together(reading: Reading, parts: tuple[Part, ...]) -> tuple[float, Features]:
    """How well these outputs go together, with the features that say so."""
    features: Features = {}
    for one, two in pairwise(parts):
        between = [t.low for t in reading.text[one.mask.bit_length() : two.first]]
        joined = all(w in _JOINING for w in between) and bool(between)
        tables = {reading.made.fields[i].table for i in (*one.fields, *two.fields)}
        new_head = any(one.first < h <= two.first for h in reading.heads)
        for name, holds in (
            ("pair", True),
            ("pair.joined", joined),
            ("pair.head", new_head),
            ("pair.loose", not joined and not new_head),
            ("pair.table", len(tables) == 1),
            ("pair.and", any(w in {"and", ","} for w in between)),
        ):
            features[name] = features.get(name, 0.0) + holds
    return sum(p.score for p in parts) + reading.score(features), features
