"""Find gold queries that contradict their hint: a constant or an operation of the hint is missing.

A missing constant is reported only if the database contains it: otherwise the gold query may correct the hint.
"""

import re
from collections.abc import Iterator

from workbench.db.sql.derived.doubts.selects import ROWS, Doubt
from workbench.db.sql.facts import LiteralComparison, QueryFacts, query_facts
from workbench.db.sql.features import functions
from workbench.db.text.quoting import quote
from workbench.types import Question, Schema, lower_name

_CONSTANT = re.compile(
    r"""(?:`([^`]+)`|"([^"]+)"|\b(\w+))\s*(==?|>=|<=|<>|!=|>|<|LIKE\b|BETWEEN\b)\s*(?:'([^']*)'|"([^"]*)"|(-?\d+(?:\.\d+)?)(?![\w./-]))""",
    re.IGNORECASE,
)
_SPELT = {"==": "=", "!=": "<>", "between": ">="}
_ORDERS = {"<", "<=", ">", ">="}
_EXTREME = re.compile(r"\b(MAX|MIN)\s*\(", re.IGNORECASE)
_NULL = re.compile(r"NULL\b", re.IGNORECASE)
_SAYS_NULL = re.compile(r"\bIS\s+(?:NOT\s+)?NULL\b", re.IGNORECASE)
_DIVISION = re.compile(
    r"""\bDIVIDE\s*\(|\bdivided by\b|[\w)`"'] +/ +[\w(`"']|\)\s*/""", re.IGNORECASE
)
_PERCENT = re.compile(r"[*]\s*100\b|\b100\s*[*]|\bMULTIPLY\s*\([^;]*\b100\b", re.IGNORECASE)
_DIFFERENCE = re.compile(r"\bSUBTRACT\s*\(", re.IGNORECASE)
_DISTINCT = re.compile(r"\bDISTINCT\b", re.IGNORECASE)
_MEAN = re.compile(r"\b(?:AVG|AVERAGE)\s*\(", re.IGNORECASE)


def contradicted_hints(question: Question, sql: str, schema: Schema) -> Iterator[Doubt]:
    """A doubt for each constant and each operation of the hint that the gold query does not have."""
    facts = query_facts(sql, schema) if question.evidence else None
    if facts is None:
        return
    for column, hinted in _constants(question.evidence, facts, schema).items():
        table, name = map(quote, column)
        in_query = [comparison for comparison in facts.comparisons if comparison.column == column]
        if any(_agrees(comparison, sql, in_query) for comparison in hinted):
            continue
        first = hinted[0]
        value = str(first.value).replace("'", "''")
        literal = f"'{value}'" if isinstance(first.value, str) else str(first.value)
        yield Doubt(
            f"the hint says {column[1]} {first.operator} {literal}, and the gold query does not",
            f"SELECT {name}, COUNT(*) FROM {table} WHERE {name} {first.operator} {literal}"
            f" GROUP BY {name} LIMIT {ROWS}",
        )
    for operation in _missing_operations(question.evidence, sql, facts):
        yield Doubt(
            f"the hint {operation}, and the gold query does not",
            f"SELECT * FROM ({sql.strip().rstrip(';')}) LIMIT {ROWS}",
        )


def _constants(
    hint: str, facts: QueryFacts, schema: Schema
) -> dict[tuple[str, str], list[LiteralComparison]]:
    """The comparisons that the hint states, with columns of the tables that the query uses."""
    columns = {
        lower_name(column.name): (table.name, column.name)
        for table in schema.tables
        if table.name in facts.tables
        for column in table.columns
    }
    hinted: dict[tuple[str, str], list[LiteralComparison]] = {}
    for found in _CONSTANT.finditer(hint):
        named, operator = found[1] or found[2] or found[3], found[4].lower()
        if column := columns.get(lower_name(named)):
            word = found[5] if found[5] is not None else found[6]
            value = word if word is not None else float(found[7])
            # A whole number is an int in the facts of a query.
            whole = int(value) if isinstance(value, float) and value.is_integer() else value
            hinted.setdefault(column, []).append(
                LiteralComparison(column, _SPELT.get(operator, operator), whole)
            )
    return hinted


def _agrees(hinted: LiteralComparison, sql: str, in_query: list[LiteralComparison]) -> bool:
    """Whether the query has the hint's constant: with the same column an order must be the same, too."""
    same = [one for one in in_query if _plain(one.value) == _plain(hinted.value)]
    if same and hinted.operator in {"<", ">"} and all(one.operator in _ORDERS for one in same):
        return any(one.operator == hinted.operator for one in same)
    return _plain(hinted.value) in sql.casefold()


def _plain(value: str | float) -> str:
    return str(value).strip().strip("%").casefold()


def _missing_operations(hint: str, sql: str, facts: QueryFacts) -> Iterator[str]:
    """The operations of the hint's formula that the query lacks; AVG counts as a division."""
    divides = "/" in functions(sql) or "avg" in facts.operations
    if _DIVISION.search(hint) and not divides:
        yield "divides"
    if _MEAN.search(hint) and not divides:
        yield "takes a mean"
    if _PERCENT.search(hint) and "100" not in sql:
        yield "multiplies by 100"
    if _SAYS_NULL.search(hint) and not _NULL.search(sql):
        yield "tests for NULL"
    extremes = {name.lower() for name in _EXTREME.findall(hint)}
    # ORDER BY with LIMIT finds an extreme, too; ascending is the default, so any ORDER BY may find a minimum.
    orders = {"max": "descending", "min": "order"}
    for name in extremes if len(extremes) == 1 else ():
        if not {name, orders[name]} & facts.operations:
            yield f"takes a {name}imum"
    if _DISTINCT.search(hint) and not {"distinct", "group"} & facts.operations:
        yield "takes each value once"
    if _DIFFERENCE.search(hint) and "-" not in sql:
        yield "subtracts"
