"""Two queries clause by clause: what both say, and what only one of them does.

Aliases are undone, and columns written with their table, so that queries which differ in spelling only have
no differences. What stands in a subquery is compared with what stands in the other query's subqueries.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from workbench.db.sql.parse import may_be_string, parse
from workbench.types import Schema, Table, fold


@dataclass(frozen=True, slots=True)
class Item:
    """A result column, a table, a condition...; `shared` where the other query has it in the same clause."""

    text: str
    shared: bool


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause in both queries. `nested` says that it stands in a subquery."""

    name: str
    nested: bool
    first: tuple[Item, ...]
    second: tuple[Item, ...]

    @property
    def same(self) -> bool:
        """Does it say the same in both, in the same order where order counts?"""
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
    "SELECT",
    "DISTINCT",
    "FROM",
    "JOIN ON",
    "WHERE",
    "GROUP BY",
    "HAVING",
    "ORDER BY",
    "LIMIT",
    "SET OPERATION",
)
_ORDERED = {"SELECT", "ORDER BY"}


def differences(first: str, second: str, schema: Schema) -> tuple[Clause, ...]:
    """The clauses that either query has, in the order in which SQL writes them, subqueries last.

    () where one of them cannot be read.
    """
    said = [_said(sql, schema) for sql in (first, second)]
    if not all(said):
        return ()
    clauses = []
    for nested in (False, True):
        for name in CLAUSES:
            one, other = (
                [text for clause, inner, text in query if (clause, inner) == (name, nested)]
                for query in said
            )
            if one or other:
                clauses.append(Clause(name, nested, _items(one, other), _items(other, one)))
    return tuple(clauses)


_Said = tuple[str, bool, str]  # the clause, whether it stands in a subquery, and what it says
_Source = tuple[str, str, Table | None]  # a name in FROM, the name shown for it, and the table


def _items(texts: list[str], others: list[str]) -> tuple[Item, ...]:
    left = Counter(others)
    items = []
    for text in texts:
        items.append(Item(text, left[text] > 0))
        left[text] -= 1
    return tuple(items)


def _said(sql: str, schema: Schema) -> list[_Said]:
    """What each clause of each SELECT says."""
    tree = parse(sql)
    if isinstance(tree, str):
        return []
    try:
        tree = tree.copy()
        selects = list(tree.find_all(exp.Select))
        sources = {id(select): list(_sources(select, schema)) for select in selects}
        # A name is looked up among names that have not been changed yet: all first, then the changes.
        for column, full in [(c, _full(c, sources, sql)) for c in tree.find_all(exp.Column)]:
            column.replace(full)
        for select in selects:
            _undo_aliases(select)
        said = [line for select in selects for line in _clauses(select, sources[id(select)])]
        compounds = list(tree.find_all(exp.SetOperation))
    except RecursionError:
        return []
    return said + [("SET OPERATION", _is_nested(node), _kind(node)) for node in compounds]


def _sources(select: exp.Select, schema: Schema) -> Iterator[_Source]:
    seen: Counter[str] = Counter()
    for node, _ in _from(select):
        table = schema.table(node.name) if isinstance(node, exp.Table) else None
        shown = table.name if table else node.name or node.alias or "(…)"
        seen[fold(shown)] += 1
        again = seen[fold(shown)]
        yield fold(node.alias_or_name), f"{shown} {again}" if again > 1 else shown, table


def _from(select: exp.Select) -> Iterator[tuple[exp.Expr, str]]:
    """What stands in FROM, with the side of an outer join."""
    if clause := select.args.get("from_"):
        yield clause.this, ""
    for join in select.args.get("joins") or ():
        yield join.this, join.side


def _full(column: exp.Column, sources: dict[int, list[_Source]], sql: str) -> exp.Expr:
    """The column with its table's name, both as the schema spells them."""
    select = column.find_ancestor(exp.Select)
    if isinstance(column.parent, exp.Ordered) and select and _aliased(column, select):
        return column.copy()
    while select is not None:
        for name, shown, table in sources[id(select)]:
            known = table and next(
                (c for c in table.columns if fold(c.name) == fold(column.name)), None
            )
            if fold(column.table) == name or (known and not column.table):
                this = exp.to_identifier(known.name) if known else column.this.copy()
                return exp.Column(this=this, table=exp.to_identifier(shown))
        select = select.find_ancestor(exp.Select)
    return exp.Literal.string(column.name) if may_be_string(column.this, sql) else column.copy()


def _aliased(node: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """The result column that a name or a number in ORDER BY or GROUP BY stands for."""
    if isinstance(node, exp.Literal) and node.name.isdigit():
        return next(iter(select.expressions[int(node.name) - 1 : int(node.name)]), None)
    if isinstance(node, exp.Column) and not node.table:
        return next(
            (part for part in select.expressions if fold(part.alias) == fold(node.name)), None
        )
    return None


def _undo_aliases(select: exp.Select) -> None:
    order, group, having = (select.args.get(key) for key in ("order", "group", "having"))
    terms = [ordered.this for ordered in order.expressions] if order else []
    terms += group.expressions if group else []
    terms += list(having.find_all(exp.Column)) if having else []
    for term in terms:
        if part := _aliased(term, select):
            term.replace(part.unalias().copy())


def _clauses(select: exp.Select, sources: list[_Source]) -> Iterator[_Said]:
    nested = _is_nested(select)
    for clause, node in _parts(select):
        yield clause, nested, _text(node)
    if select.args.get("distinct"):
        yield "DISTINCT", nested, "DISTINCT"
    for (_, shown, _), (_, side) in zip(sources, _from(select), strict=True):
        yield "FROM", nested, f"{side} JOIN {shown}".strip() if side else shown


def _parts(select: exp.Select) -> Iterator[tuple[str, exp.Expr]]:
    for part in select.expressions:
        yield "SELECT", part.unalias()
    joins = select.args.get("joins") or ()
    where = select.args.get("where")
    for root in [*(join.args.get("on") for join in joins), where and where.this]:
        for part in _conjuncts(root):
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
        for part in _conjuncts(having.this):
            yield "HAVING", part
    whole: exp.Expr = select  # of a compound, its first SELECT stands for the whole
    while isinstance(whole.parent, exp.SetOperation) and whole.arg_key == "this":
        whole = whole.parent
    if order := whole.args.get("order"):
        for part in order.expressions:
            yield "ORDER BY", part
    for key in ("limit", "offset"):
        if clause := whole.args.get(key):
            yield "LIMIT", clause


def _conjuncts(root: exp.Expr | None) -> Iterator[exp.Expr]:
    if isinstance(root, exp.Paren):
        yield from _conjuncts(root.this)
    elif isinstance(root, exp.And):
        yield from _conjuncts(root.this)
        yield from _conjuncts(root.expression)
    elif root is not None and not isinstance(root, exp.Boolean):
        yield root


def _text(node: exp.Expr) -> str:
    """The expression as SQL on one line, subqueries left to their own clauses."""
    if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Column):
        sides = sorted(map(_text, (node.this, node.expression)))
        return " = ".join(sides)
    shown = node.transform(lambda n: exp.var("(…)") if isinstance(n, exp.Query) else n)
    return " ".join(shown.sql(dialect="sqlite", comments=False).split()).replace("((…))", "(…)")


def _is_nested(node: exp.Expr) -> bool:
    return node.find_ancestor(exp.Select, exp.CTE) is not None


def _kind(node: exp.SetOperation) -> str:
    return node.key.upper() + ("" if node.args.get("distinct", True) else " ALL")
