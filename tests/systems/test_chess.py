"""CHESS's tools, and which queries are revised in which configuration."""

import json
from dataclasses import replace

import pytest

import workbench as wb
from tests.systems.conftest import ALL, BROKEN, EMPTY, QUESTION, RIGHT, trials
from workbench.systems.chess import (
    SelectColumns,
    SelectTables,
    UnitTester,
    result_and_missing,
)
from workbench.systems.prune import FilterColumns
from workbench.types import ValueMatch


def columns(context):
    return {f"{table}.{column}" for table, column in context.schema.columns()}


def test_filter_column_asks_about_each_column_that_is_no_key(zoo, context):
    zoo.model.replies["prune/filter_column"] = lambda request: json.dumps(
        {
            "is_column_information_relevant": "No"
            if "animal.home" in str(request.messages)
            else "Yes"
        }
    )
    kept = FilterColumns("m/x")(zoo.lab, context)
    assert len(zoo.model.asked) == 4  # of 7 columns, 3 are keys
    assert columns(kept) == columns(context) - {"animal.home"}


@pytest.mark.parametrize(
    "reply", ["Perhaps.", '{"is_column_information_relevant": "yes or no"}']
)
def test_a_column_without_a_verdict_stays(zoo, context, reply):
    zoo.model.replies["prune/filter_column"] = reply
    assert FilterColumns("m/x")(zoo.lab, context).schema == context.schema


def test_a_call_may_ask_about_a_group_of_columns(zoo, context):
    kept = FilterColumns("m/x", group=3)(zoo.lab, context)
    assert len(zoo.model.asked) == 2
    assert columns(kept) == columns(context) - {"animal.home"}
    zoo.model.replies["prune/filter_column_group"] = "None of them."
    assert FilterColumns("m/x", group=3)(zoo.lab, context).schema == context.schema


def test_tables_and_columns_that_are_named_stay_and_their_keys(zoo, context):
    assert columns(SelectTables("m/x")(zoo.lab, context)) == {
        f"animal.{c}" for c in ("id", "name", "legs", "home")
    }
    assert columns(SelectColumns("m/x")(zoo.lab, context)) == {
        "animal.id",
        "animal.name",
        "animal.legs",
    }
    zoo.model.replies |= {
        "prune/select_tables": "animal",
        "prune/select_columns": '{"tiger": ["name"]}',
    }
    for prune in (SelectTables("m/x"), SelectColumns("m/x")):
        # Unread: nothing is guessed.
        assert prune(zoo.lab, context).schema == context.schema


def test_the_generator_sees_the_pruned_schema_with_retrieved_values(zoo):
    zoo.run(wb.chess_ir_ss_cg("m/x"))
    shown = zoo.model.of("generate/chess_candidate")[0].messages[-1]["content"]
    assert "cage" not in shown
    assert "home" not in shown
    assert "legs" in shown
    tables = zoo.model.of("prune/select_tables")[0].messages[-1]["content"]
    assert "examples: 'Gobi desert'" in tables  # the value found stands first


def answered(zoo, *queries):
    zoo.model.replies["generate/chess_candidate"] = [
        json.dumps({"SQL": sql}) for sql in queries
    ]


def test_without_retrieval_a_column_shows_one_example_and_its_description(zoo):
    whole = zoo.lab.schema(QUESTION.db_id)
    schema = wb.RandomExample()(zoo.lab, QUESTION, whole).schema
    assert any(
        len(column.examples) > 1 for table in whole.tables for column in table.columns
    )
    for before, after in zip(whole.tables, schema.tables, strict=True):
        for kept, column in zip(before.columns, after.columns, strict=True):
            assert len(column.examples) == min(1, len(kept.examples))
            assert set(column.examples) <= set(kept.examples)
            assert column.description == kept.description
    assert wb.RandomExample()(zoo.lab, QUESTION, whole).schema == schema


def test_the_high_budget_revises_faulty_queries_alone(zoo):
    answered(zoo, ALL, EMPTY, BROKEN)
    zoo.run(wb.chess_ir_cg_ut("m/x", candidates=3))
    assert len(zoo.model.of("fix/reviser")) == 2


def test_the_low_budget_reviews_every_query_until_it_comes_back_unchanged(zoo):
    answered(zoo, ALL)
    selection = zoo.run(wb.chess_ir_ss_cg("m/x"))
    assert (len(zoo.model.of("fix/reviser")), selection.sql) == (2, RIGHT)
    assert [trial.candidate.sql for trial in selection.trial.history] == [ALL, RIGHT]
    # The second review is counted, too.
    assert len(selection.trial.candidate.call_keys) == 3


def test_entities_that_the_query_misses_are_told(zoo, context):
    match = ValueMatch("animal", "home", "Gobi desert", "Gobi", 0.5, 0.5)
    context = replace(context, values=(match,))
    revise = wb.chess_ir_cg_ut("m/x").fix[0]
    for sql, missing in ((EMPTY, True), (f"{EMPTY} AND home = 'Gobi desert'", False)):
        zoo.model.asked.clear()
        revise(zoo.lab, context, *trials(zoo, sql))
        assert (
            "animal.home: 'Gobi desert'" in zoo.model.asked[0].messages[-1]["content"]
        ) is missing


def test_of_several_samples_of_a_revision_the_most_frequent_result_is_kept(
    zoo, context
):
    texts = [json.dumps({"revised_SQL": sql}) for sql in (ALL, RIGHT, f"{RIGHT} AND 1")]
    zoo.model.replies["fix/reviser"] = texts
    revise = replace(wb.chess_ir_cg_ut("m/x").fix[0], samples=3, temperature=0.5)
    assert revise(zoo.lab, context, *trials(zoo, EMPTY)).candidate.sql == RIGHT
    assert [request.sample for request in zoo.model.asked] == [0, 1, 2]


def test_the_query_that_passes_most_tests_is_selected(zoo, context):
    zoo.model.replies["select/unit_tests"] = (
        '<Answer>["The query should a.", "The query should b."]</Answer>'
    )
    found = trials(zoo, ALL, ALL, RIGHT)
    selection = UnitTester("m/x", tests=2)(zoo.lab, context, found)
    assert (selection.sql, selection.scores) == (RIGHT, (0, 0, 2))
    first, second = zoo.model.of("select/evaluate_one_test")
    # Equal queries once.
    assert first.messages[-1]["content"].count("## Candidate Response #") == 2
    shared = first.messages[-1]["content"].partition("## Unit Test\n")[0]
    assert second.messages[-1]["content"].startswith(shared)  # which providers cache
    assert [r.parameters["temperature"] for r in zoo.model.asked] == [0.8, 0.0, 0.0]


def test_one_call_may_judge_one_candidate_by_all_tests(zoo, context):
    zoo.model.replies["select/unit_tests"] = (
        '<Answer>["The query should a.", "The query should b."]</Answer>'
    )
    zoo.model.replies["select/evaluate_one_candidate"] = lambda request: (
        f"<Answer>\nUnit Test #1: Passed\nUnit Test #2: {'Passed' if RIGHT in str(request.messages) else 'Failed'}\n</Answer>"
    )
    selection = UnitTester("m/x", by="candidate")(
        zoo.lab, context, trials(zoo, ALL, RIGHT)
    )
    assert selection.scores == (1, 2)


def test_replies_without_verdicts_pass_nothing_and_then_the_majority_is_selected(
    zoo, context
):
    zoo.model.replies["select/evaluate_one_test"] = "Hm."
    selection = UnitTester("m/x")(zoo.lab, context, trials(zoo, RIGHT, ALL, ALL))
    assert (selection.sql, set(selection.scores)) == (ALL, {0.0})


def test_no_test_is_written_where_all_results_agree(zoo, context):
    UnitTester("m/x")(zoo.lab, context, trials(zoo, RIGHT, f"{RIGHT} AND 1"))
    assert not zoo.model.asked


def test_the_low_budget_makes_six_calls_of_the_strong_model_at_least(zoo):
    """Section 4.2.3 counts keywords, tables, columns, and up to three revisions."""
    zoo.run(wb.chess_ir_ss_cg("m/strong", filtering="m/cheap", generation="m/tuned"))
    strong = [
        request.prompt for request in zoo.model.asked if request.model == "m/strong"
    ]
    assert strong == [
        "retrieve/keywords",
        "prune/select_tables",
        "prune/select_columns",
        "fix/reviser",
    ]
    assert QUESTION.text in str(zoo.model.asked[-1].messages)


def test_a_keyword_of_which_the_query_holds_one_value_is_not_missing(zoo, context):
    values = [
        ("Gobi", "Gobi desert"),
        ("Gobi", "Gobi"),
        ("Delhi", "Delhi"),
        ("O'Neil", "O'Neil"),
    ]
    matches = tuple(
        ValueMatch("animal", "home", value, word, 1.0, 1.0) for word, value in values
    )
    context = replace(context, values=matches)
    sql = "SELECT name FROM animal WHERE home = 'Gobi' OR home = 'O''Neil'"
    missing = result_and_missing(context, *trials(zoo, sql))["missing"]
    assert missing == "animal.home: 'Delhi'"


def test_samples_of_the_same_query_are_repaired_by_calls_of_their_own(zoo, context):
    zoo.model.replies["fix/reviser"] = json.dumps({"revised_SQL": RIGHT})
    first, second = trials(zoo, EMPTY, EMPTY)
    for temperature, expected in ((0.5, [0, 1, 2, 3]), (0.0, [0, 0])):
        zoo.model.asked.clear()
        samples = 2 if temperature else 1
        revise = replace(
            wb.chess_ir_cg_ut("m/x").fix[0], samples=samples, temperature=temperature
        )
        for trial in (first, second):
            revise(zoo.lab, context, trial)
        assert [request.sample for request in zoo.model.asked] == expected
