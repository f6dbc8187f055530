"""A run that is stopped asks for nothing more, and what a server failed neither stops nor hides anything."""

import time
from dataclasses import replace

import orjson
import pytest

from workbench.experiment.answers import write_answers
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.llm.faults import Refusal
from workbench.llm.money import Tally
from workbench.llm.scripted import scripted
from workbench.study import open_study
from workbench.study.progress import Progress
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
    monkeypatch.setenv("WORKBENCH_PROGRESS", str(tmp_path / "progress"))
    send = scripted([ANSWER, Refusal("rejected", "no such thing today")], otherwise=ANSWER)
    client = "workbench.study.study.client_of"
    monkeypatch.setattr(client, lambda store, *_: Client(store, send=send))
    with open_study(replace(experiment, model="some/model"), limit=2) as opened:
        opened.sample(1).run(direct(opened.model))
        yield opened


def lines(tmp_path):
    return [orjson.loads(line) for line in (tmp_path / "progress").read_bytes().splitlines()]


def test_a_question_that_a_server_failed_is_missing_and_told(down, tmp_path):
    run = down.run(direct(down.model))
    store = down.lab.client.cache
    assert len(list(candidates(run.id, store))) == 1
    text = write_answers(tmp_path, {run.id: ""}, store).read_text()
    assert text.count("SELECT 1") == 1
    assert [line["failed"] for line in lines(tmp_path) if "failed" in line] == [1]


def test_a_run_without_a_display_says_that_calls_got_no_answer(down, monkeypatch, capsys):
    monkeypatch.delenv("WORKBENCH_PROGRESS")
    run = down.run(direct(down.model))
    assert (
        f"{run.name}: 1 calls got no answer (rejected 1), and the numbers lack"
        in capsys.readouterr().err
    )


def test_a_run_that_is_asked_for_twice_tells_both(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_PROGRESS", str(tmp_path / "progress"))
    for calls in (5, 0):
        with Progress("it", "id") as progress:
            progress.report(Tally(calls=calls))
        time.sleep(0.01)
    assert [line["calls"] for line in lines(tmp_path)] == [5, 0]
    assert len({(line["id"], line["began"]) for line in lines(tmp_path)}) == 2
