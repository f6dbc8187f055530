"""Algorithm 3: pairs in both orders, over result groups or candidate by candidate."""

import itertools

import pytest

from workbench.llm.faults import Refusal
from workbench.llm.scripted import scripted
from workbench.replies.verdict import read_verdict
from workbench.select.pairwise import Pairwise

MODEL = "test/judge"
MIXED = (
    "wrong",
    "right",
    "wrong",
    "wrong, too",
    "right, spelled otherwise",
    "wrong",
    "empty",
    "broken",
)


def test_the_judge_s_choice_beats_the_majority(zoo, fair):
    trials = zoo.trials(*MIXED)
    selection = Pairwise(MODEL)(zoo.lab(fair), zoo.context, trials)
    assert selection.sql in {zoo.queries["right"], zoo.queries["right, spelled otherwise"]}


def test_equal_results_need_no_judge(zoo):
    silent = scripted([])
    trials = zoo.trials("right", "right, spelled otherwise", "right")
    selection = Pairwise(MODEL, by="candidate")(zoo.lab(silent), zoo.context, trials)
    assert selection.comparisons == ()
    assert selection.scores == (2, 2, 2)  # each wins the meetings in which it comes first


def test_the_literal_form_asks_for_every_ordered_pair_that_differs(zoo, fair):
    trials = zoo.trials("wrong", "right", "wrong", "wrong, too")
    selection = Pairwise(MODEL, by="candidate")(zoo.lab(fair), zoo.context, trials)
    assert len(selection.comparisons) == 4 * 3 - 2


def test_comparing_one_query_for_each_result_gives_the_same_points(zoo, fair):
    trials = zoo.trials(*MIXED)
    literal = Pairwise(MODEL, by="candidate")(zoo.lab(fair), zoo.context, trials)
    grouped = Pairwise(MODEL)(zoo.lab(fair), zoo.context, trials)
    assert grouped.scores == literal.scores
    assert len(grouped.comparisons) < len(literal.comparisons)


def test_a_pair_is_shown_in_both_orders(zoo, fair):
    selection = Pairwise(MODEL)(zoo.lab(fair), zoo.context, zoo.trials("right", "wrong"))
    assert {(c.first, c.second) for c in selection.comparisons} == {(0, 1), (1, 0)}


def test_the_judge_sees_only_the_schema_that_the_two_queries_use(zoo, fair):
    Pairwise(MODEL)(zoo.lab(fair), zoo.context, zoo.trials("right", "wrong"))
    assert all("animal" in text and "keeper" not in text for text in fair.asked)


def test_failed_and_empty_candidates_take_part_only_without_others(zoo, fair):
    selection = Pairwise(MODEL)(zoo.lab(fair), zoo.context, zoo.trials("empty", "wrong", "broken"))
    assert selection.chosen == 1
    assert fair.asked == []


def test_among_failures_one_is_still_picked(zoo, fair):
    selection = Pairwise(MODEL)(zoo.lab(fair), zoo.context, zoo.trials("broken"))
    assert selection.chosen == 0


def test_of_no_candidates_none_is_picked(zoo, fair):
    selection = Pairwise(MODEL)(zoo.lab(fair), zoo.context, [])
    assert (selection.chosen, selection.sql, selection.scores) == (None, "", ())


@pytest.mark.parametrize("by", ["result", "candidate"])
def test_with_a_consistent_judge_the_order_of_candidates_does_not_matter(zoo, fair, by):
    select = Pairwise(MODEL, by=by)
    results = set()
    for names in itertools.permutations(("wrong", "wrong", "wrong, too", "right")):
        selection = select(zoo.lab(fair), zoo.context, zoo.trials(*names))
        results.add(selection.trial.execution.fingerprint)
    assert len(results) == 1


def test_a_tie_is_broken_by_the_seed_and_not_by_the_order_of_arrival(zoo):
    first = scripted(otherwise="A")  # each result wins once
    picked = set()
    for seed in range(12):
        both = {
            Pairwise(MODEL, seed=seed)(zoo.lab(first), zoo.context, zoo.trials(*names)).sql
            for names in (("wrong", "right"), ("right", "wrong"))
        }
        assert len(both) == 1
        picked |= both
    assert len(picked) == 2


@pytest.mark.parametrize("by", ["result", "candidate"])
@pytest.mark.parametrize("reply", ["Hm.", "", Refusal("server", "no")])
def test_a_call_without_a_verdict_gives_nobody_a_point(zoo, reply, by):
    """So the largest group wins, whatever the seed."""
    trials = zoo.trials("wrong", "right", "wrong, too", "right, spelled otherwise")
    for seed in range(9):
        select = Pairwise(MODEL, by=by, seed=seed)
        selection = select(zoo.lab(scripted([reply] * 99)), zoo.context, trials)
        assert selection.trial.execution.rows == (("cat",), ("dog",))
        assert selection.scores == (0, 1, 0, 1)
        assert {c.winner for c in selection.comparisons} == {None}


def test_a_refusal_that_holds_a_letter_is_no_verdict():
    assert read_verdict("A request like this I decline") == ""


def test_a_temperature_of_zero_arrives_as_zero(zoo, fair):
    lab = zoo.lab(fair)
    request = Pairwise(MODEL).request(lab, zoo.context, *zoo.trials("right", "wrong"))
    assert request.parameters["temperature"] == 0.0


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("A", "A"),
        ("B", "B"),
        ("**B**", "B"),
        ("Candidate B.", "B"),
        ("A misses a join, so the answer is B", "B"),
        ("", ""),
        ("neither", ""),
        ("b", "B"),
        ("candidate b.", "B"),
        ("`b`", "B"),
        ('{"answer": "b"}', "B"),
        ('{"answer": "B"', "B"),
        ("This is a", ""),
        ("there is no better b", ""),
        ("A, though a join on b", "A"),
    ],
)
def test_the_verdict_is_the_last_letter_that_stands_alone(reply, letter):
    assert read_verdict(reply) == letter
