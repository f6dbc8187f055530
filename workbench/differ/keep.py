"""Mend rows that break a rule of their schema: NOT NULL, unique columns, or foreign keys."""

from random import Random

from workbench.differ.rules import Key, Rows, Rules, TableRules
from workbench.types import Row, Value

MOST_ROWS = 10  # of a table
_ROUNDS = 4  # rows are mended more than once, as mending one rule can break another


def mended(rows: Rows, rules: Rules, random: Random) -> Rows | None:
    """The rows, changed so that all rules hold; None if a rule is still broken."""
    rows = {name: list(rows.get(name, ())) for name in rules.tables}
    for _ in range(_ROUNDS):
        before = {name: list(content) for name, content in rows.items()}
        for name, table in reversed(rules.tables.items()):  # children first, as they add parents
            rows[name] = _unique(_without_nulls(rows[name], table, random), table)[:MOST_ROWS]
            for key in table.keys:
                rows[name] = [_refer(row, key, table, rows, rules, random) for row in rows[name]]
        if rows == before:
            break
    return rows if holds(rows, rules) else None


def holds(rows: Rows, rules: Rules) -> bool:
    """Whether the rows break no rule."""
    for name, table in rules.tables.items():
        content = rows[name]
        if len(content) > MOST_ROWS or _unique(content, table) != content:
            return False
        if any(row[column] is None for row in content for column in table.not_null):
            return False
        for key in table.keys:
            referred = {_part(row, key.columns) for row in content}
            existing = {_part(parent, key.ref_columns) for parent in rows[key.table]}
            # A foreign key with a NULL in it refers to no row, and breaks no rule.
            if any(None not in part for part in referred - existing):
                return False
    return True


def _part(row: Row, columns: tuple[int, ...]) -> Row:
    return tuple(row[column] for column in columns)


def with_value(row: Row, column: int, value: Value) -> Row:
    return (*row[:column], value, *row[column + 1 :])


def _without_nulls(content: list[Row], table: TableRules, random: Random) -> list[Row]:
    """The rows with a value in place of each NULL that is not allowed."""
    return [
        tuple(
            _some_value(table, column, random)
            if value is None and column in table.not_null
            else value
            for column, value in enumerate(row)
        )
        for row in content
    ]


def _some_value(table: TableRules, column: int, random: Random) -> Value:
    real = [row[column] for row in table.rows if row[column] is not None]
    kind = next(iter(table.kinds[column]))
    return random.choice(real) if real else kind(1)


def _unique(content: list[Row], table: TableRules) -> list[Row]:
    """The rows, where a row that repeats an earlier unique key gets a new value in the key's last column."""
    for columns in table.unique:
        seen: set[Row] = set()
        result = []
        for row in content:
            other = row
            # SQLite lets a unique key repeat if it has a NULL.
            while (part := _part(other, columns)) in seen and None not in part:
                other = with_value(other, columns[-1], fresh(other[columns[-1]], len(seen)))
            seen.add(part)
            result.append(other)
        content = result
    return content


def fresh(value: Value, number: int) -> Value:
    """Another value of the same type."""
    if isinstance(value, int | float):
        return value + 1 + number
    if isinstance(value, str):
        return str(int(value) + 1 + number) if value.isdecimal() else f"{value}{number}"
    return (value or b"") + b"x"


def _refer(row: Row, key: Key, table: TableRules, rows: Rows, rules: Rules, random: Random) -> Row:
    """The row with a parent: either its parent is added, or the row is changed to refer to an existing parent."""
    wanted = _part(row, key.columns)
    if None in wanted:
        return row
    parents = rows[key.table]
    known = {_part(parent, key.ref_columns) for parent in parents}
    if wanted in known:
        return row
    parent_table = rules.tables[key.table]
    real = [parent for parent in parent_table.rows if _part(parent, key.ref_columns) == wanted]
    is_unique = any(set(key.columns) & set(columns) for columns in table.unique)
    if len(parents) < MOST_ROWS and (real or is_unique or not known or random.random() < 0.3):
        parent = real[0] if real else _parent(key, wanted, parents, parent_table)
        parents.append(parent)
        return row
    chosen = random.choice(sorted(known, key=repr)) if known else wanted
    for column, value in zip(key.columns, chosen, strict=True):
        row = with_value(row, column, value)
    return row


def _parent(key: Key, wanted: Row, parents: list[Row], table: TableRules) -> Row:
    """A parent row with the `wanted` key; its other values are copied from an existing or a real row."""
    like: Row = next(iter(parents or table.rows), (None,) * len(table.columns))
    for column, value in zip(key.ref_columns, wanted, strict=True):
        like = with_value(like, column, value)
    return like
