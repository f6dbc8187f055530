"""Random changes of a database's rows, of the kinds that are known to tell queries apart."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from random import Random

from workbench.differ.keep import MOST_ROWS, fresh, with_value
from workbench.differ.near import Constants, fitting, near
from workbench.differ.rules import Cell, Rows, Rules
from workbench.types import Row, Value


@dataclass(frozen=True)
class Changes:
    """Changes rows at random, mostly in the columns that the queries use."""

    rules: Rules
    constants: Constants
    cells: tuple[Cell, ...]
    """The columns that the queries use."""
    random: Random
    nulls: bool
    """Put NULL into any column that allows it, and not only into columns that hold NULL in real rows."""
    groups: bool = False
    """Use the changes of `_OF_GROUPS`, too. The trained selector's weights were learned without them."""

    def __call__(self, rows: Rows, times: int) -> Rows:
        """A copy of the rows with this number of changes."""
        rows = {name: list(content) for name, content in rows.items()}
        kinds = _KINDS + _OF_GROUPS if self.groups else _KINDS
        for _ in range(times):
            kind = self.random.choice(kinds)
            kind(self, rows)
        return rows

    @cached_property
    def _values(self) -> dict[Cell, list[Value]]:
        """The values near constants that fit each column that the queries use."""
        found = {}
        for name, column in self.cells:
            table = self.rules.tables[name]
            own = self.constants.by_cell.get((name, column), [])
            found[name, column] = fitting(own or self.constants.loose, table, column)
        return found

    def _cell(self, rows: Rows) -> tuple[str, int, int] | None:
        """A random table, one of its rows, and a column that the queries use; None if their tables are empty."""
        filled = [cell for cell in self.cells if rows[cell[0]]]
        if not filled:
            return None
        name, column = self.random.choice(filled)
        return name, self.random.randrange(len(rows[name])), column

    def _set(self, rows: Rows, name: str, row: int, column: int, value: Value) -> None:
        """Replace a value, if the column accepts the new one."""
        table = self.rules.tables[name]
        if value is None:
            allowed = column not in table.not_null and (self.nulls or column in table.nulls)
        else:
            allowed = table.accepts(column, value)
        if allowed:
            rows[name][row] = with_value(rows[name][row], column, value)

    def real_row(self, rows: Rows) -> None:
        """Add a real row."""
        name = self.random.choice(list(self.rules.tables))
        real = self.rules.tables[name].rows
        if real and len(rows[name]) < MOST_ROWS:
            rows[name].append(self.random.choice(real))

    def copies(self, rows: Rows) -> None:
        """Repeat a row: a duplicate, or further children of one parent."""
        if filled := [name for name in rows if rows[name]]:
            name = self.random.choice(filled)
            row = self.random.choice(rows[name])
            wanted = self.random.choice(self.constants.counts)
            rows[name] += [row] * min(wanted, MOST_ROWS - len(rows[name]))

    def removed(self, rows: Rows) -> None:
        """Remove a row: a parent loses a child, a group becomes empty."""
        if filled := [name for name in rows if rows[name]]:
            name = self.random.choice(filled)
            rows[name].pop(self.random.randrange(len(rows[name])))

    def emptied(self, rows: Rows) -> None:
        """Remove all rows of a table."""
        rows[self.random.choice(list(rows))] = []

    def null(self, rows: Rows) -> None:
        if cell := self._cell(rows):
            self._set(rows, *cell, None)

    def tie(self, rows: Rows) -> None:
        """Give a row the value of another row of its table."""
        if cell := self._cell(rows):
            name, _, column = cell
            self._set(rows, *cell, self.random.choice(rows[name])[column])

    def near_constant(self, rows: Rows) -> None:
        """Give a row a value next to a constant of the queries."""
        if filled := [cell for cell in self.cells if rows[cell[0]] and self._values[cell]]:
            name, column = self.random.choice(filled)
            row = self.random.randrange(len(rows[name]))
            self._set(rows, name, row, column, self.random.choice(self._values[name, column]))

    def nudged(self, rows: Rows) -> None:
        """Move a number or a date by one, or change the case or the end of a text."""
        if cell := self._cell(rows):
            name, row, column = cell
            self._set(rows, *cell, self.random.choice(near(rows[name][row][column]) or [None]))

    def real_value(self, rows: Rows) -> None:
        """Give a row a value that a real row has in this column."""
        if cell := self._cell(rows):
            real = self.rules.tables[cell[0]].rows
            if real:
                self._set(rows, *cell, self.random.choice(real)[cell[2]])

    def joined(self, rows: Rows) -> None:
        """Give a row a value of the column to which a query or a foreign key joins its column."""
        pairs = [*self.constants.same, *((b, a) for a, b in self.constants.same)]
        pairs += [
            ((name, column), (key.table, ref))
            for name, table in self.rules.tables.items()
            for key in table.keys
            for column, ref in zip(key.columns, key.ref_columns, strict=True)
        ]
        if filled := [(a, b) for a, b in pairs if rows[a[0]] and rows[b[0]]]:
            (name, column), (other, ref) = self.random.choice(filled)
            row = self.random.randrange(len(rows[name]))
            self._set(rows, name, row, column, self.random.choice(rows[other])[ref])

    def grouped(self, rows: Rows) -> None:
        """Repeat a row in two or three groups; each group has its own size and its own value in one column."""
        tables = self.rules.tables
        repeatable = [
            (name, c) for name, c in self.cells if rows[name] and (c,) not in tables[name].unique
        ]
        if repeatable:
            name, column = self.random.choice(repeatable)
            row = self.random.choice(rows[name])
            content = (*rows[name], *tables[name].rows)
            values = list(dict.fromkeys(other[column] for other in content))
            copies: list[Row] = []
            for value in self.random.sample(values, min(len(values), self.random.choice((2, 3)))):
                size = self.random.choice((*self.constants.counts, 3, 4))
                copies += [with_value(row, column, value)] * size
            rows[name] = [*copies, *rows[name]][:MOST_ROWS]

    def rekeyed(self, rows: Rows) -> None:
        """Repeat a row with another value in one column of a unique key, so that its other values are duplicates."""
        tables = self.rules.tables
        keyed = [name for name in rows if rows[name] and tables[name].unique and tables[name].rows]
        if keyed:
            name = self.random.choice(keyed)
            table = tables[name]
            row = self.random.choice(rows[name])
            column = self.random.choice(self.random.choice(table.unique))
            values = [real[column] for real in table.rows]
            if row[column] is not None:
                values = [fresh(row[column], len(rows[name])), *values]
            rows[name] = [with_value(row, column, self.random.choice(values)), *rows[name]]

    def compared(self, rows: Rows) -> None:
        """Give a row the value, or a value next to it, of a column that a query compares with its column."""
        pairs = [*self.constants.unequal, *((b, a) for a, b in self.constants.unequal)]
        if filled := [(a, b) for a, b in pairs if rows[a[0]] and rows[b[0]]]:
            (name, column), (other, ref) = self.random.choice(filled)
            row = self.random.randrange(len(rows[name]))
            source = row if other == name else self.random.randrange(len(rows[other]))
            value = rows[other][source][ref]
            values = fitting([value, *near(value)], self.rules.tables[name], column)
            self._set(rows, name, row, column, self.random.choice([*values, value]))


_KINDS: tuple[Callable[[Changes, Rows], None], ...] = (
    Changes.real_row,
    Changes.real_row,
    Changes.copies,
    Changes.removed,
    Changes.emptied,
    Changes.null,
    Changes.tie,
    Changes.near_constant,
    Changes.near_constant,
    Changes.nudged,
    Changes.real_value,
    Changes.joined,
    Changes.joined,
)
_OF_GROUPS: tuple[Callable[[Changes, Rows], None], ...] = (
    Changes.grouped,
    Changes.grouped,
    Changes.rekeyed,
    Changes.compared,
)
