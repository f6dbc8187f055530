"""The parts of a context as text: models can copy them into SQL, and any text of a database stays on its line."""

import sqlite3
from contextlib import closing
from itertools import starmap

from hypothesis import given
from hypothesis import strategies as st

from workbench.sql.texts import (
    context_data,
    create_table_text,
    examples_text,
    plan_text,
    result_text,
    with_retrieved,
)
from workbench.types import (
    Column,
    Context,
    DescriptionMatch,
    Example,
    Execution,
    Question,
    Schema,
    Table,
    ValueMatch,
)

NAME, TOWN = Column("name", "TEXT"), Column("home town", "TEXT", examples=("Ems", "Au"))
ROOM = Column("room", "TEXT", "where", "A: annex", ("A1", 7))
SCHEMA = Schema("school", (Table("pupil", (NAME, TOWN)), Table("class", (ROOM,))))
QUESTION = Question("1", "school", "Who?", "pupils")


def value(table, column, text):
    return ValueMatch(table, column, text, "keyword", 1.0, 1.0)


def description(table, column, text):
    return DescriptionMatch(table, column, text, 1.0)


def shown(values=(), descriptions=(), schema=SCHEMA):
    data = context_data(Context(QUESTION, schema, tuple(values), tuple(descriptions)))
    return data["values"], data["descriptions"]


def test_context_data_has_the_five_variables_of_prompts():
    assert context_data(Context(QUESTION, SCHEMA)) == {
        "question": "Who?",
        "hint": "pupils",
        "schema": create_table_text(SCHEMA),
        "values": "",
        "descriptions": "",
    }


def test_matches_are_grouped_by_table_and_column_in_their_order():
    found = [
        ("pupil", "home town", "Au"),
        ("class", "room", "A1"),
        ("pupil", "name", "Ada"),
    ]
    found += [("pupil", "home town", "Ems"), ("pupil", "home town", "Au")]
    values, descriptions = shown(starmap(value, found), starmap(description, found))
    lines = ["pupil.`home town`: 'Au', 'Ems'", "pupil.name: 'Ada'", "class.room: 'A1'"]
    assert values.splitlines() == lines
    assert descriptions.splitlines()[0] == "pupil.`home town`: Au; Ems"


@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=500)
)
def test_a_value_can_be_copied_into_sql(text):
    written = shown([value("pupil", "name", text)])[0].removeprefix("pupil.name: ")
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(f"SELECT {written}").fetchone() == (text,)


def test_pruned_columns_are_not_shown():
    values = [value("pupil", "name", "Ada"), value("CLASS", "Room", "A1")]
    texts = [
        description("pupil", "name", "first"),
        description("class", "room", "a\n## b"),
    ]
    pruned = SCHEMA.only([("class", "room")])
    assert shown(values, texts, pruned) == ("CLASS.Room: 'A1'", "class.room: a ## b")


def test_a_comment_in_a_query_does_not_hide_the_rest():
    (line,) = examples_text([Example("?", "SELECT 1 -- one\n+ 2")]).splitlines()[1:]
    assert line == "SQL: SELECT 1 + 2"


def test_a_few_rows_are_all_shown_as_literals():
    rows = ((1, "1", None, "", b"\xff"),)
    text = result_text(Execution("ok", ("a", "b c", "d", "e", "f"), rows, 1))
    assert text == "1 row:\na | `b c` | d | e | f\n1 | '1' | NULL | '' | x'ff'"


def test_a_failure_shows_its_kind_and_its_error():
    assert (
        result_text(Execution("error", error="why\n## Query")) == "Error: why ## Query"
    )
    assert result_text(Execution("timeout", error="why")) == "Stopped: why"


@given(st.lists(st.text(), min_size=1, max_size=3), st.text())
def test_any_row_is_one_line_and_opens_no_markdown(columns, cell):
    text = result_text(Execution("ok", tuple(columns), ((cell,) * len(columns),), 1))
    lines = text.splitlines()
    assert len(lines) == 3
    assert not [line for line in lines if line.startswith(("#", "```", "~~~"))]


def test_values_that_were_retrieved_come_first_among_the_examples():
    found = [
        ("PUPIL", "Home Town", "Au"),
        ("pupil", "home town", "Linz"),
        ("class", "room", "7"),
    ]
    seen = with_retrieved(SCHEMA, starmap(value, [*found, ("gone", "away", "x")]))
    assert seen.column("pupil", "home town").examples == ("Au", "Linz", "Ems")
    assert seen.column("class", "room").examples == (7, "A1")
    assert seen.columns() == SCHEMA.columns()


def test_retrieved_descriptions_replace_all_others():
    seen = with_retrieved(SCHEMA, (), [description("pupil", "name", "first name")])
    assert seen.column("pupil", "name").description == "first name"
    room = seen.column("class", "room")
    assert (room.description, room.value_description) == ("", "")


def test_the_plan_is_the_tree_that_sqlites_own_shell_prints():
    rows = ((3, 0, 0, "SCAN t"), (8, 0, 0, "LIST SUBQUERY 1"))
    rows += ((10, 8, 0, "SCAN u"), (11, 8, 0, "x\ny"))
    plan = Execution("ok", ("id", "parent", "notused", "detail"), rows, 4)
    tree = "QUERY PLAN\n|--SCAN t\n`--LIST SUBQUERY 1\n   |--SCAN u\n   `--x y"
    assert plan_text(plan) == tree
    assert (
        plan_text(Execution("error", error="no such table: t"))
        == "Error: no such table: t"
    )


def test_a_real_number_is_shown_to_the_digits_on_which_versions_of_sqlite_agree():
    text = result_text(
        Execution("ok", ("a",), ((0.1 + 0.2, 3.0, 1e300, float("inf")),), 1)
    )
    assert text.endswith("0.3 | 3.0 | 1e+300 | inf")
