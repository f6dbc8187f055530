"""A reply to every kind of call, in the form that the steps read."""

import json
import re

import pytest

from tests.embedded.cases import CASES, LIFTS
from workbench import replies
from workbench.embedded.answer import answer
from workbench.prompts.prompt import load

SQL = [
    case
    for case in CASES
    if case.split("/")[0] in {"generate", "fix"} and "examples_by" not in case
]


RELEVANT = "is_column_information_relevant"


def judged(reply):
    return replies.verdicts(reply, count=2)


def said(case, temperature=0.0, seed="s", **changed):
    data = CASES[case] | changed
    return answer(load(case.split()[0]).messages(**data), temperature=temperature, seed=seed)


@pytest.mark.parametrize("case", SQL)
def test_where_a_query_is_asked_for_there_is_one_about_the_schema(case):
    read = (
        replies.sql_object
        if case in {"generate/chess_candidate", "fix/reviser"}
        else replies.last_sql
    )
    sql = read(said(case))
    assert re.search(r"\b(lift|visit)\b", sql)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("temperature", [0.0, 1.0, 1.8])
def test_the_same_call_says_the_same_again(case, temperature):
    assert said(case, temperature) == said(case, temperature)


def test_samples_at_a_temperature_differ():
    assert len({said("generate/direct", 1.5, str(seed)) for seed in range(10)}) > 1


def test_at_temperature_zero_the_seed_means_nothing():
    assert len({said("generate/direct", 0.0, str(seed)) for seed in range(5)}) == 1


@pytest.mark.parametrize("case", ["generate/chess_candidate", "fix/reviser"])
def test_a_json_object_is_one(case):
    keys = {"generate/chess_candidate": "SQL", "fix/reviser": "revised_SQL"}
    assert set(json.loads(said(case))) == {"chain_of_thought_reasoning", keys[case]}


def test_the_fixer_s_answer_stands_on_one_line():
    assert re.search(r"^Final Answer: SELECT .+$", said("fix/fixer"), re.MULTILINE)


def test_what_was_tried_is_not_proposed_again():
    tried = CASES["fix/fixer"]["query"]
    assert replies.final_sql(said("fix/fixer")) != " ".join(tried.split())


def test_an_answer_with_rows_is_left_as_it_is():
    query = CASES["select/evaluate_one_candidate"]["query"]
    result = CASES["select/evaluate_one_candidate"]["result"]
    assert json.loads(said("fix/reviser", query=query, result=result))["revised_SQL"] == query


def test_an_answer_of_only_nulls_is_mended():
    query, result = "SELECT MAX(maker) FROM lift WHERE place = 'X'", "1 row:\n`MAX(maker)`\nNULL"
    assert json.loads(said("fix/reviser", query=query, result=result))["revised_SQL"] != query


def test_keywords_hold_names_and_the_hint_s_literals():
    words = json.loads(said("retrieve/keywords", question="Was the lift in Bad Ems mended?"))
    assert {"Bad Ems", "D"} <= set(words)


def test_one_column_is_judged_by_what_the_question_says():
    assert json.loads(said("prune/filter_column"))[RELEVANT] in {"Yes", "No"}
    column = "Column: visit.fault\nType: TEXT\nDescription: what was broken\nExamples: 'D', 'M'"
    assert json.loads(said("prune/filter_column", column=column))[RELEVANT] == "Yes"
    column = "Column: lift.paint\nType: TEXT\nDescription: colour of the cabin"
    assert json.loads(said("prune/filter_column", column=column))[RELEVANT] == "No"


def test_the_columns_of_a_group_are_judged_as_each_is_alone():
    columns = (
        "Column: visit.fault\nType: TEXT\nDescription: what was broken\nExamples: 'D', 'M'",
        "Column: lift.paint\nType: TEXT\nDescription: colour of the cabin",
    )
    alone = [json.loads(said("prune/filter_column", column=column)) for column in columns]
    lines = said("prune/filter_column_group", columns="\n\n".join(columns), count=2).splitlines()
    together = [json.loads(line) for line in lines]
    assert [row.pop("column") for row in together] == ["visit.fault", "lift.paint"]
    assert together == alone


@pytest.mark.parametrize(
    ("column", "question", "hint"),
    [
        ("staff.surname\nType: TEXT", "Who mended it?", ""),
        ("job.due\nType: TEXT", "How many were late?", "late refers to done > due"),
        ("job.kind\nValues mean: D: domestic (household); P: public body", "Which households?", ""),
    ],
)
def test_a_column_is_relevant_that_names_people_that_the_hint_names_or_whose_codes_are_meant(
    column, question, hint
):
    def relevant(**asked):
        told = said("prune/filter_column", column=f"Column: {column}", **asked)
        return json.loads(told)[RELEVANT]

    assert relevant(question=question, hint=hint) == "Yes"
    assert relevant(question="How much paint is left?", hint="") == "No"


def test_tables_and_columns_are_those_of_the_schema():
    tables = json.loads(said("prune/select_tables"))["table_names"]
    assert tables
    assert set(tables) <= {table.name for table in LIFTS.tables}
    columns = json.loads(said("prune/select_columns"))
    assert columns.pop("chain_of_thought_reasoning")
    pairs = {(table, column) for table in columns for column in columns[table]}
    assert ("visit", "fault") in pairs
    assert pairs <= set(LIFTS.columns())


def test_the_selector_of_mac_sql_speaks_of_every_table():
    decided = json.loads(said("prune/mac_selector"))
    assert set(decided) == {table.name for table in LIFTS.tables}
    assert all(d in {"keep_all", "drop_all"} or isinstance(d, list) for d in decided.values())


@pytest.mark.parametrize("case", ["generate/examples_by_feature", "generate/examples_by_column"])
def test_examples_are_as_many_as_asked_for_and_all_different(case):
    lines = [json.loads(line) for line in said(case).splitlines()]
    assert len(lines) == 10
    assert len({line["output"] for line in lines}) == 10
    assert all(line["input"] and line["output"].startswith("SELECT") for line in lines)


def test_the_better_query_is_preferred_in_either_place():
    right = "SELECT SUM(T1.`time spent`) FROM visit AS T1 INNER JOIN lift AS T2 ON T1.lift_id = T2.lift_id WHERE T1.fault = 'D' AND T2.place = 'Town hall'"
    good = {"query": right, "result": "1 row:\nSUM(T1.`time spent`)\n55"}
    bad = {"query": "SELECT maker FROM lift", "result": "2 rows:\nmaker\n'Orlo'\n'Haus & Sohn'"}
    for first, second, letter in ((good, bad, "A"), (bad, good, "B")):
        pair = {f"{k}_a": v for k, v in first.items()} | {f"{k}_b": v for k, v in second.items()}
        assert said("select/pairwise", **pair) == letter


def test_the_ranker_ranks_every_candidate_and_an_error_last():
    ranked = json.loads(said("select/ranker"))
    assert sorted(ranked) == [1, 2, 3]
    assert ranked[-1] == 3


def test_unit_tests_tell_the_candidates_apart():
    tests = replies.strings(said("select/unit_tests"))
    assert tests
    verdicts = [judged(said("select/evaluate_one_test", test=test)) for test in tests]
    assert all(set(both) == {True, False} for both in verdicts)


def test_both_ways_of_judging_tests_agree():
    tests = replies.strings(said("select/unit_tests"))
    candidate = CASES["select/evaluate_one_test"]["candidates"][0]
    alone = said("select/evaluate_one_candidate", tests=tests, **candidate)
    together = [judged(said("select/evaluate_one_test", test=test))[0] for test in tests]
    assert replies.verdicts(alone, count=len(tests), label="test") == together


def test_a_test_by_somebody_else_is_judged_by_what_it_names():
    told = said("select/evaluate_one_candidate")
    assert replies.verdicts(told, count=2, label="test")[0] is True


def test_without_a_schema_it_says_so():
    assert "no schema" in answer([{"role": "user", "content": "Tell me a joke."}])
