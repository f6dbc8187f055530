"""Spider's exact set match (EM) and its hardness, on the grammar of Spider's own script.

Two queries match if their clauses do, each as a multiset of parts, whatever the queries return. The
definitions are those of the script in the test-suite evaluation, with its defaults and quirks, so
that numbers compare with published ones:

- Values, LIMIT's number and DISTINCT are ignored; columns linked by a foreign key of tables.json
  are one column if both tables are in FROM; FROM is compared by its tables, and of a JOIN's
  condition only OR, NOT, IN and LIKE count; ORDER BY has one direction, the last one given; AND and
  OR are compared as a set.
- A subquery in a condition must be equal part by part and in order: there DISTINCT, JOIN conditions
  and the choice between linked columns count. A subquery in FROM must be equal in its values too.
- A prediction that the grammar does not accept counts as an empty query. So its gaps decide
  verdicts, and a general SQL parser would accept more. It does not accept `=`, `+`, `-` or `/`
  glued to a neighbour (`a=1`, `a >=1`), `==`, `<>`, `T1. a`, backticks; a quote inside a string, an
  odd number of quotes, a literal where a column belongs; `INNER JOIN`, `LEFT JOIN`, a comma in
  FROM, an alias without AS or of a column or a subquery; `IS NULL`, `EXISTS`, lists after IN, CASE,
  functions other than the five aggregates, UNION ALL.
- It ignores what it should not: anything after the part that it parses (OFFSET, NULLS LAST), a
  missing comma between columns, and everything from a column on the right of a comparison to the
  next AND, comma, bracket or clause, which hides an OR (`a = b OR c = d`) and the INNER of a
  second join.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple, NoReturn, TypeVar, Union

from workbench.types import Schema

_T = TypeVar("_T")


class ColumnUse(NamedTuple):
    aggregate: str
    column: str  # `table.column` in lower case, or `*`
    distinct: bool


Expression = tuple[str, ColumnUse, ColumnUse | None]  # a column, or two after their operator
Value = Union[None, float, str, ColumnUse, "Query"]


class Condition(NamedTuple):
    negated: bool
    operator: str
    left: Expression
    value: Value
    upper: Value  # of BETWEEN


class Query(NamedTuple):
    """One SELECT.

    A table is a name or a subquery; conditions alternate with AND and OR; LIMIT's number is left
    out.
    """

    select: tuple[tuple[str, Expression], ...] = ()
    distinct: bool = False
    tables: tuple[Union[str, "Query"], ...] = ()
    on: tuple[Any, ...] = ()
    where: tuple[Any, ...] = ()
    group: tuple[ColumnUse, ...] = ()
    having: tuple[Any, ...] = ()
    order: tuple[str, tuple[Expression, ...]] | None = None
    limit: bool = False
    combined: tuple[str, "Query"] | None = None  # INTERSECT, UNION or EXCEPT, and its second query

    def units(self) -> tuple[Condition, ...]:
        return self.on[::2] + self.where[::2] + self.having[::2]

    def connectors(self) -> tuple[str, ...]:
        return self.on[1::2] + self.where[1::2] + self.having[1::2]


def exact_match(predicted: str, gold: str, schema: Schema) -> bool:
    """Whether all components match and both read the same tables; False for an unreadable gold."""
    # Systems that predict no values write `value` for one.
    ours = _read(predicted.replace(" value ", " 1 "), schema)[1]
    readable, theirs = _read(gold, schema)
    return readable is not None and (ours == theirs or _components(ours) == _components(theirs))


def hardness(sql: str, schema: Schema) -> Literal["easy", "medium", "hard", "extra", ""]:
    """Spider's level of a gold query, as its `eval_hardness` has it; "" for an unreadable one."""
    query = _read(sql, schema)[0]
    if query is None:
        return ""
    clauses = sum(map(bool, (query.where, query.group, query.order, query.limit)))
    clauses += max(len(query.tables) - 1, 0) + query.connectors().count("or")
    clauses += sum(unit.operator == "like" for unit in query.units())
    values = [value for unit in query.units() for value in (unit.value, unit.upper)]
    nested = sum(isinstance(value, Query) for value in values) + (query.combined is not None)
    # The script counts as aggregates also each NOT of a condition, and each AND and OR of HAVING.
    ordered = [use for _, *uses in query.order[1] for use in uses] if query.order else []
    aggregates = sum(bool(aggregate) for aggregate, _ in query.select)
    aggregates += sum(bool(use.aggregate) for use in (*query.group, *ordered) if use)
    aggregates += sum(unit.negated for unit in query.where[::2] + query.having[::2])
    aggregates += len(query.having[1::2])
    counts = (aggregates, len(query.select), len(query.where), len(query.group))
    others = sum(count > 1 for count in counts)
    if nested:
        return "hard" if nested == 1 and clauses <= 1 and others == 0 else "extra"
    if clauses <= 1 and others <= 2:
        return "medium" if others else "easy"
    if clauses == 2 and others <= 1:
        return "medium"
    return "hard" if (clauses <= 2 < others) or (clauses == 3 and others <= 2) else "extra"


def _components(query: Query) -> Mapping[str, object]:
    """The tables and Spider's components, as values that are equal if they match."""
    units = query.units()
    keywords = {
        "where": query.where,
        "group": query.group,
        "having": query.having,
        "order": query.order,
        query.order[0] if query.order else "": query.order,
        "limit": query.limit,
        query.combined[0] if query.combined else "": query.combined,
        "or": "or" in query.connectors(),
        "not": any(unit.negated for unit in units),
        "in": any(unit.operator == "in" for unit in units),
        "like": any(unit.operator == "like" for unit in units),
    }
    group = tuple(use.column for use in query.group)
    return {
        "tables": Counter(query.tables),
        "select": Counter(query.select),
        "where": Counter(query.where[::2]),
        # None without GROUP BY, whatever HAVING says: "keywords" sees that there is one.
        "group": (group, query.having) if group else None,
        "order": query.order and (query.order, query.limit),
        "and/or": set(query.where[1::2]),
        "IUEN": query.combined and (query.combined[0], _components(query.combined[1])),
        "keywords": {word for word, there in keywords.items() if there},
    }


@lru_cache(maxsize=256)
def _names(schema: Schema) -> tuple[dict[str, frozenset[str]], dict[str, str]]:
    """The columns of each table, and the column that replaces each one in a foreign key."""
    position = {".".join(name).lower(): n for n, name in enumerate(schema.columns())}
    # Spider's rule: a foreign key joins the first group that contains either of its columns. Groups
    # that a later key would link stay apart, and for a column in two groups the later group
    # decides.
    groups: list[set[str]] = []
    for table in schema.tables:
        for key in table.foreign_keys:
            for column, ref in zip(key.columns, key.ref_columns, strict=False):
                pair = {f"{table.name}.{column}".lower(), f"{key.ref_table}.{ref}".lower()}
                group = next((g for g in groups if not g.isdisjoint(pair)), set[str]())
                if pair <= position.keys():
                    groups += [] if group else [group]
                    group |= pair
    columns = {
        table.name.lower(): frozenset(column.name.lower() for column in table.columns)
        for table in schema.tables
        if table.kind != "view"  # Spider knows tables only
    }
    return columns, {name: min(g, key=position.__getitem__) for g in groups for name in g}


@lru_cache(maxsize=4096)  # gold is compared many times
def _read(sql: str, schema: Schema) -> tuple[Query | None, Query]:
    """The query, None if the grammar does not accept it, and the form that is compared."""
    columns, merged = _names(schema)
    try:
        query = _Parser(sql, columns).query()
    except _UnreadableError:
        return None, Query()
    linked = {c: to for c, to in merged.items() if c.partition(".")[0] in query.tables}
    return query, _comparable(query, linked)


def _comparable(node: Any, merged: Mapping[str, str] | None) -> Any:
    """A part of a query with values hidden, DISTINCT dropped and linked columns merged.

    In a subquery of a condition only values are hidden; there `merged` is None. After UNION,
    INTERSECT and EXCEPT, the tables of the first query decide which columns are merged.
    """
    if isinstance(node, ColumnUse) and merged is not None:
        return ColumnUse(node.aggregate, merged.get(node.column, node.column), distinct=False)
    if isinstance(node, Condition):
        ends = (node.value, node.upper)
        hidden = [_comparable(end, None) if isinstance(end, Query) else None for end in ends]
        return Condition(node.negated, node.operator, _comparable(node.left, merged), *hidden)
    if not isinstance(node, tuple) or isinstance(node, ColumnUse):
        return node
    parts = [_comparable(part, merged) for part in node]
    if isinstance(node, Query):
        made = Query(*parts)
        return made._replace(tables=node.tables, distinct=node.distinct and merged is None)
    return tuple(parts)


class _UnreadableError(Exception):
    """The text is not a query of Spider's grammar."""


# Spider splits SQL with NLTK's tokenizer for English prose. Brackets, `*` and most punctuation
# become tokens of their own; a comma only if no digit follows (English writes 1,000), a full stop
# only at the end of the text, and `=`, `+`, `/` never, which is why `a=1` is one unreadable word.
_TOKEN = re.compile(
    r"""(?:[^\s;@#$%&?!*()\[\]{}<>`\xab\xbb\u2012-\u2015\u2018\u2019\u201c-\u201e,:".-]++"""
    r"""|"[^"]*+"|[,:](?=\d)|\.(?![\])}>\s]*\Z)|-(?!-))+|--|\S"""
)
_AGGREGATES = ("max", "min", "count", "sum", "avg")
_COMPARISONS = {"not", "between", "=", ">", "<", ">=", "<=", "!=", "in", "like", "is", "exists"}
_SET_OPERATIONS = ("intersect", "union", "except")
_CLAUSES = {*_SET_OPERATIONS, "select", "from", "where", "group", "order", "limit"}
_JOINS = {"join", "on", "as"}
_CLAUSE_ENDS = _CLAUSES | {")", ";", ""}
_VALUE_ENDS = _CLAUSES | _JOINS | {")", ",", "and", ""}
_MAX_DEPTH = 64  # deeper nesting is no query, and would exhaust the stack


class _Parser:
    """Recursive descent: a method for each rule.

    `names` are the tables in FROM, in which a column is looked up.
    """

    def __init__(self, sql: str, columns: Mapping[str, frozenset[str]]) -> None:
        text = sql.replace("'", '"')
        if text.count('"') % 2:
            self.fail()
        # In lower case, quoted ones as they are; "" marks the end, so that no rule checks for it.
        found = _TOKEN.findall(text)
        self.tokens = tokens = [t if t[0] == '"' else t.lower() for t in found] + [""]
        self.columns, self.at, self.depth = columns, 0, 0
        self.names: list[str] = []
        # As in Spider, an alias is valid in the whole text, in subqueries and before its
        # definition, too, and the last definition wins; an alias with the name of a table makes the
        # query unreadable.
        self.aliases = {tokens[i + 1]: tokens[i - 1] for i, t in enumerate(tokens) if t == "as"}
        if "" in self.aliases or not self.aliases.keys().isdisjoint(columns):
            self.fail()
        self.aliases.update((table, table) for table in columns)

    def fail(self) -> NoReturn:
        raise _UnreadableError

    def accept(self, *tokens: str) -> str:
        """The next token, stepped over, if it is one of these; else ""."""
        token = self.tokens[self.at]
        self.at += token in tokens
        return token if token in tokens else ""

    def word(self) -> str:
        """The next token, whatever it is, but not the end."""
        return self.accept(self.tokens[self.at] or self.fail())

    def query(self) -> Query:
        outer, self.depth = self.names, self.depth + 1
        in_brackets = self.accept("(")
        start = self.at
        if self.depth > _MAX_DEPTH or "from" not in self.tokens[start:]:
            self.fail()
        # FROM is parsed before SELECT, because unqualified columns are looked up in its tables.
        self.at = self.tokens.index("from", start) + 1
        tables, on = self.from_clause()
        end, self.at = self.at, start
        distinct, select = self.select_clause()
        self.at = end
        where = self.conditions() if self.accept("where") else ()
        group = self.by("group", self.column_use) or ()
        having = self.conditions() if self.accept("having") else ()
        order = None
        ordered = self.by("order", lambda: (self.expression(), self.accept("asc", "desc")))
        if ordered is not None:
            directions = ["asc", *(direction for _, direction in ordered if direction)]
            order = directions[-1], tuple(expression for expression, _ in ordered)
        if limit := bool(self.accept("limit")):
            self.word()
        while self.accept(";"):
            pass
        if in_brackets:
            self.accept(")") or self.fail()
            while self.accept(";"):
                pass
        operation = self.accept(*_SET_OPERATIONS)
        combined = (operation, self.query()) if operation else None
        self.names, self.depth = outer, self.depth - 1
        return Query(select, distinct, tables, on, where, group, having, order, limit, combined)

    def from_clause(self) -> tuple[tuple[str | Query, ...], tuple[Any, ...]]:
        tables: list[str | Query] = []
        self.names = []
        on: tuple[Any, ...] = ()
        while self.tokens[self.at]:
            in_brackets = self.accept("(")
            if self.tokens[self.at] == "select":
                tables.append(self.query())
            else:
                self.accept("join")
                name = self.aliases.get(self.word(), "")
                if name not in self.columns:
                    self.fail()
                if self.accept("as"):
                    self.word()
                tables.append(name)
                self.names.append(name)
            # Spider keeps the conditions of all ONs in one list, joined by AND.
            if self.accept("on"):
                on += ("and", *self.conditions()) if on else self.conditions()
            if in_brackets:
                self.accept(")") or self.fail()
            if self.tokens[self.at] in _CLAUSE_ENDS:
                break
        return tuple(tables), on

    def select_clause(self) -> tuple[bool, tuple[tuple[str, Expression], ...]]:
        self.accept("select") or self.fail()
        distinct = bool(self.accept("distinct"))
        items = []
        while self.tokens[self.at] not in _CLAUSES:  # ends at the FROM that was just parsed
            items.append((self.accept(*_AGGREGATES), self.expression()))
            self.accept(",")
        return distinct, tuple(items)

    def by(self, word: str, rule: Callable[[], _T]) -> tuple[_T, ...] | None:
        """The parts of GROUP BY or ORDER BY, if it is next."""
        if not self.accept(word):
            return None
        self.accept("by") or self.fail()
        found = []
        while self.tokens[self.at] not in _CLAUSE_ENDS:
            found.append(rule())
            if not self.accept(","):
                break
        return tuple(found)

    def conditions(self) -> tuple[Any, ...]:
        found: list[Any] = []
        while self.tokens[self.at]:
            found.append(self.condition())
            if self.tokens[self.at] in _CLAUSE_ENDS | _JOINS:
                break
            # Here Spider drops the rest, but no valid SQL gets here.
            found.append(self.accept("and", "or") or self.fail())
        return tuple(found)

    def condition(self) -> Condition:
        left = self.expression()
        negated = bool(self.accept("not"))
        operator = self.word()
        if operator in {"<", ">", "!"} and self.accept("="):
            operator += "="
        if operator not in _COMPARISONS:
            self.fail()
        value, upper = self.value(), None
        if operator == "between":
            self.accept("and") or self.fail()
            upper = self.value()
        return Condition(negated, operator, left, value, upper)

    def value(self) -> Value:
        in_brackets = self.accept("(")
        first = self.tokens[self.at]
        value: Value
        if first == "select":
            value = self.query()
        elif first.startswith('"') and first.find('"', 1) == len(first) - 1:
            value = self.word()
        else:
            try:
                value = float(first)
                self.at += 1
            except ValueError:
                if in_brackets or first in _AGGREGATES or first in _VALUE_ENDS:
                    self.fail()
                value = ColumnUse("", *self.column())
                while self.tokens[self.at] not in _VALUE_ENDS:
                    self.at += 1
        if in_brackets:
            self.accept(")") or self.fail()
        return value

    def expression(self) -> Expression:
        in_brackets = self.accept("(")
        left = self.column_use()
        operator = self.accept("-", "+", "*", "/")
        right = self.column_use() if operator else None
        if in_brackets:
            self.accept(")") or self.fail()
        return operator, left, right

    def column_use(self) -> ColumnUse:
        in_brackets = self.accept("(")
        if aggregate := self.accept(*_AGGREGATES):
            self.accept("(") or self.fail()
        use = ColumnUse(aggregate, *self.column())
        if aggregate or in_brackets:  # the caller closes brackets around an aggregate
            self.accept(")") or self.fail()
        return use

    def column(self) -> tuple[str, bool]:
        """A column, and whether DISTINCT stands before it."""
        distinct = bool(self.accept("distinct"))
        word = self.word()
        qualifier, dot, name = word.partition(".")
        for table in [self.aliases.get(qualifier, "")] if dot else self.names:
            column = name if dot else word
            if column in self.columns.get(table, ()):
                return f"{table}.{column}", distinct
        return (word, distinct) if word == "*" else self.fail()
