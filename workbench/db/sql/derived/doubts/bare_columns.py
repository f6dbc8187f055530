"""A result column that is neither grouped by nor aggregated: SQLite takes its value from any row of the group.

A query with one MIN or MAX is left out: there SQLite takes the row that has the minimum or maximum.
"""

from collections.abc import Iterator

from sqlglot import exp

from workbench.db.sql.derived.doubts.selects import Doubt, QuerySelect, numbered, selects, text
from workbench.db.sql.parse import is_aggregate, own_nodes
from workbench.types import Schema


def bare_columns(sql: str, schema: Schema) -> Iterator[Doubt]:
    """A doubt for each such column; its probe returns the groups in which the column has several values."""
    for select in selects(sql, schema):
        extremes = [node for node in select.own(exp.Min, exp.Max) if is_aggregate(node)]
        if not select.is_grouped() or len(extremes) == 1:
            continue
        groups = select.groups()
        grouped = {_name(select, term) for term in groups}
        bare = {
            _name(select, column): column
            for output in select.outputs()
            if _name(select, output) not in grouped
            for column in own_nodes(output)
            if isinstance(column, exp.Column) and _is_bare(column)
        }
        for name, column in bare.items():
            # The result column may be an expression that is not in GROUP BY, of a column that is.
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
                select.probe(
                    {"audit_groups": select.rebuilt(columns, without=["distinct"])},
                    "SELECT * FROM audit_groups WHERE kinds > 1",
                ),
            )


def _is_bare(column: exp.Column) -> bool:
    """Whether a column stands in no aggregate and no window."""
    outer = column.find_ancestor(exp.AggFunc, exp.Window, exp.Query)
    return isinstance(outer, exp.Query)


def _name(select: QuerySelect, node: exp.Expr) -> str:
    """The table and column that an expression names, in one spelling; the text of any other expression."""
    source, column, _ = select.names.binding(node)
    return f"{source.name}.{column[1]}" if column and source else text(node).lower()
