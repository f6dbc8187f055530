"""What a model wants kept of a schema, in its own spelling and shape, and what stays whatever it says."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from workbench.types import Context, Schema, Table, fold

Pair = tuple[str, str]
_T = TypeVar("_T")
_LINES = 500  # lines of a reply that may be a list
_LIST = 2_000  # characters of a text that may be one
_EVERY = {"all", "keep all", "all columns"}


def keep(context: Context, columns: Iterable[Pair]) -> Context:
    """The context with the schema cut to these columns and the keys of their tables (CHESS, A.3).

    Of nothing, nothing is cut: a question without a schema is lost.
    """
    pairs = list(columns)
    return replace(context, schema=context.schema.only(pairs)) if pairs else context


class Names:
    """The tables and columns of a schema, found by what a reply calls them: in any case and quotes."""

    def __init__(self, schema: Schema) -> None:
        self._exact = {fold(table.name): table for table in schema.tables}
        self._tables = {plain(table.name): table for table in reversed(schema.tables)}
        self._columns: dict[str, list[Pair]] = {}
        for pair in schema.columns():
            self._columns.setdefault(plain(pair[1]), []).append(pair)

    def table(self, said: Any) -> Table | None:
        """The table that is meant; None where there is none."""
        name = plain(said)
        bare = plain(name.rpartition(".")[2])  # main.account
        return self._exact.get(fold(str(said))) or self._tables.get(name) or self._tables.get(bare)

    def tables(self, said: Any) -> set[str]:
        """The tables that a value names: in lists, as keys, or in a text with commas or on lines."""
        lines = [line for text in texts_of(said) for line in text.splitlines()]
        found = [table for line in lines[:_LINES] for table in _meant(line, self._one_table)]
        return {table.name for table in found}

    def columns(self, said: Any) -> list[Pair]:
        """The columns that a value names, table by table or as `table.column`, in its order."""
        if isinstance(said, dict):
            told = [
                (table, listed)
                for key, listed in said.items()
                if listed is not False and (table := self.table(key))
            ]
            if not told and (row := self.row(said)):
                told = [row]
            if told:
                return [pair for table, listed in told for pair in columns_of(table, listed)]
            said = list(said.values())
        if isinstance(said, list):
            return [pair for item in said for pair in self.columns(item)]
        return _meant(str(said), self._one_column)

    def row(self, said: Mapping[str, Any]) -> tuple[Table, Any] | None:
        """The table that `{"table": "account", "column": "date"}` is about, and what else it says.

        Of that, what its key calls columns, or else a list, or else all.
        """
        for key in sorted(said, key=lambda key: "table" not in plain(key)):
            if isinstance(said[key], str) and (table := self.table(said[key])):
                others = {plain(other): value for other, value in said.items() if other != key}
                columns = [value for other, value in others.items() if "column" in other]
                lists = [value for value in others.values() if isinstance(value, list)]
                return table, next(filter(None, columns + lists), list(others.values()))
        return None

    def _one_table(self, said: str) -> list[Table]:
        """The table that a name means: its own, or that of one of its columns."""
        left, _, right = said.rpartition(".")
        table = self.table(said)
        if not table and (plain(right) in self._columns or not plain(right)):
            table = self.table(left)
        return [table] if table else []

    def _one_column(self, said: str) -> list[Pair]:
        """What `table.column` means, or the name of a column that a single table has."""
        left, _, right = said.rpartition(".")
        if table := self.table(left):
            return [pair for pair in self._columns.get(plain(right), []) if pair[0] == table.name]
        pairs = self._columns.get(plain(said), [])
        return pairs if len(pairs) == 1 else []


def columns_of(table: Table, said: Any) -> list[Pair]:
    """The columns of a table that a value names, with or without the table's name, in its order.

    Where it names none, the table stays with its key; where all that it names is unknown, whole.
    """
    columns = {plain(column.name): column.name for column in reversed(table.columns)}
    texts = [part for text in texts_of(said) for part in (text, *_parts(text))]
    found = [columns.get(plain(t)) or columns.get(plain(t.rpartition(".")[2])) for t in texts]
    names: Iterable[str] = dict.fromkeys(name for name in found if name)
    if not texts:
        names = table.primary_key or (table.columns[0].name,)
    elif not names or any(plain(text) in _EVERY for text in texts):
        names = (column.name for column in table.columns)
    return [(table.name, name) for name in names]


def plain(name: Any) -> str:
    """A name without what models add to one."""
    return fold(" ".join(str(name).strip("`\"'[]()*-•,; \t").replace("_", " ").split()))


def texts_of(said: Any) -> Iterator[str]:
    """Every text in a value, keys among them unless they are said to be false."""
    if isinstance(said, dict):
        kept = (pair for pair in said.items() if pair[1] is not False)
        yield from (text for pair in kept for item in pair for text in texts_of(item))
    elif isinstance(said, list):
        yield from (text for item in said for text in texts_of(item))
    elif said:
        yield str(said)


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r",|\n|\band\b", text) if plain(part)]


def _meant(text: str, find: Callable[[str], list[_T]]) -> list[_T]:
    """What the whole text means, or else its parts: nothing, unless each of them means something."""
    if len(text) > _LIST:
        return []
    if whole := find(text):
        return whole
    parts = [find(part) or find(_head(part)) for part in _parts(text)]
    return [item for items in parts for item in items] if all(parts) else []


def _head(item: str) -> str:
    """What an item of a list is about: `1. account: for its date` is about account."""
    found = re.match(r"(?:\W*\d+[.)]\s)?(.*?)\s*(?::|\(| [-\u2013\u2014] |$)", item)
    return found[1] if found else item
