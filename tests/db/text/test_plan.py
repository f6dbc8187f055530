"""SQLite's query plans, described in steps. The wording of SQLite's plans differs between its releases,
so the queries here have plans that do not, or the plan's rows are given.
"""

import json
import re
import sqlite3
from contextlib import closing

import pytest

from workbench.db.execute import Executor
from workbench.db.text.plan import PlanRow, narrate, plan_text

SCRIPT = """
CREATE TABLE generalinfo (id_restaurant INTEGER PRIMARY KEY, food_type TEXT, city TEXT);
CREATE TABLE location (id_restaurant INTEGER, street_name TEXT, city TEXT);
CREATE TABLE t (a INTEGER, b TEXT, c REAL);
CREATE INDEX t_b ON t (b);
CREATE INDEX t_c ON t (c);
CREATE TABLE u (a INTEGER, d TEXT);
CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
"""


def plan(connection, sql):
    rows = connection.execute(f"EXPLAIN QUERY PLAN {sql}")
    return [PlanRow(number, parent, detail) for number, parent, _, detail in rows]


def steps_of(sql):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCRIPT)
        return "\n".join(plan_text(plan(connection, sql), sql))


def test_the_papers_example_has_three_parts():
    sql = """SELECT COUNT(T1.id_restaurant) FROM generalinfo AS T1 INNER JOIN location AS T2
        ON T1.id_restaurant = T2.id_restaurant WHERE T1.food_type = 'thai'
        AND T1.city = 'albany' AND T2.street_name = 'san pablo ave'"""
    assert steps_of(sql).splitlines() == [
        "Find the tables:",
        "1. Open the table location, called T2 here.",
        "2. Open the table generalinfo, called T1 here.",
        "Match, filter and count:",
        "3. Read every row of T2.",
        "4. Check that T2.street_name is 'san pablo ave'; if not, skip the row.",
        "5. For each row so far, find the matching rows of T1, directly by row id.",
        "6. Rows match only if T1.id_restaurant is T2.id_restaurant.",
        "7. Check that T1.food_type is 'thai'; if not, skip the row.",
        "8. Check that T1.city is 'albany'; if not, skip the row.",
        "9. Over all these rows, work out the number of values of T1.id_restaurant.",
        "Deliver the result:",
        "10. Return the number of values of T1.id_restaurant.",
    ]


@pytest.mark.parametrize(
    ("sql", "steps"),
    [
        ("SELECT * FROM t WHERE b = 'x' AND a > 2",
         ["Find the matching rows of t, by index t_b on b.", "Check that a is greater than 2; if not",
          "Return every column."]),
        ("SELECT v FROM w WHERE k = 'x'", ["Find the matching rows of w, by the primary key on k."]),
        ("SELECT b FROM t ORDER BY b DESC LIMIT 3 OFFSET 1",
         ["Read every row of t, by index t_b without opening the table.", "Sort by b, largest first.",
          "Keep only the first rows, 3 at most, after skipping 1.", "Return b."]),
        ("SELECT * FROM t WHERE b = 'x' OR c > 2",
         ["Open the table t.", "Look up each side of the OR by its own index", "Side 1:",
          "Find the matching rows of t, by index t_b on b.", "Side 2:",
          "Find the matching rows of t, by index t_c on c from a bound up.",
          "Check that b is 'x' or c is greater than 2"]),
        ("SELECT t.a FROM t LEFT JOIN u ON t.a = u.a AND t.b = 'x'",
         ["Read every row of t", "by an index on a that is built for this query alone. Where there is none",
          "Rows match only if t.a is u.a.", "Rows match only if t.b is 'x'."]),
        ("SELECT a, count(*) FROM t GROUP BY a HAVING count(*) > 1 ORDER BY 2 DESC",
         ["for GROUP BY.", "for ORDER BY.", "Put the rows into groups, one for each a.",
          "For each group, work out the number of rows.",
          "Keep a group only if the number of rows is greater than 1.",
          "Sort by the number of rows, largest first."]),
        ("SELECT DISTINCT a FROM t", ["for DISTINCT.", "Drop rows that repeat an earlier one."]),
        ("SELECT a FROM t UNION SELECT a FROM u",
         ["one after the other:", "The first query:", "Read every row of t.",
          "Add those rows of the next query that are new:", "Read every row of u."]),
        ("SELECT a FROM t EXCEPT SELECT a FROM u", ["Take away the rows that the next query gives:"]),
        ("SELECT a FROM t INTERSECT SELECT a FROM u", ["Keep only the rows that the next query gives too:"]),
        ("SELECT a FROM t UNION ALL SELECT a FROM u ORDER BY a LIMIT 2",
         ["merge them by UNION ALL:", "The first query:", "The second query:", "Sort by a.", "2 at most."]),
        ("SELECT a FROM t WHERE a NOT IN (SELECT a FROM u WHERE d IS NULL)",
         ["Check that a is not among the result of the subquery", "once, for a list of values:",
          "Read every row of u.", "Check that d is NULL"]),
        ("SELECT a, (SELECT max(d) FROM u WHERE u.a = t.a) FROM t",
         ["For every row so far, work out subquery 1 anew, for one value:", "Check that u.a is t.a",
          "work out the largest d.", "Return a, the result of the subquery."]),
        ("SELECT s.a FROM (SELECT a, count(*) AS n FROM t GROUP BY a) AS s WHERE n > 1",
         ["Work out s, row by row", "Read every row of t", "one for each a.", "Read every row of s.",
          "Check that n is greater than 1", "Return s.a."]),
        ("WITH x AS MATERIALIZED (SELECT a FROM t LIMIT 5) SELECT * FROM x, u WHERE u.a = x.a",
         ["Open the table u.", "Open the table t.", "Work out x once and keep its rows:",
          "Read every row of t", "Keep only the first rows, 5 at most.", "Read every row of x."]),
        ("SELECT a, rank() OVER (PARTITION BY b ORDER BY c) FROM t",
         ["Read every row of t", "For each row, work out RANK() over the rows of its window."]),
        ("WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r",
         ["Begin with these rows:", "no table is read.", "From each row found, work out further rows",
          "Read every row of r.", "Check that n is less than 5"]),
        ("SELECT max(b) FROM t", ["Find the first or the last row of t", "work out the largest b."]),
        ("SELECT x.a FROM t AS x JOIN t AS y ON x.b = y.b",
         ["Open the table t, called x here.", "Open the table t, called y here."]),
        ("SELECT 1", ["Make the rows from constants; no table is read.", "Return 1."]),
    ],
)  # fmt: skip
def test_a_plan_becomes_numbered_steps(sql, steps):
    text = steps_of(sql)
    start = 0
    for step in steps:
        found = text.find(step, start)
        assert found >= 0, f"{step!r} is missing, or comes too early, in\n{text}"
        start = found + len(step)


def test_a_name_of_two_tables_is_resolved_in_each_query():
    text = steps_of("SELECT x.a FROM t AS x WHERE x.a IN (SELECT x.a FROM u AS x)")
    assert "Open the table t, called x here." in text
    assert "Open the table u, called x here." in text


def test_a_table_that_only_a_common_table_expression_names_is_not_opened():
    text = steps_of("WITH c AS (SELECT a FROM t UNION SELECT a FROM u) SELECT a FROM c")
    assert "Open the table c" not in text


@pytest.mark.parametrize(
    ("detail", "step"),
    [
        ("SCAN TABLE t AS x", "Read every row of x."),
        ("SCAN t VIRTUAL TABLE INDEX 0:", "Read every row of t."),
        (
            "BLOOM FILTER ON u (a=?)",
            "Rule out, by a Bloom filter on a=?, rows without a match in u.",
        ),
        ("RIGHT-JOIN u", "Add the rows of u that matched nothing:"),
        ("REUSE LIST SUBQUERY 2", "Use the result of subquery 2 again."),
        ("USING INDEX t_b FOR IN-OPERATOR", "Look the values of IN up by INDEX t_b."),
        ("FROBNICATE {0} t", "FROBNICATE {0} t"),
    ],
)
def test_plan_rows_that_few_queries_have_are_described(detail, step):
    assert f"1. {step}" in plan_text([PlanRow(1, 0, detail)], "") or f"2. {step}" in plan_text(
        [PlanRow(1, 0, detail)], ""
    )


def test_for_an_unreadable_query_the_steps_use_the_plan_alone():
    assert plan_text([PlanRow(3, 0, "SCAN t")], "SELECT a FRM (") == (
        "Find the tables:",
        "1. Open the table t.",
        "Match, filter and count:",
        "2. Read every row of t.",
        "Deliver the result:",
        "3. Return the result columns.",
    )


def test_plan_rows_with_missing_or_circular_parents_still_become_steps():
    lines = plan_text([PlanRow(1, 2, "SCAN t"), PlanRow(2, 1, "ONE"), PlanRow(9, 9, "TWO")], "")
    assert [
        word for word in ("Read every row of t.", "ONE", "TWO") if word in "\n".join(lines)
    ] == [
        "Read every row of t.",
        "ONE",
        "TWO",
    ]


def test_every_gold_query_becomes_numbered_steps(real_spider):
    for item in json.loads((real_spider / "dev.json").read_text()):
        path = real_spider / "database" / item["db_id"] / f"{item['db_id']}.sqlite"
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            rows = plan(connection, item["query"])
        lines = plan_text(rows, item["query"])
        steps = [line for line in lines if line[0].isdigit()]
        assert [int(step.split(".")[0]) for step in steps] == list(range(1, len(steps) + 1))
        assert len(steps) > len(rows)
        assert not any(re.search(r"\d\. +[A-Z-]{4,}", step) for step in steps), lines


def test_narrate_describes_a_plan_or_says_why_sqlite_cannot_plan(tmp_path):
    path = tmp_path / "t.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCRIPT)
    sql = "SELECT b FROM t WHERE a > 1"
    with Executor(workers=1) as executor:
        assert "\n".join(narrate(sql, path, executor)) == steps_of(sql)
        assert narrate("SELECT b FROM gone", path, executor) == (
            "SQLite cannot plan this query: no such table: gone",
        )
