"""Run queries on small databases in memory, each built from a schema and rows in the request."""

import sqlite3
import time
from contextlib import closing
from typing import Any

from workbench.db.sandbox.fetch import failure, fetch, untagged
from workbench.db.sandbox.guard import OPCODES, Guard

Database = dict[str, Any]  # the number of its schema, and its rows by table


def run_in_memory(
    schemas: list[list[str]],
    databases: list[Database],
    queries: list[str],
    seconds: float,
    max_rows: int,
    max_bytes: int,
) -> dict[str, Any]:
    """Under `rows`: for each database the answers to the queries, or None if its rows break a constraint."""
    started = time.monotonic()
    deadline = started + seconds
    with_json = any("json_" in query.lower() for query in queries)
    answers: list[list[dict[str, Any]] | None] = []
    for database in databases:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            # The schema's statements may be slow, too: a CHECK may call any function.
            connection.set_progress_handler(lambda: time.monotonic() > deadline, OPCODES)
            try:
                _build(connection, schemas[database["schema"]], database["rows"])
            except sqlite3.IntegrityError:
                answers.append(None)
                continue
            except (sqlite3.Error, sqlite3.Warning) as error:
                answers.append([failure(error, "", seconds)] * len(queries))
                continue
            guard = Guard(connection, deadline, with_json=with_json)
            answers.append(
                [_answer(connection, guard, query, max_rows, max_bytes) for query in queries]
            )
    return {"status": "ok", "rows": answers, "seconds": time.monotonic() - started}


def _build(connection: sqlite3.Connection, schema: list[str], rows: dict[str, Any]) -> None:
    connection.execute("BEGIN")
    for statement in schema:
        connection.execute(statement)
    for table, content in rows.items():
        if content:
            marks = ", ".join("?" * len(content[0]))
            name = table.replace('"', '""')
            connection.executemany(
                f'INSERT INTO "{name}" VALUES ({marks})',
                [list(map(untagged, row)) for row in content],
            )
    connection.execute("COMMIT")


def _answer(
    connection: sqlite3.Connection, guard: Guard, query: str, max_rows: int, max_bytes: int
) -> dict[str, Any]:
    guard.denied = ""
    try:
        return fetch(connection, query, max_rows, max_bytes)
    except (MemoryError, sqlite3.Error, sqlite3.Warning, ValueError) as error:
        return failure(error, guard.denied, 0)
