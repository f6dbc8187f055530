"""What value retrieval found of the texts that gold compares columns with."""

from pathlib import Path

import pytest

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.linking import literals
from workbench.types import Column, Context, Gold, Question, Schema, Table, ValueMatch

SCHEMA = Schema(
    "shop", (Table("city", (Column("name"), Column("land"))), Table("shop", (Column("size"),)))
)


BONN = "SELECT 1 FROM city WHERE name = 'Bonn'"
IN_NAME, IN_LAND = ("city", "name", "Bonn"), ("city", "land", "Bonn")


def found(sql, *values, text="Which shops are in Bonn?", hint=""):
    question = Question("1", "shop", text, hint)
    matches = tuple(ValueMatch(table, column, value, "", 1, 1) for table, column, value in values)
    benchmark = Benchmark("b", "bird", Path(), (question,), {"1": Gold("1", sql, "simple")})
    context = Context(question, SCHEMA, matches)
    return literals(benchmark, {"1": context}, lambda _: SCHEMA)


@pytest.mark.parametrize(
    ("values", "text", "hint", "spelled", "here", "anywhere"),
    [
        ([IN_NAME], "in bonn?", "", True, True, True),  # whatever the letter case
        ([IN_LAND], "in the city?", "city = 'Bonn'", True, False, True),
        ([], "in the city?", "", False, False, False),
    ],
)
def test_a_literal_is_spelled_or_found_in_its_column_or_anywhere(
    values, text, hint, spelled, here, anywhere
):
    (row,) = found(BONN, *values, text=text, hint=hint).to_dict("records")
    assert row == {
        "question_id": "1", "db_id": "shop", "difficulty": "simple", "table": "city", "column": "name",
        "value": "Bonn", "spelled": spelled, "found": here, "anywhere": anywhere,
    }  # fmt: skip


def test_every_value_of_a_list_counts_once():
    rows = found("SELECT 1 FROM city WHERE name IN ('Bonn', 'Ulm') OR name = 'Bonn'")
    assert rows["value"].tolist() == ["Bonn", "Ulm"]


@pytest.mark.parametrize("condition", ["name LIKE 'B%'", "id = 3", "substr(name, 1, 1) = 'B'", "("])
def test_numbers_and_patterns_are_not_literals(condition):
    assert found(f"SELECT 1 FROM city WHERE {condition}").empty
