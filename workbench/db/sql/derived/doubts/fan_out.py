"""A join repeats the rows of a table before they are counted, summed up or averaged.

Without DISTINCT, COUNT(*) is doubted only where the question asks how many there are of a table that it names.
"""

import re
from collections.abc import Iterator

from sqlglot import exp

from workbench.db.sql.derived.doubts.selects import Doubt, Selected, numbered, selects, text
from workbench.db.sql.parse import is_aggregate
from workbench.db.sql.sources import Source
from workbench.types import Schema

_ASKED = re.compile(r"\b(?:how many|number of|count)\s+((?:\w+\s+){0,3}\w+)", re.IGNORECASE)


def fan_out(sql: str, schema: Schema, question: str = "") -> Iterator[Doubt]:
    """A doubt for each aggregate over one table of a join; rows of it that are there twice are the fault."""
    for one in selects(sql, schema):
        if not one.select.args.get("joins"):
            continue
        for call in one.own(exp.Count, exp.Sum, exp.Avg):
            source = _counted(one, call, question) if is_aggregate(call) else None
            if source is None or _is_by_its_rows(one, call, source):
                continue
            row = exp.column("rowid", source.name)
            columns = numbered("grouped", one.groups())
            inner = one.rebuilt(columns | {"number": row}, without=["group", "having", "distinct"])
            yield Doubt(
                f"the join repeats rows of {source.name} before {text(call)}",
                one.probe(
                    {"audit_rows": inner},
                    "SELECT *, COUNT(*) AS times FROM audit_rows WHERE number IS NOT NULL"
                    f" GROUP BY {', '.join([*columns, 'number'])} HAVING COUNT(*) > 1",
                ),
            )


def _counted(one: Selected, call: exp.Expr, question: str) -> Source | None:
    """The table whose rows the aggregate is about; None if there are several, or DISTINCT is there."""
    if call.find(exp.Distinct):
        return None
    sources = [source for source in one.names.scope(one.select).sources if source.table]
    columns = list(call.find_all(exp.Column))
    if columns:
        found = {one.names.binding(column).source for column in columns}
        about = found.pop() if len(found) == 1 else None
        return about if about in sources else None
    if not isinstance(call, exp.Count) or one.groups():
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


def _is_by_its_rows(one: Selected, call: exp.Expr, source: Source) -> bool:
    """Whether the groups are those of this table, so that a count is of the rows that the join adds to each."""
    grouped = [one.names.binding(term).source for term in one.groups()]
    return source in grouped and not isinstance(call, exp.Sum)
