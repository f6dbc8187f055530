"""A schema comes out of a prompt's text as it went in, and out of other people's text as far as it tells."""

import pytest

from workbench.embedded.prompt.schema_reading import read_create_tables, read_mac_schema
from workbench.sql.schema import read_schema, with_examples
from workbench.sql.schema_text import create_table_text, mac_sql_text
from workbench.types import Column, ForeignKey, Schema, Table

SHOP = Schema(
    "",
    (
        Table(
            "item",
            (
                Column("id", "INTEGER"),
                Column(
                    "na me", "VARCHAR(20)", "what it is called; 'x': unknown", "", ("it's", "a, b")
                ),
                Column("price", "DECIMAL(8, 2)", "in euros", "", (1, 2.5)),
            ),
            ("id",),
        ),
        Table(
            "sale",
            (Column("item_id", "INTEGER"), Column("day", "TEXT"), Column("note")),
            ("item_id", "day"),
            (ForeignKey(("item_id",), "item", ("id",)),),
        ),
    ),
)


def test_create_tables_read_back():
    assert read_create_tables(create_table_text(SHOP)) == SHOP


def test_the_bracketed_lists_of_mac_sql_read_back():
    text = mac_sql_text(SHOP)
    assert mac_sql_text(read_mac_schema(text)) == text


def test_real_schemas_read_back(real_spider):
    for path in sorted((real_spider / "database").glob("*/*.sqlite")):
        text = create_table_text(with_examples(read_schema(path), path))
        assert create_table_text(read_create_tables(text)) == text


def test_constraints_may_stand_at_a_column():
    schema = read_create_tables("""
        CREATE TABLE IF NOT EXISTS [a b] (
            "x" int(11) NOT NULL PRIMARY KEY, /* the key */
            y varchar(5) DEFAULT 'a' REFERENCES c -- points there
        );
        create table c (z int primary key, CHECK (z > 0))
    """)
    one, other = schema.tables
    assert one.name == "a b"
    assert one.columns == (
        Column("x", "int(11)", "the key"),
        Column("y", "varchar(5)", "points there"),
    )
    assert one.foreign_keys == (ForeignKey(("y",), "c", ("z",)),)
    assert (other.primary_key, len(other.columns)) == (("z",), 1)


@pytest.mark.parametrize(
    "text", ["", "no schema here", "CREATE TABLE", "CREATE TABLE t (", "[Schema]"]
)
def test_text_without_a_table_is_an_empty_schema(text):
    assert read_create_tables(text).tables == read_mac_schema(text).tables == ()


def test_a_foreign_key_to_an_unknown_table_is_left_out():
    schema = read_create_tables("CREATE TABLE t (a INT, FOREIGN KEY (a) REFERENCES gone (b));")
    assert schema.tables[0].foreign_keys == ()
