"""Small databases that exist in memory only, and queries that the sandbox's workers run on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import orjson

from workbench.db.executions import execution
from workbench.db.sandbox.fetch import tagged, untagged
from workbench.db.sandbox.supervisor import Supervisor
from workbench.types import Execution, Limits, Row, Value


@dataclass(frozen=True, slots=True)
class SmallDatabase:
    """The statements that create a database, and the rows of each table, by name."""

    schema: tuple[str, ...]
    rows: Mapping[str, tuple[Row, ...]]

    def script(self) -> str:
        """The database as SQL statements, for the `sqlite3` shell and for reading."""
        inserts = [
            f"INSERT INTO {_quoted(table)} VALUES ({', '.join(_literal(value) for value in row)})"
            for table, rows in self.rows.items()
            for row in rows
        ]
        return "".join(f"{statement};\n" for statement in (*self.schema, *inserts))

    def as_json(self) -> dict[str, Any]:
        """The database as JSON values, which `from_json` reads."""
        return {
            "schema": list(self.schema),
            "rows": {
                table: [list(map(tagged, row)) for row in rows] for table, rows in self.rows.items()
            },
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        rows = {
            table: tuple(tuple(map(untagged, row)) for row in content)
            for table, content in value["rows"].items()
        }
        return cls(tuple(value["schema"]), rows)


def run_in_memory(
    workers: Supervisor, databases: Sequence[SmallDatabase], queries: Sequence[str], limits: Limits
) -> list[dict[str, Execution] | None]:
    """Each query's execution on each database; None for a database whose rows break a constraint.

    `limits.seconds` limits all queries together; executions after this time have the status "timeout".
    """
    schemas = list(dict.fromkeys(database.schema for database in databases))
    request = {
        "do": "run_in_memory",
        "schemas": schemas,
        "databases": [
            database.as_json() | {"schema": schemas.index(database.schema)}
            for database in databases
        ],
        "queries": list(queries),
        "seconds": limits.seconds,
        "max_rows": limits.rows,
        "max_bytes": limits.bytes,
    }
    ((_, answer),) = workers.run([request], limits.seconds)
    if answer["status"] != "ok":
        failed = execution(answer)
        return [dict.fromkeys(queries, failed) for _ in databases]
    return [
        None
        if answers is None
        else {sql: _execution(one) for sql, one in zip(queries, answers, strict=True)}
        for answers in orjson.loads(answer["rows"])
    ]


def _execution(answer: dict[str, Any]) -> Execution:
    rows = answer.get("rows", [])
    encoded = orjson.dumps(rows)
    return execution(answer | {"rows": encoded, "row_count": len(rows), "seconds": 0.0})


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(value: Value) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    # SQL has no literal for an infinite number; SQLite reads a number beyond all floats as one.
    return "NULL" if value is None else repr(value).replace("inf", "9e999")
