"""Read the formulas of a hint: "X refers to col = 'v'", "share = DIVIDE(SUM(st = 'K'), COUNT(id))".

A formula is SQL with two functions more, which sqlglot reads.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import SqlglotError
from sqlglot.parsers.sqlite import SQLiteParser

from workbench.embedded.find_words import (
    Field,
    Index,
    Pieces,
    best_mention,
    words_of,
)

_CLAUSE = re.compile(r"\s*[;\n]\s*")  # "A refers to x = 1; B means y"
_MEANS = re.compile(  # "A refers to x", "A is stored as x", "A: x", "A = x"
    r"(?i)\s+(?:refers?(?: to)?|means?(?: that)?|stands? for|denotes?|indicates?|represents?"
    r"|(?:is|are|can be) (?:represented|calculated|computed|defined|given|stored|found|measured)"
    r"(?: as| by| in| with| from)?)\s+|\s*:\s+|\s*(?<![<>!=])=(?!=)\s*"
)
_DOUBLE_QUOTED = re.compile('"([^"]*)"')
_PLACE = re.compile(r"§(\d+)§")  # a column by its number


class _Hints(SQLite):
    """SQLite's SQL with the functions that hints have."""

    class Parser(SQLiteParser):
        """Its parser."""

        FUNCTIONS = SQLiteParser.FUNCTIONS | {
            "DIVIDE": lambda arguments: arguments[0] / arguments[1],
            "SUBTRACT": lambda arguments: arguments[0] - arguments[1],
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
        said = best_mention(words_of(phrase), question)
        for formula in formulas:
            definition = Definition(
                clause=number,
                places=said.places,
                fit=said.share,
                formula=formula,
            )
            read.append(definition)
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
    tree = _parsed(text)
    if not tree:
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


@lru_cache(maxsize=4096)  # many prompts have the same hint
def _parsed(text: str) -> exp.Expr | None:
    """Return the expression that a text is; None if it is none, or a query."""
    sql = _DOUBLE_QUOTED.sub(r"'\1'", text)
    try:
        tree = sqlglot.parse_one(sql, into=exp.Condition, read=_Hints)
    # "DIVIDE()" is an IndexError, "[a: 1]" an AttributeError.
    except (SqlglotError, RecursionError, AttributeError, IndexError):
        return None
    is_other = tree.find(exp.Query, exp.Placeholder, exp.Tuple)
    return None if is_other else tree


def _formula(tree: exp.Expr, meant: Sequence[Field]) -> Formula:
    """Return the formula of an expression, with these columns in their order."""
    is_extreme = isinstance(tree, exp.Max | exp.Min)
    taken = tree.this if is_extreme else tree
    is_total = taken.find(exp.AggFunc) is not None
    if is_extreme:
        kind = tree.key
    elif isinstance(tree.unnest(), exp.Predicate | exp.And | exp.Or | exp.Not):
        kind = "having" if is_total else "test"
    else:
        kind = "total" if is_total else "row"
    pieces: list[str | Field] = []
    for place, piece in enumerate(_PLACE.split(_template(taken))):
        if place % 2:
            pieces.append(meant[int(piece)])
        elif piece:
            pieces.append(piece)
    return Formula(
        kind=kind,
        is_total=is_total,
        pieces=tuple(pieces),
    )


def _template(taken: exp.Expr) -> str:
    """Return an expression's SQL with numbers between signs in place of its columns."""
    whole = exp.Paren(this=taken.copy())  # a part of which any node can be replaced
    for number, column in enumerate([*whole.find_all(exp.Column)]):
        column.replace(exp.Var(this=f"§{number}§"))
    for ratio in whole.find_all(exp.Div):
        # Of whole numbers it is a ratio, too.
        as_real = exp.cast(ratio.left, "REAL")
        ratio.set("this", as_real)
    shown = whole if isinstance(whole.this, exp.Or) else whole.this
    return shown.sql("sqlite")
