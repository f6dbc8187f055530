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

import re
from typing import NamedTuple, NoReturn, Union

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

# Spider splits SQL with NLTK's tokenizer for English prose. Brackets, `*` and most punctuation become tokens
# of their own; a comma only if no digit follows (English writes 1,000), a full stop only at the end of the
# text, and `=`, `+`, `/` never, which is why `a=1` is one unreadable word.
_TOKEN = re.compile(
    r"""(?:[^\s;@#$%&?!*()\[\]{}<>`\xab\xbb\u2012-\u2015\u2018\u2019\u201c-\u201e,:".-]++"""
    r"""|"[^"]*+"|[,:](?=\d)|\.(?![\])}>\s]*\Z)|-(?!-))+|--|\S"""
)


class ColumnUse(NamedTuple):
    aggregate: str
    column: str  # `table.column` in lower case, or `*`
    distinct: bool


class Expression(NamedTuple):
    """A column, or two with an arithmetic operator between them."""

    operator: str
    left: ColumnUse
    right: ColumnUse | None


Value = Union[None, float, str, ColumnUse, "Query"]


class Condition(NamedTuple):
    negated: bool
    operator: str
    left: Expression
    value: Value
    upper: Value  # of BETWEEN


class Conditions(NamedTuple):
    units: tuple[Condition, ...] = ()
    connectors: tuple[str, ...] = ()


class Query(NamedTuple):
    """One SELECT. A table is its name or a subquery; LIMIT counts, its number does not."""

    select: tuple[tuple[str, Expression], ...] = ()
    distinct: bool = False
    tables: tuple[Union[str, "Query"], ...] = ()
    on: Conditions = Conditions()
    where: Conditions = Conditions()
    group: tuple[ColumnUse, ...] = ()
    having: Conditions = Conditions()
    order: tuple[str, tuple[Expression, ...]] | None = None
    limit: bool = False
    combined: tuple[str, "Query"] | None = None  # INTERSECT, UNION or EXCEPT, and with what


def parse(sql: str, columns: dict[str, frozenset[str]]) -> Query | None:
    """The query, or None if the grammar does not accept it; never an exception.

    `columns` holds the columns of each table, all in lower case.
    """
    text = sql.replace("'", '"')
    if text.count('"') % 2:
        return None
    tokens = [t if t[0] == '"' else t.lower() for t in _TOKEN.findall(text)]
    tokens.append("")  # marks the end, so that no rule needs to check for it
    try:
        return _Parser(tokens, columns).query()
    except _UnreadableError:
        return None


class _UnreadableError(Exception):
    pass


class _Parser:
    """Recursive descent: a method for each rule; `at` is the index of the next token.

    `names` are the tables in FROM, in which an unqualified column is looked up.
    """

    __slots__ = ("aliases", "at", "columns", "depth", "tokens")

    def __init__(self, tokens: list[str], columns: dict[str, frozenset[str]]) -> None:
        self.tokens = tokens
        self.columns = columns
        self.at = 0
        self.depth = 0
        # As in Spider, an alias is valid in the whole text, in subqueries and before its definition, too, and
        # the last definition wins; an alias with the name of a table makes the query unreadable.
        self.aliases = {tokens[i + 1]: tokens[i - 1] for i, t in enumerate(tokens) if t == "as"}
        if "" in self.aliases or not self.aliases.keys().isdisjoint(columns):
            self.fail()
        self.aliases.update((table, table) for table in columns)

    def fail(self) -> NoReturn:
        raise _UnreadableError

    def accept(self, token: str) -> bool:
        """Step over the token if it is the next one."""
        if self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.accept(token):
            self.fail()

    def accept_any(self, tokens: frozenset[str]) -> str:
        """The next token, stepped over, if it is one of these; else ""."""
        token = self.tokens[self.at]
        if token in tokens:
            self.at += 1
            return token
        return ""

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

    def word(self) -> str:
        """The next token, whatever it is, but not the end."""
        token = self.tokens[self.at]
        if not token:
            self.fail()
        self.at += 1
        return token

    def semicolons(self) -> None:
        while self.accept(";"):
            pass

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
        """One direction for the whole clause: the last that is given."""
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
