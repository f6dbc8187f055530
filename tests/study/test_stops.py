"""What a server failed is told and hides nothing; a reached budget says what is left, and shows what is answered."""

import math
from dataclasses import replace

import pytest

from workbench.errors import BudgetError
from workbench.llm.client import Client
from workbench.llm.faults import Refusal
from workbench.llm.money import Budget
from workbench.llm.send import scripted
from workbench.study.study import open_study
from workbench.study.trace import candidates
from workbench.systems.baselines import direct

ANSWER = "```sql\nSELECT 1\n```"


@pytest.fixture
def down(experiment, tmp_path, monkeypatch):
    """A study of two questions, the first of them answered; then its model's server refuses a call."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    send = scripted(
        [ANSWER, Refusal("rejected", "no such thing today")], otherwise=ANSWER
    )
    client = "workbench.study.study.client_of"
    monkeypatch.setattr(client, lambda _, store, *__: Client(store, send=send))
    with open_study(replace(experiment, model="some/model"), limit=2) as opened:
        opened.sample(1).run(direct(opened.model))
        yield opened


def test_a_question_that_a_server_failed_is_missing_and_told(down, capsys):
    run = down.run(direct(down.model))
    found = candidates(run.id, down.lab.client.cache)
    assert sorted(found["status"]) == ["missing", "ok"]
    said = f"{run.name}: 1 calls got no answer (rejected 1), and the numbers lack"
    assert said in capsys.readouterr().err


def test_a_reached_budget_says_what_is_left_and_the_next_run_goes_on(
    study, capsys, monkeypatch
):
    client = "workbench.study.study.client_of"
    send = scripted(otherwise=ANSWER)
    monkeypatch.setattr(
        client, lambda _, store, budget, *__: Client(store, send=send, budget=budget)
    )
    poor = replace(study, _budget=Budget(calls=4))
    with pytest.raises(
        BudgetError, match=r"budget of 4 calls .* of 6 questions are left"
    ):
        poor.run(direct("some/model"))
    assert "The questions that are answered" in capsys.readouterr().out
    rich = replace(study, _budget=Budget(calls=2))
    assert len(rich.run(direct("some/model")).questions) == len(send.history) == 6


def test_where_nobody_says_how_much_may_be_spent_it_is_five_dollars(experiment):
    with (
        open_study(experiment) as opened,
        open_study(experiment, dollars=math.inf) as rich,
    ):
        assert (opened._budget.dollars, rich._budget.dollars) == (5, math.inf)
