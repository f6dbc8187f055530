"""What a hint defines: "X refers to col = 'v'", "percentage = DIVIDE(...) * 100", or something less formal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.embedded.formula import Formula, Lexeme, NoFormulaError, column_at, lexemes, merged
from workbench.embedded.formula_reading import Reader
from workbench.embedded.index import Index
from workbench.embedded.words import Token, alike, tokens

_CLAUSES = re.compile(
    r"\s*[;\n]\s*|\.\s+(?=[A-Z'\"`])"
    r"|,\s+(?:and\s+)?(?=(?:(?!\b(?:refers?|means?)\b)[^,;()'=])*\s(?:refers? to|means?|stands? for)\s)"
    r"|\s+and\s+(?=(?:[\w'%-]+\s+){1,4}(?:refers? to|means?|stands? for)\s)"
)
_LITERAL = re.compile(r"'(?:[^'\n]|'')*'(?!\w)")
_LINKS = (
    re.compile(
        r"\s+(?:refers?(?: to)?|means?(?: that)?|stands? for|denotes?|indicates?|signif(?:y|ies)|represents?"
        r"|(?:is|are|can be) (?:represented|calculated|computed|defined|given|stored|found|measured|written"
        r"|recorded|spelled|told|kept)(?: as| by| in| with| from)?(?: two ways:)?|corresponds? to)\s+",
        re.IGNORECASE,
    ),
    re.compile(r"\s*:\s+"),
    re.compile(r"\s*(?<![<>!=])=(?!=)\s*"),
    re.compile(r"\s+(?:is|are)\s+"),
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A clause of a hint: the question's tokens that it is about, and what they stand for.

    There is one formula for each table that an ambiguous column may be meant in; none where the clause
    only names columns or nothing that can be read.
    """

    number: int
    mask: int
    fit: float  # the part of the defined phrase that the question says
    formulas: tuple[Formula, ...]
    fields: tuple[int, ...]
    text: str


def definitions(hint: str, question: Sequence[Token], made: Index) -> list[Definition]:
    """What a hint's clauses define, in their order."""
    hidden = _LITERAL.sub(lambda m: "\0" * len(m[0]), hint)  # no clause ends within quotes
    cuts = [0, *(place for m in _CLAUSES.finditer(hidden) for place in m.span()), len(hint)]
    clauses = [hint[a:b].strip(" ,.") for a, b in zip(cuts[::2], cuts[1::2], strict=True)]
    return [_definition(n, c, question, made) for n, c in enumerate(filter(None, clauses))]


def _definition(number: int, clause: str, question: Sequence[Token], made: Index) -> Definition:
    phrase, formulas = clause, _formulas(clause, made, whole=True)
    if formulas and formulas[0].kind == "test" and "=" in clause and not _LINKS[0].search(clause):
        left, _, right = clause.partition("=")
        totals = [
            f for f in _formulas(right.strip(), made, whole=True) if f.kind in {"total", "best"}
        ]
        if totals:
            phrase, formulas = left, totals
    if not formulas:
        for link in _LINKS:
            if not (at := link.search(clause)):
                continue
            left, right = clause[: at.start()], clause[at.end() :]
            if formulas := _formulas(right, made):
                phrase = left
            elif formulas := _formulas(left, made, whole=True):
                phrase = right
            else:
                phrase = left
                continue
            break
    mask, fit = aligned(tokens(phrase), question)
    named = [f for formula in formulas for f in formula.fields] or _named(clause, made)
    return Definition(number, mask, fit, tuple(formulas), tuple(dict.fromkeys(named)), clause)


def _formulas(text: str, made: Index, *, whole: bool = False) -> list[Formula]:
    """The expression in a text, once for each table that it may be about."""
    words = lexemes(text)
    for start in range(len(words) if not whole else min(1, len(words))):
        first = _read(text, made, words, start, ())
        if first is None:
            continue
        formula, reader = first
        rest = words[reader.place :]
        if whole and rest:
            return []
        if start and formula.kind in {"row", "literal"}:
            continue
        if (
            rest
            and formula.kind in {"row", "literal"}
            and rest[0].text not in {",", "(", ".", "and", "&", ";"}
        ):
            return []
        if formula.kind == "row" and rest and rest[0].text in {",", "and", "&"}:
            return _columns(text, made, words, start) or [formula]
        if not reader.ambiguous:
            return [formula]
        owners = {
            made.fields[i].table
            for w in words
            for i in made.named.get(w.text.strip('`"').lower(), ())
        }
        owners |= {made.fields[i].table for i in formula.fields}
        found = [formula]
        for table in sorted(owners):
            again = _read(text, made, words, start, (table,))
            if again and again[0] not in found:
                found.append(again[0])
        return found[:6]
    return []


def _read(
    text: str, made: Index, words: list[Lexeme], start: int, tables: tuple[int, ...]
) -> tuple[Formula, Reader] | None:
    reader = Reader(text, made, words, start, tables)
    try:
        formula = reader.formula()
        return replace(
            formula,
            pieces=merged(formula.pieces),
            inner=merged(formula.inner),
            tests=tuple(map(merged, formula.tests)),
        ), reader
    except (NoFormulaError, IndexError, RecursionError):
        return None


def _columns(text: str, made: Index, words: list[Lexeme], start: int) -> list[Formula]:
    """A list of columns, as in "full name refers to forename, surname"; once for each table."""
    lists: list[list[int]] = []
    place = start
    while place < len(words):
        ids, end = column_at(text, words, place, made)
        if not ids:
            break
        lists.append(ids)
        place = end
        while place < len(words) and words[place].text in {",", "and", "&"}:
            place += 1
    if len(lists) < 2:
        return []
    found = []
    for table in dict.fromkeys(made.fields[i].table for ids in lists for i in ids):
        own = [next((i for i in ids if made.fields[i].table == table), None) for ids in lists]
        if None not in own:
            pieces = tuple(p for i in own if i is not None for p in (", ", i))[1:]
            found.append(Formula(pieces, "columns"))
    return found or [Formula(tuple(p for ids in lists for p in (", ", ids[0]))[1:], "columns")]


def _named(clause: str, made: Index) -> list[int]:
    """Columns that a clause names in passing: by names that are no common words, or in backticks."""
    words = lexemes(clause)
    found: list[int] = []
    place = 0
    while place < len(words):
        ids, end = column_at(clause, words, place, made)
        name = words[place].text
        odd = "_" in name or name[0] in '`"' or any(c.isdigit() for c in name) or end - place > 1
        found += ids if odd else ()
        place = max(end, place + 1)
    return found


def aligned(phrase: Sequence[Token], question: Sequence[Token]) -> tuple[int, float]:
    """The question's tokens that say a phrase, and how much of the phrase they say."""
    wanted = [t for t in phrase if t.content or t.number is not None] or [
        t for t in phrase if t.low.isalnum()
    ]
    places = [
        [i for i, q in enumerate(question) if t.low == q.low or alike(q.stem, t.stem) >= 0.7]
        for t in wanted
    ]
    found = [p for p in places if p]
    if not found:
        return 0, 0.0
    rarest = min(found, key=len)
    best: tuple[int, int] = (10_000, 0)
    for anchor in rarest:
        chosen = [min(p, key=lambda i: (abs(i - anchor), i)) for p in found]
        near = [i for i in chosen if abs(i - anchor) <= 8]
        best = min(best, (sum(abs(i - anchor) for i in chosen), sum({1 << i for i in near})))
    return best[1], best[1].bit_count() / len(wanted)
