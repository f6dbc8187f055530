"""The same request at the same time, by threads and by processes, is paid once."""

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from tests.llm.server import Server
from tests.llm.wire import ask, python, send
from workbench.llm.claims import Claims
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
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert outputs == ["1600\n"] * 4
    assert (len(server.paid), server.calls) == (200, 200)


def test_two_clients_of_one_process_pay_once(book: Store, server: Server) -> None:
    server.seconds = 0.05
    clients = [Client(book, send=send, api_base=server.url) for _ in range(8)]
    at_once(lambda: clients.pop().complete(ask()))
    assert server.calls == 1


def test_those_who_wait_for_a_call_that_fails_get_its_failure(book: Store) -> None:
    started = threading.Event()
    answers = []

    def slow(*_: object) -> dict[str, object]:
        started.set()
        threading.Event().wait(0.2)
        raise Refusal("rejected", "too long")

    client = Client(book, send=slow)
    first = threading.Thread(target=lambda: answers.append(client.complete(ask())))
    first.start()
    started.wait()
    answers.append(client.complete(ask()))
    first.join()
    assert [answer.fault for answer in answers] == ["rejected", "rejected"]
    assert book.read("SELECT * FROM claims") == []


def test_a_call_that_another_process_claimed_is_made_when_that_process_is_gone(
    book: Store, server: Server
) -> None:
    script = (
        "threading.Thread(target=client.complete, args=(ask(),), daemon=True).start()\n"
        "time.sleep(60)"
    )
    server.seconds = 30
    process = python(script, book.path, server.url)
    while not book.read("SELECT 1 FROM claims"):
        threading.Event().wait(0.01)
    process.kill()
    process.wait()
    assert Client(book, send=Scripted(["x"]), api_base=server.url).complete(ask()).text == "x"


def test_refreshing_threads_pay_once_too(book: Store, server: Server) -> None:
    server.seconds = 0.05
    client = Client(book, send=send, api_base=server.url, refresh=True)
    at_once(lambda: client.complete(ask()))
    assert server.calls == 1


def test_a_request_whose_claim_is_held_does_not_hold_up_the_others(book: Store) -> None:
    client = Client(book, send=Scripted(["other"]), deadline=0.1)
    Claims(book).claim(client.key(ask("held")), 3600)
    threading.Timer(0.3, lambda: Claims(book).release(client.key(ask("held")))).start()
    model = Scripted(["other", "held"])
    answers = Client(book, send=model).complete_many([ask("held"), ask("other")])
    assert [answer.text for answer in answers] == ["held", "other"]
