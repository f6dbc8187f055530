"""The process that runs untrusted SQL: it reads requests and writes answers as lines of JSON, one at a time.

What it guarantees: a query reads one database and changes no byte of any file. The database is opened read-only, an
authorizer allows reading and functions alone, and no function or table that reaches files or SQLite's own state. A
query ends at its deadline, a result at its rows and bytes, a value at 20 MB, SQLite's memory at 512 MB and the process
at 1.5 GB. Nothing that a query does reaches the next one. The process has no environment, no site-packages and no
standard error, writes no file above 4 MB, and ends with its parent.

What it does not cover: a fault in SQLite that lets a query run machine code (the process has its parent's user and
network, and no filter of system calls); what a query learns from how long it takes; a single opcode that runs past
the deadline, as the process cannot stop itself there: the parent kills it half a second later.

Standard library only, since the parent starts it with `-I -S`.
"""

import base64
import gc
import hashlib
import json
import math
import os
import resource
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

Answer = dict[str, Any]
Row = tuple[Any, ...]
Rows = dict[str, list[Row]]  # by table
MB = 1_000_000
OPCODES = 20_000  # between two looks at the clock: about a millisecond
SETTLED = 2_000_000_000  # ns; a younger file may change again without a change of its times
PRAGMAS = """PRAGMA query_only=ON; PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY;
    PRAGMA mmap_size=256000000; PRAGMA hard_heap_limit=512000000;"""
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION}
ALLOWED.add(sqlite3.SQLITE_RECURSIVE)
FUNCTIONS = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}
TABLES = {"dbstat", "sqlite_dbpage", "sqlite_dbdata", "sqlite_stmt", "bytecode", "fsdir"}
TRANSIENT = {  # failures that the next attempt may not have
    sqlite3.SQLITE_BUSY: "the database is locked by another program",
    sqlite3.SQLITE_LOCKED: "the database is locked by another program",
    sqlite3.SQLITE_IOERR: "the disk gave an error",
    sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened",
    sqlite3.SQLITE_READONLY: "a program that ended while it wrote left a journal: open it once to write",
}


class Guarded:
    """A connection that only SELECTs may use, until its deadline; `denied` is what it refused in the last query."""

    def __init__(self, connection: sqlite3.Connection, seconds: float) -> None:
        self.connection = connection
        connection.executescript(PRAGMAS)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 20 * MB)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, MB)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 1000)
        self.renew(seconds)
        # Virtual tables are set up before the authorizer, which would deny their own statements. LIMIT 0 reads no
        # row, as their rows may come from an endless query.
        sql = "SELECT CAST(name AS BLOB) FROM sqlite_schema WHERE rootpage = 0 AND type = 'table'"
        names = [lenient(name) for (name,) in connection.execute(sql) if name]
        for name in (*names, "json_each", "json_tree"):
            try:
                connection.execute(f"SELECT * FROM {quoted(name)} LIMIT 0")
            except sqlite3.Error:
                continue  # of an unknown module: a query of it fails with the same error
        connection.set_authorizer(self.authorize)

    def renew(self, seconds: float) -> None:
        self.denied, self.deadline = "", time.monotonic() + seconds
        self.connection.text_factory = str  # decodes fastest
        self.connection.set_progress_handler(lambda: time.monotonic() > self.deadline, OPCODES)

    def authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_PRAGMA and first == "data_version" and second is None:
            return sqlite3.SQLITE_OK  # full-text tables run this pragma before each search
        if action not in ALLOWED:
            self.denied = "a change, or a look at SQLite's own state,"
        elif action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FUNCTIONS:
            self.denied = f"the function {second}"
        elif action == sqlite3.SQLITE_READ and (first or "").lower() in TABLES:
            self.denied = f"the table {first}"
        else:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY


def connect(path: str, seconds: float) -> sqlite3.Connection:
    """Open a database file for reading only. No file is created or changed: one in WAL mode is opened as immutable."""
    with open(path, "rb") as file:
        header = file.read(100)
        size = os.fstat(file.fileno()).st_size
    if header and not header.startswith(b"SQLite format 3\0"):
        raise sqlite3.DatabaseError("not an SQLite database")
    page, changes, pages, checked = (
        int.from_bytes(header[at:end], "big")
        for at, end in ((16, 18), (24, 28), (28, 32), (92, 96))
    )
    whole = pages * (65_536 if page == 1 else page)
    if changes == checked and size < whole:  # SQLite would read NULLs from half a page
        raise sqlite3.DatabaseError(f"the file is cut off: {size:,} of {whole:,} bytes are here")
    if os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal"):
        raise OSError(
            0, "its write-ahead log (-wal) holds changes: close the program that writes it"
        )
    options = "mode=ro" if header[18:19] == b"\1" else "mode=ro&immutable=1"
    uri, patience = f"file:{quote(path)}?{options}", min(5.0, seconds / 2)
    return sqlite3.connect(uri, patience, isolation_level=None, uri=True, cached_statements=0)


kept: tuple[Any, Guarded] | None = None  # the last connection, as opening takes longer than a query


def opened(path: str, seconds: float) -> Guarded:
    """A connection for the next query: the kept one if its file is as it was."""
    global kept
    stat = os.stat(path)
    state = path, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
    settled = stat.st_ctime_ns < time.time_ns() - SETTLED and not os.path.exists(f"{path}-wal")
    if kept and settled and kept[0] == (state, seconds):
        kept[1].renew(seconds)
    else:
        forget()
        kept = (state, seconds), Guarded(connect(path, seconds), seconds)
    return kept[1]


def forget() -> None:
    global kept
    if kept:
        kept[1].connection.close()
    kept = None


def run(path: str, sql: str, seconds: float, max_rows: int, max_bytes: int) -> Answer:
    """Run a query; returns the fields of its `Execution` as JSON values."""
    connection = opened(path, seconds).connection
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
    kinds: set[type] = set()
    size = 0
    answer: Answer = {}
    for row in cursor:  # one at a time: 64 rows of 20 MB would exceed the limit on memory
        size += 16 * len(row)
        for value in row:
            kind = type(value)
            kinds.add(kind)
            if kind is bytes:
                size += len(value)
            elif kind is str:  # outside ASCII a character takes up to four bytes
                size += len(value) if value.isascii() else 4 * len(value)
        if size > max_bytes or len(rows) == max_rows:
            cap = f"{max_bytes:,} bytes" if size > max_bytes else f"{max_rows:,} rows"
            error = f"the result is larger than {cap}"
            answer = {"status": "too_large", "error": error, "truncated": True}
            break
        rows.append(row)
    else:
        found = fingerprint(rows, with_floats=float in kinds)
        answer = {"status": "ok" if rows else "empty", "fingerprint": found}
    answer["rows"] = tagged_rows(rows) if bytes in kinds or float in kinds else rows
    return answer | {"columns": [column[0] for column in cursor.description]}


def fingerprint(rows: list[Row], *, with_floats: bool) -> str:
    """A hash of the set of rows, equal exactly when Python's sets of rows are: BIRD's comparison.

    So 1 equals 1.0 and differs from "1", and duplicates and order do not count.
    """
    distinct = set(rows)
    normal = [tuple(map(whole, row)) for row in distinct] if with_floats else distinct
    return hashlib.sha256("\n".join(sorted(map(repr, normal))).encode()).hexdigest()


def whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def tagged_rows(rows: list[Row]) -> list[list[Any]]:
    return [list(map(tagged, row)) for row in rows]


def tagged(value: Any) -> Any:
    """Bytes and infinite numbers, which JSON lacks, as an object with one entry; other values as they are."""
    if isinstance(value, bytes):
        return {"blob": base64.b64encode(value).decode()}
    return {"float": repr(value)} if isinstance(value, float) and math.isinf(value) else value


def failure(error: Exception, denied: str, seconds: float) -> Answer:
    """The answer for an error. It shows no folder."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if isinstance(error, MemoryError) or code in {sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOMEM}:
        return {"status": "too_large", "error": "a value or a step is larger than it may be"}
    if code == sqlite3.SQLITE_INTERRUPT:
        return {"status": "timeout", "error": f"no answer within {seconds:g} s"}
    if denied:
        return {"status": "denied", "error": f"{denied} is not allowed: only a SELECT runs here"}
    if isinstance(error, OSError):
        return {"status": "error", "error": error.strerror, "transient": True}
    text = "text that is not UTF-8" if isinstance(error, UnicodeError) else str(error)
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
    guarded = opened(path, seconds)
    tens = 0

    def tick() -> bool:
        nonlocal tens
        tens += 1
        return time.monotonic() > guarded.deadline

    def spent(query: str) -> float:
        started = time.perf_counter()
        for _row in guarded.connection.execute(query):
            pass
        return time.perf_counter() - started

    opcodes = []
    for query in queries:
        guarded.connection.set_progress_handler(tick, 10)
        tens = 0
        spent(query)
        opcodes.append(10 * tens)
    guarded.renew(guarded.deadline - time.monotonic())
    series = [list(map(spent, queries)) for _ in range(repeats)]
    return {"status": "ok", "times": list(zip(*series, strict=True)), "opcodes": opcodes}


def digest(path: str, seconds: float) -> Answer:
    """A hash of a file's bytes. The parent reads no database: closing one there would drop its own locks."""
    del seconds
    with open(path, "rb") as file:
        return {"status": "ok", "digest": hashlib.file_digest(file, "sha256").hexdigest()}


def texts(path: str, table: str, column: str, longest: int, seconds: float) -> Answer:
    """The distinct texts of a column, sorted; neither long ones nor those that are not UTF-8."""
    connection = opened(path, seconds).connection
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    name = quoted(column)
    # Bytes are counted first: length() of a text stops at its first NUL.
    fits = f"length(CAST({name} AS BLOB)) <= {4 * longest} AND length({name}) <= {longest}"
    sql = f"SELECT {name} FROM main.{quoted(table)} WHERE typeof({name}) = 'text' AND {fits}"
    found = {text for (text,) in connection.execute(sql) if "\ufffd" not in text}
    return {"status": "ok", "rows": sorted(found)}


def schema(path: str, views: bool, seconds: float) -> Answer:
    """What SQLite's pragmas say of each table (and view), in the order they were created; or the error for one."""
    connection = connect(path, seconds)
    connection.executescript(f"{PRAGMAS} PRAGMA trusted_schema=ON")  # nothing of it runs
    connection.text_factory = lenient
    # This pragma works out the columns of all views. Without it, shadow tables count as tables.
    listed = connection.execute("PRAGMA main.table_list").fetchall() if views else []
    kinds = {row[1]: row[2] for row in listed}
    sql = "SELECT name, iif(rootpage OR type = 'view', type, 'virtual') FROM sqlite_schema"
    tables: list[Answer] = []
    for name, found in connection.execute(
        f"{sql} WHERE type IN ('table', 'view') ORDER BY rowid"
    ).fetchall():
        kind = kinds.get(name, found)
        if name.lower().startswith("sqlite_") or kind == "shadow" or (kind == "view" and not views):
            continue
        table = {"name": name, "kind": kind}
        try:  # not by the table-valued functions: a table may be called pragma_table_xinfo
            for key in ("table_xinfo", "foreign_key_list"):
                table[key] = connection.execute(f"PRAGMA main.{key}({quoted(name)})").fetchall()
        except (sqlite3.Error, MemoryError) as error:
            table["error"] = str(error) or "it needs more memory than it may use"
        tables.append(table)
    return {"status": "ok", "tables": tables}


copies: dict[str, Guarded] = {}  # empty databases by their statements


def used(ddl: str, sql: str, seconds: float) -> Answer:
    """The columns that SQLite reads, as it tells the authorizer while it prepares the query on an empty database."""
    if ddl not in copies:
        if len(copies) == 8:
            copies.pop(next(iter(copies))).connection.close()
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.executescript(ddl)
        copies[ddl] = Guarded(connection, seconds)
    guarded = copies[ddl]
    reads = set()

    def authorize(action: int, first: str | None, second: str | None, *rest: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            reads.add((first, second))
        return guarded.authorize(action, first, second, *rest)

    guarded.renew(seconds)
    guarded.connection.set_authorizer(authorize)
    guarded.connection.execute(f"EXPLAIN {sql}").close()
    return {"status": "ok", "reads": list(reads)}


def counterexample(
    path: str, queries: list[str], probes: dict[str, list[str]], most: int, seconds: float
) -> Answer:
    """The smallest part of the tables' own rows on which two queries still differ, by delta debugging.

    `probes` has the tables that either query reads, with queries for the row ids that a SELECT takes from it. These
    rows and the first rows of each table are left out by halves, quarters and so on, as long as the results differ in
    either order of the rows. An answer without `tables` did not tell the queries apart.
    """
    real = opened(path, seconds)
    deadline = real.deadline - seconds / 5
    real.connection.text_factory = lenient
    small = sqlite3.connect(":memory:", isolation_level=None)
    rows: Rows = {}
    names: dict[str, list[str]] = {}
    for table, own in probes.items():
        real.connection.set_authorizer(None)
        sql = "SELECT sql FROM sqlite_schema WHERE name = ? AND type = 'table' AND rootpage > 0"
        small.execute(*real.connection.execute(sql, [table]).fetchone())
        info = real.connection.execute(f"PRAGMA main.table_xinfo({quoted(table)})").fetchall()
        names[table] = [column[1] for column in info if column[6] == 0]
        real.connection.set_authorizer(real.authorize)
        rows[table] = sample(real, table, names[table], own, most)
    guarded = Guarded(small, seconds)

    def results(rows: Rows, turned: bool = False) -> list[Answer]:
        small.set_authorizer(None)
        small.execute("PRAGMA query_only=OFF")
        for table, own in rows.items():
            columns, marks = (
                ", ".join(map(quoted, names[table])),
                ", ".join("?" * len(names[table])),
            )
            small.execute(f"DELETE FROM {quoted(table)}")
            insert = f"INSERT INTO {quoted(table)} ({columns}) VALUES ({marks})"
            small.executemany(insert, own[::-1] if turned else own)
        small.execute("PRAGMA query_only=ON")
        guarded.renew(deadline - time.monotonic())
        small.text_factory = lenient
        small.set_authorizer(guarded.authorize)
        return [fetch(small, query, 100_000, MB) for query in queries]

    def differ(rows: Rows) -> bool:
        try:
            pairs = [results(rows, turned) for turned in (False, True)]
        except sqlite3.Error:
            return False
        return all(
            len(one["columns"])
            == len(other["columns"])  # a column fewer is seen without an example
            and one.get("fingerprint", "") != other.get("fingerprint", "")
            and "fingerprint" in one
            and "fingerprint" in other
            for one, other in pairs
        )

    if not differ(rows):
        return {"status": "ok"}
    part, checks = max(map(len, rows.values())), 0
    while part:
        for table in rows:
            at = 0
            while at < len(rows[table]) and checks < 400 and time.monotonic() < deadline:
                checks += 1
                fewer = rows | {table: rows[table][:at] + rows[table][at + part :]}
                if differ(fewer):
                    rows = fewer
                else:
                    at += part
        part //= 2
    deadline = real.deadline
    shown = {table: tagged_rows(own) for table, own in rows.items()}
    return {"status": "ok", "tables": shown, "names": names, "results": results(rows)}


def sample(
    real: Guarded, table: str, columns: list[str], probes: list[str], most: int
) -> list[Row]:
    """A table's rows that its probes name, and its first rows, in its own order."""
    names, source = ", ".join(map(quoted, columns)), f"FROM main.{quoted(table)}"
    first = f"SELECT {names} {source} LIMIT {most}"
    found: dict[Any, Row] = {}
    deadline = real.deadline
    try:
        for row in real.connection.execute(first.replace("SELECT", "SELECT rowid,", 1)):
            found[row[0]] = row[1:]
    except sqlite3.OperationalError:  # a table without row ids
        return real.connection.execute(first).fetchall()
    for probe in probes:
        real.deadline = min(deadline, time.monotonic() + 0.1)
        try:
            ids = [id_ for (id_,) in real.connection.execute(probe).fetchmany(most)]
        except sqlite3.OperationalError:  # it is slow, or names a column of an outer query
            ids = []
        real.deadline = deadline
        for id_ in ids:
            sql = f"SELECT rowid, {names} {source} WHERE rowid = ?"
            found |= {row[0]: row[1:] for row in real.connection.execute(sql, [id_])}
    return [found[id_] for id_ in sorted(found)]


REQUESTS: dict[str, Callable[..., Answer]] = {
    function.__name__: function
    for function in (run, times, digest, texts, schema, used, counterexample)
}


def answered(do: str, request: dict[str, Any]) -> Answer:
    started = time.monotonic()
    try:
        answer = REQUESTS[do](**request)
    except (MemoryError, sqlite3.Error, sqlite3.Warning, OSError, ValueError) as error:
        guarded = copies.get(request["ddl"]) if "ddl" in request else kept and kept[1]
        answer = failure(error, guarded.denied if guarded else "", request["seconds"])
    stopped = answer["status"] not in {"ok", "empty", "error"} or answer.get("transient")
    if do not in {"run", "used"} or stopped:
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
    options: dict[str, Any] = {"ensure_ascii": False, "check_circular": False}
    encode = json.JSONEncoder(separators=(",", ":"), **options).encode
    answer: Answer = {}  # says that the process is ready
    line = b"{}"
    while line:
        rows = answer.pop(
            "rows", []
        )  # on a line of their own, as the parent often only stores them
        answer["row_count"] = len(rows)
        sys.stdout.buffer.write(f"{encode(answer)}\n{encode(rows)}\n".encode())
        sys.stdout.buffer.flush()
        del answer, rows
        line = sys.stdin.buffer.readline()
        request = json.loads(line or b"{}")
        answer = answered(request.pop("do"), request) if request else {}


if __name__ == "__main__":
    main(int(sys.argv[1]))
