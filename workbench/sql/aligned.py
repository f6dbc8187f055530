"""Two queries side by side: the parts of their clauses in the order in which they are written, equal ones in a row."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

from sqlglot import exp, tokenize
from sqlglot.errors import SqlglotError

from workbench.sql.reading import ColumnName, parse, place, resolved
from workbench.types import Schema, lower_name

_ORDER = ("WITH", "SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "UNION")
CLAUSES = ("SELECT", "DISTINCT", "FROM", "JOIN ON", *_ORDER[3:])
_Row = tuple["Line | None", "Line | None", bool]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A part of a clause: a result column, a table with its join, a condition.

    `depth` counts the queries around it, `indent` the characters before it. `means` has what it says by clause, the
    same for parts that mean the same: columns have their tables and no aliases, an equation has its sides in one order.
    """

    clause: str
    depth: int
    indent: int
    text: str
    means: tuple[tuple[str, str], ...]

    @property
    def words(self) -> list[str]:
        """The tokens, with the blanks between them."""
        words: list[str] = []
        end = 0
        for token in tokenize(self.text, read="sqlite"):
            words += [self.text[end : token.start], self.text[token.start : token.end + 1]]
            end = token.end + 1
        return [word for word in [*words, self.text[end:]] if word]

    @property
    def says(self) -> list[tuple[str, str]]:
        """The key that parts of one row share: of joins their side and conditions, whichever table stands first."""
        joins = sorted(part for part in self.means if part[0] == "JOIN ON")
        side = self.means[0][1].rpartition(" JOIN ")[0]
        return [*joins, ("side", side)] if joins and self.clause == "FROM" else [*self.means]


def aligned(first: str, second: str, schema: Schema) -> list[_Row]:
    """Rows of (part of the first query, part of the second, whether they say the same); [] if one cannot be read.

    Equal parts of a clause stand in a row wherever the clause has them, then the others beside each other. A part that
    only one query has stands beside None.
    """
    left, right = (_lines(sql, schema) for sql in (first, second))
    if not left or not right:
        return []
    rows: list[_Row] = [(line, None, False) for line in left]
    rest = [*right]
    tables = [{part for line in lines for part in line.means if part[0] == "FROM"} for lines in (left, right)]  # fmt: skip
    swapped = tables[0] == tables[1]
    for only_same in (True, False):
        for at, (line, twin, _) in enumerate(rows):
            if not line or twin:
                continue
            for other in rest:
                first_table = swapped and line.text[:5] == other.text[:5] == "FROM "
                if (line.clause, line.depth) == (other.clause, other.depth) and (
                    not only_same or line.says == other.says or first_table
                ):
                    rows[at] = (line, other, only_same)
                    rest.remove(other)
                    break
    for before, line in zip([None, *right], right, strict=False):
        if line in rest:  # what only the second query has stands where that query has it
            at = next((n + 1 for n, row in enumerate(rows) if before and row[1] is before), 0)
            while at < len(rows) and not rows[at][1] and _place(rows[at][0]) <= _place(line):
                at += 1
            rows.insert(at, (None, line, False))
    return rows


def _place(line: Line | None) -> tuple[int, int]:
    return (line.depth, _ORDER.index(line.clause)) if line else (0, 0)


@dataclass(frozen=True, slots=True)
class Clause:
    """The result columns, tables or conditions that one of two queries has in a clause; `nested` in its subqueries."""

    name: str
    nested: bool
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


def differences(first: str, second: str, schema: Schema) -> tuple[Clause, ...]:
    """The clauses that differ, in the order in which SQL writes them, subqueries last; () if one cannot be read."""
    queries = [_lines(sql, schema) for sql in (first, second)]
    ours, theirs = (
        Counter((line.depth > 0, *part) for line in lines for part in line.means)
        for lines in queries
    )
    found = []
    for nested, name in product((False, True), CLAUSES if all(queries) else ()):
        only = [
            tuple(text for *where, text in one.elements() if where == [nested, name])
            for one in (ours - theirs, theirs - ours)
        ]
        if any(only):
            found.append(Clause(name, nested, *only))
    return tuple(found)


def _lines(sql: str, schema: Schema) -> list[Line]:
    """The parts of a query in the order in which it writes them; none if it cannot be read."""
    tree = parse(sql)
    found = resolved(sql, schema)
    try:
        if found and not isinstance(tree, str):
            return [*_query(tree, 0, partial(_meant, columns=found.columns))]
    except (SqlglotError, RecursionError):
        pass
    return []


def _query(node: exp.Expr, depth: int, meant: Callable[..., exp.Expr]) -> Iterator[Line]:
    """The parts of a query, each followed by those of the subqueries in it."""
    if isinstance(node, exp.SetOperation):
        yield from _query(node.this, depth, meant)
        kind = node.key.upper() + ("" if node.args.get("distinct", True) else " ALL")
        yield Line("UNION", depth, 0, kind, (("UNION", kind),))
        yield from _query(node.expression, depth, meant)
    elif isinstance(node, exp.Subquery | exp.Paren):
        yield from _query(node.this, depth, meant)
        return
    named = {one.alias_or_name: one.unalias() for one in node.expressions}
    tables: Counter[str] = Counter()

    def part(clause: str, word: str, of: exp.Expr, end: str = "") -> Iterator[Line]:
        indent = 0 if word.startswith(clause) or clause in {"FROM", "LIMIT"} else len(clause) + 1
        indent -= len(word) if word == "AND " else 0  # AND stands below WHERE's last letters
        means = list(_means(clause, of, partial(meant, named=named if clause != "SELECT" else {})))
        if clause == "FROM":  # the second use of a table in one FROM is "table 2"
            tables[name := means[0][1]] += 1
            means[0] = ("FROM", name if tables[name] == 1 else f"{name} {tables[name]}")
        if "DISTINCT" in word:
            means.insert(0, ("DISTINCT", "DISTINCT"))
        yield Line(clause, depth, max(indent, 0), word + _written(of) + end, tuple(means))
        for inner in of.find_all(exp.Select, exp.SetOperation):
            if not isinstance(inner.parent, exp.SetOperation) and inner.parent_select is node:
                yield from _query(inner, depth + 1, meant)

    for cte in (node.args.get("with_") or exp.With()).expressions:
        says = (("WITH", lower_name(cte.alias)),)
        yield Line("WITH", depth, 0, f"WITH {cte.alias} AS", says)
        yield from _query(cte.this, depth + 1, meant)
    if isinstance(node, exp.Select):
        first = "SELECT DISTINCT " if node.args.get("distinct") else "SELECT "
        for n, one in enumerate(node.expressions, 1):
            comma = "," if n < len(node.expressions) else ""
            yield from part("SELECT", first if n == 1 else "", one, comma)
        joins = node.args.get("joins") or ()
        for join in filter(None, (node.args.get("from_"), *joins)):
            first = "FROM " if isinstance(join, exp.From) else ""
            yield from part("FROM", first, join.this if first else join)
    for clause in ("WHERE", "GROUP BY", "HAVING", "ORDER BY"):
        if found := node.args.get(clause.split()[0].lower()):
            conditions = clause in {"WHERE", "HAVING"}
            for n, one in enumerate(_conditions(found.this) if conditions else found.expressions):
                yield from part(clause, f"{clause} " if not n else "AND " * conditions, one)
    for key in ("limit", "offset"):
        if found := node.args.get(key):
            yield from part("LIMIT", "", found)


def _conditions(node: exp.Expr | None) -> list[exp.Expr]:
    """The conditions that AND connects."""
    return [*node.flatten()] if isinstance(node, exp.And) else [node] if node else []


def _means(clause: str, of: exp.Expr, meant: Callable[..., exp.Expr]) -> Iterator[tuple[str, str]]:
    if clause == "FROM":
        source = of.this if isinstance(of, exp.Join) else of
        name = lower_name(source.name) if isinstance(source, exp.Table) else "(…)"
        side = f"{of.side} JOIN " if isinstance(of, exp.Join) and of.side else ""
        yield "FROM", side + name
    for one in _conditions(of.args.get("on")) if clause == "FROM" else [of.unalias()]:
        said = meant(one)
        ends = (said.this, said.expression) if isinstance(said, exp.EQ) else (None,)
        # An equality of two columns joins, in WHERE as in ON: both spellings compare as the same join.
        is_join = clause == "WHERE" and all(isinstance(end, exp.Column) for end in ends)
        yield "JOIN ON" if is_join or clause == "FROM" else clause, _written(said)


def _written(node: exp.Expr) -> str:
    """The part as the query writes it, on one line; (…) stands for a subquery, whose parts follow."""
    folded = node.transform(lambda n: exp.var("(…)") if isinstance(n, exp.Query) else n)
    return " ".join(folded.sql("sqlite", comments=False).split()).replace("((…))", "(…)")


def _meant(node: exp.Expr, columns: dict[int, ColumnName], named: dict[str, exp.Expr]) -> exp.Expr:
    """The meaning of the part, see `Line`; `named` are the expressions behind the names of result columns."""

    def known(n: exp.Expr) -> exp.Expr:
        if isinstance(n, exp.Column):
            if found := columns.get(place(n)):
                return exp.column(found[1], found[0])
            if not n.table and n.name in named:
                return _meant(named[n.name], columns, {})
            return exp.Literal.string(n.name) if n.this.args.get("quoted") else n
        return n

    node = node.transform(known)
    for equal in node.find_all(exp.EQ):
        if isinstance(equal.expression, exp.Column):
            ends = sorted((equal.this, equal.expression), key=lambda end: str(end.sql("sqlite")))
            equal.set("this", ends[0])
            equal.set("expression", ends[1])
    return node
