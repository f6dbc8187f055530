"""Values next to a query's constants: the values 4, 5 and 6 tell `x > 5` from `x >= 5`.

Zhong et al. (2020, section 3.2) also put a query's constants and values close to them into databases.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta

from workbench.db.sql.facts import query_facts
from workbench.differ.rules import Cell, Rules, TableRules
from workbench.types import Value

_COUNT = re.compile(r"\b(?:limit|offset)\s+(\d+)|(\d+)\s*,\s*\d+\s*$", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOST_COPIES = 9  # below `MOST_ROWS` of `keep.py`


@dataclass(slots=True)
class Constants:
    """Values near the constants of the queries."""

    by_cell: dict[Cell, list[Value]] = field(default_factory=dict)
    """For each column that a query compares with a constant, and for each column that a query joins to it."""
    loose: list[Value] = field(default_factory=list)
    """Values near constants that a query compares with an expression."""
    counts: list[int] = field(default_factory=lambda: [1, 2])
    """Numbers of rows at which a result may change: near LIMIT, and near a constant compared with an aggregate."""
    same: list[tuple[Cell, Cell]] = field(default_factory=list)
    """Pairs of columns that a query compares by `=`."""
    unequal: list[tuple[Cell, Cell]] = field(default_factory=list)
    """Pairs of columns that a query compares by another operator."""


def constants(queries: Iterable[str], rules: Rules) -> Constants:
    """The constants of the queries and the values near them; a query that cannot be parsed adds only its LIMIT."""
    cells = rules.cells()
    found = Constants()
    for sql in queries:
        for match in _COUNT.finditer(sql):
            found.counts += _counts(int(match[1] or match[2]))
        if (facts := query_facts(sql, rules.schema)) is None:
            continue
        for left, right in (*facts.equal_columns, *facts.aggregate_comparisons):
            if left in cells and right in cells:
                found.same.append((cells[left], cells[right]))
        for left, right in facts.compared_columns:
            if left in cells and right in cells:
                found.unequal.append((cells[left], cells[right]))
        for compared in facts.comparisons:
            values = near(compared.value, pattern=compared.operator == "like")
            if compared.column in cells:
                found.by_cell.setdefault(cells[compared.column], []).extend(values)
            else:
                found.loose += values
                if isinstance(compared.value, int | float):
                    found.counts += _counts(int(compared.value))
    # A constant that selects rows by one column also selects rows by the columns joined to it.
    for a, b in found.same:
        for cell, other in ((a, b), (b, a)):
            if cell in found.by_cell:
                found.by_cell.setdefault(other, []).extend(found.by_cell[cell][:6])
    found.counts = list(dict.fromkeys(found.counts))
    return found


def _counts(number: int) -> list[int]:
    return [n for n in (number - 1, number, number + 1) if 0 < n <= _MOST_COPIES]


def near(value: Value, *, pattern: bool = False) -> list[Value]:
    """The value and its neighbours; for a LIKE pattern, texts that match it and texts that almost match it."""
    if isinstance(value, int):
        return [value, value + 1, value - 1]
    if isinstance(value, float):
        return [value, value + 0.5, value - 0.5]
    if not isinstance(value, str):
        return []
    if pattern or "%" in value:
        core = value.strip("%").replace("%", " x ").replace("_", "a")
        filled = [value.replace("%", fill).replace("_", "a") for fill in ("", "x")]
        return [*filled, core, f"x{core}", f"{core}x", core.swapcase(), core[:-1]]
    if value.lstrip("-").isdecimal() and len(value) < 10:
        number = int(value)
        return [value, str(number + 1), str(number - 1)]
    if _DATE.match(value):
        try:
            day = date.fromisoformat(value[:10])
            return [
                value,
                *((day + timedelta(days)).isoformat() + value[10:] for days in (1, -1, 366, -366)),
            ]
        except (ValueError, OverflowError):
            pass
    return [value, value.swapcase(), f"{value}x", value[:-1]]


def fitting(values: Iterable[Value], table: TableRules, column: int) -> list[Value]:
    """The values that the column accepts, converted to its type; a year also gives dates of the column in that year."""
    # SQLite converts a constant to the column's type before it compares, so 5 also stands for the text '5'.
    kinds = table.kinds[column]
    fits: list[Value] = []
    for value in values:
        if type(value) in kinds:
            fits.append(value)
        elif isinstance(value, str) and _is_number(value) and kinds & {int, float}:
            fits.append(int(float(value)) if int in kinds else float(value))
        elif isinstance(value, int | float) and float in kinds:
            fits.append(float(value))
        elif isinstance(value, float) and int in kinds and value.is_integer():
            fits.append(int(value))
        elif isinstance(value, int | float) and str in kinds:
            fits.append(str(value))
    dates = [row[column] for row in table.rows[:3]]
    for value in list(fits):
        if isinstance(value, str) and re.fullmatch(r"[12]\d{3}", value):
            fits += [value + old[4:] for old in dates if isinstance(old, str) and _DATE.match(old)]
    return [value for value in dict.fromkeys(fits) if table.accepts(column, value)]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d{1,15}(\.\d+)?", text) is not None
