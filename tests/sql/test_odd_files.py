"""Unusual files and schemas: each is read exactly, or one line says why it cannot be read."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from workbench.errors import UnreadableDatabaseError
from workbench.sql.schema import read_schema, with_examples
from workbench.sql.texts import create_table_text
from workbench.types import Column, ForeignKey, Schema, Table


def table(name: str, *columns: str, **rest) -> Table:
    """A table from columns written as "name type"."""
    return Table(name, tuple(Column(*column.split(" ")) for column in columns), **rest)


@dataclass(frozen=True)
class Odd:
    """A database made by `script`, the tables and the skipped lines that are read from it."""

    name: str
    script: str
    tables: tuple[Table, ...]
    skipped: tuple[str, ...] = ()
    file: str = "odd.sqlite"


def key(column: str, target: str, *columns: str) -> ForeignKey:
    return ForeignKey(tuple(column.split()), target, columns)


WIDE = {f"t{i}": [f"column_{j} TEXT" for j in range(72 + (i < 17))] for i in range(60)}
MANY = [f"c{i}" for i in range(2000)]


# fmt: off
ODD = [
    Odd("zero bytes", "", (), ("odd.sqlite has no tables",)),
    Odd("no tables", "CREATE TABLE t (a); DROP TABLE t", (), ("odd.sqlite has no tables",)),
    Odd("odd path", "CREATE TABLE t (a)", (table("t", "a"),), (), "é 😀?mode=rwc#x%2e;'.sqlite"),
    Odd(
        "names that differ in case only",
        "CREATE TABLE É (k, \u212a); CREATE TABLE é (a); CREATE VIEW twins AS SELECT 1 AS name, 2 AS NAME",
        (table("É", "k", "\u212a"), table("é", "a"), table("twins", "name", "NAME:1", kind="view")),
    ),
    Odd(
        "composite keys",
        "CREATE TABLE parent (a INT, b INT, c, PRIMARY KEY (b, a));"
        "CREATE TABLE child (x INT, y INT, FOREIGN KEY (x, y) REFERENCES Parent (A, B),"
        " FOREIGN KEY (y, x) REFERENCES parent, FOREIGN KEY (x) REFERENCES parent)",
        (
            table("parent", "a INT", "b INT", "c", primary_key=("b", "a")),
            table("child", "x INT", "y INT", foreign_keys=(
                key("x y", "parent", "a", "b"), key("y x", "parent", "b", "a"), key("x", "parent"))),
        ),
    ),
    Odd(
        "foreign keys to nothing, and to itself",
        "CREATE TABLE t (a REFERENCES Gone (Id), b REFERENCES Gone);"
        "CREATE TABLE u (id INTEGER PRIMARY KEY, boss INT REFERENCES u, c REFERENCES u (Gone))",
        (
            table("t", "a", "b", foreign_keys=(key("a", "Gone", "Id"), key("b", "Gone"))),
            table("u", "id INTEGER", "boss INT", "c", primary_key=("id",),
                  foreign_keys=(key("boss", "u", "id"), key("c", "u", "Gone"))),
        ),
    ),
    Odd(
        "broken views and an endless one",
        "CREATE TABLE t (a); CREATE VIEW v1 AS SELECT * FROM gone; CREATE VIEW v2 AS SELECT gone FROM t;"
        "CREATE VIEW v3 AS SELECT * FROM v3; CREATE VIEW v4 AS SELECT a, a + 1 AS b FROM t;"
        "CREATE VIEW v5 AS WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
        " SELECT x FROM c ORDER BY x",
        (table("t", "a"), table("v4", "a", "b", kind="view"), table("v5", "x", kind="view")),
        ("v1: no such table: main.gone", "v2: no such column: gone", "v3: view v3 is circularly defined"),
    ),
    Odd(
        "kinds of tables",
        "CREATE TABLE a (a TEXT, b INT, PRIMARY KEY (b, a)) WITHOUT ROWID;"
        "CREATE TABLE s (a INT, b ANY) STRICT;"
        "CREATE TABLE g (a INT, b INT GENERATED ALWAYS AS (a * 2), c TEXT AS (a || 'x') STORED);"
        "CREATE TABLE own (id INTEGER PRIMARY KEY AUTOINCREMENT, a); CREATE INDEX i ON own (a);"
        "INSERT INTO own (a) VALUES (1); ANALYZE",
        (
            table("a", "a TEXT", "b INT", primary_key=("b", "a")),
            table("s", "a INT", "b ANY"),
            table("g", "a INT", "b INT", "c TEXT"),
            table("own", "id INTEGER", "a", primary_key=("id",)),
        ),
    ),
    Odd(
        "virtual tables",
        "CREATE VIRTUAL TABLE words USING fts5 (title, body); INSERT INTO words VALUES ('hello', 'world');"
        "CREATE VIRTUAL TABLE boxes USING rtree (id, x0, x1); PRAGMA writable_schema = ON;"
        "INSERT INTO sqlite_schema VALUES"
        " ('table', 'strange', 'strange', 0, 'CREATE VIRTUAL TABLE strange USING nowhere (a)')",
        (table("words", "title", "body", kind="virtual"), table("boxes", "id INT", "x0 REAL", "x1 REAL", kind="virtual")),
        ("strange: no such module: nowhere",),
    ),
    Odd(
        "4,337 columns over 60 tables, and 2,000 in one",
        ";".join(f"CREATE TABLE {name} ({', '.join(columns)})" for name, columns in WIDE.items())
        + f"; CREATE TABLE u ({', '.join(MANY)}); INSERT INTO u (c0) VALUES (1)",
        (*(table(name, *columns) for name, columns in WIDE.items()), table("u", *MANY)),
    ),
    Odd(
        "values",
        "CREATE TABLE nulls (a INT, b TEXT); INSERT INTO nulls VALUES (NULL, NULL), (NULL, NULL);"
        "CREATE TABLE blobs (a BLOB); INSERT INTO blobs VALUES (x'00ff00');"
        "CREATE TABLE bad (a TEXT); INSERT INTO bad VALUES (CAST(x'ff61fe' AS TEXT));"
        "CREATE TABLE large (a TEXT); INSERT INTO large VALUES (replace(hex(zeroblob(8500000)), '0', 'x'))",
        (table("nulls", "a INT", "b TEXT"), table("blobs", "a BLOB"), *(table(n, "a TEXT") for n in ("bad", "large"))),
    ),
    Odd("UTF-16", "PRAGMA encoding = 'UTF-16le'; CREATE TABLE été (ñ TEXT); INSERT INTO été VALUES ('😀')",
        (table("été", "ñ TEXT"),)),
]
# fmt: on


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("case", ODD, ids=lambda case: case.name)
def test_a_readable_file_is_read_exactly_its_text_runs_and_no_file_changes(
    case, tmp_path
):
    folder = tmp_path / "a b?c#d%41;e'f"
    folder.mkdir()
    path, again = folder / case.file, tmp_path / "again.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(case.script)
    before = contents(folder)
    schema = read_schema(path)
    assert schema == Schema(path.stem, case.tables, case.skipped)
    with closing(sqlite3.connect(again)) as connection:
        connection.executescript(create_table_text(with_examples(schema, path)))
    assert read_schema(again).tables == tuple(
        replace(t, kind="table") for t in schema.tables
    )
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (lambda _: b"id,name\n1,one\n" * 1000, "file is not a database"),
        (lambda whole: whole[:10_000], "the file is cut off: 10,000 of 184,320 bytes"),
        (
            lambda whole: whole[:100] + b"\xff" * 3996 + whole[4096:],
            "database disk image is mal",
        ),
    ],
)
def test_a_damaged_file_says_why_it_cannot_be_read_and_stays(tmp_path, damage, error):
    path = tmp_path / "odd.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE t (a); INSERT INTO t VALUES (hex(zeroblob(90000)))"
        )
    path.write_bytes(damage(path.read_bytes()))
    before = contents(tmp_path)
    with pytest.raises(UnreadableDatabaseError, match=f"^odd.sqlite: {error}"):
        read_schema(path)
    assert contents(tmp_path) == before
