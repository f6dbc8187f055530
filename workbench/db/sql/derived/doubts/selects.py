"""The SELECTs of a query, and new queries from the same tables and conditions with other result columns."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlglot import exp

from workbench.db.sql.parse import at_position, is_aggregate, parse
from workbench.db.sql.scope import Names
from workbench.types import Schema, lower_name

ROWS = 5  # that a probe returns at most


@dataclass(frozen=True, slots=True)
class Doubt:
    """A possible fault of a query. Its probe is a query on the same database; rows of the probe prove the fault."""

    what: str
    probe: str


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """A SELECT of a query. Its probes run by themselves, so they fail for a SELECT that needs the query around it."""

    select: exp.Select
    names: Names
    ctes: tuple[exp.CTE, ...]
    """The common table expressions of the whole query."""
    outermost: bool

    def own(self, *kinds: type[exp.Expr]) -> list[exp.Expr]:
        """The nodes of these kinds, without those of subqueries."""
        nodes = self.select.walk(prune=self._is_inner)
        return [node for node in nodes if isinstance(node, kinds) and not self._is_inner(node)]

    def _is_inner(self, node: exp.Expr) -> bool:
        return node is not self.select and isinstance(node, exp.Query)

    def outputs(self) -> list[exp.Expr]:
        """The result columns without their aliases, `*` as the columns that it stands for; [] if those are unknown."""
        found: list[exp.Expr] = []
        for part in self.select.expressions:
            if not (isinstance(part, exp.Star | exp.Column) and part.is_star):
                found.append(part.unalias())
                continue
            for source in self.names.starred(part, self.names.scope(self.select)):
                if source.columns is None:
                    return []
                found += [exp.column(name, source.name, quoted=True) for name in source.columns]
        return found

    def groups(self) -> list[exp.Expr]:
        """The terms of GROUP BY, an alias or a position as the result column that it names."""
        group = self.select.args.get("group")
        return [self.resolved(term) for term in group.expressions] if group else []

    def orders(self) -> list[tuple[exp.Expr, bool]]:
        """The terms of ORDER BY, resolved like those of GROUP BY, and whether each is descending."""
        order = self.select.args.get("order")
        terms = order.expressions if order else []
        return [(self.resolved(term.this), bool(term.args.get("desc"))) for term in terms]

    def resolved(self, term: exp.Expr) -> exp.Expr:
        """The result column that an alias or a position names, else the term itself."""
        if result := at_position(term, self.select):
            return result.unalias()
        parts: list[exp.Expr] = self.select.expressions
        if isinstance(term, exp.Column) and not term.table and self.names.binding(term).is_alias:
            for part in parts:
                if lower_name(part.alias) == lower_name(term.name):
                    return part.unalias()
        return term

    def limits(self) -> tuple[int, int] | None:
        """LIMIT and OFFSET where they are numbers; None without a LIMIT."""
        limit, offset = (self.select.args.get(key) for key in ("limit", "offset"))
        numbers = [clause.expression.name if clause else "0" for clause in (limit, offset)]
        if limit is None or not all(number.isdigit() for number in numbers):
            return None
        return int(numbers[0]), int(numbers[1])

    def is_grouped(self) -> bool:
        """Whether a row of the result stands for several rows of the tables."""
        return bool(self.select.args.get("group")) or any(map(is_aggregate, self.own(exp.Expr)))

    def rebuilt(
        self,
        columns: dict[str, exp.Expr],
        without: Collection[str] = (),
        true: exp.Expr | None = None,
    ) -> str:
        """The SELECT with these named result columns, and without ORDER BY, LIMIT and the clauses named.

        `true` is a condition that is taken to hold.
        """
        new = self.select.copy()
        grouped = self.own(exp.Group)
        terms = [term for group in grouped for term in group.expressions]
        own = set(map(id, [*self.own(exp.Column), *terms]))
        for old, node in list(zip(self.select.walk(), new.walk(), strict=True)):
            if old is true:
                node.replace(exp.Literal.number(1))
            elif id(old) in own and (meant := self.resolved(old)) is not old:
                # An alias or a position names a result column that the new query does not have.
                node.replace(meant.copy())
        for clause in ("order", "limit", "offset", "with_", *without):
            new.set(clause, None)
        named = [exp.alias_(node.copy(), name, quoted=True) for name, node in columns.items()]
        new.set("expressions", named)
        return text(new)

    def probe(self, steps: dict[str, str], query: str) -> str:
        """A query that sees the common table expressions of the whole query, and the steps by their names."""
        clauses = [text(cte) for cte in self.ctes]
        clauses += [f"{name} AS ({step})" for name, step in steps.items()]
        return f"WITH {', '.join(clauses)} {query} LIMIT {ROWS}"


def selects(sql: str, schema: Schema) -> Iterator[Selected]:
    """Every SELECT of the query; none if it cannot be read."""
    tree = parse(sql)
    if isinstance(tree, str):
        return
    try:
        names = Names(tree, sql, schema)
    except RecursionError:
        return
    clause = tree.args.get("with_")
    ctes = tuple(clause.expressions) if clause and not clause.args.get("recursive") else ()
    for select in tree.find_all(exp.Select):
        yield Selected(select, names, ctes, outermost=select is tree)


def text(node: exp.Expr) -> str:
    """The SQL of a node."""
    return node.sql(dialect="sqlite", comments=False)


def numbered(letter: str, nodes: list[exp.Expr]) -> dict[str, exp.Expr]:
    """The nodes under names such as `c1`, `c2`."""
    return {f"{letter}{n}": node for n, node in enumerate(nodes, 1)}
