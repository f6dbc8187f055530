"""What a hint defines: "X refers to col = 'v'", "percentage = DIVIDE(...) * 100", or something less formal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.embedded.linking.expressions import Reader
from workbench.embedded.linking.formula import (
    Formula,
    Lexeme,
    NoFormulaError,
    column_at,
    lexemes,
    merged,
)
from workbench.embedded.linking.index import Index
from workbench.english.words import Token, alike, tokens

_CLAUSES = re.compile(
    r"\s*[;\n]\s*|\.\s+(?=[A-Z'\"`])"
    r"|,\s+(?:and\s+)?(?=(?:(?!\b(?:refers?|means?)\b)[^,;()'=])*\s(?:refers? to|means?|stands? for)\s)"
    r"|\s+and\s+(?=(?:[\w'%-]+\s+){1,4}(?:refers? to|means?|stands? for)\s)"
)
_LITERAL = re.compile(r"'(?:[^'\n]|'')*'(?!\w)")
_LINKS = (  # what stands between a phrase and its meaning, the clearest first
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
_AND = {",", "and", "&"}


@dataclass(frozen=True, slots=True)
class Definition:
    """A clause of a hint: the question's tokens that it is about, and what they stand for.

    There is one formula for each table that an ambiguous column may be meant in, and none where the clause
    only names columns.
    """

    number: int
    mask: int
    fit: float  # the part of the defined phrase that the question says
    formulas: tuple[Formula, ...]
    fields: tuple[int, ...]


def definitions(hint: str, question: Sequence[Token], made: Index) -> list[Definition]:
    """What a hint's clauses define, in their order."""
    hidden = _LITERAL.sub(lambda m: "\0" * len(m[0]), hint)  # no clause ends within quotes
    cuts = [0, *(place for m in _CLAUSES.finditer(hidden) for place in m.span()), len(hint)]
    clauses = [hint[a:b].strip(" ,.") for a, b in zip(cuts[::2], cuts[1::2], strict=True)]
    found = []
    for number, clause in enumerate(filter(None, clauses)):
        phrase, formulas = _split(clause, made)
        mask, fit = _aligned(tokens(phrase), question)
        named = [f for formula in formulas for f in formula.fields] or _named(clause, made)
        fields = tuple(dict.fromkeys(named))
        found.append(Definition(number, mask, fit, tuple(formulas), fields))
    return found


def _split(clause: str, made: Index) -> tuple[str, list[Formula]]:
    """The phrase that a clause defines, and what it stands for; a bare formula is both."""
    whole = _formulas(clause, made, whole=True)
    if whole and whole[0].kind == "test" and not _LINKS[0].search(clause):
        # "x = SUM(y)" would compare the column x with a total, but it defines the word x.
        left, _, right = clause.partition("=")
        totals = _formulas(right.strip(), made, whole=True)
        if totals and totals[0].kind in {"total", "best"}:
            return left, totals
    phrase = clause
    for link in _LINKS if not whole else ():
        if at := link.search(clause):
            left, right = clause[: at.start()], clause[at.end() :]
            if formulas := _formulas(right, made):
                return left, formulas
            if formulas := _formulas(left, made, whole=True):
                return right, formulas
            phrase = left
    return phrase, whole


def _formulas(text: str, made: Index, *, whole: bool = False) -> list[Formula]:
    """The expression in a text, once for each table that it may be about; `whole`: and nothing else."""
    words = lexemes(text)
    for start in range(min(1, len(words)) if whole else len(words)):
        first = _read(text, made, words, start, ())
        if first is None:
            continue
        formula, reader = first
        rest = words[reader.place].text if reader.place < len(words) else ""
        plain = formula.kind in {"row", "literal"}
        if whole and rest:
            return []
        if start and plain:  # a word in a sentence that happens to be a column's name
            continue
        if plain and rest not in _AND | {"", "(", ".", ";"}:
            return []
        if formula.kind == "row" and rest in _AND:
            return _columns(text, made, words, start) or [formula]
        if not reader.ambiguous:
            return [formula]
        ids = {i for w in words for i in made.named.get(w.text.strip('`"').lower(), ())}
        found = [formula]
        for table in sorted({made.fields[i].table for i in ids.union(formula.fields)}):
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
    except (NoFormulaError, IndexError, RecursionError):
        return None
    pieces, inner = merged(formula.pieces), merged(formula.inner)
    tests = tuple(map(merged, formula.tests))
    return replace(formula, pieces=pieces, inner=inner, tests=tests), reader


def _columns(text: str, made: Index, words: list[Lexeme], start: int) -> list[Formula]:
    """A list of columns, as in "full name refers to forename, surname"; once for each table."""
    lists: list[list[int]] = []
    place = start
    while place < len(words):
        ids, place = column_at(text, words, place, made)
        if not ids:
            break
        lists.append(ids)
        while place < len(words) and words[place].text in _AND:
            place += 1
    found = []
    for table in dict.fromkeys(made.fields[i].table for ids in lists for i in ids):
        own = [i for ids in lists for i in ids if made.fields[i].table == table]
        if len(own) == len(lists) > 1:
            found.append(Formula(tuple(p for i in own for p in (", ", i))[1:], "columns"))
    return found


def _named(clause: str, made: Index) -> list[int]:
    """Columns that a clause names in passing: by names that are no common words, or in backticks."""
    words = lexemes(clause)
    found: list[int] = []
    place = 0
    while place < len(words):
        ids, end = column_at(clause, words, place, made)
        name = words[place].text
        odd = end - place > 1 or name[0] in '`"' or re.search(r"[_\d]", name)
        found += ids if odd else ()
        place = max(end, place + 1)
    return found


def _aligned(phrase: Sequence[Token], question: Sequence[Token]) -> tuple[int, float]:
    """The question's tokens that say a phrase, as near to each other as may be, and how much they say."""
    wanted = [t for t in phrase if t.content or t.number is not None] or [
        t for t in phrase if t.low.isalnum()
    ]
    places = [
        [i for i, q in enumerate(question) if t.low == q.low or alike(q.stem, t.stem) >= 0.7]
        for t in wanted
    ]
    found = [p for p in places if p]
    best: tuple[int, int] = (10_000, 0)
    for anchor in min(found, key=len, default=()):
        chosen = [min(p, key=lambda i: (abs(i - anchor), i)) for p in found]
        near = {1 << i for i in chosen if abs(i - anchor) <= 8}
        best = min(best, (sum(abs(i - anchor) for i in chosen), sum(near)))
    return best[1], best[1].bit_count() / len(wanted) if found else 0.0
