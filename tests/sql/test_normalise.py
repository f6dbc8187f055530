import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.sql.reading import normalise_text


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT  Name\n FROM t ;", "select name from t"),
        ("select name from t", "select name from t"),
        ("SELECT 'A  B' FROM T", "select 'A  B' from t"),
        (
            "SELECT 'It''S  A' || \"B  B\" FROM `T  T`, [C  C]",
            "select 'It''S  A' || \"B  B\" from `T  T`, [C  C]",
        ),
        ("SELECT É FROM T", "select É from t"),
        ("SELECT\u00a0A", "select\u00a0a"),
        ("SELECT 1;;", "select 1;"),
        ("SELECT 'open", "select 'open"),
        ("", ""),
    ],
)
def test_unquoted_text_is_normalised(sql: str, expected: str) -> None:
    assert normalise_text(sql) == expected


@pytest.mark.parametrize(
    "sql", ["SELECT 1 -- It's  A", "SELECT /* 'A  */ 'B'", "SELECT '--  X', B"]
)
def test_a_query_with_a_comment_is_left_as_it_is(sql: str) -> None:
    assert normalise_text(sql) == sql


WORDS = [
    "SELECT",
    "name",
    "NAME",
    "FROM",
    "t",
    "T",
    "WHERE",
    "id",
    "=",
    "1",
    "1E1",
    "X'4a'",
    "LIKE",
    "count(*)",
    ",",
    "ORDER",
    "BY",
    ";",
    "É",
]
QUOTED = ['"name"', "'Name  x'", "'it''s'", "`id`", "[Id]", "'N%'", "\n", "\t ", "'", '"']
pieces = st.sampled_from(WORDS + QUOTED)


@given(st.lists(pieces, max_size=12))
def test_sqlite_gives_the_same_rows_for_both_spellings(parts: list[str]) -> None:
    sql = "SELECT " + " ".join(parts)
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(
            "CREATE TABLE t(id, name); INSERT INTO t VALUES (1, 'Name  x'), (2, 'N')"
        )
        assert rows(database, normalise_text(sql)) == rows(database, sql)


def rows(database: sqlite3.Connection, sql: str) -> object:
    try:
        return database.execute(sql).fetchall()
    except (sqlite3.Error, sqlite3.Warning):
        return "an error"
