"""A selector learned from a pool: what it learns, that it is repeatable, and what it is worth elsewhere."""

import importlib
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.train.pools import answers
from workbench.benchmarks.bird import load_bird
from workbench.benchmarks.bundled import load_bundled
from workbench.benchmarks.predictions import file_names, load_pool, prediction_files
from workbench.benchmarks.spider import load_spider
from workbench.db.execute import Executor
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.pool import Pool, pool_of
from workbench.select.features import DOUBTS
from workbench.select.trained import Trained, beliefs
from workbench.store import Store
from workbench.systems.baselines import direct
from workbench.systems.replay import picks
from workbench.systems.system import prepare, trials_of
from workbench.train.cross_validate import as_text, cross_validate, picks_right
from workbench.train.selector import Learner, judged_questions
from workbench.types import Candidate, Trial


@pytest.fixture(scope="module")
def small(tmp_path_factory, tiny):
    """The tiny benchmark, a pool in which two of three agree on 0, and its cases."""
    benchmark = load_bird(tiny.write_bird(tmp_path_factory.mktemp("bird")))
    pool = pool_of(
        (question_id, Trial(Candidate(sql, generator)))
        for generator, queries in answers(benchmark).items()
        for question_id, sql in queries.items()
    )
    with (
        Store(tmp_path_factory.mktemp("cache") / "lab.sqlite") as store,
        Executor(store, workers=1) as executor,
    ):
        lab = Lab(None, executor, benchmark.database)
        yield SimpleNamespace(
            lab=lab, benchmark=benchmark, pool=pool, cases=judged_questions(lab, benchmark, pool)
        )


def test_a_judged_question_marks_the_right_groups(small):
    case = next(case for case in small.cases if case.question_id == "1")
    by_generators = dict(zip((e.generators for e in case.evidence), case.right, strict=True))
    assert by_generators == {("good",): True, ("poor", "poorer"): False}


def test_a_trained_selector_finds_right_answers_that_the_majority_loses(small):
    weights = Learner(reliability=False)(small.cases)
    picked = picks("p", Trained(weights), small.lab, small.benchmark.questions, small.pool)
    for question in small.benchmark.questions:
        gold = small.benchmark.golds[question.id].sql
        assert picked.trials[question.id][0].candidate.sql == gold
    assert (
        weights.doubts["empty_result_known_literals"]
        + weights.doubts["empty_result_unknown_literal"]
        < 0
        < weights.votes
    )


def test_doubts_never_speak_for_a_candidate(small):
    assert max(Learner()(small.cases).doubts.values()) <= 0


def test_a_generators_vote_is_what_it_proved_and_one_on_average(small):
    votes = Learner()(small.cases).generators
    assert votes["good"] > 1 > votes["poor"] == votes["poorer"]
    assert sum(votes.values()) == pytest.approx(3)


def test_learning_twice_gives_the_same_weights(small):
    assert Learner()(small.cases) == Learner()(tuple(small.cases))


def test_chances_are_calibrated_on_databases_left_out(small):
    weights = Learner()(small.cases)
    assert weights.slope > 0
    for case in small.cases:
        for chance, right in zip(weights.chances(case.evidence), case.right, strict=True):
            assert (chance > 0.5) == right


def test_weights_record_their_training_data(small, tmp_path):
    Learner()(small.cases).save(tmp_path / "selector.json")
    facts = json.loads((tmp_path / "selector.json").read_text())["learned_from"]
    assert facts["questions"] == 12
    assert facts["databases"] == ["pond", "shop", "zoo"]
    assert facts["learner"].startswith("Learner(penalty=")


def test_a_pool_that_is_all_right_teaches_nothing(small):
    right = [replace(case, right=(True,) * len(case.right)) for case in small.cases]
    with pytest.raises(BadInputError, match="nothing to learn from"):
        Learner()(right)


def test_without_scikit_learn_the_error_says_what_to_install(small, monkeypatch):
    real = importlib.import_module

    def missing(name):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(BadInputError, match=r"pip install 'workbench\[train\]'"):
        Learner()(small.cases)


def test_cross_validation_is_by_database_and_measures_each_part(small):
    rows = {row.name: row for row in cross_validate(small.cases, halvings=2, parts=True)}
    assert rows["oracle"].accuracy.mean == 1
    assert rows["majority"].accuracy.mean == 0
    assert rows["trained, leaving one database out"].closed == pytest.approx(1)
    assert rows["trained on one half of the databases"].accuracy.clusters == 3
    parts = {"reliabilities", "doubts", "votes for parts of queries", *DOUBTS}
    assert {f"  without {name}" for name in parts} < rows.keys()
    text = as_text(list(rows.values()))
    assert re.search(r"^oracle +100\.00", text, re.MULTILINE)
    assert len(text.splitlines()) == len(rows) + 1


def test_one_database_cannot_be_cross_validated(small):
    with pytest.raises(BadInputError, match="one only"):
        cross_validate([case for case in small.cases if case.db_id == "zoo"])


def only_mixed_on(small, database):
    """The cases, of which only that database's have a right and a wrong result."""
    return [
        case if case.db_id == database else replace(case, right=(True,) * len(case.right))
        for case in small.cases
    ]


def test_a_database_whose_absence_leaves_no_training_data_is_skipped_in_calibration_only(small):
    assert Learner()(only_mixed_on(small, "zoo")).votes > 0


def test_cross_validation_names_the_database_without_which_it_cannot_train(small):
    with pytest.raises(
        BadInputError, match="leaves out zoo, and on the other databases no question"
    ):
        cross_validate(only_mixed_on(small, "zoo"), halvings=1)


def test_questions_of_different_databases_may_have_one_id(small):
    found = [replace(case, majority=index == 0) for index, case in enumerate(small.cases)]
    alike = [replace(case, question_id="1") for case in found]
    assert cross_validate(alike, halvings=2) == cross_validate(found, halvings=2)


def test_belief_is_shared_out_and_never_certain():
    assert beliefs([]) == []
    assert beliefs([3.0]) == pytest.approx(beliefs([900.0, 0.0])[:1])
    assert beliefs([1.0, 1.0]) == pytest.approx([0, 0])


@pytest.fixture(scope="module")
def thirty(real_spider, tmp_path_factory):
    """The cases of 30 real systems' answers to Spider's questions."""
    benchmark = load_spider(real_spider)
    files = file_names(prediction_files([str(real_spider / "predictions")]))
    path = tmp_path_factory.mktemp("thirty") / "lab.sqlite"
    with Store(path) as store, Executor(store) as executor:
        lab = Lab(None, executor, benchmark.database)
        yield judged_questions(lab, benchmark, load_pool(files, benchmark))


def test_thirty_real_systems_gap_closed_on_databases_not_seen(thirty):
    """CHASE-SQL's tuned selection model closed 30% of its gap between self-consistency and oracle."""
    rows = {row.name: row for row in cross_validate(thirty, halvings=3)}
    assert rows["oracle"].accuracy.mean == pytest.approx(0.981, abs=0.001)
    assert rows["trained, leaving one database out"].closed > 0.3
    assert rows["trained on one half of the databases"].closed > 0.3


def test_the_bundled_selector_closes_much_of_a_gap_that_it_never_saw(thirty):
    """It closes 55%: 91.9 of 84.3 and 98.1."""
    weights = Trained.bundled().weights
    picked = sum(picks_right(weights, case) for case in thirty)
    majority = sum(case.majority for case in thirty)
    oracle = sum(any(case.right) for case in thirty)
    assert picked - majority > 0.4 * (oracle - majority)


def test_evidence_that_reads_no_question_closes_a_third_of_the_gap(thirty):
    """Votes for parts of queries and results that do not react close 42%, one database left out at a time."""
    learner = Learner(reliability=False, doubts=("unreactive_result",))
    rows = {row.name: row for row in cross_validate(thirty, learner, halvings=1)}
    assert rows["trained, leaving one database out"].closed > 0.33


@pytest.fixture(scope="module", params=["train", "dev"])
def bundled(request, tmp_path_factory):
    """The cases of a bundled split: eight samples of the embedded model for each question."""
    benchmark = load_bundled(request.param)
    path = tmp_path_factory.mktemp("bundled") / "lab.sqlite"
    with Store(path) as store, Executor(store) as executor:
        lab = Lab(Client(store), executor, benchmark.database)
        one = direct()
        system = replace(one, generate=(replace(one.generate[0], temperature=1.0, samples=8),))
        trials = {
            question.id: trials_of(system, prepare(system, question, lab), lab)
            for question in benchmark.questions
        }
        yield judged_questions(lab, benchmark, Pool(trials))


def gained(weights, cases):
    """How many more answers are right than the majority's."""
    return sum(picks_right(weights, case) - case.majority for case in cases)


@pytest.mark.slow
def test_the_bundled_selector_is_no_worse_than_the_majority_on_each_bundled_split(bundled):
    assert gained(Trained.bundled().weights, bundled) >= 0


@pytest.mark.slow
def test_a_selector_that_takes_doubts_for_praise_is_worse_than_the_majority(bundled):
    weights = Trained.bundled().weights
    praised = {name: -weight for name, weight in weights.doubts.items()}
    assert gained(replace(weights, doubts=praised), bundled) < 0
