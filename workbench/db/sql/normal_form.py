"""The normal form of a query, by which equal queries are recognised."""

import re
from functools import lru_cache

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import ErrorLevel, SqlglotError

from workbench.db.sql.parse import may_be_string, parse

# SQLite's CAST treats every type that it does not know as NUMERIC, also DECIMAL, DATE and BOOLEAN, which
# sqlglot would rename. sqlglot reads STRING and LONG as other types, so its tree does not show them.
_MISREAD_TYPE = re.compile(r"\bAS\s+(?:STRING|LONG)\b", re.IGNORECASE)
_PLAIN_TYPES = frozenset(
    exp.DataType.INTEGER_TYPES
    | exp.DataType.TEXT_TYPES
    | {exp.DType.FLOAT, exp.DType.DOUBLE, exp.DType.VARBINARY, exp.DType.BLOB}
)


@lru_cache(maxsize=4096)  # selectors need the normal form of a candidate several times
def normal_form(sql: str) -> str:
    """One spelling for queries that differ in layout, comments, letter case or optional words only.

    Literals stay as they are, and so does a name in double quotes without a table, which SQLite reads as a string
    if no column has that name. Names are not looked up, and aliases are not renamed: queries with the same normal
    form return the same rows, but queries with the same rows may have different normal forms. Unreadable text is
    returned with single spaces.
    """
    tree = parse(sql)
    if not isinstance(tree, str) and not _MISREAD_TYPE.search(sql):
        tree = tree.copy()
        for name in list(tree.find_all(exp.Identifier)):
            if not may_be_string(name, sql):
                name.set("this", name.name.lower())
                name.set("quoted", name.args["quoted"] and not _is_plain_word(name.name))
        for join in tree.find_all(exp.Join):
            if join.kind in {"INNER", "OUTER"}:
                join.set("kind", None)
        for cast in tree.find_all(exp.Cast):
            if cast.to.this not in _PLAIN_TYPES:
                cast.set("to", exp.DataType(this=exp.DType.USERDEFINED, kind="NUMERIC"))
        try:
            return tree.sql(
                dialect="sqlite", comments=False, copy=False, unsupported_level=ErrorLevel.IGNORE
            )
        except (SqlglotError, RecursionError):
            pass
    return " ".join(sql.split())


@lru_cache(maxsize=4096)
def _is_plain_word(name: str) -> bool:
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
        return False
    return [t.token_type for t in sqlglot.tokenize(name, read="sqlite")] == [TokenType.VAR]
