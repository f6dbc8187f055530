"""The columns that a question may ask for, alone and several together, as lists."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from workbench.embedded.grammar.head import Head, union
from workbench.embedded.linking.mentions import Mention
from workbench.embedded.linking.reading import Features, Part, Reading, added

_BREAKS = {"of", "in", "for", "that", "who", "which", "with", "is", "are", "was", "were", "did",
    "do", "does", "has", "have", "had", "from", "by", "whose", "where", "when", "on",
    "at"}  # fmt: skip
_JOINING = {",", "and", "&", "with", "along", "together", "as", "well", "plus", "the", "their",
    "its", "his", "her", "a", "or", "then", "what", "which"}  # fmt: skip
_PREPOSITIONS = {"in", "on", "at", "by", "with", "from", "for", "per", "each",
    "every"}  # fmt: skip
_KEPT = 14


def lists(reading: Reading) -> list[Head]:
    """Heads that list the columns asked for, the best first."""
    best: dict[tuple[object, int], Part] = {}
    for part in (*_mentioned(reading), *_labels(reading)):
        key = (part.pieces, part.first)
        if key not in best or best[key].score < part.score:
            best[key] = part
    singles = sorted(best.values(), key=lambda p: (-p.score, p.first, str(p.pieces)))[:_KEPT]
    found = [_list(reading, parts) for parts in _combinations(reading, singles)]
    return sorted(found, key=lambda h: -h.score)


def _list(reading: Reading, parts: tuple[Part, ...]) -> Head:
    features = added((_together(reading, parts), *(part.features for part in parts)))
    return Head(
        "list",
        tuple(p.pieces for p in parts),
        union(p.mask for p in parts),
        union(p.hints for p in parts),
        features,
        score=reading.score(features),
    )


def _position(reading: Reading, mention: Mention, name: str) -> Features:
    """Where a mention stands after the words that ask, as "which" and "list"."""
    opened = [start for start in reading.openings if start <= mention.end - 1]
    if not opened:
        return {f"{name}.at.front": 1.0}
    between = [t.low for t in reading.text[opened[-1] : max(opened[-1], mention.first)]]
    before = reading.text[mention.first - 1].low if mention.first else ""
    return {
        f"{name}.at.far": min(10, len(between)) / 10,
        f"{name}.at.clean": _BREAKS.isdisjoint(between),
        f"{name}.at.prep": before in _PREPOSITIONS,
    }


def _mentioned(reading: Reading) -> Iterator[Part]:
    """Columns that the question names."""
    labels = {i for sheet in reading.made.sheets for i in sheet.label}
    for column, mentions in reading.linked.fields.items():
        field = reading.made.fields[column]
        of_table = union(
            m.mask for m in reading.linked.tables.get(field.table, ()) if m.strength > 0.6
        )
        for mention in mentions:
            if mention.measured and mention.strength < 0.4:
                continue
            features = _position(reading, mention, "out") | {
                "out": 1.0,
                "out.name": mention.name,
                "out.whole": mention.whole,
                "out.measured": mention.measured,
                "out.hinted": reading.hinted.get(column, 0.0) * (mention.hint < 0),
                "out.key": field.key == "primary",
                "out.foreign": field.key == "foreign",
                f"out.{field.kind}": 1.0,
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
        for mention in reading.linked.tables.get(sheet.id, ())[:2]:
            before = reading.text[mention.first - 1].low if mention.first else ""
            features = _position(reading, mention, "label") | {
                "label": 1.0,
                "label.strength": mention.strength,
                "label.which": before in {"which", "what"},
            }
            yield reading.part(pieces, mention.mask, features)
        person = len(sheet.label) > 1
        if person or any(made.fields[i].named for i in sheet.label):
            if person or len(made.sheets) < 8:
                yield reading.part(pieces, 0, {"label.unsaid": 1.0})
            for cue in reading.all_cues("who"):
                features = {
                    "who": 1.0,
                    "who.person": person,
                    "who.said": reading.said.get(sheet.id, 0.0),
                }
                yield reading.part(pieces, cue.mask, features)


def _combinations(reading: Reading, singles: Sequence[Part]) -> list[tuple[Part, ...]]:
    """Single outputs, and two or three that the question names one after the other."""

    def worth(group: tuple[Part, ...]) -> float:
        return sum(part.score for part in group) + reading.score(_together(reading, group))

    ordered = sorted(singles, key=lambda p: (p.first, -p.score))
    groups: list[tuple[Part, ...]] = [(single,) for single in singles]
    found = list(groups)
    for looked_at, kept in ((_KEPT, 12), (8, 5)):
        longer = [
            (*group, part)
            for group in groups[:looked_at]
            for part in ordered
            if part.first > group[-1].first
            and not any(part.mask & p.mask or set(part.fields) & set(p.fields) for p in group)
        ]
        groups = sorted(longer, key=worth, reverse=True)[:kept]
        found += groups
    return found


def _together(reading: Reading, parts: tuple[Part, ...]) -> Features:
    """How well these outputs go together: each with the one that the question names next."""
    return added(_pair(reading, one, two) for one, two in pairwise(parts))


def _pair(reading: Reading, one: Part, two: Part) -> Features:
    between = [t.low for t in reading.text[one.mask.bit_length() : two.first]]
    return {
        "pair": 1.0,
        "pair.joined": bool(between) and all(word in _JOINING for word in between),
        "pair.head": any(one.first < start <= two.first for start in reading.openings),
        "pair.table": len(one.tables | two.tables) == 1,
        "pair.and": "and" in between or "," in between,
    }
