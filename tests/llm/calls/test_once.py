"""The same request at the same time, by threads and by processes, is paid once."""

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.llm.server import Server
from tests.llm.wire import ask, python, send
from workbench.llm.calls.locks import CallLocks
from workbench.llm.client import Client
from workbench.llm.provider import Refusal
from workbench.llm.scripted import Scripted
from workbench.store import Store


def at_once(work: Callable[[], object], number: int = 8) -> None:
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_eight_threads_and_four_processes_pay_for_200_requests_200_times(
    tmp_path: Path, server: Server
) -> None:
    script = (
        "requests = [ask(f'question {i}') for i in range(200)]\n"
        "answers = []\n"
        "work = lambda: answers.append(client.complete_many(requests))\n"
        "threads = [threading.Thread(target=work) for _ in range(8)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "print(sum(a.text == f'answer to: question {i}' for l in answers for i, a in enumerate(l)))"
    )
    path = tmp_path / "lab.sqlite"
    processes = [python(script, path, server.url, stdout=subprocess.PIPE) for _ in range(4)]
    outputs = [process.communicate(timeout=600)[0] for process in processes]
    assert outputs == ["1600\n"] * 4
    assert (len(server.paid), server.calls) == (200, 200)


def test_two_clients_of_one_process_pay_once(store: Store, server: Server) -> None:
    server.seconds = 0.05
    clients = [Client(store, send=send, api_base=server.url) for _ in range(8)]
    at_once(lambda: clients.pop().complete(ask()))
    assert server.calls == 1


def test_threads_that_wait_for_a_failing_call_get_its_failure(store: Store) -> None:
    started = threading.Event()
    answers = []

    def slow(*_: object) -> dict[str, object]:
        started.set()
        threading.Event().wait(0.2)
        raise Refusal("rejected", "too long")

    client = Client(store, send=slow)
    first = threading.Thread(target=lambda: answers.append(client.complete(ask())))
    first.start()
    started.wait()
    answers.append(client.complete(ask()))
    first.join()
    assert [answer.fault for answer in answers] == ["rejected", "rejected"]


def test_a_call_that_another_process_locked_is_made_when_that_process_is_gone(
    store: Store, server: Server
) -> None:
    server.seconds = 30
    process = python("client.complete(ask())", store.path, server.url)
    while not server.calls:
        threading.Event().wait(0.01)
    process.kill()
    process.wait()
    assert Client(store, send=Scripted(["x"]), api_base=server.url).complete(ask()).text == "x"


def test_waiting_for_a_call_of_another_process_ends_at_the_deadline(
    store: Store, server: Server
) -> None:
    server.seconds = 30
    process = python("client.complete(ask())", store.path, server.url)
    while not server.calls:
        threading.Event().wait(0.01)
    client = Client(store, send=Scripted(), api_base=server.url, deadline=0.2)
    answer = client.complete(ask())
    process.kill()
    process.wait()
    assert answer.fault == "timeout"
    assert "another process makes this call" in answer.error


def test_refreshing_threads_pay_once_too(store: Store, server: Server) -> None:
    server.seconds = 1  # so that the last thread asks while the first one's call is under way
    client = Client(store, send=send, api_base=server.url, refresh=True)
    at_once(lambda: client.complete(ask()))
    assert server.calls == 1


def test_a_request_that_is_locked_elsewhere_does_not_delay_the_others(store: Store) -> None:
    model = Scripted(["other", "locked"])

    def send_and_release(*request: Any) -> dict[str, Any]:
        CallLocks(store).release(key)
        return model(*request)

    client = Client(store, send=send_and_release)
    key = client.key(ask("locked"))
    CallLocks(store).acquire(key)
    answers = client.complete_many([ask("locked"), ask("other")])
    assert [answer.text for answer in answers] == ["locked", "other"]


def test_a_lock_that_ctrl_c_interrupts_can_be_taken_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    locks, key = CallLocks(store), "call:0123456789abcdef"
    with monkeypatch.context() as patched:
        patched.setattr("workbench.llm.calls.locks.fcntl.lockf", interrupted)
        with pytest.raises(KeyboardInterrupt):
            locks.acquire(key)
    assert locks.acquire(key)
    locks.release(key)
