"""Replies and refusals with nonsense in them: what the call cost stays right, and the answer is kept."""

import time
from typing import Any

import pytest

from tests.llm.conftest import CANARY
from tests.llm.providers.protocols import chat, error
from tests.llm.server import Server
from tests.llm.wire import ask
from workbench.errors import BadInputError
from workbench.llm.client import Client
from workbench.llm.remote.prices import price
from workbench.store import Store
from workbench.types import Completion

pytestmark = pytest.mark.usefixtures("litellm")

MODEL = "openai/gpt-4o-mini"


def answered(store: Store, server: Server, body: Any, status: int = 200) -> tuple[Completion, ...]:
    """The answer to that body, and the answer that is then cached for the same request."""
    server.respond = lambda _path, _body: (status, body, {})
    client = Client(store, api_base=server.url, retries=1)
    answer = client.complete(ask())
    return answer, client.cached(ask()) or Completion("", MODEL)


def counts(read: Any, written: Any, total: Any, **details: Any) -> dict[str, Any]:
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": total, **details}


IMPOSSIBLE = {
    "negative": counts(-100, -20, -120),
    "one negative": counts(100, -5000, 100),
    "a negative part": counts(100, 20, 120, prompt_tokens_details={"cached_tokens": -5000}),
    "beyond 64 bits": counts(10**30, 20, 10**30),
    "beyond SQLite's numbers": counts(2**63, 1, 2**63 + 1),
    "beyond any call": counts(10**12, 1, 10**12),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_counts_that_no_call_has_are_no_counts(store: Store, server: Server, name: str) -> None:
    for answer in answered(store, server, chat({"content": "hello"}, **IMPOSSIBLE[name])):
        assert (answer.text, answer.usage.input, answer.usage.output) == ("hello", 0, 0)
        assert answer.cost is None


PARTS = {
    "cached": {"prompt_tokens_details": {"cached_tokens": 5000}},
    "reasoning": {"completion_tokens_details": {"reasoning_tokens": 5000}},
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_that_is_larger_than_the_whole_never_lowers_the_cost(
    store: Store, server: Server, name: str
) -> None:
    rate = price(MODEL)
    assert rate
    least = min(100 * rate.cached, 20 * rate.output)
    answer, _ = answered(
        store, server, chat({"content": "hello"}, **counts(100, 20, 120, **PARTS[name]))
    )
    assert answer.cost
    assert answer.cost >= least


def test_half_a_character_is_replaced_and_the_answer_kept(store: Store, server: Server) -> None:
    for answer in answered(store, server, chat({"content": "a\ud800b"})):
        assert answer.text == "a\ufffdb"


def test_a_key_that_names_a_member_of_the_reply_is_not_kept(store: Store, server: Server) -> None:
    answered(store, server, chat({"content": "hello"}) | {CANARY: 1})
    files = [store.path, store.path.with_name(store.path.name + "-wal")]
    assert not any(CANARY.encode() in file.read_bytes() for file in files if file.exists())


def test_the_text_of_a_refusal_is_short_and_takes_no_time(store: Store, server: Server) -> None:
    began = time.monotonic()
    answer, _ = answered(store, server, error("x" * 100_000, "invalid"), 400)
    assert time.monotonic() - began < 5
    assert answer.fault == "rejected"
    assert len(answer.error) < 2_100


def test_the_text_of_a_refusal_has_no_signs_that_a_terminal_obeys(
    store: Store, server: Server
) -> None:
    answer, _ = answered(store, server, error("red \x1b[31m and \0 none", "invalid"), 400)
    assert "red \\u001b[31m and \\u0000 none" in answer.error


@pytest.mark.parametrize(
    ("status", "said", "code", "fault", "asked"),
    [
        (400, "The response was filtered", "content_filter", "filtered", 1),
        (400, "triggering Azure OpenAI's content management policy", "x", "filtered", 1),
        (409, "the request conflicts with another one", "conflict", "server", 2),
        (425, "too early", "early", "server", 2),
    ],
)
def test_each_refusal_is_of_its_kind(
    store: Store, server: Server, status: int, said: str, code: str, fault: str, asked: int
) -> None:
    answer, _ = answered(store, server, error(said, code), status)
    assert (answer.fault, server.asked.total()) == (fault, asked)


def test_an_answer_in_which_the_provider_failed_is_asked_again_and_not_kept(
    store: Store, server: Server
) -> None:
    body = chat({"content": "SELECT na"}, "error", **counts(100, 20, 120))
    body["choices"][0]["error"] = {"code": 502, "message": "the upstream is gone"}
    answer, cached = answered(store, server, body)
    assert (answer.fault, answer.text, cached.text) == ("server", "", "")
    assert "the upstream is gone" in answer.error
    assert server.asked.total() == 2


@pytest.mark.parametrize(
    "told",
    [
        {"message": "boom", "code": "server_error"},
        {"message": "boom", "code": None},
        {"message": "boom"},
        {},
        "boom",
        ["boom"],
    ],
    ids=str,
)
def test_a_body_of_status_200_that_has_an_error_alone_is_a_failed_call(
    store: Store, server: Server, told: Any
) -> None:
    answer, cached = answered(store, server, {"error": told})
    assert (bool(answer.fault), answer.text, cached.text) == (True, "", "")


@pytest.mark.parametrize("delay", [".s", "1.2.3s", f"{'9' * 400}h", f"{'9' * 400}s", "-1s", "٣s"])
def test_a_delay_that_is_no_number_is_asked_again_all_the_same(
    store: Store, server: Server, delay: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.llm.calls.pauses.LONGEST_WAIT", 0.1)
    monkeypatch.setattr("workbench.llm.calls.refusals.LONGEST_WAIT", 0.1)
    refused = (429, error(f"slow down: try again in {delay}", "rate_limit_exceeded"), {})
    answers = iter([refused])
    plain = (200, chat({"content": "hello"}), {})
    server.respond = lambda _path, _body: next(answers, plain)
    assert Client(store, api_base=server.url).complete(ask()).text == "hello"


@pytest.mark.parametrize("url", ["http://[::1/v1", "http://localhost:port/v1"])
def test_an_address_that_is_no_url_is_one_clear_error(store: Store, url: str) -> None:
    with pytest.raises(BadInputError, match="is no URL"):
        Client(store, api_base=url).complete(ask())
