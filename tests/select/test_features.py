"""For each doubt a query that raises it, and a similar query that does not."""

import pytest

from workbench.select.features import DOUBTS, DoubtExtractor
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


def doubts(question, sql, result=ROWS, absent=(), others=(), **evidence):
    """The doubts about a query, beside other candidates' queries."""
    extractor = DoubtExtractor(Question("q", "flights", question), SCHEMA)
    answered = [extractor.answered(other) for other in others]
    return extractor.doubts(sql, result, frozenset(absent), answered, **evidence)


def test_every_documented_doubt_has_a_number():
    found = doubts("Which cities?", "SELECT city FROM flight")
    assert found.keys() == DOUBTS.keys()
    assert set(found.values()) == {0.0}


@pytest.mark.parametrize("result", [EMPTY, ZERO, Execution("error", error="no such column")])
def test_an_empty_result_counts_by_whether_the_literals_are_in_their_columns(result):
    sql = "SELECT city FROM flight WHERE city = 'Roma'"
    found = doubts("Which city is Roma?", sql, result, [("flight", "city", "Roma")])
    assert (
        found["empty_result_unknown_literal"],
        found["empty_result_known_literals"],
        found["rows_unknown_literal"],
    ) == (1, 0, 0)
    found = doubts("Which city is Roma?", sql, result)
    assert (
        found["empty_result_unknown_literal"],
        found["empty_result_known_literals"],
        found["rows_unknown_literal"],
    ) == (0, 1, 0)


def test_an_unknown_literal_counts_although_there_are_rows():
    sql = "SELECT city FROM flight WHERE city <> 'Roma'"
    assert (
        doubts("Cities but Roma?", sql, ROWS, [("flight", "city", "Roma")])["rows_unknown_literal"]
        == 1
    )


def test_repeated_rows_of_zero_are_as_empty_as_one():
    twice = Execution("ok", ("x",), ((0,), (0,)), 2, "z")
    assert (
        doubts("Which city?", "SELECT city FROM flight", twice)["empty_result_known_literals"] == 1
    )


def test_the_literals_to_look_up_are_those_set_equal_to_a_column():
    extractor = DoubtExtractor(Question("q", "flights", "?"), SCHEMA)
    sql = "SELECT 1 FROM flight WHERE city = 'Rome' AND number > 3 AND airline IN (1, 2)"
    assert set(extractor.literals(sql)) == {
        ("flight", "city", "Rome"),
        ("flight", "airline", 1),
        ("flight", "airline", 2),
    }


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1 FROM airline a JOIN flight f ON a.id = f.airline", 0),
        ("SELECT 1 FROM airline a JOIN flight f ON a.id = f.number", 1),  # the key says otherwise
        ("SELECT 1 FROM airline a JOIN flight f ON a.name = f.airline", 1),
        ("SELECT 1 FROM flight WHERE airline = 'Delta'", 1),  # text against numbers
        ("SELECT 1 FROM flight WHERE number > (SELECT max(airline) FROM flight)", 1),
        ("SELECT 1 FROM flight WHERE number > (SELECT max(number) FROM flight)", 0),
    ],
)
def test_mismatched_comparisons_are_those_that_no_key_and_no_kind_of_value_supports(sql, expected):
    assert doubts("?", sql)["mismatched_comparisons"] == expected


def test_uncovered_question_words_are_counted():
    question = "Which cities do flights of the airline Delta reach?"
    whole = "SELECT city FROM flight JOIN airline ON airline = id WHERE name = 'Delta'"
    assert doubts(question, whole)["uncovered_question_words"] == 1  # reach
    assert (
        doubts(question, "SELECT city FROM flight")["uncovered_question_words"] == 3
    )  # airline, Delta


def test_a_value_of_the_database_covers_the_questions_own_words_for_it():
    question = "Which airlines are from the United States?"
    sql = "SELECT name FROM airline WHERE country = 'USA'"
    assert doubts(question, sql)["uncovered_question_words"] == 0
    assert (
        doubts(question, sql, ROWS, [("airline", "country", "USA")])["uncovered_question_words"]
        == 2
    )


def test_unrequested_columns_are_counted():
    asked = "What are the names of airlines?"
    assert doubts(asked, "SELECT name FROM airline")["unrequested_columns"] == 0
    assert doubts(asked, "SELECT name, country, count(*) FROM airline")["unrequested_columns"] == 2


def test_columns_count_as_out_of_order_if_the_question_has_another():
    asked = "What are the country and the name of each airline?"
    assert doubts(asked, "SELECT name, country FROM airline")["columns_out_of_order"] == 1
    assert doubts(asked, "SELECT country, name FROM airline")["columns_out_of_order"] == 0


def test_columns_that_the_question_asks_for_first_and_only_others_answer_are_missing():
    asked = "What are the names and countries of airlines that reach a city?"
    both, one, third = (
        f"SELECT {columns} FROM airline JOIN flight ON airline = id"
        for columns in ("name, country", "name", "name, city")
    )
    assert doubts(asked, one, others=[both])["missing_columns"] == 1
    assert doubts(asked, both, others=[one])["missing_columns"] == 0
    assert doubts(asked, one, others=[third])["missing_columns"] == 0  # no column, but a condition


def test_a_function_answers_the_words_that_call_for_it():
    asked = "How many flights are there?"
    counted, plain = "SELECT count(*) FROM flight", "SELECT city FROM flight"
    assert doubts(asked, plain, others=[counted])["missing_columns"] == 2  # how many
    assert doubts(asked, counted, others=[plain])["missing_columns"] == 0


@pytest.mark.parametrize(
    "output",
    ["name", "name AS n", "upper(name)", "'' || name", "(SELECT name)", "coalesce(name, country)"],
)
def test_a_column_counts_in_every_form_of_output(output):
    asked = "What are the name and the country of each airline?"
    both, turned = (
        f"SELECT {columns} FROM airline"
        for columns in (f"{output}, country AS c", f"country AS c, {output}")
    )
    for sql in (both, turned):
        found = doubts(asked, sql, others=["SELECT name FROM airline"])
        assert found["unrequested_columns"] == found["missing_columns"] == 0
    assert doubts(asked, both)["columns_out_of_order"] == 0
    assert doubts(asked, turned)["columns_out_of_order"] == 1
    assert doubts("How many airlines?", f"SELECT {output} FROM airline")["unrequested_columns"] == 1


def test_a_result_that_hardly_reacts_to_the_data_is_doubted():
    sql = "SELECT city FROM flight"
    assert doubts("Which city?", sql, reacts=False)["unreactive_result"] == 1
    assert doubts("Which city?", sql, reacts=True)["unreactive_result"] == 0


def test_a_row_reference_counts_unless_a_function_takes_it():
    assert doubts("Which airlines fly?", "SELECT airline FROM flight")["row_reference_column"] == 1
    assert (
        doubts("Which airlines fly?", "SELECT count(airline) FROM flight")["row_reference_column"]
        == 0
    )


@pytest.mark.parametrize(
    ("question", "sql", "expected"),
    [
        ("How many flights are there?", "SELECT number FROM flight", 1),
        ("How many flights are there?", "SELECT count(*) FROM flight", 0),
        ("Which city has the most flights?", "SELECT city FROM flight", 1),
        ("Which airlines are not from Rome?", "SELECT name FROM airline", 1),
        ("City of the highest number?", "SELECT city FROM flight ORDER BY number LIMIT 1", 1),
    ],
)
def test_missing_operations_are_counted(question, sql, expected):
    assert doubts(question, sql)["missing_operations"] == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT city FROM flight", 0),
        ("SELECT city FROM flight LIMIT 1", 1),
        ("SELECT count(DISTINCT city) FROM flight", 2),
        ("SELECT city FROM flight WHERE number = 1 OR number = 2", 1),
    ],
)
def test_unrequested_operations_are_counted(sql, expected):
    assert doubts("Which city?", sql)["unrequested_operations"] == expected


def test_a_hint_calls_for_operations_too():
    question = Question("q", "flights", "Which city?", "means the city with the most flights")
    found = DoubtExtractor(question, SCHEMA).doubts("SELECT city FROM flight", ROWS, frozenset())
    assert found["missing_operations"] == 1


def test_an_unreadable_query_is_judged_by_its_result_alone():
    assert doubts("?", "SELEC city", EMPTY) == dict.fromkeys(DOUBTS, 0) | {
        "empty_result_known_literals": 1
    }
