"""A run that is stopped asks for nothing more, and what a server failed neither stops nor hides anything."""

import time
from dataclasses import replace

import pytest

from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.llm.faults import Refusal
from workbench.llm.scripted import scripted
from workbench.study import open_study
from workbench.study.trace import candidates
from workbench.systems.baselines import direct
from workbench.types import Request

ANSWER = "```sql\nSELECT 1\n```"


def ask(text):
    return Request("p", "some/model", ({"role": "user", "content": text},), {})


class Slow(scripted):
    """A server that takes its time."""

    def __call__(self, *given):
        time.sleep(0.02)
        return super().__call__(*given)


def test_nothing_is_asked_once_a_run_is_stopped_and_what_was_is_kept(study):
    server = Slow(otherwise=ANSWER)
    store = study.lab.client.cache
    client = Client(store, send=server)

    def many(item):
        for turn in range(500):
            client.complete(ask(f"{item}, {turn}"))
            if item == 0 and len(server.history) > 20:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Lab(client, None, None).each(many, range(4), threads=4)
    asked = len(server.history)
    assert asked < 1000  # of 2,000
    count = "SELECT count(*) FROM calls WHERE model = 'some/model'"
    assert store.read(count) == [(asked,)]
    client.complete(ask("once more"))
    assert len(server.history) == asked + 1


@pytest.fixture
def down(experiment, tmp_path, monkeypatch):
    """A study of two questions, the first of them answered; then its model's server refuses a call."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    send = scripted([ANSWER, Refusal("rejected", "no such thing today")], otherwise=ANSWER)
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
