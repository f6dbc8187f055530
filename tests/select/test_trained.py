"""The learned selector weighs votes against doubts, independently of the order of the candidates."""

import itertools
import json
import re
from dataclasses import replace

import pytest

from workbench.benchmarks.bundled import load_bundled
from workbench.errors import BadInputError
from workbench.select.features import DOUBTS
from workbench.select.trained import Trained, Weights, evidence
from workbench.types import Candidate, Trial

WEIGHTS = Weights(1.0, dict.fromkeys(DOUBTS, -2.0), slope=0.8, intercept=-0.1)
GOOD = {"votes": 1, "doubts": {"empty_result_unknown_literal": -1}}


def by(trial, generator):
    return replace(trial, candidate=replace(trial.candidate, generator=generator))


def test_without_doubts_the_larger_group_wins(zoo):
    trials = zoo.trials("wrong", "right", "right, spelled otherwise")
    selection = Trained(Weights())(zoo.lab(None), zoo.context, trials)
    assert selection.trial.execution.rows == (("cat",), ("dog",))
    assert (selection.selector, selection.comparisons) == ("trained", ())


def test_a_doubt_outweighs_votes(zoo):
    trials = zoo.trials("empty", "empty", "empty, too", "right")
    assert Trained(Weights())(zoo.lab(None), zoo.context, trials).sql == zoo.queries["empty"]
    assert Trained(WEIGHTS)(zoo.lab(None), zoo.context, trials).sql == zoo.queries["right"]


def test_doubts_are_bounded_and_what_is_doubted_of_all_counts_for_none(zoo):
    trials = zoo.trials("empty", "empty", "empty", "right")
    for bound, picked in ((1, "empty"), (2, "right"), (None, "right")):  # 3 votes are worth 1.1
        weights = replace(WEIGHTS, most_doubt=bound)
        assert Trained(weights)(zoo.lab(None), zoo.context, trials).sql == zoo.queries[picked]
    alone = evidence(zoo.lab(None), zoo.context.question, zoo.trials("empty"))
    assert replace(WEIGHTS, most_doubt=1).scores(alone) == [0]


def test_a_part_of_a_query_has_the_votes_of_all_that_agree_on_it(zoo):
    """Three results of two votes each: four candidates have the condition, four select the name."""
    trials = zoo.trials("wrong", "wrong", "right", "right", "wrong, too", "wrong, too")
    by_parts = Weights(parts=0.5)
    assert Trained(by_parts)(zoo.lab(None), zoo.context, trials).sql == zoo.queries["right"]
    found = evidence(zoo.lab(None), zoo.context.question, trials)
    assert len(set(Weights().scores(found))) == 1
    assert len(set(by_parts.scores(found))) == 2


def test_a_group_whose_members_agree_by_chance_alone_has_fewer_votes_for_its_parts(zoo):
    found = evidence(
        zoo.lab(None),
        zoo.context.question,
        zoo.trials("empty", "empty, too", "wrong", "wrong"),
    )
    scores = dict(
        zip((len(set(e.parts)) for e in found), Weights(parts=1).scores(found), strict=True)
    )
    assert scores[2] < scores[1]


def test_a_generators_vote_for_a_part_has_its_weight(zoo):
    right, wrong, third = zoo.trials("right", "wrong", "wrong, too")
    trials = [by(right, "g"), by(wrong, "h"), by(third, "good")]
    for good, picked in ((0.1, "wrong"), (3.0, "wrong, too")):
        weights = Weights(generators={"good": good, "g": 0.9}, parts=0.5)
        selection = Trained(weights)(zoo.lab(None), zoo.context, trials)
        assert selection.sql == zoo.queries[picked]


def test_a_query_that_no_data_change_is_doubted(zoo):
    trials = zoo.trials("right", "wrong")
    sql = "SELECT name FROM animal WHERE legs = 'no number'"
    inert = Trial(Candidate(sql, "g", 2), zoo.lab(None).executor.execute(zoo.path, sql))
    found = evidence(zoo.lab(None), zoo.context.question, [*trials, inert])
    doubted = {e.group.members: e.doubts["unreactive_result"] for e in found}
    assert doubted == {(0,): 0, (1,): 0, (2,): 1}


def test_a_generators_vote_has_its_weight_and_an_unknown_ones_the_mean(zoo):
    wrong, right = zoo.trials("wrong", "right")
    weights = Weights(generators={"poor": 0.5, "good": 1.5})

    def picked(*trials):
        return Trained(weights)(zoo.lab(None), zoo.context, trials).sql

    assert picked(by(wrong, "poor"), by(right, "new")) == right.candidate.sql
    assert picked(by(wrong, "new"), by(right, "good")) == right.candidate.sql
    assert picked(by(wrong, "good"), by(right, "new")) == wrong.candidate.sql


def test_scores_are_probabilities_and_equal_results_share_one(zoo):
    trials = zoo.trials("right", "wrong", "right, spelled otherwise", "broken")
    scores = Trained(WEIGHTS)(zoo.lab(None), zoo.context, trials).scores
    assert scores[0] == scores[2] > scores[1] > scores[3] == 0
    assert scores[0] < 1


def test_the_order_of_the_candidates_does_not_matter(zoo):
    trials = zoo.trials("wrong", "right", "wrong, too", "empty", "broken")
    trials = [by(trial, f"g{n}") for n, trial in enumerate(trials)]
    weights = replace(WEIGHTS, generators={"g0": 0.1, "g1": 0.2, "g2": 0.3, "g3": 0.7})
    outcomes = set()
    for order in itertools.islice(itertools.permutations(range(5)), 0, None, 5):
        selection = Trained(weights)(zoo.lab(None), zoo.context, [trials[n] for n in order])
        scores = tuple(score for _, score in sorted(zip(order, selection.scores, strict=True)))
        outcomes.add((selection.sql, scores))
    assert len(outcomes) == 1


def test_the_seed_breaks_ties(zoo):
    trials = zoo.trials("wrong", "right")
    picked = {Trained(Weights(), seed)(zoo.lab(None), zoo.context, trials).sql for seed in range(9)}
    assert len(picked) == 2


def test_without_candidates_nothing_is_chosen_and_failures_only_among_failures(zoo):
    assert Trained(WEIGHTS)(zoo.lab(None), zoo.context, ()).chosen is None
    assert Trained(WEIGHTS)(zoo.lab(None), zoo.context, zoo.trials("broken")).chosen == 0


def test_evidence_is_the_mean_of_a_groups_doubts(zoo):
    trials = zoo.trials("right", "wrong", "right, spelled otherwise")
    found = {e.group.members: e for e in evidence(zoo.lab(None), zoo.context.question, trials)}
    assert found.keys() == {(0, 2), (1,)}
    assert found[0, 2].generators == ("g", "g")
    assert (
        found[1,].doubts["uncovered_question_words"]
        > found[0, 2].doubts["uncovered_question_words"]
    )


def test_saved_weights_load_unchanged(tmp_path):
    weights = replace(WEIGHTS, generators={"g": 1.0}, learned_from={"questions": 3})
    weights.save(tmp_path / "selector.json")
    assert Weights.load(tmp_path / "selector.json") == weights
    assert Trained.load(tmp_path / "selector.json", seed=2) == Trained(weights, 2)
    assert repr(weights) == repr(Weights.load(tmp_path / "selector.json")) != repr(WEIGHTS)


def test_the_bundled_selector_is_trained_on_the_train_split_alone_and_has_no_generators_votes(zoo):
    weights = Trained.bundled().weights
    assert weights.generators == {}
    assert weights.doubts.keys() == DOUBTS.keys()
    train_databases = {question.db_id for question in load_bundled("train").questions}
    assert set(weights.learned_from["databases"]) == train_databases
    trials = zoo.trials("empty", "right", "right, spelled otherwise")
    assert Trained.bundled()(zoo.lab(None), zoo.context, trials).chosen in {1, 2}


@pytest.mark.parametrize(
    "content",
    [
        "no JSON",
        "[]",
        "{}",
        json.dumps({"votes": 1}),
        json.dumps(GOOD | {"votes": "many"}),
        json.dumps(GOOD | {"votes": True}),
        json.dumps(GOOD | {"votes": -1}),
        json.dumps(GOOD | {"slope": -1}),
        json.dumps(GOOD | {"parts": -1}),
        json.dumps(GOOD | {"parts": "half"}),
        json.dumps(GOOD | {"most_doubt": -1}),
        json.dumps(GOOD | {"most_doubt": False}),
        json.dumps(GOOD | {"doubts": {"unheard of": -1}}),
        json.dumps(GOOD | {"doubts": {"empty_result_unknown_literal": False}}),
        json.dumps(GOOD | {"generators": {"g": 0}}),
        json.dumps(GOOD | {"generators": {"g": True}}),
        json.dumps(GOOD | {"weights": {}}),
        json.dumps(GOOD | {"doubts": []}),
        json.dumps(GOOD | {"generators": [1]}),
    ],
)
def test_a_file_that_is_no_selector_is_refused(tmp_path, content):
    path = tmp_path / "selector.json"
    path.write_text(content)
    with pytest.raises(
        BadInputError, match=r"selector\.json: .*; expected the JSON that"
    ) as raised:
        Weights.load(path)
    assert not re.search("attribute|argument|unpack|subscript", str(raised.value))


def test_a_file_with_votes_and_doubts_alone_loads(tmp_path):
    path = tmp_path / "selector.json"
    path.write_text(json.dumps(GOOD))
    assert Weights.load(path) == Weights(1.0, {"empty_result_unknown_literal": -1})


def test_a_selector_saved_with_the_old_names_of_doubts_loads(tmp_path):
    old_names = [
        "lost",
        "hollow",
        "astray",
        "unsound",
        "uncovered",
        "unasked",
        "disordered",
        "reference",
        "undone",
        "uncalled",
    ]
    path = tmp_path / "selector.json"
    path.write_text(json.dumps({"votes": 1, "doubts": {n: -i for i, n in enumerate(old_names)}}))
    weights = Trained.load(path).weights
    assert weights.doubts.keys() < DOUBTS.keys()
    assert list(weights.doubts.values()) == [-i for i in range(len(old_names))]
    weights.save(path)
    assert Weights.load(path) == weights


def test_saving_into_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(BadInputError, match=r"nowhere/selector\.json: No such file"):
        WEIGHTS.save(tmp_path / "nowhere" / "selector.json")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="No such file"):
        Trained.load(tmp_path / "nothing.json")


def test_a_candidate_is_never_changed(zoo):
    trials = zoo.trials("right")
    selection = Trained(WEIGHTS)(zoo.lab(None), zoo.context, trials)
    assert selection.trials == tuple(trials)
    assert isinstance(selection.trial.candidate, Candidate)
