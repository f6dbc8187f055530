"""Whatever stops a run loses nothing that was paid, but what was under way when its process was killed."""

import os
import re
import resource
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from tests.llm.server import Server
from tests.llm.wire import ask, python, send
from workbench.errors import StoreError
from workbench.llm.budget import Budget
from workbench.llm.calls import runner
from workbench.llm.client import Client
from workbench.store import Store
from workbench.threads import Threads

AT_ONCE = 8  # of the client in a fresh process


def test_ten_kills_in_a_run_of_500_calls_lose_only_what_was_under_way(
    tmp_path: Path, server: Server
) -> None:
    path = tmp_path / "lab.sqlite"
    server.seconds = 0.002
    script = (
        "requests = [ask(f'question {i}') for i in range(500)]\n"
        "def work(n):\n"
        "    for request in requests[n::4]:\n"
        "        print(client.complete(request).key, flush=True)\n"
        "threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()"
    )
    acknowledged: set[str] = set()
    for kill in range(1, 11):
        process = python(script, path, server.url, stdout=subprocess.PIPE)
        while server.calls < kill * 40 and process.poll() is None:
            time.sleep(0.002)
        process.kill()
        acknowledged.update(re.findall("call:[0-9a-f]{64}", process.communicate()[0]))
        with Store(path) as store:
            stored = {key for (key,) in store.read("SELECT key FROM calls")}
            assert store.read("PRAGMA integrity_check") == [("ok",)]
        assert acknowledged <= stored
        assert server.calls - len(stored) <= kill * AT_ONCE
    assert python(script, path, server.url, stdout=subprocess.DEVNULL).wait() == 0
    with Store(path) as store:
        assert store.read("SELECT count(*) FROM calls") == [(500,)]
    assert server.calls <= 500 + 10 * AT_ONCE


def test_ctrl_c_does_not_wait_for_slow_replies_and_keeps_what_was_paid(
    tmp_path: Path, server: Server
) -> None:
    server.plan.extend(["ok"] * 3 + ["slow"] * 3)
    script = (
        "try: client.complete_many([ask(f'question {i}') for i in range(6)])\n"
        "except KeyboardInterrupt: print('stopped')"
    )
    process = python(script, tmp_path / "lab.sqlite", server.url, stdout=subprocess.PIPE)
    with Store(tmp_path / "lab.sqlite") as store:
        while store.read("SELECT count(*) FROM calls") != [(3,)] or server.calls < 6:
            time.sleep(0.01)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.communicate()[0] == "stopped\n"
        assert time.monotonic() - started < 30  # the server would take a minute
        assert store.read("SELECT count(*) FROM calls") == [(3,)]


def interrupted_once_asked(server: Server) -> None:
    def interrupt() -> None:
        while not server.calls:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()


def test_a_reply_that_comes_back_after_ctrl_c_is_kept_and_not_paid_again(
    store: Store, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "STOP_WAIT", 0.0)
    server.seconds = 1.0
    client = Client(store, send=send, api_base=server.url)
    interrupted_once_asked(server)
    with pytest.raises(KeyboardInterrupt):
        client.complete(ask())
    assert client.complete(ask()).text == "answer to: hello"  # waits for the call still under way
    assert server.calls == 1


def test_a_reply_that_comes_back_within_the_moment_is_kept_before_ctrl_c_returns(
    store: Store, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "STOP_WAIT", 60.0)
    server.seconds = 0.6
    client = Client(store, send=send, api_base=server.url)
    interrupted_once_asked(server)
    with pytest.raises(KeyboardInterrupt):
        client.complete(ask())
    assert client.cached(ask()) is not None


def test_a_full_disk_stops_the_run_before_more_is_paid(store: Store, server: Server) -> None:
    client = Client(store, send=send, api_base=server.url, at_once=1)
    client.complete(ask("first"))
    pages = store.read("PRAGMA page_count")[0][0]
    store._writer.execute(f"PRAGMA max_page_count={pages}")
    requests = [ask("x" * 20_000 + str(i)) for i in range(30)]
    with pytest.raises(StoreError, match=r"disk full: .* of 30 answers are cached"):
        client.complete_many(requests)
    paid = server.calls
    assert paid < 31
    store._writer.execute("PRAGMA max_page_count=1000000")
    client.complete_many(requests)
    assert server.calls == 31


@contextmanager
def full(store: Store) -> Iterator[None]:
    """A disk without space: the limit that Linux sets on a process's files covers every write."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


@contextmanager
def locked(store: Store) -> Iterator[None]:
    """A cache file that another program writes to for longer than a write waits."""
    store._writer.execute("PRAGMA busy_timeout=50")
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@pytest.mark.parametrize("trouble", [full, locked])
@pytest.mark.parametrize("new_client", [False, True])
def test_after_a_disk_is_full_or_locked_in_the_middle_the_same_run_asks_for_what_is_missing(
    store: Store,
    server: Server,
    trouble: Callable[[Store], AbstractContextManager[None]],
    new_client: bool,
) -> None:
    client = Client(store, send=send, api_base=server.url, at_once=4)
    requests = [ask(f"question {i}") for i in range(20)]
    client.complete_many(requests[:5])
    reached = threading.Event()

    def late(*arguments: Any) -> dict[str, Any]:
        reached.wait()
        return send(*arguments)

    client._state.send = late
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(client.complete_many, requests)
        while len(client._state.in_flight) < 4:
            time.sleep(0.01)
        with trouble(store):
            reached.set()
            with pytest.raises(StoreError, match=r"paid replies wait in memory.* 5 of 20 answers"):
                run.result()
            with pytest.raises(StoreError):
                client.complete_many(requests)
    client._state.send = send
    if new_client:
        client = Client(store, send=send, api_base=server.url)
    assert all(answer.text for answer in client.complete_many(requests))
    assert server.calls == 20
    assert client._state.in_flight == {}


def test_a_disk_that_is_full_at_the_start_stops_the_run_before_anything_is_paid(
    store: Store, server: Server
) -> None:
    client = Client(store, send=send, api_base=server.url)
    with full(store), pytest.raises(StoreError, match=r"0 of 3 answers are cached"):
        client.complete_many([ask(f"question {i}") for i in range(3)])
    assert server.calls == 0


def test_a_thread_that_cannot_be_started_ends_the_run_and_not_the_next(
    store: Store, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(store, send=send, api_base=server.url, budget=Budget(calls=1))
    with monkeypatch.context() as patch:
        patch.setattr("workbench.llm.calls.attempts.THREADS", Threads())
        patch.setattr("threading.Thread.start", Mock(side_effect=RuntimeError("no thread left")))
        with pytest.raises(RuntimeError, match="no thread left"):
            client.complete(ask())
    assert client.complete(ask()).text == "answer to: hello"
