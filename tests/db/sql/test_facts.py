"""The facts that are read from a query, checked by hand on three tables."""

import pytest

from workbench.db.sql.facts import LiteralComparison, Output, query_facts
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


def test_outputs_are_columns_functions_and_expressions_in_order():
    found = read("SELECT s.name, count(*), max(age), age + 1 FROM singer AS s")
    assert found.outputs == (
        Output(("Singer", "Name")),
        Output(None, "count"),
        Output(("Singer", "Age"), "max"),
        Output(None, "expression", (Output(("Singer", "Age")),)),
    )


def test_an_expression_has_the_columns_and_aggregates_inside_it():
    found = read(
        "SELECT upper(name) || '!', round(max(age) - min(age), 1) AS gap, (SELECT count(*) FROM stadium) FROM singer"
    )
    assert [output.inside for output in found.outputs] == [
        (Output(("Singer", "Name")),),
        (Output(("Singer", "Age"), "max"), Output(("Singer", "Age"), "min")),
        (Output(None, "count"),),
    ]


def test_a_star_gives_every_column_of_the_tables_it_stands_for():
    found = read("SELECT t.* FROM stadium AS t JOIN concert ON 1")
    assert found.outputs == (Output(("stadium", "sid")), Output(("stadium", "city")))


def test_the_outputs_of_a_compound_are_those_of_its_first_query():
    assert read("SELECT city FROM stadium UNION SELECT name FROM singer").outputs == (
        Output(("stadium", "city")),
    )


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


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM singer JOIN concert ON id = singer_id",
        "SELECT 1 FROM singer AS a, concert AS b WHERE a.id = b.singer_id",
        "SELECT 1 FROM singer WHERE id IN (SELECT singer_id FROM concert)",
        "SELECT 1 FROM singer WHERE id = (SELECT singer_id FROM concert)",
        "SELECT 1 FROM singer WHERE EXISTS (SELECT 1 FROM concert WHERE id = singer_id)",
        "SELECT 1 FROM singer JOIN (SELECT singer_id AS s FROM concert) AS t ON id = t.s",
    ],
)
def test_columns_set_equal_are_found_in_every_form_of_join(sql):
    assert read(sql).equal_columns == ((("Singer", "id"), ("concert", "singer_id")),)


def test_columns_compared_by_an_operator_other_than_equals_are_not_equal_columns():
    found = read("SELECT 1 FROM singer, concert WHERE age >= year AND id <> singer_id")
    assert found.compared_columns == (
        (("Singer", "Age"), ("concert", "Year")),
        (("Singer", "id"), ("concert", "singer_id")),
    )
    assert found.equal_columns == ()


def test_a_column_compared_with_an_aggregate_is_an_aggregate_comparison():
    found = read("SELECT 1 FROM singer WHERE age > (SELECT max(id) FROM singer)")
    assert found.aggregate_comparisons == ((("Singer", "Age"), ("Singer", "id")),)
    assert found.equal_columns == ()


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
    assert found.outputs == (Output(None, "expression"),)


def test_an_unreadable_query_has_no_facts():
    assert query_facts("DROP TABLE singer", SCHEMA) is None
