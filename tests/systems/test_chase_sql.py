"""CHASE-SQL's algorithms: 2 (synthetic examples), 3 (pairwise selection) and 4 (fixing)."""

import random
import re
from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.systems.conftest import ALL, BROKEN, EMPTY, QUESTION, RIGHT, trials
from workbench.systems.chase_sql import Synthetic
from workbench.types import Candidate, Example, Execution, Trial

same_database = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
# Queries with four different results; some are spelled in several ways, and two fail.
QUERIES = [
    RIGHT,
    "SELECT name FROM animal WHERE legs = 4 AND 1",
    ALL,
    "SELECT name FROM animal ORDER BY id",
    "SELECT count(*) FROM animal",
    EMPTY,
    BROKEN,
    "SELECT nope FROM cage",
]


def verdict(first, second):
    """A judge's letter for two queries in this order: arbitrary, and not the same in both orders."""
    return random.Random(f"{first}|{second}").choice("AB")


def judge(request):
    text = request.messages[-1]["content"]
    first, second = re.findall(
        r"## Candidate [AB]\nQuery:\n```sql\n(.*?)\n```", text, re.DOTALL
    )
    return verdict(first, second)


def algorithm_3(found):
    """The scores of algorithm 3, as the paper writes it."""
    points = [0] * len(found)
    for i, j in permutations(range(len(found)), 2):
        one, two = found[i], found[j]
        prints = [t.execution.fingerprint or t.candidate.sql for t in (one, two)]
        if prints[0] == prints[1]:
            winner = i
        else:
            winner = i if verdict(one.candidate.sql, two.candidate.sql) == "A" else j
        points[winner] += 1
    return points


@same_database
@given(picked=st.lists(st.sampled_from(QUERIES), min_size=1, max_size=9))
def test_pairwise_gives_the_scores_of_algorithm_3_in_one_call_a_pair_of_queries(
    zoo, context, picked
):
    zoo.model.replies["select/pairwise"], zoo.model.asked = judge, []
    found = trials(zoo, *picked)
    selection = wb.Pairwise("m/x")(zoo.lab, context, found)
    scores = algorithm_3(found)
    assert list(selection.scores) == scores
    assert scores[selection.chosen] == max(scores)
    # None is asked twice.
    assert len(zoo.model.asked) == zoo.model.counts().get("select/pairwise", 0)


@same_database
@given(picked=st.permutations([RIGHT, RIGHT, ALL, ALL, EMPTY, BROKEN]))
def test_the_order_of_the_candidates_does_not_matter(zoo, context, picked):
    zoo.model.replies["select/pairwise"] = judge
    for select in (wb.Pairwise("m/x"), wb.Majority(), wb.Pairwise("m/x", orders="one")):
        chosen = {
            select(zoo.lab, context, trials(zoo, *order)).sql
            for order in (picked, sorted(picked))
        }
        assert len(chosen) == 1


def test_one_query_for_each_result_is_compared_on_request(zoo, context):
    found = trials(
        zoo, RIGHT, QUERIES[1], ALL, QUERIES[3], "SELECT count(*) FROM animal"
    )
    whole = wb.Pairwise("m/x")(zoo.lab, context, found)
    assert len(zoo.model.asked) == 16  # 5 * 4 ordered pairs less the 4 within a result
    zoo.model.asked.clear()
    short = wb.Pairwise("m/x", by="result")(zoo.lab, context, found)
    assert len(zoo.model.asked) == 6
    assert short.trial.execution.fingerprint == whole.trial.execution.fingerprint
    zoo.model.asked.clear()
    wb.Pairwise("m/x", by="result", orders="one")(zoo.lab, context, found)
    assert len(zoo.model.asked) == 3


def test_the_judge_sees_the_union_of_the_schemas(zoo, context):
    wb.Pairwise("m/x")(zoo.lab, context, trials(zoo, RIGHT, ALL))
    shown = zoo.model.asked[0].messages[-1]["content"]
    assert "legs" in shown
    assert "cage" not in shown
    assert "home" not in shown


def test_a_reply_without_a_letter_gives_no_point(zoo, context):
    zoo.model.replies["select/pairwise"] = "Both are fine."
    selection = wb.Pairwise("m/x")(zoo.lab, context, trials(zoo, RIGHT, ALL, ALL))
    assert selection.scores == (0, 1, 1)
    assert {comparison.winner for comparison in selection.comparisons} == {None}


def test_candidates_that_no_fixer_could_mend_leave_the_pool(zoo, context):
    zoo.model.replies["fix/fixer"] = f"Final Answer: {BROKEN}"
    found = trials(zoo, RIGHT, EMPTY, ALL)
    fixer = wb.chase_sql("m/x").fix[0]
    fixed = [fixer(zoo.lab, context, trial) for trial in found]
    selection = wb.Pairwise("m/x")(zoo.lab, context, fixed)
    assert "nme" not in str(zoo.model.of("select/pairwise"))
    assert selection.sql == RIGHT
    only = wb.Pairwise("m/x")(zoo.lab, context, fixed[1:2])
    assert only.sql == BROKEN  # where all are broken, one of them is the answer


@pytest.mark.parametrize(
    ("replies", "calls", "sql"),
    [
        ([RIGHT], 1, RIGHT),
        ([EMPTY, RIGHT], 2, RIGHT),
        ([EMPTY, "SELECT nme, id FROM animal", EMPTY], 3, EMPTY),  # beta is 3
        # Unchanged: the same prompt again would get the same reply.
        ([BROKEN], 1, BROKEN),
    ],
)
def test_the_fixer_repairs_until_a_result_has_rows_or_three_times(
    zoo, context, replies, calls, sql
):
    zoo.model.replies["fix/fixer"] = [f"Why.\n\nFinal Answer: {one}" for one in replies]
    (broken,) = trials(zoo, BROKEN)
    fixed = wb.chase_sql("m/x").fix[0](zoo.lab, context, broken)
    assert (len(zoo.model.asked), fixed.candidate.sql) == (calls, sql)
    assert len(fixed.history) == calls + 1
    assert len(fixed.candidate.call_keys) == calls


def test_the_fixer_leaves_results_with_rows_alone_and_nulls_too_unless_asked(
    zoo, context
):
    found = trials(zoo, RIGHT, "SELECT max(legs) FROM animal WHERE id > 9", "")
    fixer = wb.chase_sql("m/x").fix[0]
    assert [fixer(zoo.lab, context, trial) for trial in found] == list(found)
    assert not zoo.model.asked
    replace(fixer, suspect="nulls")(zoo.lab, context, found[1])
    assert zoo.model.asked


def test_an_unread_repair_keeps_the_query_and_counts_as_an_attempt(zoo, context):
    zoo.model.replies["fix/fixer"] = "I cannot help."
    (broken,) = trials(zoo, BROKEN)
    fixed = wb.chase_sql("m/x").fix[0](zoo.lab, context, broken)
    assert (fixed.candidate.sql, fixed.repaired_from) == (BROKEN, broken)


def test_synthetic_examples_are_of_both_kinds_in_the_order_of_algorithm_2(zoo, context):
    synthetic = wb.chase_sql("m/x", filtering="m/cheap").generate[2]
    zoo.model.replies["prune/filter_column"] = (
        '{"is_column_information_relevant": "No"}'
    )
    found = synthetic.examples(zoo.lab, context)
    assert [example.hint for example in found] == ["", "no legs is 0"]
    (feature,) = zoo.model.of("generate/examples_by_feature")
    (column,) = zoo.model.of("generate/examples_by_column")
    assert "Create 38 examples" in str(feature.messages)
    assert "set of 37 examples" in str(column.messages)
    assert "home" in str(feature.messages)
    assert "home" not in str(column.messages)


def test_a_model_that_writes_more_examples_than_it_was_asked_for_is_cut(zoo, context):
    lines = [f'{{"input": "q{n}", "output": "SELECT {n}"}}' for n in range(5)]
    for prompt in ("generate/examples_by_feature", "generate/examples_by_column"):
        zoo.model.replies[prompt] = "\n".join(lines)
    found = Synthetic("m/x", by_feature=3, by_column=2)(zoo.lab, context)
    assert [example.question for example in found] == ["q0", "q1", "q2", "q0", "q1"]


def test_every_sample_sees_another_order_of_tables_and_columns(zoo, context):
    divide = replace(wb.chase_sql("m/x", samples=4).generate[0], data={"shots": 0})
    divide(zoo.lab, context)
    divide(zoo.lab, replace(context, question=replace(QUESTION, text="Another?")))
    shown = [
        r.messages[-1]["content"].partition("## Question")[0] for r in zoo.model.asked
    ]
    assert len(set(shown[:4])) > 1
    words = [Counter(re.findall(r"\w+", text)) for text in shown]
    assert all(one == words[0] for one in words)
    assert shown[:4] == shown[4:]  # drawn by the question's id


def test_training_examples_nearest_to_the_question_or_given_for_it(zoo, context):
    known = tuple(
        Example(text, f"SELECT {n}")
        for n, text in enumerate(("Which fish swim?", "Which animals have legs?"))
    )
    for examples in (wb.Nearest(known, 1), wb.ExamplesByQuestion({"q1": known[1:]}, 1)):
        generate = wb.Generate(
            "generate/synthetic_examples", "m/x", examples=examples, name="training"
        )
        (candidate,) = generate(zoo.lab, context)
        assert candidate.generator == "training"
        shown = zoo.model.asked[-1].messages[-1]["content"]
        assert "SELECT 1" in shown
        assert "SELECT 0" not in shown


def test_the_ranker_chooses_the_candidate_that_is_first(zoo, context):
    found = trials(zoo, RIGHT, ALL, ALL)
    zoo.model.replies["select/ranker"] = lambda r: (
        "[2, 1]"
        if r.messages[-1]["content"].find(ALL + "\n")
        < r.messages[-1]["content"].find(RIGHT)
        else "[1, 2]"
    )
    selection = wb.Ranker("m/x")(zoo.lab, context, found)
    assert (selection.sql, sorted(selection.scores)) == (RIGHT, [0.5, 0.5, 1.0])
    zoo.model.replies["select/ranker"] = "The first."
    # Unread: the result that most share.
    assert wb.Ranker("m/x")(zoo.lab, context, found).sql == ALL


def test_a_result_of_an_unfinished_query_equals_no_other(zoo, context):
    cut = [
        Trial(Candidate(sql, "g", n), Execution("timeout"))
        for n, sql in enumerate("ab")
    ]
    assert wb.Majority()(zoo.lab, context, cut).chosen is not None


def test_where_no_fixer_could_mend_any_candidate_all_are_compared(zoo, context):
    zoo.model.replies["fix/fixer"] = "I cannot help."
    fixer = wb.chase_sql("m/x").fix[0]
    broken = trials(zoo, BROKEN, EMPTY, "SELECT nope FROM cage")
    fixed = [fixer(zoo.lab, context, trial) for trial in broken]
    assert all(trial.repaired_from for trial in fixed)
    selection = wb.Pairwise("m/x")(zoo.lab, context, fixed)
    assert {(c.first, c.second) for c in selection.comparisons} == set(
        permutations(range(3), 2)
    )
