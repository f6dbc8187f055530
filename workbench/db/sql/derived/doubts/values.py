"""Doubts about numbers: text that is compared with them, and division that drops the remainder."""

from collections.abc import Iterator

from sqlglot import exp

from workbench.db.sql.derived.doubts.selects import Doubt, QuerySelect, of_each_select, text
from workbench.db.sql.parse import is_aggregate
from workbench.db.text.quoting import quote

_WHOLE = {exp.DType.INT, exp.DType.BIGINT, exp.DType.SMALLINT, exp.DType.TINYINT}
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
# Whether a text is written as a number, and whether nine tenths of a column's values are such texts.
_NUMBER = "LTRIM({0}, '-') GLOB '[0-9]*' AND LTRIM({0}, '-') NOT GLOB '*[^0-9.]*'"
_MOSTLY = "10 * SUM(typeof(value) = 'text' AND {0}) >= 9 * COUNT(value)"


@of_each_select
def text_numbers(select: QuerySelect) -> Iterator[Doubt]:
    """Doubt each comparison of text with numbers, and each ORDER BY, MIN and MAX of a column.

    As text, '9' is above '100', and the text '5' from a function is never equal to 5. The probe returns values that
    compare or sort as text in another way than as numbers.
    """
    for node in select.own(*_COMPARISONS, exp.Between, exp.In):
        pairs = [(node.this, node.expression), (node.expression, node.this)]
        if isinstance(node, exp.Between):
            pairs = [(node.this, node.args["low"])]
        if isinstance(node, exp.In):
            pairs = [(node.this, value) for value in node.expressions[:1]]
        for side, other in pairs:
            literal = _literal(other)
            if literal and side is not None and not _literal(side):
                yield from _compared(select, node, side, literal)
    yield from _ordered(select)


def _compared(
    select: QuerySelect, node: exp.Expr, side: exp.Expr, literal: exp.Literal
) -> Iterator[Doubt]:
    """A doubt whose probe returns values for which the comparison has another result than between numbers."""
    if any(is_aggregate(part) for part in side.walk()) or isinstance(side, exp.Query):
        return
    rows = {"audit_values": select.rebuilt(
        {"value": side, "holds": node, "as_numbers": _as_numbers(node)},
        without=["group", "having", "distinct"], true=node,
    )}  # fmt: skip
    if literal.is_string and not _is_number(literal.name):
        column = select.names.column_name(side)
        if column is None or not isinstance(side, exp.Column):
            return
        table, name = map(quote, column)
        kinds = f"SELECT 1 FROM {table} WHERE typeof({name}) IN ('text', 'blob')"
        test = f"typeof(value) IN ('integer', 'real') AND NOT EXISTS ({kinds})"
        what = f"{text(node)} compares numbers with a text"
    elif literal.is_string:
        test = "typeof(value) IN ('integer', 'real') AND holds IS NOT as_numbers"
        what = f"{text(node)} compares numbers with a text"
    else:
        test = f"typeof(value) = 'text' AND {_NUMBER.format('value')} AND holds IS NOT as_numbers"
        what = f"{text(node)} compares text with a number"
    query = f"SELECT DISTINCT value, holds, as_numbers FROM audit_values WHERE {test}"
    yield Doubt(what, select.probe(rows, query))


def _ordered(select: QuerySelect) -> Iterator[Doubt]:
    """Doubts about columns with numbers as text, whose extreme text is not the extreme number."""
    terms = [(term, "MAX" if down else "MIN") for term, down in select.orders()]
    terms += [
        (call.this, "MAX" if isinstance(call, exp.Max) else "MIN")
        for call in select.own(exp.Min, exp.Max)
        if is_aggregate(call)
    ]
    for term, extreme in terms:
        if not isinstance(term, exp.Column):
            continue
        rows = select.rebuilt({"value": term}, without=["group", "having", "distinct"])
        yield Doubt(
            f"{text(term)} orders numbers as text",
            select.probe(
                {"audit_values": rows},
                f"SELECT {extreme}(value) AS as_text, {extreme}(CAST(value AS REAL)) AS as_numbers"
                f" FROM audit_values HAVING {_MOSTLY.format(_NUMBER.format('value'))}"
                f" AND CAST({extreme}(value) AS REAL) <> {extreme}(CAST(value AS REAL))",
            ),
        )


def _as_numbers(node: exp.Expr) -> exp.Expr:
    """The comparison with both sides as numbers."""
    new = node.copy()
    for key in ("this", "expression", "low", "high"):
        if part := new.args.get(key):
            part.replace(_real(part))
    for part in new.expressions:
        part.replace(_real(part))
    return new


def _real(part: exp.Expr) -> exp.Expr:
    return exp.Cast(this=part.copy(), to=exp.DataType.build("REAL", dialect="sqlite"))


def _literal(node: exp.Expr | None) -> exp.Literal | None:
    while isinstance(node, exp.Paren | exp.Neg):
        node = node.this
    return node if isinstance(node, exp.Literal) else None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@of_each_select
def integer_division(select: QuerySelect) -> Iterator[Doubt]:
    """Doubt each division that may need its remainder: SQLite divides integers without it, and 1 / 2 is 0.

    The probe returns rows in which a remainder is dropped.
    """
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
