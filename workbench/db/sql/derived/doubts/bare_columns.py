"""A result column that is neither grouped by nor aggregated: SQLite takes its value from any row of the group.

A query with one MIN or MAX is left out: there SQLite takes the row that has the minimum or maximum.
"""

from collections.abc import Iterator

from sqlglot import exp

from workbench.db.sql.derived.doubts.selects import Doubt, Selected, numbered, selects, text
from workbench.db.sql.parse import inside, is_aggregate
from workbench.types import Schema


def bare_columns(sql: str, schema: Schema) -> Iterator[Doubt]:
    """A doubt for each such column; groups in which it has several values are the fault."""
    for one in selects(sql, schema):
        extremes = [node for node in one.own(exp.Min, exp.Max) if is_aggregate(node)]
        if not one.is_grouped() or len(extremes) == 1:
            continue
        groups = one.groups()
        grouped = {_name(one, term) for term in groups}
        bare = {
            _name(one, column): column
            for output in one.outputs()
            if _name(one, output) not in grouped
            for column in inside(output)
            if isinstance(column, exp.Column) and _is_bare(column)
        }
        for name, column in bare.items():
            if name in grouped:
                continue
            values = exp.Distinct(expressions=[column.copy()])
            columns = numbered("grouped", groups) | {
                "smallest": exp.Min(this=column.copy()),
                "largest": exp.Max(this=column.copy()),
                "kinds": exp.Count(this=values),
            }
            yield Doubt(
                f"{text(column)} is neither aggregated nor in GROUP BY, and has several values",
                one.probe(
                    {"audit_groups": one.rebuilt(columns, without=["distinct"])},
                    "SELECT * FROM audit_groups WHERE kinds > 1",
                ),
            )


def _is_bare(column: exp.Column) -> bool:
    """Whether a column stands in no aggregate and no window."""
    around = column.find_ancestor(exp.AggFunc, exp.Window, exp.Query)
    return isinstance(around, exp.Query)


def _name(one: Selected, node: exp.Expr) -> str:
    """The table and column that an expression names, in one spelling; the text of any other expression."""
    column = one.names.binding(node).column if isinstance(node, exp.Column) else None
    source = one.names.binding(node).source if isinstance(node, exp.Column) else None
    return f"{source.name}.{column[1]}" if column and source else text(node).lower()
