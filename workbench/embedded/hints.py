"""Definitions in a hint: "X refers to col = 'v'", "percentage = DIVIDE(SUM(st = 'K'), COUNT(id)) * 100".

A formula is rewritten from the habits of those who write hints into SQL, which sqlglot reads.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from operator import add, mul, sub
from typing import Any

import sqlglot
from sqlglot import exp

from workbench.embedded.words import Index, Pieces, Token, columns_of, said, tokens
from workbench.sql.reading import quote

_CLAUSES = re.compile(
    r"\s*[;\n]\s*|\.\s+(?=[A-Z'\"`])"
    r"|,\s+(?:and\s+)?(?=(?:(?!\b(?:refers?|means?)\b)[^,;()'=])*\s(?:refers? to|means?|stands? for)\s)"
    r"|\s+and\s+(?=(?:[\w'%-]+\s+){1,4}(?:refers? to|means?|stands? for)\s)"
)
_LINKS = tuple(  # what stands between a phrase and its meaning, the clearest first
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\s+(?:refers?(?: to)?|means?(?: that)?|stands? for|denotes?|indicates?|signif(?:y|ies)|represents?|(?:is|are|can be) (?:represented|calculated|computed|defined|given|stored|found|measured|written|recorded|spelled|told|kept)(?: as| by| in| with| from)?(?: two ways:)?|corresponds? to)\s+",
        r"\s*:\s+",
        r"\s*(?<![<>!=])=(?!=)\s*",
        r"\s+(?:is|are)\s+",
    )
)
_HABITS = tuple(
    (re.compile(pattern, re.IGNORECASE), sql)
    for pattern, sql in (
        (r"\b(?:is|are) (not )?(?:null|empty|missing|blank|unknown)\b", r"IS \1NULL"),
        (r"\bis equal to\b|\bequals?\b(?: to)?|==|\bis\b(?! (?:not )?null\b)", "="),
        (r"(?<=\d),(?=\d{3}\b)|(?<=\d)%", ""),
        (r"(?<!case)\s(?:where|if|for|when|with)\s", ", "),  # COUNT(id where st = 'A')
        (r"\b(count|sum|avg|average|total|max|min|divide|subtract|multiply|add|year|month|day)\(", r"\1_OF("),
    )
)  # fmt: skip
_AFTER_NAME = {",", "and", "&", "(", ".", ";"}
_PLAIN = {"JULIANDAY", "DATETIME", "TIME", "STRFTIME", "IIF", "INSTR"}
_PLACE = re.compile(r"§(\d+)§")  # a column by its number, in an expression that is being built
_PARTS = {"YEAR": "%Y", "MONTH": "%m", "DAY": "%d"}
_WORKS: dict[str, Callable[[Any, Any], exp.Expr]] = {"SUBTRACT": sub, "MULTIPLY": mul, "ADD": add}


@dataclass(frozen=True, slots=True)
class Formula:
    """The SQL of an expression and its kind: row, test, total, group_test; `best` is of MAX or MIN."""

    pieces: Pieces
    kind: str
    top: bool = False  # of `best`: the largest is meant
    of_total: bool = False  # of `best`: it is that of a total, to be taken for each group
    tests: tuple[Pieces, ...] = ()  # conditions inside totals

    @property
    def fields(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(columns_of([self.pieces])))


@dataclass(frozen=True, slots=True)
class Definition:
    """A clause of a hint: the question's tokens that it is about, and what they stand for.

    There is one formula for each table that an ambiguous column may be meant in, or none.
    """

    number: int
    mask: int
    fit: float  # the part of the defined phrase that the question says
    formulas: tuple[Formula, ...]

    @property
    def fields(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(i for formula in self.formulas for i in formula.fields))


def definitions(hint: str, question: Sequence[Token], made: Index) -> list[Definition]:
    """The definitions of a hint's clauses, in their order."""
    clauses = (clause.strip(" ,.") for clause in _CLAUSES.split(hint if made.fields else ""))
    found = []
    for number, clause in enumerate(filter(None, clauses)):
        phrase, formulas = _split(clause, made)
        found.append(Definition(number, *_said(phrase, question), tuple(formulas)))
    return found


def _split(clause: str, made: Index) -> tuple[str, list[Formula]]:
    """The phrase that a clause defines, and what it stands for; a bare formula is both."""
    if whole := _formulas(clause, made, whole=True):
        return clause, whole
    phrase = clause
    for at in filter(None, (link.search(clause) for link in _LINKS)):
        phrase, right = clause[: at.start()], clause[at.end() :]
        if formulas := _formulas(right, made):
            return phrase, formulas
        if formulas := _formulas(phrase, made, whole=True):
            return right, formulas
    return phrase, []


def _formulas(text: str, made: Index, *, whole: bool = False) -> list[Formula]:
    """The longest expression in a text, once for each table that it may be about; `whole`: and nothing else."""

    def quoted(match: re.Match[str]) -> str:
        found, table, column = match.group(0, "table", "column")
        if column:
            return (f"`{table}`." * bool(table) + f"`{column}`").lower()
        return "'" + found[1:-1].replace("'", "''") + "'" if found[0] == '"' else found

    parts = re.split(r"('(?:[^']|'')*'|`[^`]+`)", made.mention.sub(quoted, text))
    for pattern, habit in _HABITS:
        parts[::2] = [pattern.sub(habit, part) for part in parts[::2]]
    sql = "".join(parts)
    try:
        words = sqlglot.tokenize(sql, read="sqlite")
    except sqlglot.errors.SqlglotError:
        return []
    ends = range(len(words), len(words) - 1 if whole else 0, -1)
    for start, end in product(range(len(words[:1] if whole else words)), ends):
        first = words[start]
        begins = not start or sql[first.start] == "`" or sql[first.end + 1 : first.end + 2] == "("
        read = sql[first.start : words[end - 1].end + 1] if begins and end > start else ""
        if not (tree := _parsed(read)) or not (formula := _formula(tree, made)):
            continue
        if formula.kind == "row":
            if start:  # a word in a sentence that happens to be a column's name
                continue
            if end < len(words) and words[end].text.lower() not in _AFTER_NAME:
                return []
        same = [made.named[column.name] for column in tree.find_all(exp.Column)]
        tables = {made.fields[i].table for ids in same if len(ids) > 1 for i in ids}
        again = (_formula(tree, made, table) for table in sorted(tables))
        return [f for f in dict.fromkeys((formula, *again)) if f][:6]
    return []


@lru_cache(maxsize=4096)  # of a text many beginnings are tried, and many questions have the same
def _parsed(sql: str) -> exp.Expr | None:
    try:
        return sqlglot.parse_one(sql, into=exp.Condition, read="sqlite")
    except (sqlglot.errors.SqlglotError, RecursionError, AttributeError):  # "[a: 1]" is the last
        return None


class _NoFormulaError(Exception):
    """A hint's text that is no expression over columns of the schema."""


def _formula(tree: exp.Expr, made: Index, preferred: int = -1) -> Formula | None:
    """The formula of an expression; of several columns of a name, that of the preferred table, or of one met."""
    meant = []  # by each column of the expression
    for column in tree.find_all(exp.Column, bfs=False):
        known = isinstance(column.this, exp.Identifier) and column.this.quoted
        ids = made.named.get(column.name, []) if known else []
        if column.table:
            ids = [i for i in ids if made.where(i)[0].lower() == column.table]
        if not ids:
            return None
        meant.append(ids)
    holder = exp.Tuple(expressions=[tree.copy()])
    tables, tests = [preferred], list[exp.Expr]()
    try:
        columns = [*holder.find_all(exp.Column, bfs=False)]
        for column, ids in zip(columns, meant, strict=True):
            order = [*tables, *(made.fields[i].table for i in ids)]  # a table met before goes first
            chosen = min(ids, key=lambda i: order.index(made.fields[i].table))
            tables.append(made.fields[chosen].table)
            column.replace(exp.Var(this=f"§{chosen}§"))
        for node in reversed(list(holder.expressions[0].walk())):  # the innermost first
            if (built := _built(node, made, tests)) is not node:
                node.replace(built)
    except _NoFormulaError:
        return None
    root = holder.expressions[0]
    if isinstance(root, exp.Max | exp.Min):
        of_total = root.this.find(exp.AggFunc) is not None
        return Formula(_pieces(root.this), "best", isinstance(root, exp.Max), of_total)
    if _is_literal(root):
        return None
    total = root.find(exp.AggFunc) is not None
    kind = ("group_test" if total else "test") if _is_test(root) else "total" if total else "row"
    return Formula(_pieces(root), kind, tests=tuple(map(_pieces, tests)))


def _built(node: exp.Expr, made: Index, tests: list[exp.Expr]) -> exp.Expr:
    """A node as SQLite is to see it, its parts already built."""
    match node:
        case exp.Anonymous() if node.name.upper().endswith("_OF") and node.expressions:
            return _called(node.name.upper()[:-3], *node.expressions, made=made, tests=tests)
        case exp.Div():
            return _divided(node.left, node.right)
        case exp.Mul() if isinstance(node.left, exp.Div) and node.right.name == "100":
            times = exp.Mul(this=node.left.left, expression=node.right)
            return exp.Div(this=times, expression=node.left.right, typed=True)
        case exp.Connector() if _is_test(node.left) and _is_test(node.right):
            inside = isinstance(node, exp.And) or isinstance(node.parent, exp.Paren)
            return node if inside else exp.paren(node)
        case exp.Query() | exp.Placeholder() | exp.Connector():
            raise _NoFormulaError
        case exp.Anonymous() if node.name.upper() not in _PLAIN:
            raise _NoFormulaError
        case exp.In() if not node.expressions:
            raise _NoFormulaError
        case exp.Binary() | exp.Between() | exp.In() if _is_test(node):
            return _compared(node, made)
    return node


def _called(name: str, first: Any, *rest: exp.Expr, made: Index, tests: list[exp.Expr]) -> exp.Expr:
    """A function as hints call it: a total with a condition, arithmetic by name, a part of a date."""
    if name in _PARTS and (place := _PLACE.fullmatch(first.sql())):
        part = made.fields[int(place[1])].part(_PARTS[name])
        return exp.Var(this="".join(p if isinstance(p, str) else f"§{p}§" for p in part))
    if name in {"DIVIDE", *_WORKS} and len(rest) == 1:
        return _WORKS.get(name, _divided)(first, rest[0])
    if name in {"DIVIDE", *_WORKS, *_PARTS} or len(rest) > 1:
        raise _NoFormulaError
    name = {"AVERAGE": "AVG", "TOTAL": "SUM"}.get(name, name)
    conditions = [part for part in (first, *rest) if _is_test(part)]
    if not conditions or name in {"MAX", "MIN"}:
        return exp.func(name, first)
    tests.append(condition := exp.and_(*conditions))
    counts = name == "COUNT"
    case = exp.case().when(condition, "1" if counts or _is_test(first) else first)
    total = counts or name == "SUM"
    return exp.func("SUM", case.else_("0")) if total else exp.func(name, case)


def _divided(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """A division of real numbers."""
    left = left if isinstance(left, exp.Cast) else exp.cast(left, "REAL")
    right = exp.Paren(this=right) if isinstance(right, exp.Binary) else right
    return exp.Div(this=left, expression=right, typed=True)


def _compared(node: exp.Expr, made: Index) -> exp.Expr:
    """A comparison. STRFTIME gives '2021', not 2021; a total is compared with rows as that of all rows."""
    left, *others = node.iter_expressions()
    if _is_literal(left):
        raise _NoFormulaError
    if isinstance(left, exp.TimeToStr | exp.Substring) or left.name.startswith(("STRF", "SUBST")):
        for other in others:
            if isinstance(other, exp.Literal) and not other.is_string:
                other.replace(exp.Literal.string(other.name))
    elif len(others) == 1 and others[0].find(exp.AggFunc) and not left.find(exp.AggFunc):
        total = others[0].sql("sqlite")
        fields = {i: made.fields[int(i)] for i in _PLACE.findall(total)}
        tables = {field.table for field in fields.values()}
        if len(tables) != 1:
            raise _NoFormulaError
        inner = _PLACE.sub(lambda m: quote(fields[m[1]].name), total)
        source = quote(made.sheets[tables.pop()].name)
        others[0].replace(exp.Var(this=f"(SELECT {inner} FROM {source})"))
    return node


def _is_test(node: exp.Expr) -> bool:
    return isinstance(node.unnest(), exp.Predicate | exp.And | exp.Or | exp.Not)


def _is_literal(node: exp.Expr) -> bool:
    return isinstance(node.this if isinstance(node, exp.Neg) else node, exp.Literal)


def _pieces(node: exp.Expr) -> Pieces:
    sql = re.sub(r"NOT (§\d+§) IS NULL", r"\1 IS NOT NULL", node.sql("sqlite"))
    return tuple(int(p) if i % 2 else p for i, p in enumerate(_PLACE.split(sql)) if i % 2 or p)


def _said(phrase: str, question: Sequence[Token]) -> tuple[int, float]:
    """The question's tokens that say a phrase, and how much of it they say."""
    words = [t for t in tokens(phrase) if t.low.isalnum()]
    telling = [t for t in words if t.content or t.number is not None]
    return said(telling or words, question)[:2]
