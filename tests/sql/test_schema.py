"""A schema is what SQLite has, whatever its names, and a part that cannot be read is left out and said."""

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.errors import UnreadableDatabaseError
from workbench.sql import schema as module
from workbench.sql.reading import quote
from workbench.sql.schema import read_schema, union_schema, with_examples
from workbench.sql.texts import create_table_text, one_line
from workbench.types import Column, ForeignKey, Schema, Table


def create(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.sqlite"


CUSTOMER = (
    Column("id", "INTEGER"),
    Column("full name", "TEXT", "name as on the card", "", ("O'Hara", "Li\n-- x")),
    Column("tier", "TEXT", "", "G: gold; S: silver", ("G", None, 1.5, b"\xff")),
)
ORDER = (Column("customer_id", "INT"), Column("line", "INT"), Column("note"))
LINK = ForeignKey(("customer_id",), "customer", ("id",))
TABLES = (
    Table("customer", CUSTOMER, ("id",)),
    Table("order", ORDER, ("customer_id", "line"), (LINK,)),
)
SHOP = Schema("shop", (*TABLES, Table("recent", (Column("line", "INT"),), kind="view")))


def test_views_that_sqlite_reads_for_hours_leave_the_tables(path, monkeypatch):
    monkeypatch.setattr(module, "_SECONDS", 1.0)
    views = (
        f"CREATE VIEW v{n} AS SELECT x.a FROM v{n - 1} x, v{n - 1} y;"
        for n in range(1, 60)
    )
    create(
        path, f"CREATE TABLE t (a); CREATE VIEW v0 AS SELECT a FROM t; {''.join(views)}"
    )
    schema = read_schema(path)
    assert [table.name for table in schema.tables] == ["t"]
    assert schema.skipped == ("the views of shop.sqlite: no answer within 1 s",)


def test_an_interrupted_write_is_an_error_that_asks_for_its_rollback(path):
    create(path, "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    with closing(sqlite3.connect(path)) as writer:
        writer.executescript("PRAGMA cache_spill = 1; PRAGMA cache_size = 1; BEGIN")
        writer.execute("UPDATE t SET a = zeroblob(100000)")
        interrupted = path.with_name("cut.sqlite")
        interrupted.write_bytes(path.read_bytes())
        journal = path.with_name("shop.sqlite-journal").read_bytes()
        path.with_name("cut.sqlite-journal").write_bytes(journal)
    with pytest.raises(UnreadableDatabaseError, match="left a journal"):
        read_schema(interrupted)


HARD = ["a b", '"', "`", "[a]", "order", "%s", "{}", "😀", "É", "1", "--", "a;b", "$a"]
HARD += ["rowid", "main", "true", "current_date", "\ufeff", "\\"]
HARD += ["temp.t", "pragma_table_list", "", " ", "`\"'", "x" * 500, "a\nb"]
characters = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
identifiers = st.sampled_from(HARD) | st.text(characters, max_size=12)
TYPES = "|INT|VARCHAR(20)|DECIMAL(10, -2)|DOUBLE PRECISION|my; type|key|NOT NULL|a`b|x)"
types = st.sampled_from(TYPES.split("|"))


def distinct(names: list[str]) -> bool:
    ascii_lower = [name.encode().lower() for name in names]
    return len(set(ascii_lower)) == len(names)


@st.composite
def schemas(draw) -> Schema:
    """Tables with hostile names, primary keys of some of their columns, and keys to each other."""
    name = identifiers.filter(lambda name: not name.lower().startswith("sqlite_"))
    names = draw(st.lists(name, min_size=1, max_size=3).filter(distinct))
    tables = []
    for table in names:
        columns = draw(st.lists(identifiers, min_size=1, max_size=4).filter(distinct))
        primary = tuple(
            draw(st.lists(st.sampled_from(columns), unique=True, max_size=3))
        )
        tables.append(
            Table(table, tuple(Column(c, draw(types)) for c in columns), primary)
        )
    keyed = []
    for table in tables:
        target = draw(st.sampled_from(tables))
        pairs = draw(
            st.lists(st.tuples(*map(st.sampled_from, (table.columns, target.columns))))
        )
        here, there = (tuple(pair[end].name for pair in pairs[:3]) for end in (0, 1))
        key = ForeignKey(here, target.name, there)
        keyed.append(replace(table, foreign_keys=(key,) if pairs else ()))
    return Schema("made_up", tuple(keyed))


def quoted(*names: str) -> str:
    return ", ".join('"' + name.replace('"', '""') + '"' for name in names)


@given(schemas())
def test_any_schema_reads_back_exactly_and_every_column_can_be_selected(
    tmp_path_factory, schema
):
    path = tmp_path_factory.mktemp("any") / "made_up.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        for table in schema.tables:
            parts = [
                f"{quoted(c.name)} {quoted(c.type) * bool(c.type)}"
                for c in table.columns
            ]
            parts += [f"PRIMARY KEY ({quoted(*table.primary_key)})"] * bool(
                table.primary_key
            )
            for key in table.foreign_keys:
                target = f"{quoted(key.ref_table)} ({quoted(*key.ref_columns)})"
                parts.append(
                    f"FOREIGN KEY ({quoted(*key.columns)}) REFERENCES {target}"
                )
            connection.execute(
                f"CREATE TABLE {quoted(table.name)} ({', '.join(parts)})"
            )
        connection.commit()
        assert read_schema(path) == schema
        for table, column in schema.columns():
            connection.execute(
                f"INSERT INTO {quote(table)} ({quote(column)}) VALUES ('here')"
            )
            sql = f"SELECT t.{quote(column)} FROM {quote(table)} t WHERE {quote(column)} = 'here'"
            assert connection.execute(sql).fetchone() == ("here",)
            connection.rollback()


VALUES = st.lists(st.none() | st.text() | st.floats() | st.binary(), max_size=3)


@given(schemas(), st.text(), VALUES)
def test_the_create_table_text_of_any_schema_creates_that_schema(
    tmp_path_factory, schema, text, values
):
    about = {
        "description": text,
        "value_description": text[::-1],
        "examples": tuple(values),
    }

    def described(table):
        return replace(table, columns=tuple(replace(c, **about) for c in table.columns))

    shown = create_table_text(
        replace(schema, tables=tuple(map(described, schema.tables)))
    )
    path = tmp_path_factory.mktemp("any") / "made_up.sqlite"
    assert read_schema(create(path, shown)) == schema


def test_examples_leave_out_blobs_and_long_texts_and_show_a_null_last(path):
    rows = f"x'00', 1, NULL), ('{'é' * 51}', 2, NULL), (2.5, 2.0, NULL), ('{'é' * 50}', 1.5, NULL)"
    rows += ", (CAST(x'ff61' AS TEXT), NULL, NULL"
    create(path, f"CREATE TABLE t (a, b, c); INSERT INTO t VALUES ({rows})")
    schema = with_examples(read_schema(path), path, nulls=True)
    assert schema.skipped == ()
    found = [column.examples for column in schema.tables[0].columns]
    assert found == [(2.5, "é" * 50, "\\xffa"), (2, 1, 1.5, None), (None,)]


def test_create_table_text():
    expected = """\
CREATE TABLE customer (
    id INTEGER PRIMARY KEY,
    `full name` TEXT, -- name as on the card; examples: 'O''Hara', 'Li -- x'
    tier TEXT -- G: gold; S: silver; examples: 'G', NULL, 1.5, x'ff'
);

CREATE TABLE `order` (
    customer_id INT,
    line INT,
    note,
    PRIMARY KEY (customer_id, line),
    FOREIGN KEY (customer_id) REFERENCES customer (id)
);

CREATE TABLE recent ( -- a view
    line INT
);"""
    assert create_table_text(SHOP) == expected


@given(st.text())
@example("\x85\u2028\u2029")
def test_one_line_has_no_line_break_of_any_kind(text):
    assert len(f"{one_line(text)}.".splitlines()) == 1
    assert not re.search(r"[\x00-\x1f]", one_line(text))


def test_the_union_of_two_queries_has_the_columns_of_both():
    queries = [
        "SELECT tier FROM customer",
        "SELECT line FROM recent AS r WHERE r.line > 1",
    ]
    assert union_schema(SHOP, queries) == SHOP.only(
        [("customer", "tier"), ("recent", "line")]
    )


@pytest.mark.parametrize(
    "queries", [[], ["SELECT tier FROM customer", "No."], ["SELECT a FROM no"]]
)
def test_the_union_is_the_whole_schema_if_a_query_is_unreadable(queries):
    assert union_schema(SHOP, queries) == SHOP


def test_spider_schemas_are_read_as_spider_lists_them(real_spider):
    listed = json.loads((real_spider / "tables.json").read_text("utf-8"))
    for database in listed:
        db_id, names = database["db_id"], database["table_names_original"]
        schema = read_schema(real_spider / "database" / db_id / f"{db_id}.sqlite")
        columns = [
            (names[t], c) for t, c in database["column_names_original"] if t >= 0
        ]
        assert sorted(schema.columns()) == sorted(columns)
        keys = {
            (t.name, column, key.ref_table, ref_column)
            for t in schema.tables
            for key in t.foreign_keys
            for column, ref_column in zip(key.columns, key.ref_columns, strict=True)
        }
        listed_columns = database["column_names_original"]
        pairs = [
            [listed_columns[end] for end in pair] for pair in database["foreign_keys"]
        ]
        assert keys == {(names[t], c, names[rt], rc) for (t, c), (rt, rc) in pairs}
