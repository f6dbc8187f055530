"""Which tables and columns of a schema a query uses."""

from dataclasses import dataclass

from workbench.db.sql.parse import parse
from workbench.db.sql.scope import Names
from workbench.types import Schema


@dataclass(frozen=True, slots=True)
class Used:
    """The tables and columns that a query mentions, spelt as in the schema."""

    tables: frozenset[str] = frozenset()
    columns: frozenset[tuple[str, str]] = frozenset()
    unknown: tuple[str, ...] = ()
    """Names that the schema does not have, as written (`t.x` if qualified)."""
    error: str = ""
    """Why the query cannot be read; the other fields are then empty."""


def used(sql: str, schema: Schema) -> Used:
    """The tables and columns that the query uses, by SQLite's rules for finding names.

    A column counts wherever it is mentioned, in USING and NATURAL JOIN too. `*` counts as the columns that reach
    the result: none in COUNT(*) and EXISTS, and in a subquery those that the outer query mentions. A name in
    double quotes that fits no column is a string, not an unknown name.
    """
    tree = parse(sql)
    if isinstance(tree, str):
        return Used(error=tree)
    try:
        names = Names(tree, sql, schema)
    except RecursionError:
        return Used(error="nested too deeply")
    unknown = tuple(dict.fromkeys(names.unknown))
    return Used(frozenset(names.tables), frozenset(names.columns), unknown)
