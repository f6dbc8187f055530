"""Candidates are asked for until the most frequent result can hardly change."""

import sqlite3
from contextlib import closing
from fractions import Fraction
from functools import cache

import pytest

from tests.generate.conftest import CONTEXT
from workbench.db.execute import Executor
from workbench.errors import BadInputError
from workbench.generate.adaptive import Adaptive, chance_of_change
from workbench.generate.direct import Direct
from workbench.generate.query_plan import QueryPlan
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.store import Store

GENERATORS = (Direct("test/model", 0.8, 7), QueryPlan("test/model", 0.8, 5))
SAME, EMPTY = "SELECT 1", "SELECT 1 WHERE 0"


@pytest.fixture
def asked(tmp_path, supervisor):
    """`asked(step, answer)`: the candidates, where the model answers each request with `answer(prompt, sample)`."""
    with closing(sqlite3.connect(tmp_path / "zoo.sqlite")) as database:
        database.execute("CREATE TABLE animal(id)")
    with Store(tmp_path / "lab.sqlite") as store:
        executor = Executor(store, supervisor=supervisor)

        def asked(step, answer):
            def send(request, key, url, seconds):
                del key, url, seconds
                text = f"```sql\n{answer(request.prompt, request.sample)}\n```"
                return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}

            lab = Lab(Client(store, send=send), executor, lambda _: tmp_path / "zoo.sqlite")
            return step(lab, CONTEXT)

        yield asked


@cache
def overtaken(leader, other, to_come):
    """The chance by the rule of succession, vote by vote."""
    if not to_come:
        return Fraction(int(other >= leader))
    share = Fraction(other + 1, leader + other + 2)
    won = overtaken(leader, other + 1, to_come - 1)
    return share * won + (1 - share) * overtaken(leader + 1, other, to_come - 1)


@pytest.mark.parametrize(
    ("leader", "other", "most"), [(1, 0, 2), (3, 1, 9), (5, 4, 12), (4, 0, 21)]
)
def test_the_chance_is_that_of_the_rule_of_succession(leader, other, most):
    results = ["a"] * leader + ["b"] * other
    to_come = most - leader - other
    rivals = [other, 0] if other else [0]
    expected = sum(overtaken(leader, rival, to_come) for rival in rivals)
    assert chance_of_change(results, most) == pytest.approx(float(min(1, expected)))


def test_the_chance_is_0_once_no_other_result_can_catch_up():
    assert chance_of_change(["a"] * 11, 21) == 0
    assert chance_of_change(["a"] * 10, 21) > 0


def test_candidates_without_a_result_count_as_still_to_come():
    assert chance_of_change(["a", "a", "", ""], 9) == chance_of_change(["a", "a"], 9)
    assert chance_of_change(["", ""], 9) == 1


def test_generators_that_agree_are_asked_for_few_samples(asked):
    candidates = asked(Adaptive(GENERATORS), lambda *_: SAME)
    assert [(c.generator, c.sample) for c in candidates] == [
        ("direct", 0),
        ("direct", 1),
        ("query_plan", 0),
        ("query_plan", 1),
    ]


def test_without_agreement_the_candidates_are_those_of_the_generators_alone(asked):
    def answer(prompt, sample):
        return f"SELECT '{prompt}', {sample}"

    alone = [c for generator in GENERATORS for c in asked(generator, answer)]
    assert list(asked(Adaptive(GENERATORS), answer)) == alone


def test_a_budget_of_0_stops_only_when_no_result_can_catch_up(asked):
    candidates = asked(Adaptive(GENERATORS, budget=0), lambda *_: SAME)
    assert 6 < len(candidates) < 12


def test_suspect_results_say_nothing(asked):
    assert len(asked(Adaptive(GENERATORS), lambda *_: EMPTY)) == 12
    assert len(asked(Adaptive(GENERATORS, suspect="failed"), lambda *_: EMPTY)) == 4


@pytest.mark.parametrize("budget", [-0.1, 1])
def test_a_budget_that_is_no_chance_is_refused(budget):
    with pytest.raises(BadInputError, match="from 0 to below 1"):
        Adaptive(GENERATORS, budget=budget)
