"""The SELECTs of a query, and probes: queries with the same tables and conditions but other result columns."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import wraps

from sqlglot import exp

from workbench.db.sql.parse import is_aggregate, parse, result_column
from workbench.db.sql.scope import Names
from workbench.types import Question, Schema

ROWS = 5  # the most rows that a probe returns


@dataclass(frozen=True, slots=True)
class Doubt:
    """A possible fault of a query; the probe is a query on the same database whose rows prove the fault."""

    what: str
    probe: str


Check = Callable[[Question, str, Schema], Iterator[Doubt]]
"""Doubts about a question's query."""


@dataclass(frozen=True, slots=True, eq=False)
class QuerySelect:
    """A SELECT of a query. Its probes run without the outer query, so the probes of a correlated subquery fail."""

    node: exp.Select
    names: Names
    ctes: tuple[exp.CTE, ...]
    """The common table expressions of the whole query."""
    outermost: bool
    question: str

    def own(self, *kinds: type[exp.Expr]) -> list[exp.Expr]:
        """The nodes of these kinds, without those of subqueries."""
        nodes = self.node.walk(prune=self._is_inner)
        return [node for node in nodes if isinstance(node, kinds) and not self._is_inner(node)]

    def _is_inner(self, node: exp.Expr) -> bool:
        return node is not self.node and isinstance(node, exp.Query)

    def outputs(self) -> list[exp.Expr]:
        """The result columns without their aliases; `*` is replaced by its columns. [] if these are unknown."""
        found: list[exp.Expr] = []
        for part in self.node.expressions:
            if not (isinstance(part, exp.Star | exp.Column) and part.is_star):
                found.append(part.unalias())
                continue
            for source in self.names.starred(part, self.names.scope(self.node)):
                if source.columns is None:
                    return []
                found += [exp.column(name, source.name, quoted=True) for name in source.columns]
        return found

    def groups(self) -> list[exp.Expr]:
        """The terms of GROUP BY; aliases and positions are replaced by the result columns that they name."""
        group = self.node.args.get("group")
        return [self.resolved(term) for term in group.expressions] if group else []

    def orders(self) -> list[tuple[exp.Expr, bool]]:
        """The terms of ORDER BY, resolved like those of GROUP BY, and whether each is descending."""
        order = self.node.args.get("order")
        terms = order.expressions if order else []
        return [(self.resolved(term.this), bool(term.args.get("desc"))) for term in terms]

    def resolved(self, term: exp.Expr) -> exp.Expr:
        """The result column that an alias or a position names, else the term itself."""
        is_name = isinstance(term, exp.Column) and not term.table
        if is_name and not self.names.binding(term).is_alias:
            return term
        result = result_column(term, self.node)
        return result.unalias() if result else term

    def limits(self) -> tuple[int, int] | None:
        """LIMIT and OFFSET; None without a LIMIT, or if one of them is no plain number."""
        limit, offset = (self.node.args.get(key) for key in ("limit", "offset"))
        numbers = [clause.expression.name if clause else "0" for clause in (limit, offset)]
        if limit is None or not all(number.isdigit() for number in numbers):
            return None
        return int(numbers[0]), int(numbers[1])

    def is_grouped(self) -> bool:
        """Whether a row of the result stands for several rows of the tables."""
        return bool(self.node.args.get("group")) or any(map(is_aggregate, self.own(exp.Expr)))

    def rebuilt(
        self,
        columns: dict[str, exp.Expr],
        without: Collection[str] = (),
        true: exp.Expr | None = None,
    ) -> str:
        """The SELECT with these named result columns, without ORDER BY, LIMIT and the clauses in `without`.

        The condition `true` is replaced by 1.
        """
        new = self.node.copy()
        grouped = self.own(exp.Group)
        terms = [term for group in grouped for term in group.expressions]
        own = set(map(id, [*self.own(exp.Column), *terms]))
        for old, node in list(zip(self.node.walk(), new.walk(), strict=True)):
            if old is true:
                node.replace(exp.Literal.number(1))
            elif id(old) in own and (column := self.resolved(old)) is not old:
                # The new query lacks the result column that an alias or a position names.
                node.replace(column.copy())
        for clause in ("order", "limit", "offset", "with_", *without):
            new.set(clause, None)
        named = [exp.alias_(node.copy(), name, quoted=True) for name, node in columns.items()]
        new.set("expressions", named)
        return text(new)

    def probe(self, steps: dict[str, str], query: str) -> str:
        """The query, after common table expressions: those of the whole query, and `steps` by their names."""
        clauses = [text(cte) for cte in self.ctes]
        clauses += [f"{name} AS ({step})" for name, step in steps.items()]
        return f"WITH {', '.join(clauses)} {query} LIMIT {ROWS}"


def of_each_select(doubts: Callable[[QuerySelect], Iterator[Doubt]]) -> Check:
    """A check that yields the doubts about every SELECT of a query; none if it cannot be read."""

    @wraps(doubts)
    def check(question: Question, sql: str, schema: Schema) -> Iterator[Doubt]:
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
            yield from doubts(QuerySelect(select, names, ctes, select is tree, question.text))

    return check


def text(node: exp.Expr) -> str:
    """The SQL of a node."""
    return node.sql(dialect="sqlite", comments=False)


def numbered(prefix: str, nodes: list[exp.Expr]) -> dict[str, exp.Expr]:
    """The nodes under the names `prefix` and a number, such as key1 and key2."""
    return {f"{prefix}{n}": node for n, node in enumerate(nodes, 1)}
