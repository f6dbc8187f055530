import subprocess
import sys
import time

import pytest

from tests.llm.test_cache import call
from workbench.llm.cache import Cache
from workbench.llm.claims import Claims
from workbench.store import Store


def test_a_claim_is_given_once(book: Store) -> None:
    assert Claims(book).claim("call:1", 60) == "mine"
    assert Claims(book).claim("call:1", 60) == "held"


def test_a_claim_that_is_released_is_given_again(book: Store) -> None:
    claims = Claims(book)
    claims.claim("call:1", 60)
    claims.release("call:1")
    assert claims.claim("call:1", 60) == "mine"


def test_putting_an_answer_ends_its_claim(book: Store) -> None:
    Claims(book).claim("call:1", 60)
    Cache(book).put(call())
    assert book.read("SELECT * FROM claims") == []
    assert Claims(book).claim("call:1", 60) == "there"


def test_a_claim_ends_with_its_process(book: Store) -> None:
    script = (
        "import sys; from pathlib import Path; from workbench.store import Store\n"
        "from workbench.llm.claims import Claims\n"
        "print(Claims(Store(Path(sys.argv[1]))).claim('call:1', 3600))"
    )
    command = [sys.executable, "-W", "ignore", "-c", script, str(book.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "mine\n"
    assert Claims(book).claim("call:1", 60) == "mine"


def test_a_claim_of_another_host_ends_when_its_time_has_passed_here(
    book: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with book.write() as connection:
        connection.execute("INSERT INTO claims VALUES ('call:1', 'other/host 1 x', 0.1, 9e9)")
    claims = Claims(book)
    monkeypatch.setattr(time, "time", lambda: -1e9)  # no clock of the wall counts
    assert claims.claim("call:1", 60) == "held"
    time.sleep(0.15)
    assert claims.claim("call:1", 60) == "mine"
