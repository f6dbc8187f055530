"""The division of an integer by an integer, whose remainder SQLite drops: 1 / 2 is 0."""

from collections.abc import Iterator

from sqlglot import exp

from workbench.db.sql.derived.doubts.selects import Doubt, selects, text
from workbench.db.sql.parse import is_aggregate
from workbench.types import Schema

_WHOLE = {exp.DType.INT, exp.DType.BIGINT, exp.DType.SMALLINT, exp.DType.TINYINT}


def integer_division(sql: str, schema: Schema) -> Iterator[Doubt]:
    """A doubt for each division that may need its remainder; its probe returns rows in which a remainder is dropped."""
    for select in selects(sql, schema):
        for node in select.own(exp.Div):
            if _wants_whole_number(node):
                continue
            columns = {"dividend": node.this, "divisor": node.expression, "quotient": node}
            if any(is_aggregate(part) for part in node.walk()):
                without = ["having"] if node.find_ancestor(exp.Having) else []
            else:
                without = ["group", "having"]
            # A condition with the division in it would hide the rows for which the dropped remainder makes it false.
            inside_where = node.find_ancestor(exp.Where, exp.Select)
            without += ["where"] if isinstance(inside_where, exp.Where) else []
            yield Doubt(
                f"{text(node)} divides integers and drops the remainder",
                select.probe(
                    {"audit_division": select.rebuilt(columns, without=without)},
                    "SELECT *, dividend * 1.0 / divisor AS exactly FROM audit_division"
                    " WHERE typeof(dividend) = 'integer' AND typeof(divisor) = 'integer'"
                    " AND dividend % divisor <> 0",
                ),
            )


def _wants_whole_number(node: exp.Expr) -> bool:
    """Whether the query wants the whole number, as in CAST(a / 10 AS INTEGER) and a / 10 * 10."""
    outer = node.parent
    while isinstance(outer, exp.Paren):
        outer = outer.parent
    if isinstance(outer, exp.Cast):
        return outer.to.this in _WHOLE
    return isinstance(outer, exp.Mul) and outer.expression == node.expression
