"""The column that each name in a query means, in cases where a simpler search for names is wrong."""

import pytest
from sqlglot import exp  # noqa: TID251  for the type of nodes whose names are resolved

from workbench.db.sql.parse import parse
from workbench.db.sql.scope import Names
from workbench.types import Column, Schema, Table

SCHEMA = Schema(
    "school",
    (
        Table("Teacher", (Column("Id", "INTEGER"), Column("Name", "TEXT"))),
        Table("Course", (Column("Id", "INTEGER"), Column("Teacher_Id", "INTEGER"))),
    ),
)


def columns_of(sql, name):
    """The schema's column for each mention of the name, in the order of the text."""
    tree = parse(sql)
    names = Names(tree, sql, SCHEMA)
    found = [node for node in tree.find_all(exp.Column, bfs=False) if node.name.lower() == name]
    return [names.column_name(node) for node in sorted(found, key=lambda n: n.this.meta["start"])]


ID, NAME = ("Teacher", "Id"), ("Teacher", "Name")


@pytest.mark.parametrize(
    ("sql", "name", "expected"),
    [
        ("SELECT t.id FROM Teacher t", "id", [ID]),
        ("SELECT name FROM Course, Teacher", "name", [NAME]),
        ("SELECT id FROM Teacher JOIN Course USING (id)", "id", [ID]),
        ("SELECT name FROM Course", "name", [None]),
        ("SELECT s.n FROM (SELECT name AS n FROM Teacher) s", "n", [NAME]),
        ("SELECT s.n FROM (SELECT upper(name) AS n FROM Teacher) s", "n", [NAME]),
        ("SELECT s.n FROM (SELECT count(*) AS n FROM Teacher) s", "n", [None]),
        ("SELECT s.name FROM (SELECT * FROM Teacher) s", "name", [NAME]),
        ("SELECT c.b FROM (SELECT id, name FROM Teacher UNION SELECT 1, 2) c", "b", [None]),
        ("WITH c(a, b) AS (SELECT id, name FROM Teacher) SELECT b FROM c", "b", [NAME]),
        # A common table expression hides the table of the same name.
        ("WITH Teacher AS (SELECT id AS name FROM Course) SELECT name FROM Teacher", "name", [("Course", "Id")]),
        # An inner alias hides an outer alias of the same name.
        (
            "SELECT t.id FROM Teacher t WHERE t.id IN (SELECT t.id FROM Course t)",
            "id",
            [ID, ID, ("Course", "Id")],
        ),
        # A subquery in a condition sees the outer query; a subquery in FROM does not see its neighbours.
        ("SELECT 1 FROM Teacher t WHERE EXISTS (SELECT 1 FROM Course WHERE t.name = 1)", "name", [NAME]),
        ("SELECT 1 FROM Teacher t, (SELECT t.name FROM Course) s", "name", [None]),
        # A column that a subquery in FROM lacks is not looked up in the outer query.
        ("SELECT count(*) FROM (SELECT x FROM Course GROUP BY x) s", "x", [None, None]),
        # In ORDER BY an alias comes before a column, in GROUP BY after it.
        ("SELECT id AS name FROM Teacher ORDER BY name", "name", [None]),
        ("SELECT id AS name FROM Teacher GROUP BY name", "name", [NAME]),
        ("SELECT name FROM Teacher UNION SELECT 1 ORDER BY name", "name", [NAME, NAME]),
    ],
)  # fmt: skip
def test_a_name_means_the_column_that_sqlite_finds(sql, name, expected):
    assert columns_of(sql, name) == expected


def test_a_star_uses_only_the_columns_that_reach_the_answer():
    sql = "SELECT s.name FROM (SELECT * FROM Teacher) s WHERE EXISTS (SELECT * FROM Course)"
    names = Names(parse(sql), sql, SCHEMA)
    assert names.columns == {NAME}
    assert names.tables == {"Teacher", "Course"}


def test_an_unknown_name_is_reported_as_written():
    sql = 'SELECT t.Nix, "a text", nought FROM Teacher t, Nowhere'
    assert Names(parse(sql), sql, SCHEMA).unknown == ["Nowhere", "t.Nix"]  # Nowhere may have nought
