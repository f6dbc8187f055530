"""What value retrieval found of the texts that gold compares columns with."""

from pathlib import Path

import pytest

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.linking import literals
from workbench.types import Column, Context, Gold, Question, Schema, Table, ValueMatch

SCHEMA = Schema(
    "shop", (Table("city", (Column("name"), Column("land"))), Table("shop", (Column("size"),)))
)


def found(sql, *values, text="Which shops are in Bonn?", hint=""):
    question = Question("1", "shop", text, hint)
    matches = tuple(ValueMatch(table, column, value, "", 1, 1) for table, column, value in values)
    benchmark = Benchmark("b", "bird", Path(), (question,), {"1": Gold("1", sql, "simple")})
    context = Context(question, SCHEMA, matches)
    return literals(benchmark, {"1": context}, lambda _: SCHEMA)


def test_a_literal_is_found_in_its_own_column():
    (row,) = found("SELECT land FROM city WHERE name = 'Bonn'", ("city", "name", "Bonn")).to_dict(
        "records"
    )
    assert row == {
        "question_id": "1", "db_id": "shop", "difficulty": "simple", "table": "city", "column": "name",
        "value": "Bonn", "spelled": True, "found": True, "anywhere": True,
    }  # fmt: skip


def test_a_value_found_for_another_column_is_counted_separately():
    rows = found("SELECT 1 FROM city WHERE name = 'Bonn'", ("city", "land", "Bonn"))
    assert rows[["found", "anywhere"]].to_numpy().tolist() == [[False, True]]


@pytest.mark.parametrize(
    ("text", "hint", "spelled"),
    [("in bonn?", "", True), ("in the city?", "city = 'Bonn'", True), ("in the city?", "", False)],
)
def test_question_or_hint_spell_it_whatever_the_case(text, hint, spelled):
    rows = found("SELECT 1 FROM city WHERE name = 'Bonn'", text=text, hint=hint)
    assert rows["spelled"].tolist() == [spelled]


def test_every_value_of_a_list_counts_once():
    rows = found("SELECT 1 FROM city WHERE name IN ('Bonn', 'Ulm') OR name = 'Bonn'")
    assert rows["value"].tolist() == ["Bonn", "Ulm"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM city WHERE name LIKE 'B%'",
        "SELECT 1 FROM shop WHERE size = 3",
        "SELECT 1 FROM city WHERE substr(name, 1, 1) = 'B'",
        "no query",
    ],
)
def test_numbers_and_patterns_are_not_literals(sql):
    assert found(sql).empty
