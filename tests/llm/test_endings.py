"""A call that ends before its reply, or with an odd one, blocks no other and loses no money."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import workbench as wb
from tests.llm.batch_server import Files
from workbench.errors import BudgetError, StoppedError, StoreError
from workbench.llm import batch, calls, send, turns
from workbench.llm.money import Budget


def test_a_stop_before_the_first_call_is_sent_sends_nothing(
    cache, server, ask, monkeypatch
):
    checking, checked = threading.Event(), threading.Event()

    def slow(model, url):
        checking.set()
        checked.wait(10)

    monkeypatch.setattr(send, "check_access", slow)
    client = wb.Client(cache, api_base=server.url)
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(client.complete_many, ask(3))
        checking.wait(10)
        with client.stopped():
            checked.set()
            with pytest.raises(StoppedError):
                run.result(10)
    assert server.calls == 0


def test_a_thread_that_was_not_asking_yet_sends_nothing_after_a_stop(
    cache, ask, monkeypatch
):
    looking, stopped = threading.Event(), threading.Event()
    look = wb.Cache.get_many

    def slow(self, keys):
        looking.set()
        stopped.wait(10)
        return look(self, keys)

    monkeypatch.setattr(wb.Cache, "get_many", slow)
    provider = wb.scripted(otherwise="SELECT 1")
    client = wb.Client(cache, send=provider)
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(client.complete_many, ask(3))
        looking.wait(10)
        with client.stopped():
            stopped.set()
            with pytest.raises(StoppedError):
                run.result(10)
    assert not provider.history


def test_a_call_that_is_stopped_while_it_reserves_gives_its_room_back(
    cache, ask, monkeypatch
):
    budget = wb.Budget(calls=1)
    client = wb.Client(cache, send=wb.scripted(otherwise="SELECT 1"), budget=budget)
    reserving, reserve = threading.Event(), Budget._reserve

    def noted(self, *given, **named):
        reserving.set()
        return reserve(self, *given, **named)

    monkeypatch.setattr(Budget, "_reserve", noted)
    with ThreadPoolExecutor(2) as pool:
        with cache.write(durable=False):  # the reservation waits for this write
            run = pool.submit(client.complete_many, ask(1))
            reserving.wait(10)
            stop = client.stopped()
            stop.__enter__()
        with pytest.raises(StoppedError):
            run.result(10)
        stop.__exit__(None, None, None)
        again = pool.submit(client.complete, ask(1, first=1)[0])
        assert again.result(10).text == "SELECT 1"


def test_a_reply_that_could_not_be_stored_gives_its_room_back(cache, ask, monkeypatch):
    budget = wb.Budget(calls=8)
    client = wb.Client(cache, send=wb.scripted(otherwise="SELECT 1"), budget=budget)
    with monkeypatch.context() as full:

        def fails(*_):
            raise StoreError("no room")

        full.setattr(wb.Cache, "_save", fails)
        with pytest.raises(StoreError):
            client.complete_many(ask(4))
    with ThreadPoolExecutor(1) as pool:  # four calls are made, and a ninth has no room
        run = pool.submit(client.complete_many, ask(9))
        with pytest.raises(BudgetError):
            run.result(10)


@pytest.mark.parametrize("tokens", [-7, "seven"])
def test_an_unreadable_reply_in_a_batch_fails_alone_and_is_paid(
    cache, server, ask, monkeypatch, tokens
):
    for name, seconds in {"QUIET": 0.1, "SETTLING": 0.3, "_POLL": 0.05}.items():
        monkeypatch.setattr(batch, name, seconds)
    files = Files(server)
    lines = batch._lines

    def damaged(content):
        for n, line in enumerate(lines(content)):
            if n == 0 and line.get("response"):
                line["response"]["body"]["usage"]["prompt_tokens"] = tokens
            yield line

    monkeypatch.setattr(batch, "_lines", damaged)
    budget = wb.Budget(dollars=1)
    client = wb.Client(cache, api_base=server.url, batch=True, budget=budget)
    answers = client.complete_many(ask(3, max_tokens=100))
    assert sorted(answer.fault for answer in answers) == ["", "", "malformed"]
    assert budget.made == 3
    assert set(files.paid.values()) == {1}


def test_an_empty_reply_of_a_model_of_this_process_is_not_cached(cache):
    calls.register("silent", lambda request, seed: {"choices": [{"message": {}}]}, "1")
    client = wb.Client(cache)
    request = wb.Request("direct", "silent/any", [])
    assert client.complete(request).fault == "empty"
    assert client.complete(request).fault == "empty"


def test_a_file_system_without_locks_is_named(cache, ask, monkeypatch):
    def refused(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(turns.fcntl, "lockf", refused)
    client = wb.Client(cache, send=wb.scripted(otherwise="SELECT 1"))
    with pytest.raises(StoreError, match="No locks available"):
        client.complete(ask(1)[0])
