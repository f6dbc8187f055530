"""What can be known of a query from its text: a normal form, what it uses, what it is made of.

The one module that knows sqlglot, whose trees do not leave it. Everything here is a pure function of
the text, read as one SQLite query. Models write SQL that no parser accepts, so that is never an
exception: each function says what it answers then.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import sqlglot  # noqa: TID251
from sqlglot import TokenType, exp  # noqa: TID251
from sqlglot.errors import SqlglotError  # noqa: TID251

from workbench.db.features import Features
from workbench.types import Schema

_LONGEST = 50_000  # characters; no person would read a longer query, and parsing it takes seconds
_OPENING = re.compile(
    r"(?:\s|\(|--[^\n]*+(?:\n|\Z)|/\*.*?(?:\*/|\Z))*+(?:SELECT|WITH|VALUES)\b",
    re.IGNORECASE | re.DOTALL,
)


@lru_cache(maxsize=1024)
def _parse(sql: str) -> exp.Expr | str:
    """The tree, which nobody may change, or the reason why there is none."""
    if len(sql) > _LONGEST:
        return f"longer than {_LONGEST} characters"
    if not _OPENING.match(sql):  # sqlglot writes warnings to the log about much that is no query
        return "no query: it starts with neither SELECT nor WITH nor VALUES"
    try:
        trees = [tree for tree in sqlglot.parse(sql, read="sqlite") if tree is not None]
    except SqlglotError as error:
        return str(error).partition("\n")[0]
    except RecursionError:
        return "nested too deeply"
    if len(trees) != 1:
        return f"{len(trees)} statements where one is expected"
    tree: Any = trees[0]
    if not isinstance(tree, exp.Query | exp.Values):
        return f"no query but {tree.key}"
    if isinstance(tree, exp.Select) and not tree.expressions:
        return "a SELECT without a result column"
    return tree


def why_unreadable(sql: str) -> str:
    """Why this text cannot be read as one SQLite query; "" where it can.

    The parser is a little more lenient than SQLite, and does not read everything that SQLite runs.
    """
    tree = _parse(sql)
    return tree if isinstance(tree, str) else ""


def normal_form(sql: str) -> str:
    """One spelling for queries that differ in layout, comments, letter case or optional words only.

    Literals stay as they are. So does a bare name in double quotes, for SQLite takes it for a string
    where no column has that name. Names of tables and columns are not looked up, aliases not renamed:
    two queries with one normal form give the same answer; the reverse is not promised. Text that
    cannot be read comes back with single spaces.
    """
    tree = _parse(sql)
    if not isinstance(tree, str):
        tree = tree.copy()
        for name in list(tree.find_all(exp.Identifier)):
            if not _may_be_string(name, sql):
                name.set("this", name.name.lower())
                name.set("quoted", name.args["quoted"] and not _is_plain_word(name.name))
        try:
            return tree.sql(dialect="sqlite", comments=False, copy=False)
        except (SqlglotError, RecursionError):
            pass
    return " ".join(sql.split())


def _may_be_string(name: exp.Expr, sql: str) -> bool:
    """Is this an unqualified column name in double quotes?"""
    start = name.meta.get("start", -1)
    column = name.parent
    return (
        sql[start : start + 1] == '"'
        and isinstance(column, exp.Column)
        and column.args.get("table") is None
    )


@lru_cache(maxsize=4096)
def _is_plain_word(name: str) -> bool:
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", name):
        return False
    return [t.token_type for t in sqlglot.tokenize(name, read="sqlite")] == [TokenType.VAR]


_CLOCKS = frozenset(
    {"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "DATE", "TIME", "DATETIME"}
    | {"JULIANDAY", "UNIXEPOCH"}
)


def may_differ_between_runs(sql: str) -> tuple[str, ...]:
    """Why two runs of the query on one database may give different answers; () where nothing says so.

    "random": random() or randomblob(). "current_time": 'now', date() and CURRENT_DATE and
    their like.
    "limit_without_order": LIMIT without ORDER BY, unless it limits one row or stands in EXISTS: which
    rows come first is then up to the query planner. "unreadable": it could not be read.
    """
    tree = _parse(sql)
    if isinstance(tree, str):
        return ("unreadable",)
    reasons = set()
    for node in tree.walk():
        if isinstance(node, exp.Rand) or (
            isinstance(node, exp.Anonymous) and node.name.lower() == "randomblob"
        ):
            reasons.add("random")
        elif isinstance(node, exp.Func) and not any(node.args.values()):
            if node.sql(dialect="sqlite").partition("(")[0].upper() in _CLOCKS:
                reasons.add("current_time")
        elif isinstance(node, exp.Literal):
            if node.is_string and node.name.lower() == "now" and node.find_ancestor(exp.Func):
                reasons.add("current_time")
        elif isinstance(node, exp.Limit):
            query = node.parent
            in_exists = isinstance(query, exp.Expr) and isinstance(query.parent, exp.Exists)
            if query and not query.args.get("order") and not in_exists and not _is_one_row(query):
                reasons.add("limit_without_order")
    return tuple(sorted(reasons))


def _is_one_row(query: exp.Expr) -> bool:
    """Does the SELECT aggregate everything into one row?"""
    return (
        isinstance(query, exp.Select)
        and not query.args.get("group")
        and any(_is_aggregate(node) for part in query.expressions for node in _inside(part))
    )


_WINDOW_PARTS = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)


def _is_aggregate(node: exp.Expr) -> bool:
    """Is this an aggregate call without OVER?"""
    if not (
        isinstance(node, exp.AggFunc)
        or (isinstance(node, exp.Anonymous) and node.name.lower() == "total")
    ):
        return False
    return not _has_over(node)


def _has_over(call: exp.Expr) -> bool:
    parent = call.parent
    while isinstance(parent, _WINDOW_PARTS):
        parent = parent.parent
    return isinstance(parent, exp.Window)


def _inside(root: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of an expression; a query among them is given, but not what is in the query."""
    yield from root.walk(prune=lambda node: isinstance(node, exp.Query))


def features(sql: str) -> Features | None:
    """The counts that `Features` defines; None where the query cannot be read."""
    tree = _parse(sql)
    if isinstance(tree, str):
        return None
    nodes = list(tree.walk())

    def count(*kinds: type[exp.Expr]) -> int:
        return sum(isinstance(node, kinds) for node in nodes)

    first = tree.find(exp.Select)
    case = count(exp.Case)
    compounds = count(exp.SetOperation)
    no_calls = (exp.Connector, exp.Predicate, exp.Case, exp.If, exp.AggFunc)
    queries = count(exp.Select) - compounds  # a compound is one query
    return Features(
        query_fields=len(first.expressions) if first else 0,
        group_by=count(exp.Group),
        order_by=sum(isinstance(n, exp.Order) and isinstance(n.parent, exp.Query) for n in nodes),
        limit=count(exp.Limit),
        join=count(exp.Join),
        predicate=count(exp.Predicate),
        aggregation=sum(_is_aggregate(node) for node in nodes),
        scalar_function=sum(
            isinstance(node, exp.Func)
            and not isinstance(node, no_calls)
            and not _is_aggregate(node)
            and not _has_over(node)
            for node in nodes
        ),
        subquery=sum(
            isinstance(node, exp.Subquery)
            and isinstance(node.this, exp.Query)
            and not isinstance(node.parent, exp.In | exp.SetOperation | exp.Exists)
            and node is not tree
            for node in nodes
        ),
        set_operation=compounds,
        math_compute=count(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod),
        logical_connecter=count(exp.And, exp.Or),
        distinct=count(exp.Distinct),
        like=count(exp.Like),
        control_flow=case
        + sum(isinstance(n, exp.If) and not isinstance(n.parent, exp.Case) for n in nodes),
        window=count(exp.Window) - sum(len(n.args.get("windows") or ()) for n in nodes),
        having=count(exp.Having),
        cte=count(exp.CTE),
        nested=max(queries - 1, 0),
        case=case,
    )


@dataclass(frozen=True, slots=True)
class Used:
    """The tables and columns a query mentions, spelt as in the schema.

    `unknown` are names that stand for nothing there, as written (`t.x` where qualified). `error` says
    why the query could not be read; everything else is then empty.
    """

    tables: frozenset[str] = frozenset()
    columns: frozenset[tuple[str, str]] = frozenset()
    unknown: tuple[str, ...] = ()
    error: str = ""


def used(sql: str, schema: Schema) -> Used:
    """What of the schema the query uses, by SQLite's rules for finding names.

    A column counts wherever it is mentioned, in USING and NATURAL JOIN too. `*` stands for every column
    that it hands on to the answer: none in COUNT(*) and EXISTS, and in a subquery those that the outer
    query mentions. A name in double quotes that fits no column is a string, not an unknown name.
    """
    tree = _parse(sql)
    if isinstance(tree, str):
        return Used(error=tree)
    finder = _Finder(sql, schema)
    try:
        finder.mark_all(finder.query(tree, (), {}))
    except RecursionError:
        return Used(error="nested too deeply")
    return Used(
        frozenset(finder.tables), frozenset(finder.columns), tuple(dict.fromkeys(finder.unknown))
    )


_Marks = frozenset[tuple[str, str]]
_NOTHING: _Marks = frozenset()
_Columns = (
    dict[str, _Marks] | None
)  # what a mention of each name uses; None where names are not known
_ROWID = frozenset({"rowid", "oid", "_rowid_"})


@dataclass(frozen=True, slots=True)
class _Source:
    """One name in a FROM clause, and its columns."""

    name: str
    columns: _Columns
    is_table: bool = False


@dataclass(frozen=True, slots=True)
class _Scope:
    """The names one SELECT sees, apart from those of the queries around it."""

    sources: list[_Source] = field(default_factory=list)
    aliases: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Finder:
    """One walk through a query from the outside in; fills `tables`, `columns` and `unknown`."""

    sql: str
    schema: Schema
    tables: set[str] = field(default_factory=set)
    columns: set[tuple[str, str]] = field(default_factory=set)
    unknown: list[str] = field(default_factory=list)

    def mark_all(self, columns: _Columns) -> None:
        for marks in (columns or {}).values():
            self.columns |= marks

    def query(
        self, node: exp.Expr, outer: tuple[_Scope, ...], ctes: dict[str, _Columns]
    ) -> _Columns:
        """Walk a query; give its result columns."""
        ctes = self.with_clause(node, outer, ctes)
        if isinstance(node, exp.Select):
            return self.select(node, outer, ctes)
        if isinstance(node, exp.Subquery):
            columns = self.query(node.this, outer, ctes)
        elif isinstance(node, exp.SetOperation):
            columns = self.query(node.this, outer, ctes)
            right = self.query(node.expression, outer, ctes)
            columns = _side_by_side(columns, right)
        else:  # VALUES
            columns = None
            self.expressions(node.expressions, outer, ctes)
        scope = _Scope([_Source("", columns)])
        for key in ("order", "limit", "offset"):
            self.expressions([node.args.get(key)], (scope, *outer), ctes)
        return columns

    def with_clause(
        self, node: exp.Expr, outer: tuple[_Scope, ...], ctes: dict[str, _Columns]
    ) -> dict[str, _Columns]:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        ctes = dict(ctes)
        for cte in clause.expressions:
            name = cte.alias.lower()
            ctes[name] = None  # as its own body sees it, where it is recursive
            ctes[name] = _renamed(self.query(cte.this, outer, ctes), cte)
        return ctes

    def select(
        self, node: exp.Select, outer: tuple[_Scope, ...], ctes: dict[str, _Columns]
    ) -> _Columns:
        scope = _Scope(aliases={part.alias.lower() for part in node.expressions} - {""})
        scopes = (scope, *outer)
        if (clause := node.args.get("from_")) is not None:
            self.source(clause.this, scope, outer, ctes)
        self.joins(node, scope, outer, ctes)
        for key, value in node.args.items():
            if key not in {"with_", "from_", "joins"}:
                self.expressions(value if isinstance(value, list) else [value], scopes, ctes)
        result: dict[str, _Marks] = {}
        for place, part in enumerate(node.expressions):
            if not (isinstance(part, exp.Star | exp.Column) and part.is_star):
                result.setdefault(part.alias_or_name.lower() or f"#{place}", _NOTHING)
                continue
            wanted = part.args["table"].name.lower() if isinstance(part, exp.Column) else None
            for source in scope.sources:
                if wanted in {None, source.name}:
                    if source.columns is None:
                        return None
                    for name, marks in source.columns.items():
                        result[name] = result.get(name, _NOTHING) | marks
        return result

    def joins(
        self,
        node: exp.Expr,
        scope: _Scope,
        outer: tuple[_Scope, ...],
        ctes: dict[str, _Columns],
    ) -> None:
        for join in node.args.get("joins") or ():
            left = list(scope.sources)
            self.source(join.this, scope, outer, ctes)
            right = scope.sources[len(left) :]
            shared = [name.name.lower() for name in join.args.get("using") or ()]
            if join.args.get("method") == "NATURAL":
                shared = [n for s in right for n in s.columns or () if _having(n, left)]
            for name in shared:
                for source in (*_having(name, left), *_having(name, right)):
                    self.columns |= (source.columns or {})[name]
        for join in (
            node.args.get("joins") or ()
        ):  # SQLite lets ON name a table that is joined later
            self.expressions([join.args.get("on")], (scope, *outer), ctes)

    def source(
        self,
        node: exp.Expr,
        scope: _Scope,
        outer: tuple[_Scope, ...],
        ctes: dict[str, _Columns],
    ) -> None:
        """Add what stands in FROM or JOIN to the scope."""
        name = node.alias_or_name.lower()
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            table = self.schema.table(node.name)
            if node.name.lower() in ctes and not node.db:
                scope.sources.append(_Source(name, ctes[node.name.lower()]))
            elif table is not None:
                self.tables.add(table.name)
                own = {c.name.lower(): frozenset({(table.name, c.name)}) for c in table.columns}
                scope.sources.append(_Source(name, own, is_table=True))
            else:
                self.unknown.append(node.name)
                scope.sources.append(_Source(name, None))
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query | exp.Values):
            columns = _renamed(self.query(node, outer, ctes), node)
            scope.sources.append(_Source(name, columns))
        elif isinstance(node, exp.Subquery):  # a join in parentheses
            self.source(node.this, scope, outer, ctes)
        else:  # a table-valued function, VALUES
            scope.sources.append(_Source(name, None))
            self.expressions([node.this, *node.expressions], (scope, *outer), ctes)
        self.joins(node, scope, outer, ctes)

    def expressions(
        self, nodes: list[Any], scopes: tuple[_Scope, ...], ctes: dict[str, _Columns]
    ) -> None:
        for root in nodes:
            if not isinstance(root, exp.Expr):
                continue
            for node in _inside(root):
                if isinstance(node, exp.Query):
                    columns = self.query(node, scopes, ctes)
                    if not isinstance(node.parent, exp.Exists):
                        self.mark_all(columns)
                elif isinstance(node, exp.Column) and not node.is_star:
                    self.column(node, scopes)

    def column(self, node: exp.Column, scopes: tuple[_Scope, ...]) -> None:
        name, table = node.name.lower(), node.table.lower()
        if node.arg_key == "field" and (found := self.schema.table(name)):  # x IN some_table
            self.tables.add(found.name)
            return
        for scope in scopes:
            if isinstance(node.parent, exp.Ordered) and not table and name in scope.aliases:
                return
            sources = [s for s in scope.sources if not table or s.name == table]
            hits = _having(name, sources)
            for source in hits:
                self.columns |= (source.columns or {})[name]
            open_ended = any(source.columns is None for source in sources)
            alias = not table and name in scope.aliases
            rowid = name in _ROWID and any(source.is_table for source in sources)
            if hits or open_ended or alias or rowid:
                return
            if table and sources:
                break
        if not _may_be_string(node.this, self.sql):
            self.unknown.append(f"{node.table}.{node.name}" if table else node.name)


def _having(name: str, sources: Iterable[_Source]) -> list[_Source]:
    return [source for source in sources if source.columns and name in source.columns]


def _renamed(columns: _Columns, node: exp.Expr) -> _Columns:
    """The columns under the names of an alias such as `c(x, y)`."""
    names = (
        [name.name.lower() for name in node.args["alias"].columns] if node.args.get("alias") else []
    )
    if not names:
        return columns
    if columns is None or len(columns) != len(names):
        return dict.fromkeys(names, _NOTHING)
    return dict(zip(names, columns.values(), strict=True))


def _side_by_side(left: _Columns, right: _Columns) -> _Columns:
    """The columns of a compound: named by its first query, using what both use."""
    if left is None or right is None:
        return None
    if len(left) != len(right):
        return {
            name: left.get(name, _NOTHING) | right.get(name, _NOTHING) for name in {**left, **right}
        }
    return {name: left[name] | marks for name, marks in zip(left, right.values(), strict=True)}


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the conditions that AND connects, in words."""

    sources: frozenset[str]  # the names it is about, in lower case; none where that needs a schema
    words: str
    of_join: bool  # of ON or USING: in an outer join, a row that fails it is not lost


@dataclass(frozen=True, slots=True)
class Outline:
    """One SELECT in words, for telling its plan.

    The last three fields of a compound's first SELECT are those of the whole compound.
    """

    sources: tuple[tuple[str, str], ...]  # its name in lower case, and the table; "" for a subquery
    conditions: tuple[Condition, ...]
    results: tuple[str, ...]
    distinct: bool
    aggregates: tuple[str, ...]
    group_by: tuple[str, ...]
    having: str
    windows: tuple[str, ...]
    order_by: tuple[str, ...]
    limit: str
    offset: str


def outlines(sql: str) -> tuple[Outline, ...]:
    """Every SELECT of the query, the outer before the inner; () where it cannot be read."""
    tree = _parse(sql)
    if isinstance(tree, str):
        return ()
    try:
        ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        return tuple(_outline(node, ctes) for node in tree.find_all(exp.Select, bfs=False))
    except RecursionError:
        return ()


def _outline(select: exp.Select, ctes: set[str]) -> Outline:
    whole: exp.Expr = select
    while isinstance(whole.parent, exp.SetOperation) and whole.arg_key == "this":
        whole = whole.parent
    order, limit, offset = (whole.args.get(key) for key in ("order", "limit", "offset"))
    clause, group, having = (
        select.args.get("from_"),
        select.args.get("group"),
        select.args.get("having"),
    )
    joins = select.args.get("joins") or []
    sources = tuple(
        (
            node.alias_or_name.lower(),
            node.name if isinstance(node, exp.Table) and node.name.lower() not in ctes else "",
        )
        for node in [*([clause.this] if clause else []), *(join.this for join in joins)]
    )
    own = [node for part in select.expressions for node in _inside(part)]
    own += [node for part in (having, order) if part for node in _inside(part)]
    return Outline(
        sources=sources,
        conditions=tuple(_conditions(select, [name for name, _ in sources])),
        results=tuple(_result(part) for part in select.expressions),
        distinct=bool(select.args.get("distinct")),
        aggregates=tuple(dict.fromkeys(_words(node) for node in own if _is_aggregate(node))),
        group_by=tuple(_term(part, select) for part in group.expressions) if group else (),
        having=_words(having.this) if having else "",
        windows=tuple(_words(node.this) for node in own if isinstance(node, exp.Window)),
        order_by=tuple(_term(part, select) for part in order.expressions) if order else (),
        limit=_words(limit.expression) if limit else "",
        offset=_words(offset.expression) if offset else "",
    )


def _conditions(select: exp.Select, names: list[str]) -> Iterator[Condition]:
    """Those of ON and USING, then those of WHERE."""
    joins = select.args.get("joins") or []
    for place, join in enumerate(joins, start=len(names) - len(joins)):
        here = frozenset(names[place : place + 1])
        for shared in join.args.get("using") or ():
            yield Condition(here, f"{shared.name} is the same in both", of_join=True)
        for part in _conjuncts(join.args.get("on")):
            yield Condition(_mentioned(part, select, names) | here, _words(part), of_join=True)
    where = select.args.get("where")
    for part in _conjuncts(where and where.this):
        yield Condition(_mentioned(part, select, names), _words(part), of_join=False)


def _conjuncts(root: exp.Expr | None) -> Iterable[exp.Expr]:
    """What AND connects; nothing for the TRUE that the parser puts where a JOIN has no ON."""
    if root is None or isinstance(root, exp.Boolean):
        return ()
    return root.flatten() if isinstance(root, exp.And) else (root,)


def _mentioned(part: exp.Expr, select: exp.Select, names: list[str]) -> frozenset[str]:
    if len(names) == 1:
        return frozenset(names)
    columns = list(part.find_all(exp.Column))
    if any(not column.table and column.parent_select is select for column in columns):
        return frozenset()
    return frozenset(column.table.lower() for column in columns) & frozenset(names)


def _result(part: exp.Expr) -> str:
    called = f" (called {part.alias})" if isinstance(part, exp.Alias) else ""
    return _words(part) + called


def _term(part: exp.Expr, select: exp.Select) -> str:
    """What GROUP BY or ORDER BY names, where a number stands for a result column."""
    this = part.this if isinstance(part, exp.Ordered) else part
    if isinstance(this, exp.Literal) and this.name.isdigit():
        place = int(this.name) - 1
        if 0 <= place < len(select.expressions):
            last = ", largest first" if part.args.get("desc") else ""
            return _words(select.expressions[place]) + last
    return _words(part)


_COMPARISONS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.EQ: ("is", "is not"),
    exp.NEQ: ("is not", "is"),
    exp.Is: ("is", "is not"),
    exp.GT: ("is greater than", "is not greater than"),
    exp.GTE: ("is at least", "is not at least"),
    exp.LT: ("is less than", "is not less than"),
    exp.LTE: ("is at most", "is not at most"),
    exp.Like: ("looks like", "does not look like"),
    exp.Glob: ("looks like", "does not look like"),
}
_AGGREGATES = (
    (exp.Count, "the number of"),
    (exp.Sum, "the sum of"),
    (exp.Avg, "the average of"),
    (exp.Min, "the smallest"),
    (exp.Max, "the largest"),
)


def _words(node: exp.Expr, *, negated: bool = False) -> str:
    """An expression in plain words where these are clear, and else as SQL."""
    if isinstance(node, exp.Paren | exp.Alias):
        return _words(node.this, negated=negated)
    if isinstance(node, exp.Not):
        return _words(node.this, negated=not negated)
    verb = _COMPARISONS.get(type(node), ("", ""))[negated]
    if verb:
        return f"{_words(node.this)} {verb} {_words(node.args['expression'])}"
    if isinstance(node, exp.Between):
        verb = "is not between" if negated else "is between"
        return (
            f"{_words(node.this)} {verb} {_words(node.args['low'])} and {_words(node.args['high'])}"
        )
    if isinstance(node, exp.In):
        where = "not among" if negated else "among"
        query = node.args.get("query") or node.args.get("field")
        values = _words(query) if query else ", ".join(_words(value) for value in node.expressions)
        return f"{_words(node.this)} is {where} {values}"
    if isinstance(node, exp.Exists):
        return f"the subquery finds {'no row' if negated else 'a row'}"
    if negated:
        return f"not ({_words(node)})"
    if isinstance(node, exp.Query):
        return "the result of the subquery"
    if isinstance(node, exp.And | exp.Or):
        return f" {node.key} ".join(_words(part) for part in node.flatten())
    if isinstance(node, exp.Ordered):
        return _words(node.this) + (", largest first" if node.args.get("desc") else "")
    for kind, noun in _AGGREGATES:
        if isinstance(node, kind):
            what = node.this
            if isinstance(what, exp.Distinct):
                return f"{noun} different values of {', '.join(map(_words, what.expressions))}"
            if isinstance(what, exp.Star):
                return f"{noun} rows"
            return f"{noun} {'values of ' if kind is exp.Count else ''}{_words(what)}"
    if isinstance(node, exp.Column) and not node.is_star:
        return f"{node.table}.{node.name}" if node.table else node.name
    if isinstance(node, exp.Star):
        return "every column"
    return node.sql(dialect="sqlite", comments=False)
