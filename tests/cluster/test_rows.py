"""What travels between a worker and the driver: new rows once, in parts, and the keys of cached calls."""

import pytest

from workbench.cluster import rows
from workbench.cluster.call_keys import CallKeys, KnownKeys
from workbench.cluster.rows import NewRows, insert
from workbench.llm.client import Client
from workbench.llm.scripted import Scripted
from workbench.store import Store
from workbench.types import Request


@pytest.fixture
def ask():
    """Asks a question, whose answer is cached in a store; returns the key of the call."""

    def asked(store, question):
        client = Client(store, send=Scripted(otherwise="an answer"))
        message = {"role": "user", "content": question}
        return client.complete(Request("p", "some/model", (message,))).key

    return asked


@pytest.fixture
def stores(tmp_path):
    with Store(tmp_path / "worker.sqlite") as worker, Store(tmp_path / "driver.sqlite") as driver:
        yield worker, driver


def calls(store):
    return {key for (key,) in store.read("SELECT key FROM calls")}


def test_rows_come_in_parts_of_which_the_last_says_so(stores, ask, monkeypatch):
    worker, driver = stores
    monkeypatch.setattr(rows, "_BYTES", 1)
    made = {ask(worker, str(number)) for number in range(5)}
    new = NewRows(worker)
    ends = []
    for part, last in new.take():
        insert(driver, part)
        ends.append(last)
    assert ends == [False] * 4 + [True]
    assert calls(driver) == made
    assert list(new.take()) == [({}, True)]


def test_a_part_that_did_not_arrive_comes_again(stores, ask):
    worker, _ = stores
    ask(worker, "a")
    new = NewRows(worker)
    lost, _ = next(new.take())
    again, _ = next(new.take())
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
