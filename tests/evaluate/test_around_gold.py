"""Schemas made around what gold uses: alone, and among thousands of columns."""

from itertools import pairwise

import pytest

from workbench.errors import BadInputError
from workbench.evaluate.linking import AroundGold, Linking, linking_by_stage
from workbench.types import Column, Context, ForeignKey, Gold, Question, Schema, Table, lower_name


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
        table("catch", "animal_id", "day", links=[ForeignKey(("animal_id",), "Animal", ("id",))]),
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
    large = around_gold(ZOO, GOLD, size, (POND,), repeated=size > 13)
    assert len(large.columns()) == len(columns(large)) == size
    assert columns(large) >= CORE


def test_names_of_tables_differ_as_sqlite_compares_them():
    large = around_gold(ZOO, GOLD, 100, (POND, POND), repeated=True)
    names = [lower_name(t.name) for t in large.tables]
    assert len(names) == len(set(names))
    assert {"animal", "pond_animal", "pond_2_animal"} <= set(names)


def test_a_larger_schema_has_the_columns_of_a_smaller_one():
    of = {n: columns(around_gold(ZOO, GOLD, n, (POND,), repeated=True)) for n in range(3, 60, 7)}
    assert all(small < large for small, large in pairwise(of.values()))


def test_foreign_keys_refer_only_to_columns_of_the_schema():
    for size in range(3, 40):
        large = around_gold(ZOO, GOLD, size, (POND,), repeated=True)
        for one in large.tables:
            there = {column.name for column in one.columns}
            assert set(one.primary_key) <= there
            for key in one.foreign_keys:
                assert set(key.columns) <= there
                assert all(large.column(key.ref_table, name) for name in key.ref_columns)


def test_a_copied_key_points_at_its_copy():
    large = around_gold(ZOO, GOLD, 17, (POND,), repeated=True)
    keys = {one.name: one.foreign_keys for one in large.tables}
    assert keys["catch"][0].ref_table == "pond_Animal"
    assert keys["pond_2_catch"][0].ref_table == "pond_2_Animal"


def test_no_table_is_repeated_to_reach_the_number():
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
