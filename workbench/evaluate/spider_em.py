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
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, NamedTuple, NoReturn, Union

from workbench.types import Schema


class ColumnUse(NamedTuple):
    aggregate: str
    column: str  # `table.column` in lower case, or `*`
    distinct: bool


# A column, or two after their operator.
Expression = tuple[str, ColumnUse, ColumnUse | None]
# What is written; in the form that is compared, a subquery, or None for any other value.
Value = Union[None, float, str, ColumnUse, "Query"]


class Selected(NamedTuple):
    aggregate: str  # of all of it, as in max(a - b); columns have theirs, too
    expression: Expression


class Condition(NamedTuple):
    negated: bool
    operator: str
    left: Expression
    value: Value
    upper: Value  # of BETWEEN


class Conditions(NamedTuple):
    """The conditions of a clause, and the AND or OR after each but the last."""

    units: tuple[Condition, ...] = ()
    connectors: tuple[str, ...] = ()


class Query(NamedTuple):
    """One SELECT. A table is a name or a subquery; LIMIT's number is left out."""

    select: tuple[Selected, ...] = ()
    distinct: bool = False
    tables: tuple[Union[str, "Query"], ...] = ()
    on: Conditions = Conditions()
    where: Conditions = Conditions()
    group: tuple[ColumnUse, ...] = ()
    having: Conditions = Conditions()
    order: tuple[str, tuple[Expression, ...]] | None = None
    limit: bool = False
    # INTERSECT, UNION or EXCEPT, and its second query.
    combined: tuple[str, "Query"] | None = None

    def conditions(self) -> Conditions:
        """Those of all clauses."""
        clauses = (self.on, self.where, self.having)
        units = [clause.units for clause in clauses]
        connectors = [clause.connectors for clause in clauses]
        return Conditions(
            units=tuple(chain.from_iterable(units)),
            connectors=tuple(chain.from_iterable(connectors)),
        )


def exact_match(predicted: str, gold: str, schema: Schema) -> bool:
    """Whether all components match and both read the same tables; False for an unreadable gold."""
    # Systems that predict no values write `value` for one.
    _, ours = _read(predicted.replace(" value ", " 1 "), schema)
    gold_query, theirs = _read(gold, schema)
    if gold_query is None:
        return False
    return _components(ours) == _components(theirs)


def hardness(
    sql: str, schema: Schema
) -> Literal["easy", "medium", "hard", "extra", ""]:
    """Return Spider's level of a gold query, by its `eval_hardness`; "" for an unreadable one."""
    query, _ = _read(sql, schema)
    if query is None:
        return ""
    nested = int(query.combined is not None)
    for unit in query.conditions().units:
        nested += isinstance(unit.value, Query)
        nested += isinstance(unit.upper, Query)
    clauses = _clauses(query)
    conditions = 1 + len(query.where.connectors)
    counts = (_aggregates(query), len(query.select), conditions, len(query.group))
    repeated = sum(count > 1 for count in counts)

    # The thresholds are the script's own.
    if nested:
        return "hard" if nested == 1 and clauses <= 1 and repeated == 0 else "extra"
    if clauses <= 1 and repeated == 0:
        return "easy"
    if (clauses <= 1 and repeated <= 2) or (clauses == 2 and repeated <= 1):
        return "medium"
    if (clauses <= 2 and repeated > 2) or (clauses == 3 and repeated <= 2):
        return "hard"
    return "extra"


def _clauses(query: Query) -> int:
    """Return the number of clauses, further tables, ORs and LIKEs."""
    clauses = (query.where.units, query.group, query.order, query.limit)
    number = sum(bool(clause) for clause in clauses)
    number += max(len(query.tables) - 1, 0)
    conditions = query.conditions()
    operators = [unit.operator for unit in conditions.units]
    number += conditions.connectors.count("or")
    number += operators.count("like")
    return number


def _aggregates(query: Query) -> int:
    """Return the number of aggregates as Spider's script counts them.

    It also counts each NOT of a condition, and each AND and OR of HAVING.
    """
    uses = list(query.group)
    if query.order:
        _, expressions = query.order
        for _, left, right in expressions:
            uses.append(left)
            if right:
                uses.append(right)
    units = query.where.units + query.having.units
    number = sum(selected.aggregate != "" for selected in query.select)
    number += sum(use.aggregate != "" for use in uses)
    number += sum(unit.negated for unit in units)
    number += len(query.having.connectors)
    return number


def _components(query: Query) -> Mapping[str, object]:
    """Return the tables and Spider's components, as values that are equal if they match."""
    order, combined = query.order, query.combined
    group = tuple(use.column for use in query.group)
    conditions = query.conditions()
    operators = {unit.operator for unit in conditions.units}
    return {
        "tables": Counter(query.tables),
        "select": Counter(query.select),
        "where": Counter(query.where.units),
        # None without GROUP BY, whatever HAVING says.
        "group": (group, query.having) if group else None,
        # LIMIT counts once with ORDER BY, and once by itself, below.
        "order": (order, query.limit) if order else None,
        "and/or": set(query.where.connectors),
        "IUEN": (combined[0], _components(combined[1])) if combined else None,
        # Of Spider's component "keywords", those that are equal wherever these parts are, such as
        # WHERE, are left out.
        "having": query.having.units != (),
        "limit": query.limit,
        "or": "or" in conditions.connectors,
        "not": any(unit.negated for unit in conditions.units),
        "in, like": operators & {"in", "like"},
    }


@lru_cache(maxsize=256)
def _columns(schema: Schema) -> dict[str, frozenset[str]]:
    """Return the columns of each table; Spider knows no views."""
    columns = {}
    for table in schema.tables:
        if table.kind != "view":
            names = [column.name.lower() for column in table.columns]
            columns[table.name.lower()] = frozenset(names)
    return columns


@lru_cache(maxsize=256)
def _replacements(schema: Schema) -> dict[str, str]:
    """Return the column that stands for each one that a foreign key links, the first of them."""
    names = [f"{table}.{column}".lower() for table, column in schema.columns()]
    place = {name: n for n, name in enumerate(names)}
    replacements: dict[str, str] = {}
    for group in _linked(schema, place.keys()):
        representative = min(group, key=place.__getitem__)
        for column in group:
            replacements[column] = representative
    return replacements


def _linked(schema: Schema, columns: AbstractSet[str]) -> list[set[str]]:
    """Return groups of columns that foreign keys link, by Spider's rule.

    A foreign key joins the first group that contains either of its columns. Groups that a later
    key would link stay apart, and for a column in two groups the later group decides.
    """
    groups: list[set[str]] = []
    for table in schema.tables:
        for key in table.foreign_keys:
            for column, ref_column in zip(key.columns, key.ref_columns, strict=False):
                referring = f"{table.name}.{column}".lower()
                referred = f"{key.ref_table}.{ref_column}".lower()
                pair = {referring, referred}
                if not pair <= columns:
                    continue
                touched = [group for group in groups if not group.isdisjoint(pair)]
                if touched:
                    touched[0].update(pair)
                else:
                    groups.append(pair)
    return groups


@lru_cache(maxsize=4096)  # gold is compared many times
def _read(sql: str, schema: Schema) -> tuple[Query | None, Query]:
    """Return the query, None if the grammar does not accept it, and the form that is compared."""
    try:
        query = _Parser(sql, _columns(schema)).query()
    except _UnreadableError:
        return None, Query()
    linked = {}
    for column, replacement in _replacements(schema).items():
        table, _, _ = column.partition(".")
        if table in query.tables:
            linked[column] = replacement

    def merged(use: ColumnUse) -> ColumnUse:
        column = linked.get(use.column, use.column)
        return ColumnUse(use.aggregate, column, distinct=False)

    return query, _comparable(query, merged)


def _comparable(node: Any, change: Callable[[ColumnUse], ColumnUse]) -> Any:
    """Return a part of a query with values hidden, and its columns as `change` returns them.

    In a condition's subquery they stay as they are. After UNION, INTERSECT and EXCEPT, the tables
    of the first query decide which columns are merged.
    """
    if isinstance(node, ColumnUse):
        return change(node)
    if isinstance(node, Condition):
        return node._replace(
            left=_comparable(node.left, change),
            value=_hidden(node.value),
            upper=_hidden(node.upper),
        )
    if not isinstance(node, tuple):
        return node
    parts = [_comparable(part, change) for part in node]
    if isinstance(node, Conditions):
        return Conditions(*parts)
    if isinstance(node, Query):
        # A subquery in FROM must be equal in its values, too.
        return Query(*parts)._replace(tables=node.tables)
    return tuple(parts)


def _hidden(value: Value) -> Value:
    """Return a subquery with its values hidden, and None for another value."""
    if not isinstance(value, Query):
        return None
    hidden: Query = _comparable(value, lambda use: use)
    return hidden


class _UnreadableError(Exception):
    """The text is not a query of Spider's grammar."""


# Spider splits SQL with NLTK's tokenizer for English prose. Brackets, `*` and most punctuation
# become tokens of their own; a comma only if no digit follows (English writes 1,000), a full stop
# only at the end of the text, and `=`, `+`, `/` never, which is why `a=1` is one unreadable word. A
# quote that touches a word is a part of it.
_TOKEN = re.compile(
    r"""(?:[^\s;@#$%&?!*()\[\]{}<>`\xab\xbb\u2012-\u2015\u2018\u2019\u201c-\u201e,:".-]++"""
    r"""|"[^"]*+"|[,:](?=\d)|\.(?![\])}>\s]*\Z)|-(?!-))+|--|\S"""
)
_AGGREGATES = ("max", "min", "count", "sum", "avg")
_COMPARISONS = {
    "not",
    "between",
    "=",
    ">",
    "<",
    ">=",
    "<=",
    "!=",
    "in",
    "like",
    "is",
    "exists",
}
_SET_OPERATIONS = ("intersect", "union", "except")
_CLAUSES = {*_SET_OPERATIONS, "select", "from", "where", "group", "order", "limit"}
_JOINS = {"join", "on", "as"}
_CLAUSE_ENDS = _CLAUSES | {")", ";", ""}
_VALUE_ENDS = _CLAUSES | _JOINS | {")", ",", "and", ""}
_MAX_DEPTH = 64  # deeper nesting is no query, and would exhaust the stack


def _is_text(token: str) -> bool:
    """Whether a token is one text in quotes."""
    return token.startswith('"') and token.find('"', 1) == len(token) - 1


def _is_number(token: str) -> bool:
    with suppress(ValueError):
        float(token)
        return True
    return False


class _Parser:
    """Recursive descent: a method for each rule.

    `names` are the tables in FROM, in which a column is looked up.
    """

    def __init__(self, sql: str, columns: Mapping[str, frozenset[str]]) -> None:
        text = sql.replace("'", '"')
        is_odd = text.count('"') % 2
        if is_odd:
            self.fail()
        # In lower case, quoted ones as they are. The last is "", which no rule accepts: so none has
        # to look for the end.
        self.tokens: list[str] = []
        for token in _TOKEN.findall(text):
            self.tokens.append(token if token.startswith('"') else token.lower())
        self.tokens.append("")
        self.columns = columns
        self.at = 0  # the next token
        self.depth = 0
        self.names: list[str] = []
        # As in Spider, an alias is valid in the whole text, in subqueries and before its
        # definition, too, and the last definition wins; an alias with the name of a table makes the
        # query unreadable.
        self.aliases: dict[str, str] = {}
        for place, word in enumerate(self.tokens):
            if word == "as":
                self.aliases[self.tokens[place + 1]] = self.tokens[place - 1]
        if "" in self.aliases:
            self.fail()
        if not self.aliases.keys().isdisjoint(columns):
            self.fail()
        for table in columns:
            self.aliases[table] = table

    def fail(self) -> NoReturn:
        raise _UnreadableError

    def accept(self, *tokens: str) -> str:
        """Step over the next token and return it, if it is one of these; else return ""."""
        token = self.tokens[self.at]
        if token not in tokens:
            return ""
        self.at += 1
        return token

    def expect(self, *tokens: str) -> str:
        """Step over the next token, which must be one of these."""
        return self.accept(*tokens) or self.fail()

    def word(self) -> str:
        """Step over the next token, whatever it is, but not the end."""
        token = self.upcoming
        if not token:
            self.fail()
        self.at += 1
        return token

    @property
    def upcoming(self) -> str:
        return self.tokens[self.at]

    def query(self) -> Query:
        outer_names = self.names
        self.depth += 1
        in_brackets = self.accept("(")
        start = self.at
        if self.depth > _MAX_DEPTH:
            self.fail()
        if "from" not in self.tokens[start:]:
            self.fail()
        # FROM is parsed before SELECT, because unqualified columns are looked up in its tables.
        self.at = self.tokens.index("from", start) + 1
        tables, on = self.from_clause()
        end = self.at
        self.at = start
        distinct, select = self.select_clause()
        self.at = end
        where = self.conditions_after("where")
        group = self.group_clause()
        having = self.conditions_after("having")
        order = self.order_clause()
        limit = bool(self.accept("limit"))
        if limit:
            self.word()
        self.semicolons()
        if in_brackets:
            self.expect(")")
            self.semicolons()
        operation = self.accept(*_SET_OPERATIONS)
        combined = (operation, self.query()) if operation else None
        self.names = outer_names
        self.depth -= 1
        return Query(
            select=select,
            distinct=distinct,
            tables=tables,
            on=on,
            where=where,
            group=group,
            having=having,
            order=order,
            limit=limit,
            combined=combined,
        )

    def semicolons(self) -> None:
        while self.accept(";"):
            pass

    def from_clause(self) -> tuple[tuple[str | Query, ...], Conditions]:
        tables: list[str | Query] = []
        self.names = []
        on = Conditions()
        while self.upcoming:  # a comma is no table, and so is refused
            in_brackets = self.accept("(")
            if self.upcoming == "select":
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
                more = self.conditions()
                connectors = on.connectors
                if on.units:
                    connectors += ("and",)
                connectors += more.connectors
                on = Conditions(on.units + more.units, connectors)
            if in_brackets:
                self.expect(")")
            if self.upcoming in _CLAUSE_ENDS:
                break
        return tuple(tables), on

    def select_clause(self) -> tuple[bool, tuple[Selected, ...]]:
        self.expect("select")
        distinct = bool(self.accept("distinct"))
        items = []
        while self.upcoming not in _CLAUSES:  # ends at the FROM that was just parsed
            aggregate = self.accept(*_AGGREGATES)
            items.append(Selected(aggregate, self.expression()))
            self.accept(",")
        return distinct, tuple(items)

    def group_clause(self) -> tuple[ColumnUse, ...]:
        uses: list[ColumnUse] = []
        if not self.accept("group"):
            return ()
        self.expect("by")
        while self.upcoming not in _CLAUSE_ENDS:
            uses.append(self.column_use())
            if not self.accept(","):
                break
        return tuple(uses)

    def order_clause(self) -> tuple[str, tuple[Expression, ...]] | None:
        """The direction, which is the last that is written, and the expressions."""
        if not self.accept("order"):
            return None
        self.expect("by")
        direction = "asc"
        expressions: list[Expression] = []
        while self.upcoming not in _CLAUSE_ENDS:
            expressions.append(self.expression())
            direction = self.accept("asc", "desc") or direction
            if not self.accept(","):
                break
        return direction, tuple(expressions)

    def conditions_after(self, word: str) -> Conditions:
        """The conditions of a clause, if it is next."""
        if not self.accept(word):
            return Conditions()
        return self.conditions()

    def conditions(self) -> Conditions:
        units = []
        connectors = []
        while self.upcoming:
            units.append(self.condition())
            if self.upcoming in _CLAUSE_ENDS | _JOINS:
                break
            # Here Spider drops the rest, but no valid SQL gets here.
            connectors.append(self.expect("and", "or"))
        return Conditions(tuple(units), tuple(connectors))

    def condition(self) -> Condition:
        left = self.expression()
        negated = bool(self.accept("not"))
        operator = self.word()
        # The tokenizer splits `!=` always, and `> =` may be written so.
        if operator in {"<", ">", "!"} and self.accept("="):
            operator += "="
        if operator not in _COMPARISONS:
            self.fail()
        value = self.value()
        upper = None
        if operator == "between":
            self.expect("and")
            upper = self.value()
        return Condition(
            negated=negated,
            operator=operator,
            left=left,
            value=value,
            upper=upper,
        )

    def value(self) -> Value:
        in_brackets = self.accept("(")
        first = self.upcoming
        value: Value
        if first == "select":
            value = self.query()
        elif _is_text(first):
            value = self.word()
        elif _is_number(first):
            value = float(self.word())
        elif in_brackets or first in _AGGREGATES or first in _VALUE_ENDS:
            self.fail()
        else:
            value = ColumnUse("", *self.column())
            while self.upcoming not in _VALUE_ENDS:  # Spider ignores it
                self.at += 1
        if in_brackets:
            self.expect(")")
        return value

    def expression(self) -> Expression:
        in_brackets = self.accept("(")
        left = self.column_use()
        operator = self.accept("-", "+", "*", "/")
        right = self.column_use() if operator else None
        if in_brackets:
            self.expect(")")
        return operator, left, right

    def column_use(self) -> ColumnUse:
        in_brackets = self.accept("(")
        aggregate = self.accept(*_AGGREGATES)
        if aggregate:
            self.expect("(")
        use = ColumnUse(aggregate, *self.column())
        # Of `(max(a))` the last bracket is left, which `expression` accepts.
        if aggregate or in_brackets:
            self.expect(")")
        return use

    def column(self) -> tuple[str, bool]:
        """A column, and whether DISTINCT stands before it."""
        distinct = bool(self.accept("distinct"))
        word = self.word()
        qualifier, dot, name = word.partition(".")
        tables = self.names
        if dot:
            tables = [self.aliases.get(qualifier, "")]
        else:
            name = word
        for table in tables:
            if name in self.columns.get(table, ()):
                return f"{table}.{name}", distinct
        if word != "*":
            self.fail()
        return word, distinct
