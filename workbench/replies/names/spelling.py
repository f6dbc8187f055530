"""The names of a schema, found by what a reply calls them."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

Tables = Mapping[str, Sequence[str]]  # the columns of each table

_WORD = re.compile(r"[^\W_]+")


class Names:
    """The tables and columns of a schema, in any case and quotes, and with a space for an underscore."""

    def __init__(self, tables: Tables) -> None:
        self._tables = {plain(table): table for table in reversed([*tables])}
        self._columns = {
            table: {plain(column): column for column in reversed(columns)}
            for table, columns in tables.items()
        }

    def table(self, text: object) -> str:
        """The table that the text names, with or without its database; "" where there is none."""
        name = plain(text)
        short = plain(name.rpartition(".")[2])
        bare = re.sub(r"^table | table$", "", short)  # "the sailing table"
        return self._tables.get(name) or self._tables.get(short) or self._tables.get(bare) or ""

    def column(self, text: object, table: str = "") -> tuple[str, str] | None:
        """The table and column that `table.column`, or a column of the given or of a single table, names."""
        left, _, right = str(text).rpartition(".")
        owner = self.table(left) if left.strip("`\"'[] ") else table
        if owner:
            column = self._columns[owner].get(plain(right)) or self._columns[owner].get(plain(text))
            return (owner, column) if column else None
        owners = [name for name, columns in self._columns.items() if plain(text) in columns]
        return (owners[0], self._columns[owners[0]][plain(text)]) if len(owners) == 1 else None

    def columns_of(self, table: str) -> list[str]:
        return [*self._columns[table].values()][::-1]

    def tables_in(self, sentence: str) -> list[str]:
        """The tables whose names stand in the sentence as whole words, in its order."""
        words = _words(sentence)
        found = {words.find(_words(name)): table for name, table in self._tables.items()}
        return [found[place] for place in sorted(found) if place >= 0]


def plain(text: object) -> str:
    """A name without the marks that models put around one, in small letters, with spaces for underscores."""
    return _plain(str(text))


@lru_cache(maxsize=16384)  # the names of a few schemas come in every reply
def _plain(text: str) -> str:
    tidy = text.strip("`\"'[]()*-\u2022\u201c\u201d,;: \t#")
    return " ".join(tidy.replace("_", " ").split()).casefold()


def _words(text: str) -> str:
    """The words of a text in small letters, with one space between and around them."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
