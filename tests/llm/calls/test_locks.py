import subprocess
import sys
import time

import pytest

from tests.llm.test_cache import call
from workbench.llm.cache import Cache
from workbench.llm.calls.locks import CallLocks
from workbench.store import Store


def test_a_lock_is_given_once(store: Store) -> None:
    assert CallLocks(store).acquire("call:1", 60) == "acquired"
    assert CallLocks(store).acquire("call:1", 60) == "locked"


def test_a_lock_that_is_released_is_given_again(store: Store) -> None:
    locks = CallLocks(store)
    locks.acquire("call:1", 60)
    locks.release("call:1")
    assert locks.acquire("call:1", 60) == "acquired"


def test_putting_an_answer_ends_its_lock(store: Store) -> None:
    CallLocks(store).acquire("call:1", 60)
    Cache(store).put(call())
    assert store.read("SELECT * FROM call_locks") == []
    assert CallLocks(store).acquire("call:1", 60) == "cached"


def test_a_lock_ends_with_its_process(store: Store) -> None:
    script = (
        "import sys; from pathlib import Path; from workbench.store import Store\n"
        "from workbench.llm.calls.locks import CallLocks\n"
        "print(CallLocks(Store(Path(sys.argv[1]))).acquire('call:1', 3600))"
    )
    command = [sys.executable, "-W", "ignore", "-c", script, str(store.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "acquired\n"
    assert CallLocks(store).acquire("call:1", 60) == "acquired"


def test_a_lock_of_another_host_ends_when_its_time_has_passed_here(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.write() as connection:
        connection.execute("INSERT INTO call_locks VALUES ('call:1', 'other/host 1 x', 0.1, 9e9)")
    locks = CallLocks(store)
    monkeypatch.setattr(time, "time", lambda: -1e9)  # no clock of the wall counts
    assert locks.acquire("call:1", 60) == "locked"
    time.sleep(0.15)
    assert locks.acquire("call:1", 60) == "acquired"
