"""Mutants of a query: copies with one part changed, like the mistakes of people and models.

The kinds follow the mutation operators of SQLMutation (Tuya, Suarez-Cabal and de la Riva 2007), which XData's
databases are built to tell apart, and the neighbours of test-suite accuracy (Zhong, Yu and Klein 2020, section 3.2:
numbers, texts, operators and columns replaced, spans dropped). A mutant may return the rows of its query by chance,
as with `>` and `>=` where no value is equal.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from workbench.db.sql.derived.changes import CHANGES
from workbench.db.sql.parse import parse
from workbench.db.sql.scope import Names
from workbench.types import Schema

_Change = tuple[str, exp.Expr | None]  # its kind, and the node's replacement; None removes the node


@dataclass(frozen=True, slots=True)
class Mutant:
    kind: str
    sql: str


def mutants(sql: str, schema: Schema) -> list[Mutant]:
    """All mutants of a query in the order of its parts; [] for unreadable text.

    A column is replaced by its neighbours in its table. No two mutants have the same text.
    """
    tree = parse(sql)
    if isinstance(tree, str):
        return []
    seen = {_text_of(tree)}
    found = []
    try:
        names = Names(tree, sql, schema)
        for index, node in enumerate(tree.walk()):
            for kind, new in _changes(node, names):
                text = _replaced(tree, index, new)
                if text not in seen:
                    seen.add(text)
                    found.append(Mutant(kind, text))
    except (SqlglotError, RecursionError):
        pass
    return found


def _replaced(tree: exp.Expr, index: int, new: exp.Expr | None) -> str:
    copy = tree.copy()
    old = next(islice(copy.walk(), index, None))
    if old is copy:
        copy = new or copy
    elif new is None:
        old.pop()
    else:
        old.replace(new)
    return _text_of(copy)


def _text_of(tree: exp.Expr) -> str:
    return tree.sql("sqlite", comments=False, unsupported_level=ErrorLevel.IGNORE)


def _changes(node: exp.Expr, names: Names) -> Iterator[_Change]:
    for kind, change in CHANGES.items():
        for new in change(node):
            yield kind, new
    if isinstance(node, exp.Column):
        for neighbour in _neighbours(node, names):
            yield _column_kind(node), neighbour


def _neighbours(column: exp.Column, names: Names) -> Iterator[exp.Expr]:
    """The next and the previous column of the column's table."""
    found = names.binding(column).column
    table = names.schema.table(found[0]) if found else None
    if not found or not table or isinstance(column.parent, exp.Join):
        return
    all_names = [other.name for other in table.columns]
    at = all_names.index(found[1])
    for other in dict.fromkeys((all_names[(at + 1) % len(all_names)], all_names[at - 1])):
        new = column.copy()
        new.set("this", exp.to_identifier(other, quoted=True))
        yield new


def _column_kind(node: exp.Expr) -> str:
    """The kind of the change that replaces a column, by the column's clause."""
    clause = node.find_ancestor(exp.Where, exp.Having, exp.Group, exp.Order, exp.Join, exp.Select)
    clauses: dict[type[exp.Expr] | None, str] = {
        exp.Where: "column of a condition",
        exp.Having: "column of a condition",
        exp.Group: "column of GROUP BY",
        exp.Order: "column of ORDER BY",
        exp.Join: "column of a join",
    }
    return clauses.get(type(clause) if clause else None, "column of the output")
