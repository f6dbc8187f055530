"""Two queries side by side: the parts of their clauses in the order in which they are written, equal ones in a row."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp, tokenize
from sqlglot.errors import SqlglotError

from workbench.sql.reading import parse
from workbench.types import Schema, lower_name

_ORDER = ("WITH", "SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "UNION")
_Row = tuple["Line | None", "Line | None", bool]
_Part = Callable[[str, str, exp.Expr], Iterator["Line"]]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A part of a clause: a result column, a table with its join, a condition.

    `says` is the same for parts that mean the same: columns have their tables and no aliases, an equation has its sides
    in one order. `depth` counts the queries around it, `indent` the characters before it.
    """

    clause: str
    depth: int
    indent: int
    text: str
    says: str

    @property
    def words(self) -> list[str]:
        """The tokens, with the blanks between them."""
        words: list[str] = []
        end = 0
        for token in tokenize(self.text, read="sqlite"):
            words += [self.text[end : token.start], self.text[token.start : token.end + 1]]
            end = token.end + 1
        return [word for word in [*words, self.text[end:]] if word]


def aligned(first: str, second: str, schema: Schema) -> list[_Row]:
    """Rows of (part of the first query, part of the second, whether they say the same); [] if one cannot be read.

    Equal parts of a clause stand in a row wherever the clause has them, then the others beside each other. A part that
    only one query has stands beside None.
    """
    try:
        left, right = ([*_lines(sql, schema)] for sql in (first, second))
    except (SqlglotError, RecursionError):
        return []
    if not left or not right:
        return []
    tables = [{line.says for line in lines if line.clause == "FROM"} for lines in (left, right)]

    def same(a: Line, b: Line) -> bool:
        swapped = a.clause == "FROM" and a.text[:5] == b.text[:5] == "FROM "
        reads = f"reads {a.says}" in tables[1] and f"reads {b.says}" in tables[0]
        return a.says == b.says or (swapped and reads)

    rows: list[_Row] = [(line, None, False) for line in left if line.text]
    rest = [line for line in right if line.text]
    for only_same in (True, False):
        for at, (line, twin, _) in enumerate(rows):
            if not line or twin:
                continue
            place = (line.clause, line.depth)
            near = [
                x for x in rest if (x.clause, x.depth) == place and (not only_same or same(line, x))
            ]
            if near:
                rows[at] = (line, near[0], only_same)
                rest.remove(near[0])
    for before, line in zip([None, *right], right, strict=False):
        if line in rest:  # what only the second query has stands where that query has it
            at = next((n + 1 for n, row in enumerate(rows) if before and row[1] is before), 0)
            while at < len(rows) and not rows[at][1] and _place(rows[at][0]) <= _place(line):
                at += 1
            rows.insert(at, (None, line, False))
    return rows


def _place(line: Line | None) -> tuple[int, int]:
    return (line.depth, _ORDER.index(line.clause)) if line else (0, 0)


def _lines(sql: str, schema: Schema) -> Iterator[Line]:
    """The parts of a query in the order in which it writes them; none if it cannot be read.

    The tables of each FROM follow as lines "reads TABLE".
    """
    tree = parse(sql)
    if isinstance(tree, str):
        return
    tree, plain = tree.copy(), tree.copy()
    twin = {id(a): b for a, b in zip(tree.walk(), plain.walk(), strict=True)}
    named = {id(c): _table_of(c, schema) for c in plain.find_all(exp.Column)}
    for column in list(plain.find_all(exp.Column)):
        column.set("table", exp.to_identifier(named[id(column)]))
        column.set("this", exp.to_identifier(lower_name(column.name)))
    yield from _query(tree, 0, twin)
    for node in tree.find_all(exp.Table):
        yield Line("FROM", 0, 0, "", f"reads {lower_name(node.name)}")


def _table_of(column: exp.Column, schema: Schema) -> str | None:
    """The table that an alias stands for, or that has a column of this name; None if no SELECT around reads it."""
    select = column.parent_select
    alias = lower_name(column.table)
    while isinstance(select, exp.Select):
        nodes = [join.this for join in select.args.get("joins") or ()]
        nodes += [clause.this] if (clause := select.args.get("from_")) else []
        for node in (one for one in nodes if isinstance(one, exp.Table)):
            has = schema.column(node.name, column.name) is not None
            if lower_name(node.alias_or_name) == alias or (not alias and has):
                return lower_name(node.name)
        select = select.parent_select
    return alias or None


def _query(node: exp.Expr, depth: int, twin: dict[int, exp.Expr]) -> Iterator[Line]:
    """The parts of a query, each followed by those of the subqueries in it."""
    if isinstance(node, exp.SetOperation):
        yield from _query(node.this, depth, twin)
        kind = node.key.upper() + ("" if node.args.get("distinct", True) else " ALL")
        yield Line("UNION", depth, 0, kind, kind)
        yield from _query(node.expression, depth, twin)
    elif isinstance(node, exp.Subquery | exp.Paren):
        yield from _query(node.this, depth, twin)
        return

    def part(clause: str, before: str, of: exp.Expr) -> Iterator[Line]:
        indent = 0 if before.startswith(clause) or clause in {"FROM", "LIMIT"} else len(clause) + 1
        indent -= len(before) if before == "AND " else 0  # AND stands below WHERE's last letters
        yield Line(clause, depth, max(indent, 0), before + _written(of), _meant(twin[id(of)]))
        for inner in of.find_all(exp.Select, exp.SetOperation):
            if not isinstance(inner.parent, exp.SetOperation) and inner.parent_select is node:
                yield from _query(inner, depth + 1, twin)

    for cte in (node.args.get("with_") or exp.With()).expressions:
        yield Line("WITH", depth, 0, f"WITH {cte.alias} AS", f"with {lower_name(cte.alias)}")
        yield from _query(cte.this, depth + 1, twin)
    if isinstance(node, exp.Select):
        distinct = "DISTINCT " if node.args.get("distinct") else ""
        for n, one in enumerate(node.expressions):
            line, *inner = part("SELECT", "" if n else f"SELECT {distinct}", one)
            comma = "," if n + 1 < len(node.expressions) else ""
            says = ("" if n else distinct) + line.says
            yield replace(line, text=line.text + comma, says=says)
            yield from inner
        if clause := node.args.get("from_"):
            yield from part("FROM", "FROM ", clause.this)
        for join in node.args.get("joins") or ():
            yield from part("FROM", "", join)
    for key, clause in (
        ("where", "WHERE"),
        ("group", "GROUP BY"),
        ("having", "HAVING"),
        ("order", "ORDER BY"),
    ):
        if found := node.args.get(key):
            yield from _each(found, clause, part)
    for key in ("limit", "offset"):
        if found := node.args.get(key):
            yield from part("LIMIT", "", found)


def _each(found: exp.Expr, clause: str, part: _Part) -> Iterator[Line]:
    """The conditions that AND connects, or the expressions of a list, one a line."""
    whole = found.this
    ands = list(whole.flatten()) if isinstance(whole, exp.And) else [whole]
    for n, one in enumerate(ands if clause in {"WHERE", "HAVING"} else found.expressions):
        follows = "AND " if clause in {"WHERE", "HAVING"} else ""
        yield from part(clause, follows if n else f"{clause} ", one)


def _written(node: exp.Expr) -> str:
    """The part as the query writes it, on one line; (…) stands for a subquery, whose parts follow."""
    return " ".join(_folded(node).sql("sqlite", comments=False).split()).replace("((…))", "(…)")


def _folded(node: exp.Expr) -> exp.Expr:
    return node.transform(lambda n: exp.var("(…)") if isinstance(n, exp.Query) else n)


def _meant(node: exp.Expr) -> str:
    """What the part says, see `Line`. A join says its conditions, and its table only if it has none."""
    if isinstance(node, exp.Join):
        on = node.args.get("on")
        ands = on.flatten() if isinstance(on, exp.And) else [on]
        says = sorted(_meant(one) for one in ands if one) or [_meant(node.this)]
        return f"{node.side} {' and '.join(says)}"
    if isinstance(node, exp.Table):
        return lower_name(node.name)
    node = _folded(node.unalias())
    for equal in list(node.find_all(exp.EQ)):
        ends = sorted((equal.this, equal.expression), key=lambda end: str(end.sql("sqlite")))
        equal.set("this", ends[0])
        equal.set("expression", ends[1])
    return str(node.sql("sqlite", comments=False))
