"""Forty-one unusual files and schemas: each is read exactly, or one line says why it cannot be read."""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from workbench.errors import UnreadableDatabaseError
from workbench.sql.schema import read_schema, with_examples
from workbench.sql.schema_text import create_table_text
from workbench.types import Column, ForeignKey, Schema, Table


@dataclass(frozen=True)
class Odd:
    """A file to build in a folder, and the tables and skipped lines that are read from it, or the error."""

    name: str
    build: Callable[[Path], Path]
    tables: tuple[Table, ...] = ()
    skipped: tuple[str, ...] = ()
    error: str = ""


ODD: list[Odd] = []


def odd(name: str, *tables: Table, skipped: Iterable[str] = (), error: str = ""):
    def add(build: Callable[[Path], Path]) -> Callable[[Path], Path]:
        ODD.append(Odd(name, build, tables, tuple(skipped), error))
        return build

    return add


def database(folder: Path, *statements: str, name: str = "odd.sqlite") -> Path:
    path = folder / name
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


def table(name: str, *columns: str, **rest) -> Table:
    """A table from columns written as "name type"."""
    return Table(name, tuple(Column(*column.split(" ")) for column in columns), **rest)


@odd("empty database", skipped=["odd.sqlite has no tables"])
def _(folder):
    return database(folder, "CREATE TABLE t (a)", "DROP TABLE t")


@odd("zero bytes", skipped=["odd.sqlite has no tables"])
def _(folder):
    path = folder / "odd.sqlite"
    path.touch()
    return path


@odd(
    "not a database",
    error="odd.sqlite: not an SQLite database",
)
def _(folder):
    path = folder / "odd.sqlite"
    path.write_text("id,name\n1,one\n" * 1000)
    return path


DAMAGED = "odd.sqlite: database disk image is malformed"


def filled(folder: Path) -> Path:
    rows = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
    return database(
        folder,
        "CREATE TABLE t (a INTEGER, b TEXT)",
        f"INSERT INTO t {rows} SELECT i, 'number ' || i FROM n",
    )


@odd("truncated", error="odd.sqlite: the file is cut off: 10,000 of")
def _(folder):
    path = filled(folder)
    path.write_bytes(path.read_bytes()[:10_000])
    return path


@odd("corrupt page", error=DAMAGED)
def _(folder):
    path = filled(folder)
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xff" * 3996
    path.write_bytes(content)
    return path


@odd("missing", error="odd.sqlite: No such file")
def _(folder):
    return folder / "odd.sqlite"


@odd("directory", error="odd.sqlite: not a file")
def _(folder):
    path = folder / "odd.sqlite"
    path.mkdir()
    return path


@odd("odd path", table("t", "a"))
def _(folder):
    inner = folder / "a b?c#d%41;e'f"
    inner.mkdir()
    return database(inner, "CREATE TABLE t (a)", name="é 😀?mode=rwc#x%2e;'.sqlite")


for case, odd_name in [
    ("space", "two words"),
    ("double quote", 'say "hi"'),
    ("backtick", "a`b"),
    ("single quote", "it's"),
    ("closing bracket", "a]b"),
    ("keyword", "order"),
    ("percent sign", "100%"),
    ("emoji", "😀"),
    ("leading digit", "2nd"),
    ("500 characters", "n" * 500),
]:

    @odd(f"table name: {case}", Table(odd_name, (Column(odd_name, "TEXT"),)))
    def _(folder, name=odd_name):
        name = name.replace('"', '""')
        return database(
            folder, f'CREATE TABLE "{name}" ("{name}" TEXT)', f'INSERT INTO "{name}" VALUES (1)'
        )


@odd(
    "names that differ in case only",
    table("É", "k", "\u212a"),
    table("é", "a"),
    table("twins", "name", "NAME:1", kind="view"),
)
def _(folder):
    return database(
        folder,
        "CREATE TABLE É (k, \u212a)",
        "CREATE TABLE é (a)",
        "CREATE VIEW twins AS SELECT 1 AS name, 2 AS NAME",
    )


@odd("no primary key", table("t", "a INT", "b"))
def _(folder):
    return database(folder, "CREATE TABLE t (a INT, b)")


@odd(
    "composite keys",
    table("parent", "a INT", "b INT", "c", primary_key=("b", "a")),
    table(
        "child",
        "x INT",
        "y INT",
        foreign_keys=(
            ForeignKey(("x", "y"), "parent", ("a", "b")),
            ForeignKey(("y", "x"), "parent", ("b", "a")),
            ForeignKey(("x",), "parent", ()),
        ),
    ),
)
def _(folder):
    return database(
        folder,
        "CREATE TABLE parent (a INT, b INT, c, PRIMARY KEY (b, a))",
        "CREATE TABLE child (x INT, y INT, FOREIGN KEY (x, y) REFERENCES Parent (A, B),"
        " FOREIGN KEY (y, x) REFERENCES parent, FOREIGN KEY (x) REFERENCES parent)",
    )


@odd(
    "foreign key to a missing table",
    table(
        "t",
        "a",
        "b",
        foreign_keys=(ForeignKey(("a",), "Gone", ("Id",)), ForeignKey(("b",), "Gone", ())),
    ),
)
def _(folder):
    return database(folder, "CREATE TABLE t (a REFERENCES Gone (Id), b REFERENCES Gone)")


@odd(
    "foreign key to a missing column",
    table("parent", "id INTEGER", primary_key=("id",)),
    table("t", "a", foreign_keys=(ForeignKey(("a",), "parent", ("Gone",)),)),
)
def _(folder):
    return database(
        folder,
        "CREATE TABLE parent (id INTEGER PRIMARY KEY)",
        "CREATE TABLE t (a REFERENCES parent (Gone))",
    )


@odd(
    "foreign key to itself",
    table(
        "t",
        "id INTEGER",
        "boss INT",
        primary_key=("id",),
        foreign_keys=(ForeignKey(("boss",), "t", ("id",)),),
    ),
)
def _(folder):
    return database(folder, "CREATE TABLE t (id INTEGER PRIMARY KEY, boss INT REFERENCES t)")


@odd("view", table("t", "a INT"), table("v", "a INT", "b", kind="view"))
def _(folder):
    return database(
        folder, "CREATE TABLE t (a INT)", "CREATE VIEW v AS SELECT a, a + 1 AS b FROM t"
    )


@odd(
    "broken view",
    table("t", "a"),
    skipped=[
        "v1: no such table: main.gone",
        "v2: no such column: gone",
        "v3: view v3 is circularly defined",
    ],
)
def _(folder):
    return database(
        folder,
        "CREATE TABLE t (a)",
        "CREATE VIEW v1 AS SELECT * FROM gone",
        "CREATE VIEW v2 AS SELECT gone FROM t",
        "CREATE VIEW v3 AS SELECT * FROM v3",
    )


@odd("endless view", table("v", "x", kind="view"))
def _(folder):
    return database(
        folder,
        "CREATE VIEW v AS WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
        " SELECT x FROM c ORDER BY x",
    )


@odd("without rowid", table("t", "a TEXT", "b INT", primary_key=("b", "a")))
def _(folder):
    return database(folder, "CREATE TABLE t (a TEXT, b INT, PRIMARY KEY (b, a)) WITHOUT ROWID")


@odd("strict", table("t", "a INT", "b ANY"))
def _(folder):
    return database(folder, "CREATE TABLE t (a INT, b ANY) STRICT")


@odd("generated columns", table("t", "a INT", "b INT", "c TEXT"))
def _(folder):
    return database(
        folder,
        "CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a * 2), c TEXT AS (a || 'x') STORED)",
        "INSERT INTO t (a) VALUES (1)",
    )


@odd(
    "virtual tables",
    table("words", "title", "body", kind="virtual"),
    table("boxes", "id INT", "x0 REAL", "x1 REAL", kind="virtual"),
    skipped=["strange: no such module: nowhere"],
)
def _(folder):
    return database(
        folder,
        "CREATE VIRTUAL TABLE words USING fts5 (title, body)",
        "INSERT INTO words VALUES ('hello', 'world')",
        "CREATE VIRTUAL TABLE boxes USING rtree (id, x0, x1)",
        "PRAGMA writable_schema = ON",
        "INSERT INTO sqlite_schema VALUES"
        " ('table', 'strange', 'strange', 0, 'CREATE VIRTUAL TABLE strange USING nowhere (a)')",
    )


WIDE = {f"t{i}": [f"column_{j}" for j in range(72 + (i < 17))] for i in range(60)}


@odd(
    "4,337 columns over 60 tables",
    *(table(name, *(f"{column} TEXT" for column in columns)) for name, columns in WIDE.items()),
)
def _(folder):
    return database(
        folder,
        *(
            f"CREATE TABLE {name} ({', '.join(f'{column} TEXT' for column in columns)})"
            for name, columns in WIDE.items()
        ),
    )


@odd("2,000 columns in one table", table("t", *(f"c{i}" for i in range(2000))))
def _(folder):
    return database(
        folder,
        f"CREATE TABLE t ({', '.join(f'c{i}' for i in range(2000))})",
        "INSERT INTO t (c0) VALUES (1)",
    )


@odd("no rows", table("t", "a INT"))
def _(folder):
    return database(folder, "CREATE TABLE t (a INT)")


@odd("nothing but NULL", table("t", "a INT", "b TEXT"))
def _(folder):
    return database(
        folder, "CREATE TABLE t (a INT, b TEXT)", "INSERT INTO t VALUES (NULL, NULL), (NULL, NULL)"
    )


@odd("blobs", table("t", "a BLOB"))
def _(folder):
    return database(folder, "CREATE TABLE t (a BLOB)", "INSERT INTO t VALUES (x'00ff00')")


@odd("text that is no UTF-8", table("t", "a TEXT"))
def _(folder):
    return database(
        folder, "CREATE TABLE t (a TEXT)", "INSERT INTO t VALUES (CAST(x'ff61fe' AS TEXT))"
    )


@odd("a cell of 17 MB", table("t", "a TEXT"))
def _(folder):
    return database(
        folder,
        "CREATE TABLE t (a TEXT)",
        "INSERT INTO t VALUES (replace(hex(zeroblob(8500000)), '0', 'x'))",
    )


@odd("UTF-16", table("été", "ñ TEXT"))
def _(folder):
    return database(
        folder,
        "PRAGMA encoding = 'UTF-16le'",
        "CREATE TABLE été (ñ TEXT)",
        "INSERT INTO été VALUES ('😀')",
    )


@odd("SQLite's own tables", table("t", "id INTEGER", "a", primary_key=("id",)))
def _(folder):
    return database(
        folder,
        "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a)",
        "CREATE INDEX i ON t (a)",
        "INSERT INTO t (a) VALUES (1)",
        "ANALYZE",
    )


LOOKALIKES = ["main", "temp", "main.t", "temp.t", "t", "sqlite", "pragma_table_list", "rowid"]


@odd("names that look like other databases", *(table(name, "main", "rowid") for name in LOOKALIKES))
def _(folder):
    return database(
        folder,
        *(f'CREATE TABLE "{name}" (main, rowid)' for name in LOOKALIKES),
        *(f'INSERT INTO main."{name}" VALUES (1, 2)' for name in LOOKALIKES),
    )


each = pytest.mark.parametrize("case", ODD, ids=lambda case: case.name)
each_readable = pytest.mark.parametrize(
    "case", [case for case in ODD if not case.error], ids=lambda case: case.name
)
each_unreadable = pytest.mark.parametrize(
    "case", [case for case in ODD if case.error], ids=lambda case: case.name
)


def snapshot(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_there_are_forty_one():
    assert len(ODD) == 41


@each_readable
def test_reads_exactly(case, tmp_path):
    path = case.build(tmp_path)
    assert read_schema(path) == Schema(path.stem, case.tables, case.skipped)


@each_unreadable
def test_says_why_it_cannot_be_read(case, tmp_path):
    with pytest.raises(UnreadableDatabaseError) as raised:
        read_schema(case.build(tmp_path))
    assert str(raised.value).startswith(case.error)


@each
def test_reading_creates_and_changes_no_file(case, tmp_path):
    path = case.build(tmp_path)
    before = snapshot(tmp_path)
    try:
        with_examples(read_schema(path), path)
    except UnreadableDatabaseError:
        assert case.error
    assert snapshot(tmp_path) == before


@each_readable
def test_the_prompt_text_runs_and_reads_back(case, tmp_path):
    path = case.build(tmp_path)
    schema = read_schema(path)
    again = tmp_path / "again.sqlite"
    with closing(sqlite3.connect(again)) as connection:
        connection.executescript(create_table_text(with_examples(schema, path)))
    assert read_schema(again).tables == tuple(replace(t, kind="table") for t in schema.tables)
