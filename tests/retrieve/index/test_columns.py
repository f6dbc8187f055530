import sqlite3
from contextlib import closing

import pytest

from workbench.errors import UnreadableDatabaseError
from workbench.retrieve.index import columns as module
from workbench.retrieve.index.columns import LONGEST, read_values


def indexed(values):
    """Where each text stands."""
    return {
        text: [values.columns[number] for number in values.groups[group]]
        for text, group in zip(values.texts, values.group_of.tolist(), strict=True)
    }


def test_text_is_indexed_whatever_its_column_is_called_and_declared(database):
    path = database(
        """CREATE TABLE t (url VARCHAR(9), "birth date" NVARCHAR, e_mail, user_id INTEGER, phone CHAR(3));
        INSERT INTO t VALUES ('a.org', 'May', 'x@y', 'U-1', '911')"""
    )
    values = read_values(path)
    assert values.texts == ["911", "May", "U-1", "a.org", "x@y"]
    assert len(values.columns) == 5
    assert values.skipped == ()


def test_short_and_foreign_texts_are_indexed_as_they_are(database):
    cells = ["M", "TX", "São Paulo", "straße", "東京", "Москва", "ประเทศไทย", "a\0b", "", " "]
    assert read_values(database(c=cells)).texts == sorted(cells)


def test_a_text_is_indexed_once_with_all_of_its_columns(database):
    values = read_values(database(b=["x", "y", "x"], a=["x"], c=["z"]))
    assert values.texts == ["x", "y", "z"]
    assert indexed(values) == {
        "x": [("t_a", "a"), ("t_b", "b")],
        "y": [("t_b", "b")],
        "z": [("t_c", "c")],
    }


def test_cells_that_are_no_text_are_counted(database):
    path = database("CREATE TABLE t (c, d); INSERT INTO t VALUES ('x', 1), (2, 2.5), (x'00', NULL)")
    values = read_values(path)
    assert values.texts == ["x"]
    assert values.skipped == ("t.c: no text: 2", "t.d: no text: 2")


def test_prose_is_counted_and_left_in_the_database(database):
    longest = "é" * LONGEST
    values = read_values(database(c=[longest, longest + "e", "z" * 17_000_000]))
    assert values.texts == [longest]
    assert values.skipped == (f"t_c.c: longer than {LONGEST} characters: 2",)


def test_cells_that_are_not_utf8_are_counted_and_the_others_are_indexed(database):
    path = database(
        "CREATE TABLE t (c, d); INSERT INTO t VALUES (CAST(x'4dfc' AS TEXT), 'y'), ('x', 'z')"
    )
    values = read_values(path)
    assert values.texts == ["x", "y", "z"]
    assert values.skipped == ("t.c: no UTF-8: 1",)


def test_a_view_is_named_and_not_read(database):
    path = database(
        """CREATE TABLE t (c); INSERT INTO t VALUES ('x');
        CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 'a' UNION ALL SELECT i || 'a' FROM n)
            SELECT i FROM n"""
    )
    values = read_values(path)
    assert values.texts == ["x"]
    assert values.skipped == ("endless: a view; its values are its tables'",)


def test_a_virtual_table_is_read_and_a_broken_one_is_named(database):
    path = database(
        """CREATE VIRTUAL TABLE good USING fts5(c); INSERT INTO good VALUES ('found');
        CREATE VIRTUAL TABLE bad USING fts5(c); INSERT INTO bad VALUES ('lost');
        UPDATE bad_config SET v = 99"""
    )
    values = read_values(path)
    assert values.texts == ["found"]
    assert len(values.skipped) == 1
    assert values.skipped[0].startswith("bad")


def test_a_column_that_fails_does_not_take_the_others_with_it(database):
    path = database(
        """CREATE TABLE t (c, d AS (c)); INSERT INTO t (c) VALUES ('x'), ('[]');
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CREATE TABLE t (c, d AS (json(c)))'"""
    )
    values = read_values(path)
    assert values.texts == ["[]", "x"]
    assert values.skipped == ("t.d: malformed JSON",)


def test_a_table_that_takes_too_long_is_named(database, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.0)
    values = read_values(database(c=map(str, range(100_000))))
    assert values.texts == []
    assert values.skipped == ("t_c.c: not read within 0 s",)


@pytest.mark.parametrize("script", ["", "CREATE TABLE t (c TEXT)", "CREATE TABLE t (c INTEGER)"])
def test_a_database_without_texts_has_no_values(database, script):
    assert read_values(database(script)).texts == []


def test_a_hundred_thousand_equal_values_are_indexed_once(database):
    path = database(
        """CREATE TABLE t (c); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000)
        INSERT INTO t SELECT 'same' FROM n"""
    )
    assert read_values(path).texts == ["same"]


def test_wide_tables_are_read_whole(database):
    names = ", ".join(f"c{n}" for n in range(1500))
    cells = ", ".join(f"'v{n}'" for n in range(1500))
    path = database(f"CREATE TABLE t ({names}); INSERT INTO t VALUES ({cells})")
    assert len(read_values(path).texts) == 1500


def test_progress_counts_tables(database):
    reports = []
    read_values(database(a=["x"], b=["y"]), lambda done, total: reports.append((done, total)))
    assert reports == [(1, 2), (2, 2)]


def test_a_file_that_is_not_a_database_is_an_error(tmp_path):
    (tmp_path / "notes.txt").write_text("no database, and long enough to be seen as none")
    with pytest.raises(UnreadableDatabaseError, match=r"notes\.txt"):
        read_values(tmp_path / "notes.txt")


def test_no_text_of_real_databases_is_missed(real_spider):
    for path in sorted(real_spider.glob("database/*/*.sqlite")):
        values = read_values(path)
        expected = set()
        with closing(sqlite3.connect(path)) as connection:
            for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'"):
                for row in connection.execute(f'SELECT * FROM "{table}"'):
                    expected |= {cell for cell in row if isinstance(cell, str)}
        assert set(values.texts) == {text for text in expected if len(text) <= LONGEST}, path.name
