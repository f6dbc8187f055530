"""The other selectors: what most agree on, and what a model ranks first."""

import itertools
import json
import re
from dataclasses import replace

import pytest

from tests.select.conftest import RIGHT
from workbench.llm.scripted import scripted
from workbench.select.groups import groups
from workbench.select.majority import Majority
from workbench.select.pairwise import Pairwise
from workbench.select.ranker import Ranker
from workbench.select.unit_tests import UnitTester
from workbench.types import Candidate, Trial

MODEL = "test/judge"


def test_the_largest_group_wins(zoo):
    selection = Majority()(
        zoo.lab(None), zoo.context, zoo.trials("wrong", "right", "right, spelled otherwise")
    )
    assert selection.trial.execution.rows == (("cat",), ("dog",))
    assert selection.scores == (1, 2, 2)


def test_empty_results_do_not_outvote_an_answer(zoo):
    selection = Majority()(
        zoo.lab(None), zoo.context, zoo.trials("empty", "empty, too", "empty", "right")
    )
    assert selection.chosen == 3


def test_results_of_only_nulls_do_not_outvote_an_answer(zoo):
    trials = zoo.trials("only null", "only null", "right")
    assert Majority()(zoo.lab(None), zoo.context, trials).chosen == 2
    assert Majority(suspect="empty")(zoo.lab(None), zoo.context, trials).chosen in {0, 1}


@pytest.mark.parametrize(
    ("suspect", "compared"),
    [
        ("nulls", {"right"}),
        ("empty", {"right", "only null"}),
        ("failed", {"right", "only null", "empty"}),
    ],
)
def test_which_results_every_selector_leaves_out_is_a_field(zoo, suspect, compared):
    trials = zoo.trials("right", "only null", "empty", "broken")
    for select in (Majority(), Ranker(MODEL), Pairwise(MODEL), UnitTester(MODEL)):
        asked = []

        def send(request, url, seconds, asked=asked):
            del url, seconds
            asked.append(request.messages[-1]["content"])
            return {"choices": [{"message": {"role": "assistant", "content": "[1]"}}], "usage": {}}

        replace(select, suspect=suspect)(zoo.lab(send), zoo.context, trials)
        if not isinstance(select, Majority):
            queries = re.findall(r"```sql\n(.*?)\n```", "".join(asked))
            shown = {name for name in zoo.queries if zoo.queries[name] in queries}
            assert shown == (compared if len(compared) > 1 else set())
    assert {
        trials[group.representative].candidate.sql for group in groups(trials, "", suspect=suspect)
    } == {zoo.queries[name] for name in compared}


def test_the_most_frequent_query_represents_its_group(zoo):
    trials = zoo.trials("right, spelled otherwise", "right", "right")
    assert groups(trials, "")[0].representative == 1


def test_a_majority_does_not_depend_on_the_order_of_arrival(zoo):
    names = ("wrong", "right", "wrong, too")
    picked = {
        Majority()(zoo.lab(None), zoo.context, zoo.trials(*order)).sql
        for order in itertools.permutations(names)
    }
    assert len(picked) == 1


def test_if_all_failed_a_candidate_with_a_query_comes_before_candidates_without(zoo):
    broken = zoo.trials("broken")[0]
    blank = Trial(Candidate(" ", "g"), zoo.lab(None).executor.execute(zoo.path, " "))
    assert Majority()(zoo.lab(None), zoo.context, [blank, blank, broken]).chosen == 2
    assert Majority()(zoo.lab(None), zoo.context, [blank, blank]).chosen in {0, 1}


@pytest.mark.parametrize(
    "reply",
    [
        "[2, 1]",
        "The best is [2,1].",
        '["2", "1"]',
        '["Candidate 2"]',
        "```json\n[2, 1]\n```",
        '{"ranking": [2, 1]}',
        '{"Ranking": ["CANDIDATE 2", "CANDIDATE 1"],}',
        '[{"candidate": 2, "reason": "1 lacks a join"}, {"candidate": 1}]',
        "['2', '1',]",
        "[9, 2, 1, 2]",
        "[2, 1",
        "2, 1",
        "Candidate 2 > Candidate 1",
        "**2**",
        "[2.0, 1.0]",
    ],
)
def test_the_ranker_picks_the_first_of_the_ranking(zoo, reply):
    trials = zoo.trials("wrong", "right")
    order = groups(trials, f"0{zoo.context.question.id}")
    selection = Ranker(MODEL)(zoo.lab(scripted([reply])), zoo.context, trials)
    assert selection.chosen == order[1].representative


@pytest.mark.parametrize(
    "reply",
    ["", "none", "[]", "[9]", "[0]", '{"best": null}', "It has 2 joins.", "[[]]", "9" * 5000],
)
def test_a_reply_without_a_candidate_leaves_the_largest_group_on_top(zoo, reply):
    trials = zoo.trials("wrong", "right", "right, spelled otherwise")
    selection = Ranker(MODEL)(zoo.lab(scripted([reply])), zoo.context, trials)
    assert selection.trial.execution.rows == (("cat",), ("dog",))


def test_one_result_needs_no_ranking(zoo):
    trials = zoo.trials("right", "right, spelled otherwise")
    assert Ranker(MODEL)(zoo.lab(scripted([])), zoo.context, trials).chosen in {0, 1}


def test_with_a_consistent_judge_the_ranking_does_not_depend_on_the_order_of_candidates(zoo):
    """It ranks the right query first, the others by the alphabet, wherever they stand."""

    def judge(request, url, seconds):
        del url, seconds
        shown = re.findall(r"Query:\n```sql\n(.*?)\n```", request.messages[-1]["content"])
        order = sorted(range(len(shown)), key=lambda n: (shown[n] != RIGHT, shown[n]))
        reply = json.dumps([n + 1 for n in order])
        choice = {"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
        return {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}

    outcomes = set()
    for names in itertools.permutations(("wrong", "wrong", "right", "wrong, too")):
        selection = Ranker(MODEL)(zoo.lab(judge), zoo.context, zoo.trials(*names))
        outcomes.add((selection.sql, frozenset(zip(names, selection.scores, strict=True))))
    assert len(outcomes) == 1
    assert outcomes.pop()[0] == RIGHT
