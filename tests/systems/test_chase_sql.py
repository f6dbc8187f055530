"""CHASE-SQL runs end to end on scripted models, and each row of table 7 is the ablation it says it is."""

from dataclasses import replace

import pytest

from tests.systems.conftest import EMPTY, QUESTION, REPLIES, RIGHT
from workbench.generate.direct import Direct
from workbench.generate.synthetic_examples import SyntheticExamples
from workbench.select.majority import Majority
from workbench.select.ranker import Ranker
from workbench.systems.chase_sql import chase_sql, chase_table_7
from workbench.systems.system import prepare

WHOLE = chase_sql("m/x")
TABLE_7 = {
    "whole": WHOLE,
    "self-consistency": replace(WHOLE, select=Majority()),
    "ranker": replace(WHOLE, select=Ranker("m/x")),
    "w/o LSH": replace(WHOLE, retrieve=replace(WHOLE.retrieve, index=None)),
    "w/o query fixer": replace(WHOLE, fix=()),
    "w/o DC": replace(WHOLE, generate=WHOLE.generate[1:]),
    "w/o QP": replace(WHOLE, generate=WHOLE.generate[::2]),
    "w/o OS": replace(WHOLE, generate=WHOLE.generate[:2]),
    "direct alone": replace(WHOLE, generate=(Direct("m/x"),)),
}
GENERATORS = ("generate/divide_and_conquer", "generate/query_plan", "generate/synthetic_examples")


@pytest.mark.parametrize("name", TABLE_7)
def test_every_ablation_answers(zoo, name):
    assert zoo.run(TABLE_7[name]).sql == RIGHT


@pytest.mark.parametrize("name", TABLE_7)
def test_every_ablation_answers_even_if_all_replies_are_useless(zoo, name):
    zoo.replies = dict.fromkeys(REPLIES, "I am sorry.")
    selection = zoo.run(TABLE_7[name])
    assert (selection.chosen is not None, selection.sql) == (True, "")


def test_three_generators_of_seven_candidates_each(zoo):
    selection = zoo.run(WHOLE)
    assert [len(zoo.asked[prompt]) for prompt in GENERATORS] == [7, 7, 7]
    assert len(selection.trials) == 21
    assert {trial.candidate.generator for trial in selection.trials} == {
        prompt.removeprefix("generate/") for prompt in GENERATORS
    }


def test_candidates_that_agree_need_no_judge(zoo):
    zoo.run(WHOLE)
    assert "select/pairwise" not in zoo.asked


def test_candidates_that_differ_are_compared(zoo):
    zoo.replies["generate/query_plan"] = "SELECT name FROM animal"
    assert zoo.run(WHOLE).comparisons
    assert zoo.asked["select/pairwise"]


def test_equal_queries_without_rows_are_repaired_by_one_call(zoo):
    zoo.replies["generate/query_plan"] = EMPTY
    selection = zoo.run(WHOLE)
    assert len(zoo.asked["fix/fixer"]) == 1
    assert sum(trial.repaired_from is not None for trial in selection.trials) == 7
    assert {trial.candidate.sql for trial in selection.trials} == {RIGHT}


def test_without_the_fixer_they_stay_as_they_are(zoo):
    zoo.replies["generate/query_plan"] = EMPTY
    selection = zoo.run(TABLE_7["w/o query fixer"])
    assert "fix/fixer" not in zoo.asked
    assert sum(trial.candidate.sql == EMPTY for trial in selection.trials) == 7


EXAMPLES = {"generate/examples_by_feature", "generate/examples_by_column", "prune/filter_column"}


@pytest.mark.parametrize(
    ("row", "left_out"),
    [
        ("w/o DC", {"generate/divide_and_conquer"}),
        ("w/o QP", {"generate/query_plan"}),
        ("w/o OS", {"generate/synthetic_examples", *EXAMPLES}),
    ],
)
def test_an_ablation_leaves_out_exactly_the_named_part(zoo, row, left_out):
    zoo.run(TABLE_7[row])
    assert set(zoo.asked) == {"retrieve/keywords", *GENERATORS, *EXAMPLES} - left_out


def test_without_value_retrieval_generators_are_shown_no_values(zoo):
    assert prepare(WHOLE, QUESTION, zoo.lab).values
    assert not prepare(TABLE_7["w/o LSH"], QUESTION, zoo.lab).values


def test_the_columns_are_filtered_by_a_model_of_their_own(zoo):
    zoo.run(chase_sql("m/x", filtering="m/cheap"))
    filters = zoo.asked.pop("prune/filter_column")
    assert {request.model for request in filters} == {"m/cheap"}
    assert {request.model for asked in zoo.asked.values() for request in asked} == {"m/x"}


def test_the_ablations_filter_columns_by_that_model_too():
    rows = chase_table_7("m/x", filtering="m/cheap")
    filtering = {
        generator.columns.model
        for system in rows.values()
        for generator in system.generate
        if isinstance(generator, SyntheticExamples)
    }
    assert filtering == {"m/cheap"}
