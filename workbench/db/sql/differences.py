"""Compare two queries clause by clause: the parts that both have, and the parts that only one has.

Aliases are replaced, and columns are written with their table, so that queries which differ only in spelling have
no differences. The parts of subqueries are compared with those of the other query's subqueries.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from workbench.db.sql.parse import may_be_string, parse, result_column, with_compound
from workbench.db.sql.scope import Names
from workbench.types import Schema, lower_name


@dataclass(frozen=True, slots=True)
class Item:
    """A part of a clause: a result column, a table or a condition."""

    text: str
    shared: bool  # whether the other query has it in the same clause


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause as the two queries have it."""

    name: str
    nested: bool  # whether it belongs to subqueries
    first: tuple[Item, ...]
    second: tuple[Item, ...]

    @property
    def same(self) -> bool:
        """Whether both queries have the same parts, in SELECT and ORDER BY in the same order."""
        if self.name in _ORDERED:
            return self.first == self.second
        return all(item.shared for item in (*self.first, *self.second))

    @property
    def only_first(self) -> tuple[str, ...]:
        return tuple(item.text for item in self.first if not item.shared)

    @property
    def only_second(self) -> tuple[str, ...]:
        return tuple(item.text for item in self.second if not item.shared)


CLAUSES = (
    "SELECT", "DISTINCT", "FROM", "JOIN ON", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT",
    "SET OPERATION",
)  # fmt: skip
_ORDERED = {"SELECT", "ORDER BY"}


def differences(first: str, second: str, schema: Schema) -> tuple[Clause, ...]:
    """The clauses of both queries, in the order in which SQL writes them, subqueries last.

    Returns () if one of the queries cannot be read.
    """
    queries = [_query_parts(sql, schema) for sql in (first, second)]
    if not all(queries):
        return ()
    clauses = []
    for nested in (False, True):
        for name in CLAUSES:
            left, right = (
                [text for clause, inner, text in parts if (clause, inner) == (name, nested)]
                for parts in queries
            )
            if left or right:
                clauses.append(Clause(name, nested, _items(left, right), _items(right, left)))
    return tuple(clauses)


_Part = tuple[str, bool, str]  # its clause, whether that belongs to a subquery, and its text


def _items(texts: list[str], others: list[str]) -> tuple[Item, ...]:
    unmatched = Counter(others)
    items = []
    for text in texts:
        items.append(Item(text, unmatched[text] > 0))
        unmatched[text] -= 1
    return tuple(items)


def clauses(sql: str) -> tuple[tuple[str, str], ...]:
    """The parts of all clauses of a query, each after its clause's name; none if the query cannot be read."""
    return tuple((name, text) for name, _, text in _query_parts(sql, Schema("", ())))


def _query_parts(sql: str, schema: Schema) -> list[_Part]:
    """The parts of every SELECT's clauses; none if the query cannot be read."""
    tree = parse(sql)
    if isinstance(tree, str):
        return []
    try:
        tree = tree.copy()
        names = Names(tree, sql, schema)
        selects = list(tree.find_all(exp.Select))
        shown = {id(select): _shown(select, names) for select in selects}
        sources = {key: name for several in shown.values() for key, name in several.items()}
        # All names are looked up before the first change, since a changed tree has other nodes.
        for column, full in [(c, _full(c, names, sources, sql)) for c in tree.find_all(exp.Column)]:
            column.replace(full)
        for select in selects:
            _undo_aliases(select)
        parts = [part for select in selects for part in _clauses(select, shown[id(select)])]
        compounds = list(tree.find_all(exp.SetOperation))
    except RecursionError:
        return []
    return parts + [("SET OPERATION", _is_nested(node), _kind(node)) for node in compounds]


def _shown(select: exp.Select, names: Names) -> dict[int, str]:
    """The name shown for each node in FROM: its table's name, with a number if FROM has the table twice."""
    tables = {id(source.node): source.table for source in names.scope(select).sources}
    seen: Counter[str] = Counter()
    shown = {}
    for node, _ in _from(select):
        table = tables.get(id(node))
        name = table.name if table else node.name or node.alias or "(…)"
        seen[lower_name(name)] += 1
        again = seen[lower_name(name)]
        shown[id(node)] = f"{name} {again}" if again > 1 else name
    return shown


def _from(select: exp.Select) -> Iterator[tuple[exp.Expr, str]]:
    """The tables and subqueries in FROM, each with the side of its outer join."""
    if clause := select.args.get("from_"):
        yield clause.this, ""
    for join in select.args.get("joins") or ():
        yield join.this, join.side


def _full(column: exp.Column, names: Names, shown: dict[int, str], sql: str) -> exp.Expr:
    """The column with its table's name, both as the schema spells them."""
    bound = names.binding(column)
    if bound.is_alias:
        return column.copy()
    source = bound.source
    if source and id(source.node) in shown and (source.table or column.table or not source.name):
        spelled = bound.column[1] if source.table and bound.column else ""
        this = exp.to_identifier(spelled) if spelled else column.this.copy()
        return exp.Column(this=this, table=exp.to_identifier(shown[id(source.node)]))
    return exp.Literal.string(column.name) if may_be_string(column.this, sql) else column.copy()


def _undo_aliases(select: exp.Select) -> None:
    order, group, having = (select.args.get(key) for key in ("order", "group", "having"))
    terms = [ordered.this for ordered in order.expressions] if order else []
    terms += group.expressions if group else []
    terms += list(having.find_all(exp.Column)) if having else []
    for term in terms:
        if part := result_column(term, select):
            term.replace(part.unalias().copy())


def _clauses(select: exp.Select, shown: dict[int, str]) -> Iterator[_Part]:
    nested = _is_nested(select)
    for clause, node in _parts(select):
        yield clause, nested, _text(node)
    if select.args.get("distinct"):
        yield "DISTINCT", nested, "DISTINCT"
    for node, side in _from(select):
        yield "FROM", nested, f"{side} JOIN {shown[id(node)]}" if side else shown[id(node)]


def _parts(select: exp.Select) -> Iterator[tuple[str, exp.Expr]]:
    for part in select.expressions:
        yield "SELECT", part.unalias()
    joins = select.args.get("joins") or ()
    where = select.args.get("where")
    for root in [*(join.args.get("on") for join in joins), where and where.this]:
        for part in _all_conjuncts(root):
            # An equality of two columns joins, in WHERE as in ON: both spellings compare as the same join.
            joining = isinstance(part, exp.EQ) and all(
                isinstance(side, exp.Column) for side in (part.this, part.expression)
            )
            yield ("JOIN ON" if joining else "WHERE"), part
    for join in joins:
        for name in join.args.get("using") or ():
            yield "JOIN ON", name
    if group := select.args.get("group"):
        for part in group.expressions:
            yield "GROUP BY", part
    if having := select.args.get("having"):
        for part in _all_conjuncts(having.this):
            yield "HAVING", part
    whole = with_compound(select)
    if order := whole.args.get("order"):
        for part in order.expressions:
            yield "ORDER BY", part
    for key in ("limit", "offset"):
        if clause := whole.args.get(key):
            yield "LIMIT", clause


def _all_conjuncts(root: exp.Expr | None) -> Iterator[exp.Expr]:
    """The conditions that AND connects, in parentheses, too; none for a JOIN without ON."""
    if isinstance(root, exp.Paren):
        yield from _all_conjuncts(root.this)
    elif isinstance(root, exp.And):
        yield from _all_conjuncts(root.this)
        yield from _all_conjuncts(root.expression)
    elif root is not None and not isinstance(root, exp.Boolean):
        yield root


def _text(node: exp.Expr) -> str:
    """The expression as SQL on one line; (…) stands for a subquery, whose parts belong to its own clauses."""
    if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Column):
        sides = sorted(map(_text, (node.this, node.expression)))
        return " = ".join(sides)
    shown = node.transform(lambda n: exp.var("(…)") if isinstance(n, exp.Query) else n)
    return " ".join(shown.sql(dialect="sqlite", comments=False).split()).replace("((…))", "(…)")


def _is_nested(node: exp.Expr) -> bool:
    return node.find_ancestor(exp.Select, exp.CTE) is not None


def _kind(node: exp.SetOperation) -> str:
    return node.key.upper() + ("" if node.args.get("distinct", True) else " ALL")
