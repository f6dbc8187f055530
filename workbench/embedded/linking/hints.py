"""Definitions in a hint: "X refers to col = 'v'", "percentage = DIVIDE(...) * 100", or something less formal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.embedded.linking.expressions import Reader
from workbench.embedded.linking.formula import Formula, NoFormulaError, lexemes, merged
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

    There is one formula for each table that an ambiguous column may be meant in, or none.
    """

    number: int
    mask: int
    fit: float  # the part of the defined phrase that the question says
    formulas: tuple[Formula, ...]

    @property
    def fields(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(i for formula in self.formulas for i in formula.fields))


def definitions(hint: str, question: Sequence[Token], made: Index) -> list[Definition]:
    """The definitions of a hint's clauses, in their order."""
    hidden = _LITERAL.sub(lambda m: "\0" * len(m[0]), hint)  # no clause ends within quotes
    cuts = [0, *(place for m in _CLAUSES.finditer(hidden) for place in m.span()), len(hint)]
    clauses = [hint[a:b].strip(" ,.") for a, b in zip(cuts[::2], cuts[1::2], strict=True)]
    found = []
    for number, clause in enumerate(filter(None, clauses)):
        phrase, formulas = _split(clause, made)
        found.append(Definition(number, *_aligned(tokens(phrase), question), tuple(formulas)))
    return found


def _split(clause: str, made: Index) -> tuple[str, list[Formula]]:
    """The phrase that a clause defines, and what it stands for; a bare formula is both."""
    whole = _formulas(clause, made, whole=True)
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
        reader = Reader(made, words, start)
        formula = _read(reader)
        if formula is None:
            continue
        rest = reader.peek()
        plain = formula.kind in {"row", "literal"}
        if whole and rest:
            return []
        if start and plain:  # a word in a sentence that happens to be a column's name
            continue
        if plain and rest not in _AND | {"", "(", ".", ";"}:
            return []
        found = {formula: None}
        if reader.ambiguous:
            ids = {i for w in words for i in made.named.get(w[0].strip('`"').lower(), ())}
            for table in sorted({made.fields[i].table for i in ids.union(formula.fields)}):
                if again := _read(Reader(made, words, start, (table,))):
                    found[again] = None
        return [*found][:6]
    return []


def _read(reader: Reader) -> Formula | None:
    try:
        formula = reader.formula()
    except (NoFormulaError, IndexError, RecursionError):
        return None
    tests = tuple(map(merged, formula.tests))
    return replace(formula, pieces=merged(formula.pieces), inner=merged(formula.inner), tests=tests)


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
