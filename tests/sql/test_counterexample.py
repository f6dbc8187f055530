"""A counterexample is a part of the database's own rows, and both queries run on it give the results that it claims."""

import sqlite3
from contextlib import closing

import pytest

from workbench.sql.counterexample import counterexample
from workbench.sql.executor import Executor
from workbench.sql.schema import read_schema

SCRIPT = """
    CREATE TABLE pupil (id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT, grade INT, twice);
    CREATE TABLE "club member" (pupil_id INT REFERENCES pupil, club TEXT, PRIMARY KEY (pupil_id, club));
    CREATE VIEW towns AS SELECT DISTINCT town FROM pupil;
    WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO pupil SELECT i, 'pupil ' || i, nullif('town ' || (i % 7), 'town 3'), i % 13, i % 13 * 2 FROM n;
    INSERT INTO "club member" SELECT id, 'choir' FROM pupil WHERE id % 50 = 0;
    INSERT INTO "club member" SELECT id, 'chess' FROM pupil WHERE id % 5 = 0;
"""


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    path = tmp_path_factory.mktemp("school") / "school.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCRIPT)
    with Executor(workers=1) as executor:
        yield path, executor, read_schema(path)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "SELECT name FROM pupil WHERE grade > 5",
            "SELECT name FROM pupil WHERE grade >= 5",
        ),
        ("SELECT count(town) FROM pupil", "SELECT count(*) FROM pupil"),
        (
            "SELECT name FROM pupil WHERE id = 299",
            "SELECT name FROM pupil WHERE id = 298",
        ),
        (
            'SELECT count(*) FROM "club member"',
            'SELECT count(DISTINCT pupil_id) FROM "club member"',
        ),
        (
            "SELECT name FROM pupil JOIN \"club member\" ON id = pupil_id WHERE club = 'choir'",
            'SELECT name FROM pupil p JOIN "club member" c ON p.id = c.pupil_id WHERE p.grade = 1',
        ),
        (
            'SELECT name FROM pupil LEFT JOIN "club member" ON id = pupil_id WHERE club IS NULL',
            "SELECT p.name FROM pupil p LEFT JOIN pupil q ON p.id = q.id + 1 WHERE q.id IS NULL",
        ),
        (
            "WITH c AS (SELECT * FROM pupil WHERE id < 9) SELECT grade FROM c",
            "with recursive c AS (SELECT * FROM pupil WHERE id < 9) SELECT twice FROM c",
        ),
    ],
)
def test_both_queries_run_on_its_rows_give_its_results(school, first, second):
    path, executor, schema = school
    found = counterexample(executor, path, first, second, schema)
    assert sum(len(part.rows) for part in found.tables.values()) <= 4
    with (
        closing(sqlite3.connect(path)) as real,
        closing(sqlite3.connect(":memory:")) as small,
    ):
        for table, part in found.tables.items():
            ddl = "SELECT sql FROM sqlite_schema WHERE name = ?"
            small.execute(*real.execute(ddl, [table]).fetchone())
            assert set(part.rows) <= set(real.execute(f'SELECT * FROM "{table}"'))
            marks = ", ".join("?" * len(part.columns))
            small.executemany(f'INSERT INTO "{table}" VALUES ({marks})', part.rows)
        results = [tuple(small.execute(sql).fetchall()) for sql in (first, second)]
    assert results == [found.first.rows, found.second.rows]
    assert set(results[0]) != set(results[1])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "SELECT name FROM pupil WHERE grade > 5",
            "SELECT p.name FROM pupil p WHERE 5 < p.grade",
        ),
        # Seen without an example.
        ("SELECT name FROM pupil", "SELECT name, id FROM pupil"),
        ("SELECT name FROM pupil", "SELECT nam FROM pupil"),
        ("SELECT town FROM towns", "SELECT town FROM pupil"),
        ("SELECT name FROM pupil", "SELECT town FROM main.pupil"),
        ("SELECT name FROM pupil", "DELETE FROM pupil"),
        ("SELECT 1", "SELECT 2"),
    ],
)
def test_where_nothing_tells_two_queries_apart_there_is_none(school, first, second):
    path, executor, schema = school
    before = path.read_bytes()
    assert counterexample(executor, path, first, second, schema) is None
    assert path.read_bytes() == before
