"""The learned selector: votes against doubts, whoever the voters are and in whatever order they come."""

import itertools
import json
from dataclasses import replace

import pytest

from workbench.benchmarks.bundled import load_bundled
from workbench.errors import BadInputError
from workbench.select.features import DOUBTS
from workbench.select.trained import Trained, Weights, evidence
from workbench.types import Candidate

WEIGHTS = Weights(1.0, dict.fromkeys(DOUBTS, -2.0), slope=0.8, intercept=-0.1)
GOOD = {"votes": 1, "doubts": {"lost": -1}}


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


def test_a_generator_counts_as_it_proved_and_one_that_is_not_known_as_the_mean(zoo):
    wrong, right = zoo.trials("wrong", "right")
    weights = Weights(generators={"poor": 0.5, "good": 1.5})

    def picked(*trials):
        return Trained(weights)(zoo.lab(None), zoo.context, trials).sql

    assert picked(by(wrong, "poor"), by(right, "new")) == right.candidate.sql
    assert picked(by(wrong, "new"), by(right, "good")) == right.candidate.sql
    assert picked(by(wrong, "good"), by(right, "new")) == wrong.candidate.sql


def test_scores_are_chances_and_equal_results_have_equal_ones(zoo):
    trials = zoo.trials("right", "wrong", "right, spelled otherwise", "broken")
    scores = Trained(WEIGHTS)(zoo.lab(None), zoo.context, trials).scores
    assert scores[0] == scores[2] > scores[1] > scores[3] == 0
    assert scores[0] < 1


def test_the_order_of_arrival_means_nothing(zoo):
    trials = zoo.trials("wrong", "right", "wrong, too", "empty", "broken")
    trials = [by(trial, f"g{n}") for n, trial in enumerate(trials)]
    weights = replace(WEIGHTS, generators={"g0": 0.1, "g1": 0.2, "g2": 0.3, "g3": 0.7})
    told = set()
    for order in itertools.permutations(range(5)):
        selection = Trained(weights)(zoo.lab(None), zoo.context, [trials[n] for n in order])
        scores = tuple(score for _, score in sorted(zip(order, selection.scores, strict=True)))
        told.add((selection.sql, scores))
    assert len(told) == 1


def test_a_tie_goes_where_the_seed_says(zoo):
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
    assert found[1,].doubts["uncovered"] > found[0, 2].doubts["uncovered"]


def test_weights_come_back_as_they_were_saved(tmp_path):
    weights = replace(WEIGHTS, generators={"g": 1.0}, learned_from={"questions": 3})
    weights.save(tmp_path / "selector.json")
    assert Weights.load(tmp_path / "selector.json") == weights
    assert Trained.load(tmp_path / "selector.json", seed=2) == Trained(weights, 2)
    assert repr(weights) == repr(Weights.load(tmp_path / "selector.json")) != repr(WEIGHTS)


def test_one_is_bundled_that_knows_no_generator_and_was_taught_by_the_train_split_alone(zoo):
    weights = Trained.bundled().weights
    assert weights.generators == {}
    assert weights.doubts.keys() == DOUBTS.keys()
    taught_by = {question.db_id for question in load_bundled("train").questions}
    assert set(weights.learned_from["databases"]) == taught_by
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
        json.dumps(GOOD | {"doubts": {"unheard of": -1}}),
        json.dumps(GOOD | {"doubts": {"lost": False}}),
        json.dumps(GOOD | {"generators": {"g": 0}}),
        json.dumps(GOOD | {"generators": {"g": True}}),
        json.dumps(GOOD | {"weights": {}}),
    ],
)
def test_a_file_that_is_no_selector_is_refused(tmp_path, content):
    path = tmp_path / "selector.json"
    path.write_text(content)
    with pytest.raises(BadInputError, match=r"selector\.json: .*; expected the JSON that"):
        Weights.load(path)


def test_a_file_that_says_votes_and_doubts_is_enough(tmp_path):
    path = tmp_path / "selector.json"
    path.write_text(json.dumps(GOOD))
    assert Weights.load(path) == Weights(1.0, {"lost": -1})


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(BadInputError, match=r"nowhere/selector\.json: No such file"):
        WEIGHTS.save(tmp_path / "nowhere" / "selector.json")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="No such file"):
        Trained.load(tmp_path / "nothing.json")


def test_a_candidate_is_never_changed(zoo):
    trials = zoo.trials("right")
    selection = Trained(WEIGHTS)(zoo.lab(None), zoo.context, trials)
    assert selection.trials == tuple(trials)
    assert isinstance(selection.trial.candidate, Candidate)
