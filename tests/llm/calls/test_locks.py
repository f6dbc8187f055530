"""A lock is held by one thread of one process, and ends with it, whatever the disk does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.canonical import content_hash
from workbench.errors import StoreError
from workbench.llm.calls.locks import CallLocks
from workbench.store import Store

KEY, OTHER = content_hash("call", 1), content_hash("call", 2)
SCRIPT = (
    "import sys; from pathlib import Path; from workbench.store import Store\n"
    "from workbench.llm.calls.locks import CallLocks\n"
    "print(CallLocks(Store(Path(sys.argv[1]))).acquire(sys.argv[2]), flush=True)\n"
    "sys.stdin.read()"
)


def another_process(store: Store, key: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(store.path), key]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )


def said(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def test_a_lock_is_given_once_to_all_clients_of_a_process(store: Store) -> None:
    assert CallLocks(store).acquire(KEY)
    assert not CallLocks(store).acquire(KEY)
    with Store(store.path) as again:
        assert not CallLocks(again).acquire(KEY)
    CallLocks(store).release(KEY)


def test_a_lock_that_is_released_is_given_again(store: Store) -> None:
    locks = CallLocks(store)
    locks.acquire(KEY)
    locks.acquire(OTHER)
    locks.release(KEY)
    assert locks.acquire(KEY)
    assert not locks.acquire(OTHER)
    locks.release(KEY)
    locks.release(OTHER)


def test_a_lock_of_another_process_holds_while_it_lives_and_ends_with_it(store: Store) -> None:
    process = another_process(store, KEY)
    assert said(process) == "True"
    assert not CallLocks(store).acquire(KEY)
    process.kill()
    process.communicate()
    assert CallLocks(store).acquire(KEY)
    CallLocks(store).release(KEY)


def test_a_lock_of_this_process_holds_for_others_after_another_lock_ended(store: Store) -> None:
    locks = CallLocks(store)
    locks.acquire(KEY)
    locks.acquire(OTHER)
    locks.release(OTHER)
    process = another_process(store, KEY)
    assert said(process) == "False"
    process.communicate("")
    locks.release(KEY)


def test_a_forked_process_has_none_of_its_parents_locks(store: Store) -> None:
    locks = CallLocks(store)
    locks.acquire(KEY)
    if not (child := os.fork()):
        os._exit(locks.acquire(KEY))
    assert os.waitpid(child, 0)[1] == 0
    locks.release(KEY)


def test_a_lock_file_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    with Store(tmp_path / "lab.sqlite") as store:
        (tmp_path / "lab.sqlite.locks").mkdir()
        with pytest.raises(
            StoreError, match=r"lab\.sqlite\.locks cannot be locked: Is a directory"
        ):
            CallLocks(store).acquire(KEY)
