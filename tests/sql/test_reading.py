"""Facts that are read from a query's text, checked by hand, by SQLite itself and by NL2SQL360's labels."""

import csv
import json
import sqlite3
import time
from contextlib import closing
from itertools import starmap

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.sql.facts import Comparison, comparisons, features
from workbench.sql.reading import (
    columns_used,
    normal_form,
    normalise_text,
    parse,
    resolved,
)
from workbench.sql.schema import read_schema
from workbench.types import Column, Schema, Table

TABLES = {
    "Singer": ("id", "Name", "Birth Year"),
    "concert": ("id", "singer_id", "Year"),
}
TABLES |= {"stadium": ("sid", "city")}
SCHEMA = Schema(
    "concerts", tuple(Table(t, tuple(map(Column, own))) for t, own in TABLES.items())
)


@pytest.fixture(scope="session")
def gold(real_spider):
    return json.loads((real_spider / "dev.json").read_text())


NO_QUERIES = [
    "",
    "I do not know",
    "SELECT a FROM",
    "SELECT 'a",
    "DROP TABLE t",
    "SELECT 1; VALUES (2)",
]
NO_QUERIES += [
    "SELECT " + "(" * 20_000,
    "SELECT a FROM t WHERE " + "a AND " * 20_000 + "a",
]


@pytest.mark.parametrize("sql", NO_QUERIES)
def test_text_that_is_not_one_query_has_no_tree_and_raises_nothing(sql):
    assert parse(sql) is None
    assert normal_form(sql) == " ".join(sql.split())
    assert features(sql) is None
    assert columns_used(sql, SCHEMA).error


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("select  A\nfrom T ;", "SELECT a FROM t"),
        ("SELECT a b FROM t u", "SELECT a AS B FROM t AS U"),
        ("SELECT `A` FROM [t]", "SELECT a FROM t"),
        ('SELECT T."Name" FROM "T"', "SELECT t.name FROM t"),
        (
            "SELECT a FROM t WHERE a == 1 AND b != 2",
            "SELECT a FROM t WHERE a = 1 AND b <> 2",
        ),
        (
            "SELECT a FROM t INNER JOIN u ON t.a = u.a",
            "SELECT a FROM t JOIN u ON t.a = u.a",
        ),
        (
            "SELECT a FROM t LEFT OUTER JOIN u USING (a)",
            "SELECT a FROM t LEFT JOIN u USING (a)",
        ),
        ("SELECT a FROM t LIMIT 1, 2", "SELECT a FROM t LIMIT 2 OFFSET 1"),
        ("SELECT Count( * ) FROM t", "SELECT count(*) FROM t"),
    ],
)
def test_queries_that_differ_only_in_spelling_have_one_normal_form(one, other):
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a FROM t WHERE b = 'X'", "SELECT a FROM t WHERE b = 'x'"),
        ("SELECT a FROM t WHERE b = 'x  y'", "SELECT a FROM t WHERE b = 'x y'"),
        ('SELECT a FROM t WHERE b = "X"', 'SELECT a FROM t WHERE b = "x"'),
        ('SELECT a FROM t WHERE b = "x"', "SELECT a FROM t WHERE b = x"),
        (
            "SELECT a FROM t UNION SELECT a FROM u",
            "SELECT a FROM t UNION ALL SELECT a FROM u",
        ),
        ("SELECT a FROM t ORDER BY b", "SELECT a FROM t ORDER BY b DESC"),
        ("SELECT a - (b - c) FROM t", "SELECT a - b - c FROM t"),
        ("SELECT `a b` FROM t", "SELECT a b FROM t"),
        ("SELECT CAST(a AS DECIMAL) FROM t", "SELECT CAST(a AS REAL) FROM t"),
        ("SELECT CAST(a AS STRING) FROM t", "SELECT CAST(a AS TEXT) FROM t"),
    ],
)
def test_different_queries_have_different_normal_forms(one, other):
    assert normal_form(one) != normal_form(other)


def test_the_normal_form_is_stable_and_returns_the_same_rows(real_spider, gold):
    for item in gold:
        once = normal_form(item["query"])
        assert normal_form(once) == once
        path = real_spider / "database" / item["db_id"] / f"{item['db_id']}.sqlite"
        with closing(
            sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        ) as connection:
            connection.text_factory = bytes
            answer = connection.execute(item["query"]).fetchall()
            assert connection.execute(once).fetchall() == answer


@pytest.mark.parametrize(
    "kind", ["INT", "TEXT", "REAL", "VARCHAR(9)", "DECIMAL(9, 2)", "DATE", "STRING"]
)
def test_normal_form_casts_to_what_sqlite_understands_by_a_type(kind):
    sql = f"SELECT typeof(CAST('2' AS {kind})), CAST('2.5 x' AS {kind})"
    with closing(sqlite3.connect(":memory:")) as connection:
        answer = connection.execute(sql).fetchall()
        assert connection.execute(normal_form(sql)).fetchall() == answer


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT  Name\n FROM t ;", "select name from t"),
        ("SELECT 'I''S  A', `T  T`, [C  C]", "select 'I''S  A', `T  T`, [C  C]"),
        ('SELECT "B  B"', 'select "B  B"'),
        ("SELECT É FROM T", "select É from t"),
        ("SELECT\u00a0A", "select\u00a0a"),
        ("SELECT 1;;", "select 1;;"),
    ],
)
def test_unquoted_text_is_normalised(sql, expected):
    assert normalise_text(sql) == expected


WORDS = "SELECT name NAME FROM t T WHERE id = 1 1E1 X'4a' LIKE count(*) , ORDER BY ; É".split()  # noqa: SIM905
QUOTED = [
    '"name"',
    "'Name  x'",
    "'it''s'",
    "`id`",
    "[Id]",
    "'N%'",
    "\n",
    "\t ",
    "'",
    '"',
]
pieces = st.sampled_from(WORDS + QUOTED)


@given(st.lists(pieces, max_size=12))
@example(["SELECT", "1", ";", ";"])
def test_sqlite_gives_the_same_rows_for_both_spellings(parts):
    sql = "SELECT " + " ".join(parts)
    found = []
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE t(id, name)")
        database.execute("INSERT INTO t VALUES (1, 'Name  x'), (2, 'N')")
        for text in (sql, normalise_text(sql)):
            try:
                found.append(database.execute(text).fetchall())
            except (sqlite3.Error, sqlite3.Warning):
                found.append("an error")
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT s.NAME FROM singer s", "Singer.Name"),
        ("SELECT `Birth Year`, [name] FROM singer", "Singer.Birth Year, Singer.Name"),
        ('SELECT "birth year" FROM singer', "Singer.Birth Year"),
        ('SELECT id FROM singer WHERE name = "Bob"', "Singer.id, Singer.Name"),
        ("SELECT main.singer.name FROM main.singer", "Singer.Name"),
        ("SELECT * FROM stadium", "stadium.sid, stadium.city"),
        ("SELECT t.* FROM stadium t, singer", "stadium.sid, stadium.city"),
        ("SELECT count(*) FROM stadium", ""),
        ("SELECT city FROM stadium WHERE EXISTS (SELECT * FROM singer WHERE id = sid)",
         "stadium.city, stadium.sid, Singer.id, Singer.Name, Singer.Birth Year"),
        ("SELECT name FROM singer WHERE id IN (SELECT singer_id FROM concert WHERE year = 2014)",
         "Singer.Name, Singer.id, concert.singer_id, concert.Year"),
        ("SELECT name FROM singer s WHERE 1 < (SELECT count(*) FROM concert WHERE singer_id = s.id)",
         "Singer.Name, Singer.id, concert.singer_id"),
        ("SELECT name FROM singer JOIN concert USING (id)", "Singer.Name, Singer.id, concert.id"),
        ("SELECT name FROM singer NATURAL JOIN concert", "Singer.Name, Singer.id, concert.id"),
        ("SELECT name FROM (singer JOIN concert USING (id))", "Singer.Name, Singer.id, concert.id"),
        ("SELECT n FROM (SELECT name AS n, id FROM singer)", "Singer.Name, Singer.id"),
        ("SELECT city FROM (SELECT * FROM stadium)", "stadium.city, stadium.sid"),
        ("WITH c AS (SELECT * FROM stadium) SELECT x.sid FROM c x", "stadium.city, stadium.sid"),
        ("WITH c(a, b) AS (SELECT * FROM stadium) SELECT b FROM c", "stadium.city, stadium.sid"),
        ("WITH RECURSIVE c(n) AS (SELECT sid FROM stadium UNION SELECT n + 1 FROM c) SELECT n FROM c",
         "stadium.sid"),
        ("SELECT name FROM singer UNION SELECT city FROM stadium ORDER BY name",
         "Singer.Name, stadium.city"),
        ("SELECT count(*) AS n FROM singer GROUP BY name HAVING n > 1 ORDER BY n", "Singer.Name"),
        ("SELECT city AS sid FROM stadium ORDER BY sid", "stadium.city"),
        ("SELECT id AS name FROM singer GROUP BY name", "Singer.id, Singer.Name"),
        ("SELECT id FROM singer GROUP BY id HAVING count(name) > 1", "Singer.id, Singer.Name"),
        ("WITH stadium AS (SELECT id AS city FROM singer) SELECT city FROM stadium", "Singer.id"),
        ("SELECT s.id FROM singer s WHERE s.id IN (SELECT s.id FROM concert s)", "Singer.id, concert.id"),
        ("SELECT rowid FROM singer", ""),
        ("SELECT (SELECT * FROM (SELECT sid FROM stadium))", "stadium.sid"),
        ("SELECT j.value FROM singer, json_each(name) j", "Singer.Name"),
        ("SELECT rank() OVER w FROM stadium WINDOW w AS (ORDER BY city)", "stadium.city"),
        ("SELECT sid FROM stadium JOIN singer s ON c.id = s.id JOIN concert c ON 1",
         "stadium.sid, Singer.id, concert.id"),
    ],
)  # fmt: skip
def test_columns_are_found_by_sqlites_rules(sql, columns):
    found = columns_used(sql, SCHEMA)
    assert found.error == ""
    assert set(map(".".join, found.columns)) == set(filter(None, columns.split(", ")))
    if "json_each" not in sql:  # sqlglot finds the same, and each name's place
        assert set(resolved(sql, SCHEMA).columns.values()) == found.columns


def test_a_query_that_sqlite_prepares_for_hours_is_an_error_and_the_next_one_is_read():
    bomb = "WITH a0(x) AS (SELECT 1)"
    for n in range(1, 30):
        bomb += (
            f", a{n}(x) AS (SELECT x FROM a{n - 1} UNION ALL SELECT x FROM a{n - 1})"
        )
    assert columns_used(f"{bomb} SELECT count(*) FROM a29", SCHEMA).error
    assert columns_used("SELECT city FROM stadium", SCHEMA).columns == {
        ("stadium", "city")
    }


def test_on_real_queries_the_columns_are_those_that_sqlglot_finds(real_spider, gold):
    for item in gold:
        path = real_spider / "database" / item["db_id"] / f"{item['db_id']}.sqlite"
        schema = read_schema(path)
        found = columns_used(item["query"], schema)
        assert found.error == ""
        assert found.columns == set(resolved(item["query"], schema).columns.values())


@pytest.mark.parametrize(
    ("sql", "counts"),
    [
        ("SELECT a, b FROM t", {}),
        ("SELECT * FROM t, u JOIN v", {"JOIN": 2}),
        ("SELECT a FROM t UNION SELECT b FROM u EXCEPT SELECT c FROM v", {"set operation": 2}),
        ("SELECT a FROM t WHERE b IN (SELECT c FROM u)", {"nested query": 1}),
        ("SELECT a FROM t WHERE b = (SELECT c FROM u)", {"nested query": 1}),
        ("SELECT a FROM (SELECT b FROM t UNION SELECT c FROM u)", {"nested query": 1, "set operation": 1}),
        ("SELECT a FROM t WHERE b BETWEEN 1 AND 2 AND NOT c LIKE 'x' OR d", {"LIKE": 1, "AND or OR": 2}),
        ("SELECT count(DISTINCT a), max(a, b), max(c), total(c), CAST(d AS INT) FROM t",
         {"aggregation": 3, "DISTINCT": 1, "scalar function": 2}),
        ("SELECT sum(a) OVER (ORDER BY b), rank() OVER w FROM t WINDOW w AS (ORDER BY c)", {"window": 2}),
        ("SELECT CASE WHEN a THEN 1 WHEN b THEN 2 END, IIF(a, 1, 2) FROM t", {"CASE": 1}),
        ("SELECT a + b * 2 - -c FROM t", {"arithmetic": 3}),
        ("SELECT a FROM t GROUP BY a HAVING count(*) > 1 ORDER BY a LIMIT 1",
         {"GROUP BY": 1, "HAVING": 1, "aggregation": 1, "ORDER BY": 1, "LIMIT": 1}),
        ("WITH c AS (SELECT 1) SELECT * FROM c", {"nested query": 1}),
    ],
)  # fmt: skip
def test_features_are_counted_as_defined(sql, counts):
    assert {name: count for name, count in features(sql).items() if count} == counts


def test_features_agree_with_every_label_of_nl2sql360(real_spider, gold):
    with (real_spider / "c3sql_labels.csv").open(newline="") as file:
        labels = list(csv.DictReader(file))
    assert [row["question"] for row in labels] == [item["question"] for item in gold]
    other_names = {"arithmetic": "math_compute", "AND or OR": "logical_connecter"}
    ours = [features(item["query"]) for item in gold]
    for name in ours[0].keys() - {"HAVING", "CASE", "nested query"}:
        label = f"count_{other_names.get(name, name.lower().replace(' ', '_'))}"
        assert [counts[name] for counts in ours] == [
            int(row[label]) for row in labels
        ], name


def test_comparisons_with_literals_have_their_columns():
    sql = "SELECT max(t.id) FROM singer t WHERE lower(name) = 'x' AND id BETWEEN -1 AND 2.5 AND 'b' < name"
    own, name = ("Singer", "id"), ("Singer", "Name")
    expected = [
        (name, True, "x"),
        (own, False, -1),
        (own, False, 2.5),
        (name, False, "b"),
    ]
    assert set(comparisons(sql, SCHEMA)) == set(starmap(Comparison, expected))
    assert comparisons("no query", SCHEMA) == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM t" + "".join(f" NATURAL JOIN t{n}" for n in range(200)),
        "SELECT 1 FROM t" + "".join(f", t{n}" for n in range(64)),
        "SELECT " + " || ".join(["'a'"] * 6_500),
        "SELECT " + " + ".join(["a"] * 4_000) + " FROM t",
        "SELECT a FROM t WHERE " + " AND ".join(["a = 1"] * 1_500),
    ],
)
def test_a_query_that_would_take_long_is_not_read(sql):
    began = time.thread_time()
    assert parse(sql) is None
    assert resolved(sql, SCHEMA) is None
    assert normal_form(sql) == " ".join(sql.split())
    assert time.thread_time() - began < 2.0


TWO_JOINS = "SELECT t.a FROM t JOIN u ON t.a = u.a JOIN v ON t.a = v.a"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT a FROM t WHERE a IN ({', '.join(map(str, range(1_300)))})",
        "VALUES " + ", ".join(f"({n}, {n})" for n in range(600)),
        " UNION ALL ".join([TWO_JOINS] * 33),
        "SELECT 1 FROM t" + "".join(f", t{n}" for n in range(63)),
    ],
)
def test_a_long_query_that_is_read_at_once_is_read(sql):
    began = time.thread_time()
    assert parse(sql)
    resolved(sql, SCHEMA)
    assert normal_form(normal_form(sql)) == normal_form(sql)
    assert time.thread_time() - began < 2.0


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1; VACUUM",
        "SELECT 1; GRANT x",
        "WITH a AS (SET b c) SELECT 1",
        "WITH a AS (VACUUM) SELECT 1",
        "WITH a AS (SELECT 1) CREATE FOO BAR",
    ],
)
def test_nothing_is_logged_of_a_command_in_a_query(sql, caplog):
    assert parse(sql) is None
    assert not caplog.records
