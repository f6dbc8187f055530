"""The process that runs untrusted SQL: it reads requests and writes answers as lines of JSON, one at a time.

What it guarantees: a query reads one database and changes no byte of any file. The database is opened read-only, an
authorizer allows reading and functions alone, and none that reaches files or SQLite's own state. A query ends at its
deadline, a result at its rows and bytes, a value at 20 MB, SQLite's memory at 512 MB and the process at 1.5 GB. Nothing
of a query reaches the next one. The process has no environment, no site-packages and no standard error, writes no file
above 4 MB, and ends with its parent.

What it does not cover: a fault in SQLite that lets a query run machine code (the process has its parent's user and
network, and no filter of system calls); what a query learns from how long it takes; a single opcode that runs past
the deadline, as the process cannot stop itself there: the parent kills it half a second later.

Standard library only, since the parent starts it with `-I -S`.
"""

import base64
import gc
import hashlib
import json
import os
import resource
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any
from urllib.parse import quote

Answer = dict[str, Any]
Row = tuple[Any, ...]
MB = 1_000_000
OPCODES = 20_000  # between two looks at the clock: about a millisecond
SETTLED = 2_000_000_000  # ns; a younger file may change again without a change of its times
PRAGMAS = """PRAGMA query_only=ON; PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY;
    PRAGMA mmap_size=256000000; PRAGMA hard_heap_limit=512000000;"""
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 20 * MB, sqlite3.SQLITE_LIMIT_SQL_LENGTH: MB,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0, sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 1000,
}  # fmt: skip
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}  # fmt: skip
FUNCTIONS = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}
TABLES = {"dbstat", "sqlite_dbpage", "sqlite_dbdata", "sqlite_stmt", "bytecode", "fsdir"}
TRANSIENT = {  # failures that the next attempt may not have
    sqlite3.SQLITE_BUSY: "the database is locked by another program",
    sqlite3.SQLITE_LOCKED: "the database is locked by another program",
    sqlite3.SQLITE_IOERR: "the disk gave an error",
    sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened",
    sqlite3.SQLITE_READONLY: "a program that ended while it wrote left a journal: open it once to write",
}

deadline = 0.0  # of the request under way
kept: tuple[Any, sqlite3.Connection] | None = None  # the last one, as opening outlasts a query


def authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action == sqlite3.SQLITE_PRAGMA and first == "data_version" and second is None:
        return sqlite3.SQLITE_OK  # full-text tables run this pragma before each search
    called = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FUNCTIONS
    read = action == sqlite3.SQLITE_READ and (first or "").lower() in TABLES
    allowed = action in ALLOWED and not called and not read
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def late() -> bool:
    return time.monotonic() > deadline


def guarded(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The connection, which only SELECTs can use from now on."""
    connection.executescript(PRAGMAS)
    for limit, most in LIMITS.items():
        connection.setlimit(limit, most)
    connection.set_progress_handler(late, OPCODES)
    # Virtual tables are set up before the authorizer, which would deny their own statements. LIMIT 0 reads no row, as
    # their rows may come from an endless query.
    sql = "SELECT CAST(name AS BLOB) FROM sqlite_schema WHERE rootpage = 0 AND type = 'table'"
    names = [lenient(name) for (name,) in connection.execute(sql) if name]
    for name in (*names, "json_each", "json_tree"):
        try:
            connection.execute(f"SELECT * FROM {quoted(name)} LIMIT 0")
        except sqlite3.Error:
            continue  # of an unknown module: a query of it fails with the same error
    connection.set_authorizer(authorize)
    return connection


def opened(path: str, seconds: float) -> sqlite3.Connection:
    """A connection for the next query: the kept one if its file is as it was."""
    global kept
    stat = os.stat(path)
    state = stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
    may_change = stat.st_ctime_ns > time.time_ns() - SETTLED or os.path.exists(f"{path}-wal")
    if may_change or kept is None or kept[0] != (path, seconds, state):
        forget()
        kept = (path, seconds, state), guarded(connect(path, seconds))
    connection = kept[1]
    connection.set_progress_handler(late, OPCODES)
    connection.set_authorizer(authorize)
    connection.text_factory = str  # decodes fastest
    return connection


def forget() -> None:
    global kept
    if kept:
        kept[1].close()
    kept = None


def connect(path: str, seconds: float) -> sqlite3.Connection:
    """Open a database file for reading only. No file is created or changed: one in WAL mode is opened as immutable."""
    with open(path, "rb") as file:
        header = file.read(100)
        size = os.fstat(file.fileno()).st_size
    if header and not header.startswith(b"SQLite format 3\0"):
        raise sqlite3.DatabaseError("not an SQLite database")
    parts = ((16, 18), (24, 28), (28, 32), (92, 96))
    page, changes, pages, checked = (int.from_bytes(header[at:end], "big") for at, end in parts)
    whole = pages * (65_536 if page == 1 else page)
    if changes == checked and size < whole:  # SQLite would read NULLs from half a page
        raise sqlite3.DatabaseError(f"the file is cut off: {size:,} of {whole:,} bytes are here")
    log = f"{path}-wal"
    if os.path.exists(log) and os.path.getsize(log):
        raise OSError(0, "its write-ahead log (-wal) holds changes: end the program that writes it")
    options = "mode=ro" if header[18:19] == b"\1" else "mode=ro&immutable=1"
    uri, patience = f"file:{quote(path)}?{options}", min(5.0, seconds / 2)
    return sqlite3.connect(uri, patience, isolation_level=None, uri=True, cached_statements=0)


def run(path: str, sql: str, seconds: float, max_rows: int, max_bytes: int) -> Answer:
    """Run a query; returns the fields of its `Execution` as JSON values."""
    connection = opened(path, seconds)
    try:
        return fetch(connection, sql, max_rows, max_bytes)
    except sqlite3.OperationalError as error:
        if not str(error).startswith("Could not decode"):
            raise
    connection.text_factory = lenient
    return fetch(connection, sql, max_rows, max_bytes)


def fetch(connection: sqlite3.Connection, sql: str, max_rows: int, max_bytes: int) -> Answer:
    """Columns, rows and fingerprint; a result beyond the limits has no fingerprint, and only the rows that fit."""
    cursor = connection.execute(sql)
    if cursor.description is None:
        raise ValueError("no statement in it that returns rows")
    rows: list[Row] = []
    answer = {"columns": [column[0] for column in cursor.description], "rows": rows}
    size = 0
    for row in cursor:  # one at a time: 64 rows of 20 MB would exceed the limit on memory
        size += 16 * len(row)
        for value in row:
            if isinstance(value, str):  # outside ASCII a character takes up to four bytes
                size += len(value) if value.isascii() else 4 * len(value)
            elif isinstance(value, bytes):
                size += len(value)
        if size > max_bytes or len(rows) == max_rows:
            cap = f"{max_bytes:,} bytes" if size > max_bytes else f"{max_rows:,} rows"
            cut = {"status": "too_large", "error": f"the result is larger than {cap}"}
            return answer | cut | {"truncated": True}
        rows.append(row)
    return answer | {"status": "ok" if rows else "empty", "fingerprint": fingerprint(rows)}


def fingerprint(rows: list[Row]) -> str:
    """A hash of the set of rows, equal exactly when Python's sets of rows are: BIRD's comparison.

    So 1 equals 1.0 and differs from "1", and duplicates and order do not count.
    """
    normal = (
        tuple([int(v) if isinstance(v, float) and v.is_integer() else v for v in row])
        for row in set(rows)
    )
    return hashlib.sha256("\n".join(sorted(map(repr, normal))).encode()).hexdigest()


def failure(error: Exception, seconds: float) -> Answer:
    """The answer for an error. It shows no folder."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    text = "text that is not UTF-8" if isinstance(error, UnicodeError) else str(error)
    if isinstance(error, MemoryError) or code in {sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOMEM}:
        return {"status": "too_large", "error": "a value or a step is larger than it may be"}
    if code == sqlite3.SQLITE_INTERRUPT:
        return {"status": "timeout", "error": f"no answer within {seconds:g} s"}
    if code == sqlite3.SQLITE_AUTH or text.startswith("not authorized"):
        return {"status": "denied", "error": f"{text}: only a SELECT from tables runs here"}
    if isinstance(error, OSError):
        return {"status": "error", "error": error.strerror, "transient": True}
    return {"status": "error", "error": TRANSIENT.get(code, text), "transient": code in TRANSIENT}


def lenient(raw: bytes) -> str:
    r"""TEXT as str; a byte that is not UTF-8 becomes a backslash escape such as `\xff`."""
    return raw.decode("utf-8", "backslashreplace")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def times(path: str, queries: list[str], repeats: int, seconds: float) -> Answer:
    """The seconds of each query's runs, in turn on one connection, and its number of SQLite opcodes.

    The number of opcodes is a multiple of ten, and the same on every machine and under every load.
    """
    connection = opened(path, seconds)
    opcodes: list[int] = []

    def tick() -> bool:
        opcodes[-1] += 10
        return late()

    def spent(query: str) -> float:
        started = time.perf_counter()
        for _row in connection.execute(query):
            pass
        return time.perf_counter() - started

    connection.set_progress_handler(tick, 10)
    for query in queries:
        opcodes.append(0)
        spent(query)
    connection.set_progress_handler(late, OPCODES)
    series = [list(map(spent, queries)) for _ in range(repeats)]
    return {"status": "ok", "times": list(zip(*series, strict=True)), "opcodes": opcodes}


def digest(path: str, seconds: float) -> Answer:
    """A hash of a file's bytes. The parent reads no database: closing one there would drop its own locks."""
    del seconds
    with open(path, "rb") as file:
        return {"status": "ok", "digest": hashlib.file_digest(file, "sha256").hexdigest()}


def texts(path: str, table: str, column: str, longest: int, seconds: float) -> Answer:
    """The distinct texts of a column, sorted; neither long ones nor those that are not UTF-8."""
    connection = opened(path, seconds)
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    name = quoted(column)
    sql = f"SELECT {name} FROM main.{quoted(table)} WHERE typeof({name}) = 'text'"
    rows = connection.execute(f"{sql} AND length({name}) <= {longest}")  # which stops at a NUL
    found = {text for (text,) in rows if "\ufffd" not in text and len(text) <= longest}
    return {"status": "ok", "rows": sorted(found)}


def schema(path: str, views: bool, seconds: float) -> Answer:
    """The columns and keys of each table (and view) by SQLite's pragmas, in order of creation; or the error for one."""
    connection = connect(path, seconds)
    connection.executescript(f"{PRAGMAS} PRAGMA trusted_schema=ON")  # nothing of it runs
    connection.text_factory = lenient
    # This pragma works out the columns of all views. Without it, shadow tables count as tables.
    listed = connection.execute("PRAGMA main.table_list").fetchall() if views else []
    kinds = {row[1]: row[2] for row in listed}
    sql = "SELECT name, iif(rootpage OR type = 'view', type, 'virtual') FROM sqlite_schema WHERE"
    sql += " type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    tables: list[Answer] = []
    for name, found in connection.execute(sql).fetchall():
        kind = kinds.get(name, found)
        if kind == "shadow" or (kind == "view" and not views):
            continue
        tables.append(table := {"name": name, "kind": kind})
        try:  # not by the table-valued functions: a table may be called pragma_table_xinfo
            for key in ("table_xinfo", "foreign_key_list"):
                table[key] = connection.execute(f"PRAGMA main.{key}({quoted(name)})").fetchall()
        except (sqlite3.Error, MemoryError) as error:
            table["error"] = str(error) or "it needs more memory than it may use"
    return {"status": "ok", "tables": tables}


def used(ddl: str, sql: str, seconds: float) -> Answer:
    """The columns that SQLite reads, as it tells the authorizer while it prepares the query on an empty database."""
    del seconds
    reads = set()

    def note(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            reads.add((first, second))
        return authorize(action, first, second)

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(ddl)
        guarded(connection).set_authorizer(note)
        connection.execute(f"EXPLAIN {sql}").close()
    return {"status": "ok", "reads": list(reads)}


def counterexample(
    path: str, queries: list[str], probes: dict[str, list[str]], most: int, seconds: float
) -> Answer:
    """The smallest part of the tables' own rows on which two queries still differ, by delta debugging.

    `probes` has for each table queries for row ids. These rows and the table's first rows are left out by halves,
    quarters and so on, as long as the results differ in either order of the rows. An answer without rows did not tell
    the queries apart; two results of different width do so by themselves.
    """
    plain, real = connect(path, seconds), opened(path, seconds)
    small = sqlite3.connect(":memory:", isolation_level=None)
    plain.text_factory = real.text_factory = small.text_factory = lenient
    rows: dict[str, list[Row]] = {}
    names: dict[str, list[str]] = {}
    for table, own in probes.items():
        ddl = "SELECT sql FROM sqlite_schema WHERE name = ? AND type = 'table'"
        small.execute(*plain.execute(ddl, [table]).fetchone())
        info = plain.execute(f"PRAGMA main.table_xinfo({quoted(table)})")
        names[table] = [name for _, name, *_, hidden in info if not hidden]
        rows[table] = sample(real, table, names[table], own, most)
    guarded(small)

    def told_apart(rows: dict[str, list[Row]]) -> list[Answer]:
        pair: list[Answer] = []
        for turn in (-1, 1):
            small.set_authorizer(None)
            small.execute("PRAGMA query_only=OFF")
            for table, own in rows.items():
                columns, marks = ", ".join(map(quoted, names[table])), ", ?" * len(names[table])
                small.execute(f"DELETE FROM {quoted(table)}")
                insert = f"INSERT INTO {quoted(table)} ({columns}) VALUES ({marks[2:]})"
                small.executemany(insert, own[::turn])
            small.set_authorizer(authorize)
            try:
                pair = [fetch(small, query, 100_000, MB) for query in queries]
            except sqlite3.Error:
                return []
            first, second = ((len(a["columns"]), a.get("fingerprint", "")) for a in pair)
            if first[0] != second[0] or first[1] == second[1] or "" in {first[1], second[1]}:
                return []
        return pair

    found, part, checks = told_apart(rows), max(map(len, rows.values())), 0
    while found and part:
        for table in list(rows):
            at = 0
            while at < len(rows[table]) and checks < 400 and not late():
                checks += 1
                fewer = rows | {table: rows[table][:at] + rows[table][at + part :]}
                if apart := told_apart(fewer):
                    rows, found = fewer, apart
                else:
                    at += part
        part //= 2
    kept = [[(table, names[table], own) for table, own in rows.items()], found]
    return {"status": "ok", "rows": kept if found else []}


def sample(
    real: sqlite3.Connection, table: str, columns: list[str], probes: list[str], most: int
) -> list[Row]:
    """A table's first rows and those that its probes name, in its own order."""
    global deadline
    end, source = deadline, f"FROM main.{quoted(table)}"
    ids: set[int] = set()
    for probe in (f"SELECT rowid {source}", *probes):
        deadline = min(end, time.monotonic() + 0.1)
        try:
            found = real.execute(probe).fetchmany(most)  # with NULL for no row of an outer join
            ids.update(id_ for (id_,) in found if isinstance(id_, int))
        except sqlite3.OperationalError:
            continue  # it is slow, names a column of an outer query, or the table has no row ids
    deadline = end
    rows = f"WHERE rowid IN ({', '.join(map(str, ids))})" if ids else f"LIMIT {most}"
    return real.execute(f"SELECT {', '.join(map(quoted, columns))} {source} {rows}").fetchall()


REQUESTS: dict[str, Callable[..., Answer]] = {
    function.__name__: function
    for function in (run, times, digest, texts, schema, used, counterexample)
}


def answered(do: str, request: dict[str, Any]) -> Answer:
    global deadline
    started = time.monotonic()
    deadline = started + request["seconds"]
    try:
        answer = REQUESTS[do](**request)
    except (MemoryError, sqlite3.Error, sqlite3.Warning, OSError, ValueError) as error:
        answer = failure(error, request["seconds"])
    if answer["status"] not in {"ok", "empty", "error"} or answer.get("transient"):
        forget()
    return answer | {"seconds": time.monotonic() - started}


def main(parent: int) -> None:
    def watch() -> None:  # in a thread, as a query may block the main thread
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    resource.setrlimit(resource.RLIMIT_AS, (1536 * MB, 1536 * MB))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * MB, 4 * MB))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.disable()  # no code here makes reference cycles, and the search for them costs 10% of a short query
    encode = json.JSONEncoder(
        ensure_ascii=False,
        check_circular=False,
        separators=(",", ":"),
        default=lambda blob: {"blob": base64.b64encode(blob).decode()},
    ).encode
    answer: Answer = {}  # says that the process is ready
    line = b"{}"
    while line:
        rows = answer.pop("rows", [])  # on a line of their own: the parent often only stores them
        answer["row_count"] = len(rows)
        sys.stdout.buffer.write(f"{encode(answer)}\n{encode(rows)}\n".encode())
        sys.stdout.buffer.flush()
        del answer, rows
        line = sys.stdin.buffer.readline()
        request = json.loads(line or b"{}")
        answer = answered(request.pop("do"), request) if request else {}


if __name__ == "__main__":
    main(int(sys.argv[1]))
