"""A worker sends each row to the driver once, in parts, and reads the keys of the driver's cached calls."""

import pytest

from workbench.cluster import rows
from workbench.cluster.call_keys import CallKeys, KnownKeys
from workbench.cluster.rows import UnsentRows, insert
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.scripted import scripted
from workbench.types import Request


@pytest.fixture
def ask():
    """Asks a question, whose answer is cached in a store; returns the key of the call."""

    def asked(store, question):
        client = Client(store, send=scripted(otherwise="an answer"))
        message = {"role": "user", "content": question}
        return client.complete(Request("p", "some/model", (message,))).key

    return asked


@pytest.fixture
def stores(tmp_path):
    with Cache(tmp_path / "worker.sqlite") as worker, Cache(tmp_path / "driver.sqlite") as driver:
        yield worker, driver


def calls(store):
    return {key for (key,) in store.read("SELECT key FROM calls")}


def test_rows_are_sent_in_parts_and_the_last_is_marked(stores, ask, monkeypatch):
    worker, driver = stores
    monkeypatch.setattr(rows, "_BYTES", 1)
    made = {ask(worker, str(number)) for number in range(5)}
    unsent = UnsentRows(worker)
    ends = []
    for part, last in unsent.parts():
        insert(driver, part)
        ends.append(last)
    assert ends == [False] * 4 + [True]
    assert calls(driver) == made
    assert list(unsent.parts()) == [({}, True)]


def test_a_part_that_did_not_arrive_is_sent_again(stores, ask):
    worker, _ = stores
    ask(worker, "a")
    unsent = UnsentRows(worker)
    lost, _ = next(unsent.parts())
    again, _ = next(unsent.parts())
    assert lost == again


def test_rows_of_other_tables_are_refused(stores):
    with pytest.raises(ValueError, match="workers send no rows of runs"):
        insert(stores[1], {"runs": [("a",)]})


def test_a_worker_knows_the_calls_that_the_driver_has(stores, ask):
    _, driver = stores
    keys, known = CallKeys(driver), KnownKeys()
    first, unknown = ask(driver, "a"), "call:" + "0" * 64
    known.add(keys.after(known.count))
    second = ask(driver, "b")
    assert known.among([first, second, unknown]) == [first]
    known.add(keys.after(known.count))
    assert known.among([first, second, unknown]) == [first, second]
    assert keys.after(known.count) == b""
