"""Tests for codes that a description explains, for yes and no, and for names that no known value explains."""

from collections.abc import Iterator, Sequence

from workbench.embedded.reading import Part, Reading, span
from workbench.embedded.values import is_number


def code_tests(reading: Reading) -> Iterator[Part]:
    """Tests for a code whose meaning, as a description tells it, the question says."""
    places: dict[str, list[int]] = {}
    for i, token in enumerate(reading.text):
        if token.content:
            places.setdefault(token.stem, []).append(i)
    for field in reading.made.fields:
        for value, meaning in field.codes:
            shared = meaning & places.keys()
            if not shared:
                continue
            mask = sum({1 << places[stem][0] for stem in shared})
            first, end = (mask & -mask).bit_length() - 1, mask.bit_length()
            mention, gap = reading.nearest(field.id, first, end)
            weights = {s: reading.made.words.get(s, 1.0) for s in meaning}
            features = {
                "code": 1.0,
                "code.fit": sum(weights[s] for s in shared) / sum(weights.values()),
                "code.whole": shared == meaning,
                "code.rare": max(weights[s] for s in shared),
                "code.spread": max(0, end - first - 2 * len(shared)) / 4,
                "code.null": not value,
                "code.yes": value.lower() in {"y", "n", "1", "0"},
                "code.near": max(0.0, 1 - gap / 4) if mention else 0.0,
                "code.table": reading.said.get(field.table, 0.0),
                "code.hinted": reading.hinted.get(field.id, 0.0),
            }
            if value:
                written = value if field.kind == "number" and is_number(value) else f"'{value}'"
                yield reading.part(
                    (field.id, f" = {written}"), mask, features, value=value, column=field.id
                )
            else:
                yield reading.part((field.id, " IS NULL"), mask, features)


def flag_tests(reading: Reading) -> Iterator[Part]:
    """Tests that something is so, for columns that hold yes or no."""
    for field in reading.made.fields:
        if field.kind != "flag" or not reading.mentions(field.id):
            continue
        values = sorted(
            set(field.examples), key=lambda v: v.lower() in {"1", "y", "t", "yes", "true"}
        )
        mention = reading.mentions(field.id)[0]
        if mention.measured or mention.strength < 0.35:
            continue
        yes, no = values[-1], values[0]
        for value in dict.fromkeys((yes, no)):
            positive = value.lower() in {"1", "y", "t", "yes", "true"}
            negated = reading.cue_before(mention.first, ("not",), 2) is not None
            features = {
                "flag": 1.0,
                "flag.strength": mention.strength,
                "flag.wrong": positive == negated,
                "flag.table": reading.said.get(field.table, 0.0),
            }
            written = value if is_number(value) else f"'{value}'"
            yield reading.part(
                (field.id, f" = {written}"), mention.mask, features, column=field.id, value=value
            )


def quoted_tests(reading: Reading, tests: Sequence[Part]) -> Iterator[Part]:
    """Tests for a name or a quotation that no known value accounts for, on columns that may hold it."""
    known = 0
    for part in tests:
        if part.features.get("value.fit", 0.0) > 0.8:
            known |= part.mask
    place = 0
    text = reading.text
    while place < len(text):
        end = place
        while end < len(text) and (
            (text[end].quoted and text[end].quoted == text[place].quoted)
            or (
                not text[place].quoted
                and text[end].capital
                and text[end].content
                and not text[end].quoted
            )
            or (
                text[end].content
                and not text[end].quoted
                and reading.cue_before(end, ("start", "end", "contain"), 3 if end == place else -1)
            )
        ):
            end += 1
        if end == place:
            place += 1
            continue
        mask = span(place, end)
        if not known & mask:
            words = reading.context.question.text[text[place].start : text[end - 1].end]
            yield from _guesses(reading, place, end, mask, words.replace("'", "''"))
        place = end


def _guesses(reading: Reading, first: int, end: int, mask: int, words: str) -> Iterator[Part]:
    quoted = float(bool(reading.text[first].quoted))
    form = next((k for k in ("start", "end", "contain") if reading.cue_before(first, (k,), 3)), "")
    like = {"start": f"{words}%", "end": f"%{words}", "contain": f"%{words}%"}.get(form, "")
    labels = {s.label[-1]: reading.said.get(s.id, 0.0) for s in reading.made.sheets if s.label}
    for field in reading.made.fields:
        mention, gap = reading.nearest(field.id, first, end)
        near = max(0.0, 1 - gap / 5) * mention.strength if mention and not mention.measured else 0.0
        if field.kind != "text" or (near == 0 and field.id not in labels):
            continue
        features = {
            "guess": 1.0,
            "guess.quoted": quoted,
            "guess.near": near,
            "guess.label": labels.get(field.id, 0.0),
            "guess.named": field.named,
            "guess.hinted": reading.hinted.get(field.id, 0.0),
            "guess.like": bool(like),
        }
        yield reading.part(
            (field.id, f" LIKE '{like}'" if like else f" = '{words}'"),
            mask,
            features,
            value=words,
            column=field.id,
        )
