"""Parts of a system that do not need each other wait for their models at the same time."""

import threading
from dataclasses import replace

from tests.systems.conftest import EMPTY, QUESTION, RIGHT
from workbench.select.majority import Majority
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.system import System, prepare, trials_of
from workbench.types import Candidate


def test_generators_and_a_fixer_s_repairs_are_asked_at_the_same_time(zoo):
    """Each call waits until the calls of all the others are under way, too."""
    together = {"generate": threading.Barrier(2), "fix": threading.Barrier(3)}

    def generator(name, count):
        def generate(lab, context):
            together["generate"].wait(timeout=60)
            return tuple(Candidate(EMPTY, name, number) for number in range(count))

        return generate

    def fix(lab, context, trial):
        together["fix"].wait(timeout=60)
        return replace(trial, candidate=replace(trial.candidate, sql=RIGHT))

    system = System(
        "two", WHOLE_SCHEMA, (), (generator("a", 2), generator("b", 1)), (fix,), Majority()
    )
    trials = trials_of(system, prepare(system, QUESTION, zoo.lab), zoo.lab)
    assert [(t.candidate.generator, t.candidate.sample) for t in trials] == [
        ("a", 0),
        ("a", 1),
        ("b", 0),
    ]
    assert {trial.candidate.sql for trial in trials} == {RIGHT}
