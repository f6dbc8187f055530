"""Steps of a user's own: a result that is not a step's is refused, and candidates have numbers of their own."""

from dataclasses import replace

import pytest

from tests.systems.conftest import EMPTY, QUESTION, RIGHT
from workbench.errors import BadInputError
from workbench.generate.direct import Direct
from workbench.select.majority import Majority
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.system import System, prepare, trials_of
from workbench.types import Candidate, Selection


def two(lab, context):
    return [Candidate(RIGHT, "two", 0), Candidate(EMPTY, "two", 1)]


PLAIN = System("own", WHOLE_SCHEMA, (), (two,), (), Majority())


def selector(change):
    """A selector that makes a Selection of its own out of a right one."""

    def select(lab, context, trials):
        right = Selection(context.question.id, tuple(trials), 1, "own", (0.0, 1.0))
        return change(right)

    return select


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda _: 1, "Selection"),
        (lambda right: replace(right, question_id="q2"), "question_id"),
        (lambda right: replace(right, trials=right.trials[::-1]), "order"),
        (lambda right: replace(right, trials=right.trials[:1]), "trials"),
        (lambda right: replace(right, chosen=-1), "chosen -1"),
        (lambda right: replace(right, chosen=2), "chosen 2"),
        (lambda right: replace(right, chosen=True), "chosen True"),
        (lambda right: replace(right, chosen=1.0), "chosen 1.0"),
        (lambda right: replace(right, scores=(1.0,)), "scores"),
        (lambda right: replace(right, scores=("a", "b")), "score"),
    ],
)  # fmt: skip
def test_a_selection_that_would_mean_another_trial_is_refused(zoo, change, named):
    with pytest.raises(BadInputError, match=named):
        zoo.run(replace(PLAIN, select=selector(change)))


def test_a_selection_may_leave_out_the_scores_or_choose_nothing(zoo):
    for fields in ({"scores": ()}, {"chosen": None}):
        own = selector(lambda right, fields=fields: replace(right, **fields))
        assert zoo.run(replace(PLAIN, select=own)).sql in {EMPTY, ""}


@pytest.mark.parametrize(
    ("found", "named"),
    [
        (None, "tuple of Candidate"),
        ("SELECT 1", "tuple of Candidate"),
        (["SELECT 1"], "tuple of Candidate"),
        (Candidate(RIGHT, "own"), "tuple of Candidate"),
        ([Candidate(None, "own")], "sql None"),
    ],
)
def test_a_generator_that_returns_no_candidates_is_refused(zoo, found, named):
    def generate(lab, context):
        return found

    with pytest.raises(BadInputError, match=named):
        zoo.run(replace(PLAIN, generate=(generate,)))


@pytest.mark.parametrize(
    ("part", "named"),
    [
        ({"retrieve": lambda *_: 1}, "Context"),
        ({"prune": (lambda *_: None,)}, "Context"),
        ({"fix": (lambda *_: RIGHT,)}, "Trial"),
    ],
)
def test_a_step_that_returns_another_kind_of_value_is_refused(zoo, part, named):
    with pytest.raises(BadInputError, match=named):
        zoo.run(replace(PLAIN, **part))


def test_two_generators_of_one_kind_have_candidates_with_numbers_of_their_own(zoo):
    generators = Direct("test/a", samples=2), Direct("test/b", samples=2), two
    system = replace(PLAIN, generate=generators)
    trials = trials_of(system, prepare(system, QUESTION, zoo.lab), zoo.lab)
    numbered = [(trial.candidate.generator, trial.candidate.sample) for trial in trials]
    direct = [("direct", number) for number in range(4)]
    assert numbered == [*direct, ("two", 0), ("two", 1)]
