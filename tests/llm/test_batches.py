"""Batches at half the price: a run that is killed between any two steps pays nothing twice."""

import signal
import subprocess
import sys
import time

import pytest

import workbench as wb
from tests.llm.batch_server import Files
from tests.llm.server import Server
from tests.llm.test_promises import until
from workbench.llm import batch

PROGRAM = """
import os, sys
import workbench as wb
from workbench.llm import batch
batch.QUIET, batch.SETTLING, batch._POLL = 0.2, 0.5, 0.1
cache, url, stop = sys.argv[1:]
steps = iter(range(1000))
def dies(function):
    async def step(*given, **named):
        if str(next(steps)) == stop:
            os._exit(9)
        found = await function(*given, **named)
        if str(next(steps)) == stop:
            os._exit(9)
        return found
    return step
batch._called_once = dies(batch._called_once)
batch.Batches.ask = dies(batch.Batches.ask)  # killed between two answers
client = wb.Client(wb.Cache(cache), api_base=url, batch=True)
requests = [wb.Request("p", "openai/gpt-4o-mini", [{"role": "user", "content": f"q {n}"}], {}) for n in range(6)]
print([answer.text or answer.fault for answer in client.complete_many(requests)])
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    for name, seconds in {"QUIET": 0.1, "SETTLING": 0.3, "_POLL": 0.05}.items():
        monkeypatch.setattr(batch, name, seconds)


def test_a_batch_is_half_the_price_and_its_rows_go(cache, server, ask):
    files = Files(server)
    client = wb.Client(
        cache, api_base=server.url, batch=True, budget=wb.Budget(dollars=1)
    )
    answers = client.complete_many(ask(20, temperature=0.5, max_tokens=100))
    assert [answer.text for answer in answers] == [
        f"answer to: q {n}" for n in range(20)
    ]
    assert answers[0].cost == pytest.approx(2.7e-05 / 2)
    assert client.budget.spent == pytest.approx(20 * 2.7e-05 / 2)
    assert set(files.paid.values()) == {1}
    assert [body["temperature"] for body in files.bodies] == [0.5] * 20
    assert not server.requests
    again = client.complete_many(ask(20, temperature=0.5, max_tokens=100))
    assert all(answer.cached for answer in again)


@pytest.mark.parametrize("plan", ["expired", "errors", "invalid"])
def test_calls_without_an_answer_fail_and_the_others_are_kept(cache, server, ask, plan):
    files = Files(server)
    files.plan.append(plan)
    client = wb.Client(cache, api_base=server.url, batch=True)
    answers = client.complete_many(ask(9))
    failed = [answer for answer in answers if answer.fault]
    assert len(failed) == (9 if plan == "invalid" else 3)
    assert all(answer.error for answer in failed)
    assert all(answer.text for answer in client.complete_many(ask(9)))
    assert set(files.paid.values()) == {1}


def test_a_batch_whose_making_lost_its_reply_is_found(cache, server, ask):
    files = Files(server)
    files.loses = 1
    answers = wb.Client(cache, api_base=server.url, batch=True).complete_many(ask(4))
    assert all(answer.text for answer in answers)
    assert (len(files.batches), set(files.paid.values())) == (1, {1})


def test_a_batch_that_is_late_in_the_list_is_waited_for(cache, server, ask):
    files = Files(server)
    files.loses, files.late = 1, 0.2
    answers = wb.Client(cache, api_base=server.url, batch=True).complete_many(ask(4))
    assert all(answer.text for answer in answers)
    assert (len(files.batches), set(files.paid.values())) == (1, {1})


def test_a_batch_is_found_behind_many_of_others(cache, server, ask, tmp_path):
    files = Files(server)
    wb.Client(cache, api_base=server.url, batch=True).complete_many(ask(4))
    files.add_batches_of_others(250, time.time())
    # As if the run had been killed before it kept an answer.
    client = wb.Client(
        wb.Cache(tmp_path / "new.sqlite"), api_base=server.url, batch=True
    )
    assert all(answer.text for answer in client.complete_many(ask(4)))
    assert (len(files.batches), set(files.paid.values())) == (251, {1})


def test_the_list_is_read_as_far_as_batches_are_recent(cache, server, ask):
    files = Files(server)
    files.add_batches_of_others(250, time.time() - 4 * 86_400)
    files.add_batches_of_others(120, time.time())
    wb.Client(cache, api_base=server.url, batch=True).complete_many(ask(1))
    assert files.pages == 2


BODY = {"error": {"message": "something broke"}}


@pytest.mark.parametrize(
    ("line", "fault", "error", "made"),
    [
        ({"response": {"status_code": 500, "body": "upstream broke"}}, "server", "upstream broke", 0),
        ({"response": "upstream broke"}, "server", "upstream broke", 0),
        ({"response": ["a"], "error": {"message": "late"}}, "server", "late", 0),
        ({"response": {"status_code": "500", "body": BODY}}, "server", "something broke", 0),
        ({"response": {"status_code": 200, "body": ["a"]}}, "malformed", "cannot be read: ", 1),
        ({"response": {"status_code": 200, "body": None}}, "malformed", "cannot be read: ", 1),
    ],
)  # fmt: skip
def test_a_result_of_a_wrong_kind_keeps_its_error_and_what_is_perhaps_paid_counts(
    cache, server, ask, monkeypatch, line, fault, error, made
):
    files = Files(server)
    lines = batch._lines

    def changed(content):
        for whole in lines(content):
            yield {**whole, **line} if "response" in whole else whole

    monkeypatch.setattr(batch, "_lines", changed)
    budget = wb.Budget(calls=9)
    client = wb.Client(cache, api_base=server.url, batch=True, budget=budget, retries=0)
    answer = client.complete(ask(1)[0])
    assert (answer.fault, budget.made) == (fault, made)
    assert error in answer.error
    assert len(files.batches) == 1


def test_a_damaged_line_of_results_loses_its_own_answer_alone(cache, server, ask):
    files = Files(server)
    files.damage = 1
    client = wb.Client(cache, api_base=server.url, batch=True, retries=0)
    assert sum(bool(answer.text) for answer in client.complete_many(ask(6))) == 5
    assert all(answer.text for answer in client.complete_many(ask(6)))


def test_other_providers_are_asked_live(cache, server, ask, capsys):
    client = wb.Client(cache, api_base=server.url, batch=True, retries=0)
    assert [a.error for a in client.complete_many(ask(2, "mistral/m"))] == [""] * 2
    assert server.requests == 2
    assert capsys.readouterr().err.count("sent live") == 1


@pytest.mark.slow
def test_a_run_killed_at_any_step_pays_nothing_twice(tmp_path):
    for stop in range(100):
        with Server() as server:
            files = Files(server)
            command = [
                sys.executable,
                "-c",
                PROGRAM,
                str(tmp_path / f"{stop}.sqlite"),
                server.url,
            ]
            first = subprocess.run(
                [*command, str(stop)], capture_output=True, check=False
            )
            second = subprocess.run(
                [*command, ""], capture_output=True, text=True, check=False
            )
        assert second.stdout.count("answer to") == 6, second.stderr
        assert set(files.paid.values()) == {1}
        if first.returncode == 0:
            break
    assert stop >= 8


def test_ctrl_c_leaves_a_batch_that_the_next_run_finds(tmp_path):
    with Server() as server:
        files = Files(server, looks=10**9)
        command = [
            sys.executable,
            "-c",
            PROGRAM,
            str(tmp_path / "a.sqlite"),
            server.url,
            "",
        ]
        program = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        until(lambda: files.batches)
        program.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in program.communicate(timeout=60)[1]
        files.looks = 0
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert out.count("answer to") == 6
    assert len(files.batches) == 1
