"""Tests that compare a column with a number, a time, an average, or another column."""

from collections.abc import Iterator

from workbench.db.quoting import quote
from workbench.embedded.dates import conditions
from workbench.embedded.lexicon import Cue
from workbench.embedded.linking import Mention
from workbench.embedded.reading import Part, Reading, span

_SIGNS = {"more": ">", "less": "<", "atleast": ">=", "atmost": "<=", "after": ">", "before": "<"}


_BEFORE = tuple(_SIGNS)


def numbers(reading: Reading) -> Iterator[Part]:
    """Comparisons of a column with a number."""
    text = reading.text
    dated = {i for when in reading.times for i in range(when.first, when.end)}
    for i, token in enumerate(text):
        if token.number is None or (token.low in {"one", "once", "hundred", "thousand"}):
            continue
        number = token.low.replace(",", "") if token.low[0].isdigit() else str(int(token.number))
        if text[i + 1 : i + 2] and text[i + 1].low in {"thousand", "million"}:
            number = str(
                int(float(number) * (1_000 if text[i + 1].low == "thousand" else 1_000_000))
            )
        before = reading.cue_before(i, _BEFORE, 1)
        after = reading.cue_after(i, ("atleast", "atmost"), 2)
        between = reading.cue_before(i, ("between",), 1)
        mask = 1 << i
        high = ""
        if between:
            other = next(
                (j for j in range(i + 2, min(i + 6, len(text))) if text[j].number is not None), 0
            )
            if other and any(text[j].low in {"and", "to"} for j in range(i, other)):
                high = text[other].low.replace(",", "")
                mask |= 1 << other | span(between.first, between.end)
        cue = (
            after
            if after
            and after.word
            in {"more", "less", "higher", "above", "over", "fewer", "below", "greater"}
            else before
        )
        if cue and not high:
            mask |= span(cue.first, cue.end)
        sign = _SIGNS[cue.kind] if cue else "="
        for field in reading.made.fields:
            if field.kind not in {"number", "flag"} and not (
                field.kind == "text" and number in field.examples
            ):
                continue
            mention, gap = reading.nearest(field.id, i, i + 1)
            if (mention is None or gap > 8) and not (field.examples and number in field.examples):
                continue
            strength = mention.strength if mention else 0.0
            features = {
                "number": 1.0,
                "number.near": max(0.0, 1 - gap / 8) * min(1.2, strength),
                "number.next": gap == 0 and strength > 0.4,
                "number.cued": bool(cue) or bool(high),
                "number.dated": i in dated,
                "number.key": float(bool(field.key)) * (0.0 if sign == "=" else 1.0),
                "number.foreign": field.key == "foreign",
                "number.text": field.kind == "text",
                "number.beside": reading.beside(field.table, i),
                "number.seen": float(number in field.examples) if sign == "=" else 0.0,
                "number.hinted": reading.hinted.get(field.id, 0.0),
                "number.table": reading.said.get(field.table, 0.0),
                "number.measured": bool(mention and mention.measured),
            }
            if high:
                yield reading.part(
                    (field.id, f" BETWEEN {number} AND {high}"), _with(mask, mention), features
                )
                continue
            if field.kind == "text":
                yield reading.part(
                    (field.id, f" {sign} '{number}'"), mask, features, column=field.id, value=number
                )
                continue
            equal = sign == "="
            yield reading.part(
                (field.id, f" {sign} {number}"), _with(mask, mention), features,
                column=field.id if equal else -1, value=number if equal else "",
            )  # fmt: skip


def _with(mask: int, mention: Mention | None) -> int:
    """The mask with the mention's tokens, where they speak of nothing else."""
    return (
        mask | mention.mask if mention and mention.strength > 0.5 and not mention.measured else mask
    )


def times(reading: Reading) -> Iterator[Part]:
    """Comparisons of a column's dates with a time."""
    for n, when in enumerate(reading.times):
        cue = reading.cue_before(when.first, ("after", "before", "atleast", "more", "less"), 1)
        later = reading.cue_after(when.end, ("after", "atleast", "before"), 1)
        cue = cue or (
            later
            if later
            and later.word in {"later", "onwards", "earlier", "after", "before"}
            and later.end - later.first <= 2
            else None
        )
        between = reading.cue_before(when.first, ("between",), 1)
        until = None
        if between and n + 1 < len(reading.times) and reading.times[n + 1].first - when.end <= 2:
            until = reading.times[n + 1]
        mask = span(when.first, when.end)
        if until and between:
            mask |= span(until.first, until.end) | span(between.first, between.end)
        elif cue:
            mask |= span(cue.first, cue.end)
        for field in reading.made.fields:
            yearly = field.kind == "number" and when.year and not when.month
            if field.kind != "date" and not field.dates and not (yearly and _yearly(field.words)):
                continue
            dates = field.dates or "year"
            mention, gap = reading.nearest(field.id, when.first, when.end)
            strength = mention.strength if mention else 0.0
            features = {
                "time": 1.0,
                "time.near": max(0.0, 1 - gap / 10) * min(1.2, strength) if mention else 0.0,
                "time.table": reading.said.get(field.table, 0.0),
                "time.hinted": reading.hinted.get(field.id, 0.0),
                "time.beside": reading.beside(field.table, when.first),
            }
            sign = _time_sign(cue, reading)
            for form, pieces in conditions(field.id, dates, when, sign, until):
                yield reading.part(pieces, mask, {**features, f"time.{form}": 1.0})


def _time_sign(cue: Cue | None, reading: Reading) -> str:
    if cue is None:
        return "="
    word = reading.text[cue.first].low
    if cue.kind in {"after", "atleast", "more"}:
        return ">=" if word in {"since", "from", "at", "or", "and"} else ">"
    return "<=" if cue.word in {"until", "till", "by"} or word in {"or", "and"} else "<"


def _yearly(words: tuple[str, ...]) -> bool:
    return any(word in {"year", "yr"} for word in words)


def compared(reading: Reading) -> Iterator[Part]:
    """Comparisons with an average, and of two columns with one another."""
    numbers = [
        f
        for f in reading.made.fields
        if f.kind in {"number", "date"} and f.id in reading.linked.fields
    ]
    for kind in ("more", "less", "after", "before"):
        for cue in reading.cues.get(kind, ()):
            than = "than" in {t.low for t in reading.text[cue.end : cue.end + 4]}
            average = reading.cue_after(cue.end, ("avg",), 5 if than else 2)
            if average and any(t.number is not None for t in reading.text[cue.end : average.first]):
                average = None
            for field in numbers:
                mention, gap = reading.nearest(
                    field.id, cue.first, average.end if average else cue.end
                )
                if mention is None or gap > 5 or (mention.measured and mention.first > cue.end):
                    continue
                table = quote(reading.made.sheets[field.table].name)
                name = quote(field.name)
                sign = _SIGNS[kind]
                if average:
                    features = {"than_avg": 1.0, "than_avg.near": mention.strength * (1 - gap / 6)}
                    mask = mention.mask | span(cue.first, average.end)
                    yield reading.part(
                        (field.id, f" {sign} (SELECT AVG({name}) FROM {table})"), mask, features
                    )
                    continue
                for other in numbers:
                    second = next(
                        (m for m in reading.mentions(other.id) if 0 <= m.first - cue.end <= 4), None
                    )
                    if (
                        other.id == field.id
                        or second is None
                        or mention.end > cue.first
                        or (other.table, other.kind) != (field.table, field.kind)
                        or field.key
                        or other.key
                        or mention.measured
                        or second.measured
                    ):
                        continue
                    features = {
                        "columns": 1.0,
                        "columns.strength": min(mention.strength, second.strength),
                    }
                    mask = mention.mask | second.mask | span(cue.first, cue.end)
                    yield reading.part((field.id, f" {sign} ", other.id), mask, features)
