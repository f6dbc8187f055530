"""A parser for the small SQL grammar of Spider's evaluation script.

Exact match and hardness are defined on this grammar, not on SQL: a query that it does not accept counts as an
empty prediction, so its gaps decide verdicts. A general SQL parser would accept more than Spider does, and
take many times as long. It does not accept:

- `=`, `+`, `-` or `/` glued to a neighbour (`a=1`, `a >=1`), `==`, `<>`, `T1. a`, backticks;
- a quote inside a string, an odd number of quotes, a literal where a column belongs;
- `INNER JOIN`, `LEFT JOIN`, a comma in FROM, an alias without AS or of a column or a subquery;
- `IS NULL`, `EXISTS`, lists after IN, CASE, functions other than the five aggregates, UNION ALL.

It ignores what it should not: anything after the part that it parses (OFFSET, NULLS LAST), a missing comma
between columns, and everything from a column on the right of a comparison to the next AND, comma, bracket or
clause, which hides an OR (`a = b OR c = d`) and the INNER of a second join.
"""

from workbench.evaluate.spider.syntax import (
    ColumnUse,
    Condition,
    Conditions,
    Expression,
    Query,
    Value,
)
from workbench.evaluate.spider.tokens import Tokens, UnreadableError, split

AGGREGATES = frozenset({"max", "min", "count", "sum", "avg"})
ARITHMETIC = frozenset("-+*/")
COMPARISONS = frozenset(
    {"not", "between", "=", ">", "<", ">=", "<=", "!=", "in", "like", "is", "exists"}
)
DIRECTIONS = frozenset({"asc", "desc"})
SET_OPERATIONS = frozenset({"intersect", "union", "except"})
CLAUSES = SET_OPERATIONS | {"select", "from", "where", "group", "order", "limit"}
JOINS = frozenset({"join", "on", "as"})
CLAUSE_ENDS = CLAUSES | {")", ";", ""}
VALUE_ENDS = CLAUSES | JOINS | {")", ",", "and", ""}
MAX_DEPTH = 64  # deeper nesting is no query, and would exhaust the stack


def parse(sql: str, columns: dict[str, frozenset[str]]) -> Query | None:
    """The query, or None if the grammar does not accept it; never an exception.

    `columns` holds the columns of each table, all in lower case.
    """
    try:
        return _Parser(split(sql), columns).query()
    except UnreadableError:
        return None


class _Parser(Tokens):
    """Recursive descent: a method for each rule.

    `names` are the tables in FROM, in which an unqualified column is looked up.
    """

    def __init__(self, tokens: list[str], columns: dict[str, frozenset[str]]) -> None:
        super().__init__(tokens)
        self.columns = columns
        self.depth = 0
        # As in Spider, an alias is valid in the whole text, in subqueries and before its definition, too, and
        # the last definition wins; an alias with the name of a table makes the query unreadable.
        self.aliases = {tokens[i + 1]: tokens[i - 1] for i, t in enumerate(tokens) if t == "as"}
        if "" in self.aliases or not self.aliases.keys().isdisjoint(columns):
            self.fail()
        self.aliases.update((table, table) for table in columns)

    def query(self) -> Query:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail()
        in_brackets = self.accept("(")
        start = self.at
        # FROM is parsed before SELECT, because unqualified columns are looked up in its tables.
        tables, on = self.from_clause()
        names = [table for table in tables if isinstance(table, str)]
        end, self.at = self.at, start
        distinct, select = self.select_clause(names)
        self.at = end
        where = self.conditions(names) if self.accept("where") else Conditions()
        group = self.group_clause(names)
        having = self.conditions(names) if self.accept("having") else Conditions()
        order = self.order_clause(names)
        limit = self.accept("limit")
        if limit:
            self.word()
        self.semicolons()
        if in_brackets:
            self.expect(")")
            self.semicolons()
        operation = self.accept_any(SET_OPERATIONS)
        combined = (operation, self.query()) if operation else None
        self.depth -= 1
        return Query(select, distinct, tables, on, where, group, having, order, limit, combined)

    def from_clause(self) -> tuple[tuple[str | Query, ...], Conditions]:
        try:
            self.at = self.tokens.index("from", self.at) + 1
        except ValueError:
            self.fail()
        tables: list[str | Query] = []
        names: list[str] = []
        units: list[Condition] = []
        connectors: list[str] = []
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
                names.append(name)
            if self.accept("on"):
                # Spider keeps the conditions of all ONs in one list, joined by AND.
                on = self.conditions(names)
                connectors += ("and", *on.connectors) if units else on.connectors
                units += on.units
            if in_brackets:
                self.expect(")")
            if self.tokens[self.at] in CLAUSE_ENDS:
                break
        return tuple(tables), Conditions(tuple(units), tuple(connectors))

    def select_clause(self, names: list[str]) -> tuple[bool, tuple[tuple[str, Expression], ...]]:
        self.expect("select")
        distinct = self.accept("distinct")
        items = []
        while self.tokens[self.at] not in CLAUSES:  # ends at the FROM that was just parsed
            items.append((self.accept_any(AGGREGATES), self.expression(names)))
            self.accept(",")
        return distinct, tuple(items)

    def group_clause(self, names: list[str]) -> tuple[ColumnUse, ...]:
        columns: list[ColumnUse] = []
        if self.accept("group"):
            self.expect("by")
            while self.tokens[self.at] not in CLAUSE_ENDS:
                columns.append(self.column_use(names))
                if not self.accept(","):
                    break
        return tuple(columns)

    def order_clause(self, names: list[str]) -> tuple[str, tuple[Expression, ...]] | None:
        """The clause has one direction: the last one given."""
        if not self.accept("order"):
            return None
        self.expect("by")
        direction = "asc"
        expressions: list[Expression] = []
        while self.tokens[self.at] not in CLAUSE_ENDS:
            expressions.append(self.expression(names))
            direction = self.accept_any(DIRECTIONS) or direction
            if not self.accept(","):
                break
        return direction, tuple(expressions)

    def conditions(self, names: list[str]) -> Conditions:
        units: list[Condition] = []
        connectors: list[str] = []
        while self.tokens[self.at]:
            units.append(self.condition(names))
            token = self.tokens[self.at]
            if token in CLAUSE_ENDS or token in JOINS:
                break
            if token not in {"and", "or"}:  # here Spider drops the rest, but no valid SQL gets here
                self.fail()
            connectors.append(token)
            self.at += 1
        return Conditions(tuple(units), tuple(connectors))

    def condition(self, names: list[str]) -> Condition:
        left = self.expression(names)
        negated = self.accept("not")
        operator = self.word()
        if operator in {"<", ">", "!"} and self.accept("="):
            operator += "="
        if operator not in COMPARISONS:
            self.fail()
        value = self.value(names)
        upper: Value = None
        if operator == "between":
            self.expect("and")
            upper = self.value(names)
        return Condition(negated, operator, left, value, upper)

    def value(self, names: list[str]) -> Value:
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
                if in_brackets or first in AGGREGATES or first in VALUE_ENDS:
                    self.fail()
                value = ColumnUse("", *self.maybe_distinct(names))
                while self.tokens[self.at] not in VALUE_ENDS:
                    self.at += 1
        if in_brackets:
            self.expect(")")
        return value

    def expression(self, names: list[str]) -> Expression:
        in_brackets = self.accept("(")
        left = self.column_use(names)
        operator = self.accept_any(ARITHMETIC)
        right = self.column_use(names) if operator else None
        if in_brackets:
            self.expect(")")
        return Expression(operator, left, right)

    def column_use(self, names: list[str]) -> ColumnUse:
        in_brackets = self.accept("(")
        aggregate = self.accept_any(AGGREGATES)
        if aggregate:
            self.expect("(")
        use = ColumnUse(aggregate, *self.maybe_distinct(names))
        if aggregate or in_brackets:  # the caller closes brackets around an aggregate
            self.expect(")")
        return use

    def maybe_distinct(self, names: list[str]) -> tuple[str, bool]:
        distinct = self.accept("distinct")
        return self.column(names), distinct

    def column(self, names: list[str]) -> str:
        word = self.word()
        if word == "*":
            return word
        qualifier, dot, name = word.partition(".")
        if dot:
            table = self.aliases.get(qualifier, "")
            if name not in self.columns.get(table, ()):
                self.fail()
            return f"{table}.{name}"
        for table in names:
            if word in self.columns[table]:
                return f"{table}.{word}"
        return self.fail()
