"""The facts that are read from a query, checked by hand on three tables."""

import pytest

from workbench.db.sql.facts import LiteralComparison, query_facts
from workbench.types import Column, Schema, Table

SCHEMA = Schema(
    "concerts",
    (
        Table("Singer", (Column("id"), Column("Name"), Column("Age"))),
        Table("concert", (Column("cid"), Column("singer_id"), Column("Year"))),
        Table("stadium", (Column("sid"), Column("city"))),
    ),
)


def read(sql):
    found = query_facts(sql, SCHEMA)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("condition", "operator", "value"),
    [
        ("city = 'Rome'", "=", "Rome"),
        ("'Rome' = city", "=", "Rome"),
        ('city = "Rome"', "=", "Rome"),
        ("lower(city) <> 'rome'", "<>", "rome"),
        ("city IN ('Rome')", "=", "Rome"),
        ("city LIKE '%me'", "like", "%me"),
        ("sid >= -2.5", ">=", -2.5),
        ("NOT sid = 3", "=", 3),
    ],
)
def test_a_literal_is_recorded_with_the_column_it_is_compared_with(condition, operator, value):
    (compared,) = read(f"SELECT sid FROM stadium WHERE {condition}").comparisons
    assert compared.column == ("stadium", "sid" if condition.count("sid") else "city")
    assert (compared.operator, compared.value) == (operator, value)


def test_a_range_is_two_comparisons_and_a_functions_value_has_no_column():
    found = read(
        "SELECT year FROM concert WHERE year BETWEEN 1 AND 2 GROUP BY year HAVING count(*) > 3"
    )
    year = ("concert", "Year")
    assert set(found.comparisons) == {
        LiteralComparison(year, ">=", 1),
        LiteralComparison(year, "<=", 2),
        LiteralComparison(None, ">", 3),
    }


def test_operations_name_what_the_query_does():
    found = read(
        "SELECT count(DISTINCT city) FROM stadium WHERE NOT sid = 1 OR sid = 2"
        " ORDER BY city DESC LIMIT 1"
    )
    assert found.operations == {
        "count",
        "distinct",
        "distinct count",
        "not",
        "or",
        "order",
        "descending",
        "limit",
    }


def test_names_outside_the_schema_are_left_out():
    found = read("SELECT nothing FROM nowhere JOIN stadium ON nowhere.x = sid")
    assert found.tables == {"stadium"}
    assert found.columns == {("stadium", "sid")}


def test_an_unreadable_query_has_no_facts():
    assert query_facts("DROP TABLE singer", SCHEMA) is None
