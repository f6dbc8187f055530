"""The division of an integer by an integer, whose remainder SQLite drops: 1 / 2 is 0."""

from collections.abc import Iterator

from sqlglot import exp

from workbench.db.sql.derived.doubts.selects import Doubt, selects, text
from workbench.db.sql.parse import is_aggregate
from workbench.types import Schema

_WHOLE = {exp.DType.INT, exp.DType.BIGINT, exp.DType.SMALLINT, exp.DType.TINYINT}


def integer_division(sql: str, schema: Schema) -> Iterator[Doubt]:
    """A doubt for each division that is not meant to drop a remainder; rows in which it does are the fault."""
    for one in selects(sql, schema):
        for node in one.own(exp.Div):
            if _is_meant(node):
                continue
            columns = {"dividend": node.this, "divisor": node.expression, "quotient": node}
            if any(is_aggregate(part) for part in node.walk()):
                without = ["having"] if node.find_ancestor(exp.Having) else []
            else:
                without = ["group", "having"]
            inside_where = node.find_ancestor(exp.Where, exp.Select)
            without += ["where"] if isinstance(inside_where, exp.Where) else []
            yield Doubt(
                f"{text(node)} divides integers and drops the remainder",
                one.probe(
                    {"audit_division": one.rebuilt(columns, without=without)},
                    "SELECT *, dividend * 1.0 / divisor AS exactly FROM audit_division"
                    " WHERE typeof(dividend) = 'integer' AND typeof(divisor) = 'integer'"
                    " AND dividend % divisor <> 0",
                ),
            )


def _is_meant(node: exp.Expr) -> bool:
    """Whether a whole number is wanted: CAST(a / 10 AS INTEGER), or a / 10 * 10."""
    around = node.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    if isinstance(around, exp.Cast):
        return around.to.this in _WHOLE
    return isinstance(around, exp.Mul) and around.expression == node.expression
