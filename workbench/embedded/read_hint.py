"""Read the formulas of a hint: "X refers to col = 'v'", "share = DIVIDE(SUM(st = 'K'), COUNT(id))".

A formula is rewritten from the habits of those who write hints into SQL, which sqlglot reads.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import SqlglotError
from sqlglot.parsers.sqlite import SQLiteParser

from workbench.embedded.find_words import (
    NOTHING,
    Field,
    Index,
    Pieces,
    mentions,
    words_of,
)

_CLAUSE = re.compile(  # "A refers to x = 1; B means y", "A refers to x = 1, and B refers to y"
    r"\s*[;\n]\s*|\.\s+(?=[A-Z'\"`])"
    r"|,\s+(?:and\s+)?(?=[^,;()'=]*\s(?:refers? to|means?|stands? for)\s)"
    r"|\s+and\s+(?=(?:[\w'%-]+\s+){1,4}(?:refers? to|means?|stands? for)\s)"
)
_MEANS = re.compile(  # "A refers to x", "A is stored as x", "A: x", "A = x"
    r"(?i)\s+(?:refers?(?: to)?|means?(?: that)?|stands? for|denotes?|indicates?|represents?"
    r"|(?:is|are|can be) (?:represented|calculated|computed|defined|given|stored|found|measured)"
    r"(?: as| by| in| with| from)?)\s+|\s*:\s+|\s*(?<![<>!=])=(?!=)\s*"
)
_QUOTED = re.compile(r"""('(?:[^']|'')*'|"[^"]*"|`[^`]+`)""")
_HABITS = {  # how people write SQL in a hint
    r"(?i)\b(?:is|are) (not )?(?:null|empty|missing|blank|unknown)\b": r"IS \1NULL",
    r"(?i)\bis equal to\b|\bequals?\b(?: to)?|==|\bis\b(?! (?:not )?null\b)": "=",
    r"(?<=\d),(?=\d{3}\b)|(?<=\d)%": "",
}
_PLACE = re.compile(r"§(\d+)§")  # a column by its number


def _arithmetic(function: Callable[..., exp.Expr], arguments: list[Any]) -> exp.Expr:
    left, right = arguments[0], arguments[-1]
    right = exp.paren(right) if isinstance(right, exp.Binary) else right
    return function(this=left, expression=right)


class _Hints(SQLite):
    """SQLite's SQL with the functions that hints have."""

    class Parser(SQLiteParser):
        """Its parser."""

        FUNCTIONS = SQLiteParser.FUNCTIONS | {
            "AVERAGE": exp.Avg.from_arg_list,
            "DIVIDE": partial(_arithmetic, exp.Div),
            "SUBTRACT": partial(_arithmetic, exp.Sub),
        }


class Definition(NamedTuple):
    """SQL that a clause of the hint spells out.

    Where a column may be meant in several tables there is a definition for each.
    """

    clause: int  # its number, from 1
    places: frozenset[int]  # the question's tokens that it is about
    fit: float  # the share of the defined phrase that the question says
    formula: "Formula"


class Formula(NamedTuple):
    """A piece of SQL, and what it may serve as."""

    kind: str  # row, test, total, having, max or min; of the last two what is taken of
    is_total: bool  # it is about many rows
    pieces: Pieces


def definitions(hint: str, question: str, schema: Index) -> list[Definition]:
    """Return the definitions of a hint's clauses, in their order."""
    read = []
    for number, clause in enumerate(_CLAUSE.split(hint), 1):
        phrase, formulas = _split(clause.strip(" ,."), schema)
        best = next(iter(mentions(words_of(phrase), question)), NOTHING)
        read += [
            Definition(number, best.places, best.share, formula) for formula in formulas
        ]
    return read


def _split(clause: str, schema: Index) -> tuple[str, list[Formula]]:
    """Return the phrase that a clause defines, and what it stands for; a formula alone is both."""
    whole = _formulas(clause, schema)
    if whole:
        return clause, whole
    for link in _MEANS.finditer(clause):
        formulas = _formulas(clause[link.end() :], schema)
        if formulas:
            return clause[: link.start()], formulas
    return clause, []


def _formulas(text: str, schema: Index) -> list[Formula]:
    """Return the formula that a text is, for each table that its first column is in."""
    tree = _parsed(_in_sql(text, schema))
    if not tree or tree.find(exp.Query, exp.Placeholder, exp.Tuple):
        return []
    columns = [*tree.find_all(exp.Column)]
    formulas = []
    for first in schema.find(columns[0].name if columns else ""):
        meant = []
        for column in columns:
            fields = schema.find(column.name)
            meant += sorted(fields, key=lambda f: f.sheet is not first.sheet)[:1]
        if len(meant) == len(columns):
            formulas.append(_formula(tree, meant))
    return formulas


def _in_sql(text: str, schema: Index) -> str:
    """Return a text in which columns, texts and comparisons are written as in SQL."""
    parts = _QUOTED.split(text)
    columns = _columns_in(schema)
    for place, part in enumerate(parts):
        if place % 2:  # in quotes
            parts[place] = part.replace('"', "'")
            continue
        parts[place] = columns.sub(r"`\g<0>`", part)
        for pattern, sql in _HABITS.items():
            parts[place] = re.sub(pattern, sql, parts[place])
    return "".join(parts)


@lru_cache(maxsize=256)
def _columns_in(schema: Index) -> re.Pattern[str]:
    """Return a pattern that finds a schema's columns."""
    names = sorted(schema.named, key=len, reverse=True)
    columns = "|".join(re.escape(name) for name in names if not name.isdigit())
    return re.compile(rf"(?i)(?<![\w.])(?:{columns})(?![\w(])")


@lru_cache(maxsize=4096)  # many questions have the same hints
def _parsed(sql: str) -> exp.Expr | None:
    try:
        return sqlglot.parse_one(sql, into=exp.Condition, read=_Hints)
    # "DIVIDE()" is an IndexError, "[a: 1]" an AttributeError.
    except (SqlglotError, RecursionError, AttributeError, IndexError):
        return None


def _formula(tree: exp.Expr, meant: Sequence[Field]) -> Formula:
    """Return the formula of an expression, with these columns in their order."""
    is_extreme = isinstance(tree, exp.Max | exp.Min)
    taken = tree.this if is_extreme else tree
    is_total = taken.find(exp.AggFunc) is not None
    if is_extreme:
        kind = tree.key
    elif _is_test(tree):
        kind = "having" if is_total else "test"
    else:
        kind = "total" if is_total else "row"
    whole = exp.Paren(this=taken.copy())  # a part of which any node can be replaced
    for number, column in enumerate([*whole.find_all(exp.Column)]):
        column.replace(exp.Var(this=f"§{number}§"))  # pieces have the column itself
    for ratio in [*whole.find_all(exp.Div)]:
        _make_real(ratio)
    shown = whole if isinstance(whole.this, exp.Or) else whole.this
    pieces: list[str | Field] = []
    for place, piece in enumerate(_PLACE.split(shown.sql("sqlite"))):
        if place % 2:
            pieces.append(meant[int(piece)])
        elif piece:
            pieces.append(piece)
    return Formula(kind, is_total, tuple(pieces))


def _make_real(ratio: exp.Div) -> None:
    """Make a ratio one of real numbers; "a / b * 100" is a * 100 / b, which rounds as gold does."""
    whole: exp.Expr = ratio
    upper: exp.Expr = exp.cast(ratio.left, "REAL")
    above = ratio.parent
    if isinstance(above, exp.Mul) and above.left is ratio:
        whole, upper = above, exp.Mul(this=upper, expression=above.right)
    whole.replace(exp.Div(this=upper, expression=ratio.right, typed=True))


def _is_test(node: exp.Expr) -> bool:
    return isinstance(node.unnest(), exp.Predicate | exp.And | exp.Or | exp.Not)
