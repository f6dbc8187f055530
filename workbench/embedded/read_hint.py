"""Read the formulas of a hint: "X refers to col = 'v'", "share = DIVIDE(SUM(st = 'K'), COUNT(id))".

A formula is rewritten from the habits of those who write hints into SQL, which sqlglot reads.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import sqlglot
from sqlglot import exp

from workbench.embedded.find_words import (
    Field,
    Index,
    Mention,
    Pieces,
    mentions,
    words_of,
)

_CLAUSE = re.compile(
    r"\s*[;\n]\s*|\.\s+(?=[A-Z'\"`])"
    r"|,\s+(?:and\s+)?(?=[^,;()'=]*\s(?:refers? to|means?|stands? for)\s)"
    r"|\s+and\s+(?=(?:[\w'%-]+\s+){1,4}(?:refers? to|means?|stands? for)\s)"
)
_MEANS = re.compile(
    r"(?i)\s+(?:refers?(?: to)?|means?(?: that)?|stands? for|denotes?|indicates?|represents?"
    r"|(?:is|are|can be) (?:represented|calculated|computed|defined|given|stored|found|measured)"
    r"(?: as| by| in| with| from)?)\s+|\s*:\s+|\s*(?<![<>!=])=(?!=)\s*"
)
_QUOTED = re.compile(r"('(?:[^']|'')*'|`[^`]+`)")
_HABITS = tuple(  # how people write SQL in a hint
    (re.compile(pattern, re.IGNORECASE), sql)
    for pattern, sql in (
        (r"\b(?:is|are) (not )?(?:null|empty|missing|blank|unknown)\b", r"IS \1NULL"),
        (r"\bis equal to\b|\bequals?\b(?: to)?|==|\bis\b(?! (?:not )?null\b)", "="),
        (r"(?<=\d),(?=\d{3}\b)|(?<=\d)%", ""),
        (r"(?<!case)\s(?:where|if|for|when|with)\s", ", "),  # COUNT(id where st = 'A')
        (r"\b(count|sum|avg|average|total|divide|subtract)\(", r"\1_OF("),
    )
)
_TOTALS = {"COUNT_OF": "COUNT", "SUM_OF": "SUM", "TOTAL_OF": "SUM", "AVG_OF": "AVG"}
_TOTALS["AVERAGE_OF"] = "AVG"
_WORDS_AFTER = 8  # that may follow a formula in its clause
_PLACE = re.compile(r"§(\d+)§")  # a column by its number


class Definition(NamedTuple):
    """SQL that a clause of the hint spells out.

    Where a column may be meant in several tables there is a definition for each.
    """

    clause: int  # a bit of its own
    mask: int  # the question's tokens that it is about
    fit: float  # the part of the defined phrase that the question says
    kind: str  # row, test, total, having, max or min; of the last two what is taken of
    pieces: Pieces


def definitions(hint: str, question: str, schema: Index) -> list[Definition]:
    """Return the definitions of a hint's clauses, in their order."""
    read = []
    for number, clause in enumerate(_CLAUSE.split(hint)):
        phrase, formulas = _split(clause.strip(" ,."), schema)
        best = [*mentions(words_of(phrase), question), Mention(0, 0.0)][0]
        for kind, pieces in formulas:
            read.append(Definition(1 << number, best.mask, best.part, kind, pieces))
    return read


def _split(clause: str, schema: Index) -> tuple[str, dict[tuple[str, Pieces], None]]:
    """Return the phrase that a clause defines, and what it stands for; a formula alone is both."""
    whole = _formulas(clause, schema, words_after=0)
    if whole:
        return clause, whole
    for link in _MEANS.finditer(clause):
        meaning = clause[link.end() :]
        formulas = _formulas(meaning, schema, words_after=_WORDS_AFTER)
        if formulas:
            return clause[: link.start()], formulas
    return clause, {}


def _formulas(
    text: str, schema: Index, *, words_after: int
) -> dict[tuple[str, Pieces], None]:
    """Return the longest formula that a text begins with, for each table that it may be about."""
    words = _in_sql(text, schema).split(" ")
    for end in range(len(words), max(0, len(words) - 1 - words_after), -1):
        tree = _parsed(" ".join(words[:end]).rstrip(",. "))
        formulas = dict.fromkeys(_meant(tree, schema)) if tree else {}
        if formulas:
            return formulas
    return {}


def _in_sql(text: str, schema: Index) -> str:
    """Return a text in which columns and functions are written as in SQL."""

    def quoted(match: re.Match[str]) -> str:
        name = match[0]
        if name[0] in "'`":
            return name
        return (
            "'" + name[1:-1].replace("'", "''") + "'"
            if name[0] == '"'
            else f"`{name.lower()}`"
        )

    parts = _QUOTED.split(_columns_in(schema).sub(quoted, text))
    for pattern, sql in _HABITS:
        parts[::2] = [pattern.sub(sql, part) for part in parts[::2]]
    return "".join(parts)


@lru_cache(maxsize=256)
def _columns_in(schema: Index) -> re.Pattern[str]:
    """Return a pattern that finds a schema's columns, and texts in quotes."""
    names = sorted(schema.named, key=len, reverse=True)
    columns = "|".join(re.escape(name) for name in names if not name.isdigit())
    text = r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`"
    return re.compile(rf"(?i){text}|(?<![\w.])(?:{columns})(?![\w(])")


@lru_cache(maxsize=4096)  # many questions have the same hints
def _parsed(sql: str) -> exp.Expr | None:
    try:
        return sqlglot.parse_one(sql, into=exp.Condition, read="sqlite")
    except (
        sqlglot.errors.SqlglotError,
        RecursionError,
        AttributeError,
    ):  # "[a: 1]" is the last
        return None


def _meant(tree: exp.Expr, schema: Index) -> Iterator[tuple[str, Pieces]]:
    """Return the kind and the SQL of an expression, for each table that its first column is in."""
    columns = [*tree.find_all(exp.Column)]
    if not columns or tree.find(exp.Query, exp.Placeholder, exp.Tuple):
        return
    for first in schema.find(columns[0].name):
        fields = []
        for column in columns:
            named = schema.find(column.name)
            if column.table:
                named = [
                    field for field in named if field.sheet.name.lower() == column.table
                ]
            named.sort(key=lambda field: field.sheet is not first.sheet)
            fields += named[:1]
        if len(fields) == len(columns):
            yield _formula(tree, dict(zip(columns, fields, strict=True)))


def _formula(tree: exp.Expr, meant: dict[exp.Column, Field]) -> tuple[str, Pieces]:
    """Return the kind of an expression, and its SQL."""
    called = [node.name.upper() for node in tree.find_all(exp.Anonymous)]
    is_total = not _TOTALS.keys().isdisjoint(called)
    kind = "total" if is_total else "row"
    if isinstance(tree, exp.Max | exp.Min):
        kind, tree = tree.key, tree.this
    elif _is_test(tree):
        kind = "having" if is_total else "test"
    order = [*meant]
    tree = _rewritten(tree.copy(), order)
    pieces: list[str | Field] = []
    for place, text in enumerate(_PLACE.split(tree.sql("sqlite"))):
        if place % 2:
            pieces.append(meant[order[int(text)]])
        elif text:
            pieces.append(text)
    return kind, tuple(pieces)


def _rewritten(node: exp.Expr, order: list[exp.Column]) -> exp.Expr:
    """Return an expression as SQLite is to see it, with columns by their place in an order."""
    if isinstance(node, exp.Column):
        return exp.Var(this=f"§{order.index(node)}§")
    for part in [*node.iter_expressions()]:
        part.replace(_rewritten(part, order))
    if isinstance(node, exp.Anonymous):
        return _called(node.name.upper(), *node.expressions)
    if isinstance(node, exp.Div):
        return _divided(node.left, node.right)
    if isinstance(node, exp.Mul) and isinstance(node.left, exp.Div):  # a / b * 100
        times = exp.Mul(this=node.left.left, expression=node.right)
        return exp.Div(this=times, expression=node.left.right, typed=True)
    return exp.paren(node) if isinstance(node, exp.Or) else node


def _called(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Return a function as hints call it: a total, perhaps with a condition, or arithmetic."""
    first, last = arguments[0], arguments[-1]
    if name == "DIVIDE_OF":
        return _divided(first, last)
    if name == "SUBTRACT_OF":
        return exp.Sub(this=first, expression=last)
    if name not in _TOTALS:
        return exp.Anonymous(this=name, expressions=[*arguments])
    total = _TOTALS[name]
    if not _is_test(last):
        return exp.func(total, first)
    counted = total == "COUNT" or first is last
    case = exp.case().when(last, "1" if counted else first)
    return exp.func("AVG", case) if total == "AVG" else exp.func("SUM", case.else_("0"))


def _divided(upper: exp.Expr, lower: exp.Expr) -> exp.Expr:
    lower = exp.paren(lower) if isinstance(lower, exp.Binary) else lower
    return exp.Div(this=exp.cast(upper, "REAL"), expression=lower, typed=True)


def _is_test(node: exp.Expr) -> bool:
    return isinstance(node.unnest(), exp.Predicate | exp.And | exp.Or | exp.Not)
