"""Each doubt: a query that raises it, and one like it that does not."""

import pytest

from workbench.select.features import DOUBTS, Doubter
from workbench.types import Column, Execution, ForeignKey, Question, Schema, Table

ROWS = Execution("ok", ("x",), (("a",), ("b",)), 2, "f")
EMPTY = Execution("empty", ("x",), (), 0, "e")
ZERO = Execution("ok", ("x",), ((0,),), 1, "z")


def column(name, *examples):
    return Column(name, examples=examples)


SCHEMA = Schema(
    "flights",
    (
        Table(
            "airline",
            (column("id", 1, 2), column("name", "Delta"), column("country", "USA")),
            ("id",),
        ),
        Table(
            "flight",
            (column("number", 7), column("airline", 1, 2), column("city", "Rome")),
            ("number",),
            (ForeignKey(("airline",), "airline", ("id",)),),
        ),
    ),
)


def doubts(question, sql, result=ROWS, missing=()):
    doubter = Doubter(Question("q", "flights", question), SCHEMA)
    return doubter.doubts(sql, result, frozenset(missing))


def test_every_doubt_has_a_line_in_the_table_and_a_number():
    found = doubts("Which cities?", "SELECT city FROM flight")
    assert found.keys() == DOUBTS.keys()
    assert set(found.values()) == {0.0}


@pytest.mark.parametrize("result", [EMPTY, ZERO, Execution("error", error="no such column")])
def test_a_result_of_nothing_is_lost_where_a_literal_is_not_in_its_column(result):
    sql = "SELECT city FROM flight WHERE city = 'Roma'"
    found = doubts("Which city is Roma?", sql, result, [("flight", "city", "Roma")])
    assert (found["lost"], found["hollow"], found["astray"]) == (1, 0, 0)
    found = doubts("Which city is Roma?", sql, result)
    assert (found["lost"], found["hollow"], found["astray"]) == (0, 1, 0)


def test_a_literal_that_is_nowhere_is_astray_though_there_are_rows():
    sql = "SELECT city FROM flight WHERE city <> 'Roma'"
    assert doubts("Cities but Roma?", sql, ROWS, [("flight", "city", "Roma")])["astray"] == 1


def test_repeated_rows_are_as_hollow_as_one():
    twice = Execution("ok", ("x",), ((0,), (0,)), 2, "z")
    assert doubts("Which city?", "SELECT city FROM flight", twice)["hollow"] == 1


def test_values_to_look_up_are_those_that_columns_are_said_to_hold():
    doubter = Doubter(Question("q", "flights", "?"), SCHEMA)
    sql = "SELECT 1 FROM flight WHERE city = 'Rome' AND number > 3 AND airline IN (1, 2)"
    assert set(doubter.wanted(sql)) == {
        ("flight", "city", "Rome"),
        ("flight", "airline", 1),
        ("flight", "airline", 2),
    }


@pytest.mark.parametrize(
    ("sql", "unsound"),
    [
        ("SELECT 1 FROM airline a JOIN flight f ON a.id = f.airline", 0),
        ("SELECT 1 FROM airline a JOIN flight f ON a.id = f.number", 1),  # the key says otherwise
        ("SELECT 1 FROM airline a JOIN flight f ON a.name = f.airline", 1),
        ("SELECT 1 FROM flight WHERE airline = 'Delta'", 1),  # text against numbers
        ("SELECT 1 FROM flight WHERE number > (SELECT max(airline) FROM flight)", 1),
        ("SELECT 1 FROM flight WHERE number > (SELECT max(number) FROM flight)", 0),
    ],
)
def test_comparisons_that_no_key_and_no_kind_of_value_support(sql, unsound):
    assert doubts("?", sql)["unsound"] == unsound


def test_words_that_nothing_in_the_query_says():
    question = "Which cities do flights of the airline Delta reach?"
    whole = "SELECT city FROM flight JOIN airline ON airline = id WHERE name = 'Delta'"
    assert doubts(question, whole)["uncovered"] == 1  # reach
    assert doubts(question, "SELECT city FROM flight")["uncovered"] == 3  # airline, Delta


def test_a_stored_value_stands_for_the_questions_own_spelling_of_it():
    question = "Which airlines are from the United States?"
    sql = "SELECT name FROM airline WHERE country = 'USA'"
    assert doubts(question, sql)["uncovered"] == 0
    assert doubts(question, sql, ROWS, [("airline", "country", "USA")])["uncovered"] == 2


def test_result_columns_that_nobody_asked_for():
    asked = "What are the names of airlines?"
    assert doubts(asked, "SELECT name FROM airline")["unasked"] == 0
    assert doubts(asked, "SELECT name, country, count(*) FROM airline")["unasked"] == 2


def test_result_columns_in_another_order_than_asked():
    asked = "What are the country and the name of each airline?"
    assert doubts(asked, "SELECT name, country FROM airline")["disordered"] == 1
    assert doubts(asked, "SELECT country, name FROM airline")["disordered"] == 0


def test_a_number_that_stands_for_a_row_elsewhere():
    assert doubts("Which airlines fly?", "SELECT airline FROM flight")["reference"] == 1
    assert doubts("Which airlines fly?", "SELECT count(airline) FROM flight")["reference"] == 0


@pytest.mark.parametrize(
    ("question", "sql", "undone"),
    [
        ("How many flights are there?", "SELECT number FROM flight", 1),
        ("How many flights are there?", "SELECT count(*) FROM flight", 0),
        ("Which city has the most flights?", "SELECT city FROM flight", 1),
        ("Which airlines are not from Rome?", "SELECT name FROM airline", 1),
        ("City of the highest number?", "SELECT city FROM flight ORDER BY number LIMIT 1", 1),
    ],
)
def test_operations_that_the_question_calls_for(question, sql, undone):
    assert doubts(question, sql)["undone"] == undone


@pytest.mark.parametrize(
    ("sql", "uncalled"),
    [
        ("SELECT city FROM flight", 0),
        ("SELECT city FROM flight LIMIT 1", 1),
        ("SELECT count(DISTINCT city) FROM flight", 2),
        ("SELECT city FROM flight WHERE number = 1 OR number = 2", 1),
    ],
)
def test_operations_that_no_word_calls_for(sql, uncalled):
    assert doubts("Which city?", sql)["uncalled"] == uncalled


def test_a_hint_calls_for_operations_too():
    question = Question("q", "flights", "Which city?", "means the city with the most flights")
    found = Doubter(question, SCHEMA).doubts("SELECT city FROM flight", ROWS, frozenset())
    assert found["undone"] == 1


def test_a_query_that_cannot_be_read_is_judged_by_its_result():
    assert doubts("?", "SELEC city", EMPTY) == dict.fromkeys(DOUBTS, 0) | {"hollow": 1}
