"""Restrict a connection to reading: an authorizer, limits on size and depth, and a deadline.

The deadline alone does not stop every query: a single opcode such as printf runs for minutes without calling the
progress handler, so the supervisor also kills workers.
"""

import sqlite3
import time

from workbench.db.sandbox.opening import lenient_text

_MB = 1_000_000
_HEAP = 512 * _MB  # bytes that SQLite may allocate
_MAPPED = 256 * _MB  # reads through mmap are 1.8 times faster
_CELL = 20 * _MB  # bytes of the largest value, also of printf() and zeroblob()
SQL_LENGTH = _MB  # bytes of the longest query
_PRAGMAS = f"""
    PRAGMA query_only=ON; PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY;
    PRAGMA mmap_size={_MAPPED}; PRAGMA hard_heap_limit={_HEAP};
"""
OPCODES = 20_000  # between two checks of the deadline: about a millisecond

_ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
_ACTIONS = {
    value: name.removeprefix("SQLITE_").replace("_", " ")
    for name, value in vars(sqlite3).items()
    if name.startswith(("SQLITE_CREATE_", "SQLITE_DROP_", "SQLITE_ALTER_"))
    or name.removeprefix("SQLITE_")
    in {"INSERT", "UPDATE", "DELETE", "PRAGMA", "ATTACH", "DETACH", "TRANSACTION", "SAVEPOINT"}
}
_FORBIDDEN_FUNCTIONS = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}
# Virtual tables that show the bytes of the file or the state of the process.
_FORBIDDEN_TABLES = {"dbstat", "sqlite_dbpage", "sqlite_dbdata", "sqlite_stmt", "bytecode", "fsdir"}


class Guard:
    """The restrictions on one connection. `denied` is why the guard refused the query, "" if it did not.

    `with_json` allows json_each and json_tree, whose set-up takes time.
    """

    def __init__(
        self, connection: sqlite3.Connection, deadline: float, *, with_json: bool = False
    ) -> None:
        self.denied = ""
        self.deadline = deadline
        connection.executescript(_PRAGMAS)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _CELL)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, SQL_LENGTH)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 1000)
        connection.set_progress_handler(lambda: time.monotonic() > self.deadline, OPCODES)
        _set_up_virtual_tables(connection, with_json)
        connection.set_authorizer(self._authorize)

    def renew(self, deadline: float) -> None:
        """Begin the next query on the same connection."""
        self.denied = ""
        self.deadline = deadline

    def _authorize(
        self, action: int, first: str | None, second: str | None, _: str | None, __: str | None
    ) -> int:
        if action == sqlite3.SQLITE_PRAGMA and first == "data_version" and second is None:
            return sqlite3.SQLITE_OK  # full-text tables run this pragma before each search
        if action not in _ALLOWED:
            what = _ACTIONS.get(action, "this statement")
            if first in {"sqlite_master", "sqlite_temp_master"}:
                # The first action that SQLite reports for CREATE and DROP, and for its pragma_ tables.
                what = "changing the schema or reading SQLite's own state"
            self.denied = f"{what} is not allowed"
        elif action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FORBIDDEN_FUNCTIONS:
            self.denied = f"the function {second} is not allowed"
        elif action == sqlite3.SQLITE_READ and (first or "").lower() in _FORBIDDEN_TABLES:
            self.denied = f"the table {first} is not allowed"
        else:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY


def _set_up_virtual_tables(connection: sqlite3.Connection, with_json: bool) -> None:
    """Query the virtual tables before the authorizer is set, which would deny their set-up statements.

    LIMIT 0 reads no row: a virtual table may take its rows from an endless query.
    """
    rootless = connection.execute(
        # Virtual tables, views and triggers; as bytes, since a name that is not UTF-8 would be an error.
        "SELECT type, CAST(name AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema WHERE rootpage = 0"
    ).fetchall()
    names = [lenient_text(name) for kind, name, _ in rootless if kind == "table" and name]
    if with_json or any(b"json_" in (text or b"").lower() for _, _, text in rootless):
        names += ["json_each", "json_tree"]
    for name in names:
        quoted = name.replace('"', '""')
        try:
            connection.execute(f'SELECT * FROM "{quoted}" LIMIT 0')
        except sqlite3.Error:
            continue  # the table's module is unknown; a query of the table fails with the same error
