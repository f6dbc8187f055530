"""What gold uses: a schema made around it, alone and among other columns; and how much of it a prompt has."""

from itertools import pairwise
from pathlib import Path

import pytest

from workbench.benchmarks.benchmark import Benchmark
from workbench.errors import BadInputError
from workbench.evaluate.linking import (
    AroundGold,
    Linking,
    gold_literals,
    linking_by_stage,
)
from workbench.types import (
    Column,
    Context,
    ForeignKey,
    Gold,
    Question,
    Schema,
    Table,
    ValueMatch,
    lower_name,
)


def table(name, *columns, key=(), links=()):
    return Table(name, tuple(map(Column, columns)), key, tuple(links))


ZOO = Schema(
    "zoo",
    (
        table("animal", "id", "name", "legs", "home", key=("id",)),
        table("cage", "number", "animal_id", "size", links=[ForeignKey(("animal_id",), "animal", ("id",))]),
        table("keeper", "id", "name", key=("id",)),
    ),
)  # fmt: skip
POND = Schema(
    "pond",
    (
        table("Animal", "id", "kind", key=("id",)),
        table(
            "catch",
            "animal_id",
            "day",
            links=[ForeignKey(("animal_id",), "Animal", ("id",))],
        ),
    ),
)
GOLD = Gold("q1", "SELECT name FROM animal WHERE legs = 4")
CORE = {("animal", "id"), ("animal", "name"), ("animal", "legs")}


def around_gold(schema, gold, *options, **named):
    return AroundGold(None, {}, *options, **named).around(schema, gold)


def columns(schema):
    return set(schema.columns())


@pytest.mark.parametrize("size", [3, 4, 7, 9, 13, 14, 50, 500])
def test_the_schema_has_the_requested_number_of_columns_and_golds_are_among_them(size):
    large = around_gold(ZOO, GOLD, size, (POND,) * (1 if size <= 13 else 150))
    assert len(large.columns()) == len(columns(large)) == size
    assert columns(large) >= CORE


def test_names_of_tables_differ_as_sqlite_compares_them():
    large = around_gold(ZOO, GOLD, 100, (POND,) * 40)
    names = [lower_name(t.name) for t in large.tables]
    assert len(names) == len(set(names))
    assert {"animal", "pond_animal", "pond_2_animal"} <= set(names)


def test_a_larger_schema_has_the_columns_of_a_smaller_one():
    of = {n: columns(around_gold(ZOO, GOLD, n, (POND,) * 15)) for n in range(3, 60, 7)}
    assert all(small < large for small, large in pairwise(of.values()))


def test_foreign_keys_refer_only_to_columns_of_the_schema():
    for size in range(3, 40):
        large = around_gold(ZOO, GOLD, size, (POND,) * 8)
        for one in large.tables:
            there = {column.name for column in one.columns}
            assert set(one.primary_key) <= there
            for key in one.foreign_keys:
                assert set(key.columns) <= there
                assert all(
                    large.column(key.ref_table, name) for name in key.ref_columns
                )


def test_a_copied_key_points_at_its_copy():
    large = around_gold(ZOO, GOLD, 17, (POND, POND))
    keys = {one.name: one.foreign_keys for one in large.tables}
    assert keys["catch"][0].ref_table == "pond_Animal"
    assert keys["pond_catch"][0].ref_table == "pond_2_Animal"


def test_more_columns_than_there_are_is_refused():
    with pytest.raises(BadInputError, match=r"columns is 14.* 13 "):
        around_gold(ZOO, GOLD, 14, (POND,))


@pytest.mark.parametrize(
    ("sql", "selected", "expected"),
    [
        ("SELECT name, legs FROM animal",
         {("animal", "NAME"), ("animal", "home"), ("keeper", "name")}, (1 / 2, 1, 1 / 5, 1 / 2)),
        ("SELECT name FROM keeper", {("animal", "name")}, (0, 0, 0, 0)),
        ("SELECT COUNT(*) FROM Animal", {("animal", "id")}, (1, 1, 0, 1)),
        ("SELECT name FROM animal", set(), (1, 0, 1, 0)),
        ("SELECT 1", {("animal", "id")}, (0, 1, 0, 1)),
    ],
)  # fmt: skip
def test_linking_by_hand(sql, selected, expected):
    """Keys stay with the selected columns: animal and keeper have their `id`."""
    question = Question("q1", "zoo", "?")
    contexts = [Context(question, ZOO), Context(question, ZOO.only(selected))]
    unreadable = (contexts, Gold("q2", "SELEC"))  # is left out
    _, cut = linking_by_stage([(contexts, Gold("q1", sql)), unreadable])
    assert cut == Linking(*expected)


# Literals.

SCHEMA = Schema("shop", (table("city", "name", "land"), table("shop", "size")))
BONN = "SELECT 1 FROM city WHERE name = 'Bonn'"
IN_NAME, IN_LAND = ("city", "name", "Bonn"), ("city", "land", "Bonn")


def found(sql, *values, text="Which shops are in Bonn?", hint=""):
    question = Question("1", "shop", text, hint)
    matches = tuple(
        ValueMatch(table, column, value, "", 1, 1) for table, column, value in values
    )
    benchmark = Benchmark(
        "b", "bird", Path(), (question,), {"1": Gold("1", sql, "simple")}
    )
    context = Context(question, SCHEMA, matches)
    return gold_literals(benchmark, {"1": context}, lambda _: SCHEMA)


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


@pytest.mark.parametrize(
    "condition", ["name LIKE 'B%'", "id = 3", "substr(name, 1, 1) = 'B'", "("]
)
def test_numbers_and_patterns_are_not_literals(condition):
    assert found(f"SELECT 1 FROM city WHERE {condition}").empty
