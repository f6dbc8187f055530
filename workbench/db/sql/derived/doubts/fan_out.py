"""A join repeats the rows of a table before they are counted, summed up or averaged.

COUNT(*) is doubted only if the question asks for the number of a table's rows and names the table.
"""

import re
from collections.abc import Iterator

from sqlglot import exp

from workbench.db.sql.derived.doubts.selects import Doubt, QuerySelect, numbered, selects, text
from workbench.db.sql.parse import is_aggregate
from workbench.db.sql.sources import Source
from workbench.types import Schema

_ASKED = re.compile(r"\b(?:how many|number of|count)\s+((?:\w+\s+){0,3}\w+)", re.IGNORECASE)


def fan_out(sql: str, schema: Schema, question: str = "") -> Iterator[Doubt]:
    """A doubt for each aggregate over one table of a join; its probe returns the table's rows that are repeated."""
    for select in selects(sql, schema):
        if not select.node.args.get("joins"):
            continue
        for call in select.own(exp.Count, exp.Sum, exp.Avg):
            source = _counted_table(select, call, question) if is_aggregate(call) else None
            if source is None or _groups_by(select, call, source):
                continue
            row = exp.column("rowid", source.name)
            columns = numbered("grouped", select.groups())
            inner = select.rebuilt(
                columns | {"number": row}, without=["group", "having", "distinct"]
            )
            yield Doubt(
                f"the join repeats rows of {source.name} before {text(call)}",
                select.probe(
                    {"audit_rows": inner},
                    "SELECT *, COUNT(*) AS times FROM audit_rows WHERE number IS NOT NULL"
                    f" GROUP BY {', '.join([*columns, 'number'])} HAVING COUNT(*) > 1",
                ),
            )


def _counted_table(select: QuerySelect, call: exp.Expr, question: str) -> Source | None:
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
    asked = [_singular(words) for words in _ASKED.findall(question)]
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
