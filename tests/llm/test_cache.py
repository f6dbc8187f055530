import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.llm.wire import ask
from workbench.errors import StoreError
from workbench.llm.cache import rows
from workbench.llm.cache.keys import request_key
from workbench.llm.cache.rows import Call, unpack
from workbench.llm.cache.table import Cache
from workbench.llm.cache.transfer import calls
from workbench.store import Store
from workbench.types import Request, Usage

HERE = "http://127.0.0.1:8000/v1"


def call(key: str = "call:1", text: str = "answer", content: object = "question") -> Call:
    messages = ({"role": "user", "content": content},)
    return Call(
        *(key, text, "stop", Usage(10, 5, 2), 0.25, HERE, "openai/m", messages, {"seed": 1}, 3),
        *("generate/direct", {"id": "x"}, 1.5, 1700000000.0),
    )


BASE = ask("hello", temperature=0.5, top_p=0.9, seed=1)


@pytest.mark.parametrize(
    "other",
    [
        ask("hello!", temperature=0.5, top_p=0.9, seed=1),
        ask("hello", temperature=0.6, top_p=0.9, seed=1),
        ask("hello", temperature=0.5, top_p=0.8, seed=1),
        ask("hello", temperature=0.5, top_p=0.9, seed=2),
        ask("hello", temperature=0.5, top_p=0.9),
        ask("hello", temperature=0.5, top_p=0.9, seed=1, extra_body={"top_k": 5}),
        ask("hello", temperature=0.5, top_p=0.9, seed=1, max_tokens=100),
        ask("hello", temperature=0.5, top_p=0.9, seed=1, sample=1),
        Request("p", "openai/gpt-4o", BASE.messages, BASE.parameters),
        Request("p", "azure/gpt-4o-mini", BASE.messages, BASE.parameters),
        Request("p", BASE.model, [*BASE.messages, *BASE.messages], BASE.parameters),
        Request("p", BASE.model, [{"role": "system", "content": "hello"}], BASE.parameters),
    ],
)
def test_whatever_a_reply_depends_on_changes_the_key(other: Request) -> None:
    assert request_key(other, HERE) != request_key(BASE, HERE)


def test_another_endpoint_is_another_key() -> None:
    assert request_key(BASE, HERE) != request_key(BASE, "http://127.0.0.1:8001/v1")


def test_what_a_call_is_for_and_the_order_of_its_parameters_are_not_in_the_key() -> None:
    parameters = dict(reversed(BASE.parameters.items()))
    other = Request("q", BASE.model, list(BASE.messages), parameters, 0, "question 1", "CHESS")
    assert request_key(other, HERE) == request_key(BASE, HERE)


def test_keys_of_committed_requests_do_not_change() -> None:
    assert request_key(ask("hello", temperature=0), "") == (
        "call:8682245b4cf49ce14973d41fadf249a0e2e8768dfb34c6e4d7d9ec668dfa0de1"
    )


def test_the_cache_returns_the_stored_reply_and_no_other(store: Store) -> None:
    Cache(store).put(call())
    found = Cache(store).get("call:1")
    assert found is not None
    assert (found.text, found.usage, found.cost, found.cached) == (
        "answer",
        Usage(10, 5, 2),
        0.25,
        True,
    )
    assert Cache(store).get("call:2") is None


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
CONTENTS = st.one_of(
    TEXTS,
    st.lists(TEXTS.map(lambda text: text * 100), max_size=8).map("\n\n".join),
    st.none(),
    st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS}), max_size=2),
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,  # on a busy machine the first examples take seconds
    max_examples=50,
)
@given(contents=st.lists(CONTENTS, max_size=4), text=TEXTS)
def test_a_call_is_read_back_as_it_was(store: Store, contents: list[object], text: str) -> None:
    with store.write() as connection:
        connection.execute("DELETE FROM calls")
    messages = tuple({"role": "user", "content": content} for content in contents)
    put = Call(
        *("call:1", text, "stop", Usage(), None, HERE, "openai/m", messages, {"a": [1, 0.5]}, 0),
        *("p", {"choices": []}, 0.5, 1.0),
    )
    Cache(store).put(put)
    assert list(calls(store)) == [put]


def test_a_message_without_content_stays_without(store: Store) -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "1"}]}
    put = Call(
        *("call:1", "", "stop", Usage(), None, "", "openai/m", (message,), {}, 0),
        *("p", {}, 0.5, 1.0),
    )
    Cache(store).put(put)
    assert list(calls(store)) == [put]


def test_any_sqlite_tool_shows_the_messages_as_sent(store: Store) -> None:
    content = "\n\n".join(f"CREATE TABLE t{i} (" + "c, " * 200 + ")" for i in range(9)) + "\n\nWhy?"
    Cache(store).put(call(content=content))
    assert store.read("SELECT number, role, content FROM messages") == [(0, "user", content)]


def test_what_prompts_share_is_stored_once(store: Store) -> None:
    schema = "CREATE TABLE t (c)\n\n" * 300
    for i in range(50):
        Cache(store).put(call(f"call:{i}", content=f"{schema}Question {i}"))
    stored = store.read("SELECT sum(length(text)) FROM texts")[0][0]
    inline = store.read("SELECT sum(length(messages)) FROM calls")[0][0]
    assert stored <= len(schema)
    assert inline < 50 * 200


def test_a_second_put_of_the_same_key_keeps_the_first_reply(store: Store) -> None:
    cache = Cache(store)
    cache.put(call(text="first"))
    cache.put(call(text="second"))
    assert store.read("SELECT text FROM calls") == [("first",)]


def test_refreshing_replaces_the_cached_reply(store: Store) -> None:
    cache = Cache(store)
    cache.put(call(text="first"))
    assert cache.get("call:1")
    cache.put(call(text="second"), replace=True)
    found = cache.get("call:1")
    assert found is not None
    assert found.text == "second"


def test_a_filtered_reply_is_stored_as_such(store: Store) -> None:
    with store.write() as connection:
        rows.insert(connection, call())
        connection.execute("UPDATE calls SET finish_reason = 'content_filter', text = ''")
    found = Cache(store).get("call:1")
    assert found is not None
    assert found.fault == "filtered"


def test_a_full_disk_keeps_the_reply_until_there_is_space(store: Store) -> None:
    cache = Cache(store)
    pages = store.read("PRAGMA page_count")[0][0]
    store._writer.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StoreError, match=r"disk full: .*lab\.sqlite.*1 paid replies wait"):
        cache.put(call(text="x" * 100_000))
    assert cache.get("call:1") is None
    store._writer.execute("PRAGMA max_page_count=1000000")
    cache.put(call("call:2"))
    assert store.read("SELECT key FROM calls ORDER BY key") == [("call:1",), ("call:2",)]


def test_threads_that_put_at_once_lose_nothing(store: Store) -> None:
    cache = Cache(store)
    threads = [
        threading.Thread(target=lambda n=n: [cache.put(call(f"call:{n} {i}")) for i in range(20)])
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.read("SELECT count(*) FROM calls") == [(160,)]


def test_a_row_of_a_missing_part_says_which(store: Store, tmp_path: Path) -> None:
    Cache(store).put(call(content="a shared part, " * 100))
    row = store.read(f"SELECT {rows.COLUMNS} FROM calls")[0]
    with pytest.raises(KeyError):
        unpack(row, {})
