"""Doubts about aggregates: result columns that are not aggregated, and rows that a join repeats."""

import re
from collections.abc import Iterator

from sqlglot import exp

from workbench.db.sql.derived.doubts.selects import (
    Doubt,
    QuerySelect,
    numbered,
    of_each_select,
    text,
)
from workbench.db.sql.parse import is_aggregate, own_nodes
from workbench.db.sql.sources import Source

_ASKED = re.compile(r"\b(?:how many|number of|count)\s+((?:\w+\s+){0,3}\w+)", re.IGNORECASE)


@of_each_select
def bare_columns(select: QuerySelect) -> Iterator[Doubt]:
    """Doubt each result column that is neither grouped by nor aggregated: SQLite takes it from any row of the group.

    The probe returns the groups in which the column has several values. A query with one MIN or MAX is left out:
    there SQLite takes the row that has the minimum or maximum.
    """
    extremes = [node for node in select.own(exp.Min, exp.Max) if is_aggregate(node)]
    if not select.is_grouped() or len(extremes) == 1:
        return
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
        columns = numbered("grouped", groups) | {
            "smallest": exp.Min(this=column.copy()),
            "largest": exp.Max(this=column.copy()),
            "kinds": exp.Count(this=exp.Distinct(expressions=[column.copy()])),
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
    return isinstance(column.find_ancestor(exp.AggFunc, exp.Window, exp.Query), exp.Query)


def _name(select: QuerySelect, node: exp.Expr) -> str:
    """The table and column that an expression names, in one spelling; the text of any other expression."""
    source, column, _ = select.names.binding(node)
    return f"{source.name}.{column[1]}" if column and source else text(node).lower()


@of_each_select
def fan_out(select: QuerySelect) -> Iterator[Doubt]:
    """Doubt each aggregate over one table of a join, which may repeat rows before they are counted or summed up.

    The probe returns the table's rows that are repeated. COUNT(*) is doubted only if the question asks for the number
    of a table's rows and names the table.
    """
    if not select.node.args.get("joins"):
        return
    for call in select.own(exp.Count, exp.Sum, exp.Avg):
        source = _counted_table(select, call) if is_aggregate(call) else None
        if source is None or _groups_by(select, call, source):
            continue
        columns = numbered("grouped", select.groups())
        row = {"number": exp.column("rowid", source.name)}
        inner = select.rebuilt(columns | row, without=["group", "having", "distinct"])
        yield Doubt(
            f"the join repeats rows of {source.name} before {text(call)}",
            select.probe(
                {"audit_rows": inner},
                "SELECT *, COUNT(*) AS times FROM audit_rows WHERE number IS NOT NULL"
                f" GROUP BY {', '.join([*columns, 'number'])} HAVING COUNT(*) > 1",
            ),
        )


def _counted_table(select: QuerySelect, call: exp.Expr) -> Source | None:
    """The table whose rows the aggregate counts; None for several tables, and for an aggregate with DISTINCT."""
    if call.find(exp.Distinct):
        return None
    sources = [source for source in select.names.scope(select.node).sources if source.table]
    columns = list(call.find_all(exp.Column))
    if columns:
        found = {select.names.binding(column).source for column in columns}
        source = found.pop() if len(found) == 1 else None
        return source if source in sources else None
    # COUNT(*) names no column: only the question can tell which of the tables it counts.
    if not isinstance(call, exp.Count) or select.groups():
        return None
    asked = [_singular(words) for words in _ASKED.findall(select.question)]
    named = [
        source
        for source in sources
        if source.table and any(_singular(source.table.name) in words for words in asked)
    ]
    return named[0] if len(named) == 1 else None


def _singular(words: str) -> str:
    """The words in lower case without the endings of plurals, each between spaces."""
    parts = re.findall(r"[^\W_]+", words.lower())
    return f" {' '.join(re.sub('ies$', 'y', part).removesuffix('s') for part in parts)} "


def _groups_by(select: QuerySelect, call: exp.Expr, source: Source) -> bool:
    """Whether the query groups by a column of this table and counts the rows that the join adds to each group."""
    grouped = [select.names.binding(term).source for term in select.groups()]
    return source in grouped and not isinstance(call, exp.Sum)
