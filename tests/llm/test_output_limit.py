"""How long a reply may be: the tokens of its answer, and of the thought of a model that thinks."""

from collections.abc import Mapping
from typing import Any

import pytest

from workbench.llm.client import Client
from workbench.llm.parameters import call_parameters, left_out, with_more_room
from workbench.llm.provider import Refusal
from workbench.llm.remote.output_room import with_less_room
from workbench.store import Store
from workbench.types import Request

PLAIN, THINKING = "openai/gpt-4o-mini", "openai/gpt-5"


def limit(model: str, answer: int | None, given: Mapping[str, Any]) -> Any:
    return call_parameters(model, 0.0, answer, given).get("max_tokens")


def test_the_limit_is_that_of_the_answer_and_more_for_a_model_that_thinks() -> None:
    assert limit(PLAIN, 512, {}) == 512
    assert limit(THINKING, 512, {}) == 512 + 8192
    assert limit("openai/my-own-model", 512, {}) == 512


def test_a_prompt_without_a_limit_sets_none() -> None:
    assert call_parameters(PLAIN, 0.0, None, {}) == {"temperature": 0.0}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"reasoning_effort": "none"}, 512),
        ({"reasoning_effort": "low"}, 512 + 4096),
        ({"reasoning_effort": "high"}, 512 + 32768),
        ({"reasoning_effort": "some word of tomorrow"}, 512 + 8192),
        ({"thinking": {"type": "enabled", "budget_tokens": 20000}}, 512 + 20000),
    ],
)
@pytest.mark.parametrize("model", [THINKING, "openai/my-own-model"])
def test_a_thought_gets_the_room_that_the_users_parameters_give_it(
    model: str, given: Mapping[str, Any], expected: int
) -> None:
    assert limit(model, 512, given) == expected


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_users_own_limit_takes_the_place_of_ours(name: str) -> None:
    assert call_parameters(THINKING, 0.0, 512, {name: 99}) == {"temperature": 0.0, name: 99}
    assert call_parameters(THINKING, 0.0, 512, {name: None}) == {"temperature": 0.0}


def test_no_limit_is_above_the_most_that_the_model_writes() -> None:
    assert limit("openai/gpt-4", 6144, {}) == 4096
    longest = Request("p", "openai/gpt-4", (), {"max_tokens": 4096})
    assert with_more_room(longest, thought=True) == longest


def test_more_room_is_twice_the_limit_and_a_thoughts_where_the_thought_was_cut_off() -> None:
    request = Request("p", "openai/my-own-model", (), {"max_tokens": 512, "seed": 1})
    assert with_more_room(request, thought=False).parameters == {"max_tokens": 1024, "seed": 1}
    assert with_more_room(request, thought=True).parameters["max_tokens"] == 1024 + 8192


VLLM = (
    "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 "
    "tokens and your request has 1200 input tokens (4096 > 4096 - 1200)."
)
OLDER = (
    "This model's maximum context length is 4,097 tokens. However, you requested 5,096 tokens (1,000 in the "
    "messages, 4,096 in the completion). Please reduce the length."
)


@pytest.mark.parametrize(
    ("reason", "room"),
    [
        (VLLM, 2896),
        (OLDER, 3097),
        ("maximum context length is 4096 tokens, and the prompt has at least 1 input tokens", 2048),
        ("input length and `max_tokens` exceed context limit: 198000 + 4096 > 200000", 2000),
        (
            "max_tokens is too large: 4096. This model supports at most 2048 completion tokens.",
            2048,
        ),
        ("max_tokens: 4096 > 1024, which is the maximum allowed number of output tokens", 1024),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 1024]", 1024),
        ("`max_tokens` must be less than or equal to `512`, the maximum value for it", 512),
    ],
)
def test_a_refused_output_limit_becomes_the_one_that_the_refusal_allows(
    reason: str, room: int
) -> None:
    shorter = with_less_room(Request("p", PLAIN, (), {"max_tokens": 4096, "seed": 1}), reason)
    assert shorter is not None
    assert shorter.parameters == {"max_tokens": room, "seed": 1}


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"max_tokens": 16}, VLLM),  # the limit would grow
        ({"seed": 1}, VLLM),
        ({"max_tokens": 4096}, VLLM.replace("1200 input", "5000 input")),  # no room at all
        ({"max_tokens": 4096}, "This model's maximum context length is 4096 tokens."),
        ({"max_tokens": 4096}, "n must be at least 1"),
    ],
)
def test_a_refusal_that_no_shorter_reply_would_mend_changes_nothing(
    parameters: Mapping[str, Any], reason: str
) -> None:
    assert with_less_room(Request("p", PLAIN, (), parameters), reason) is None


def test_the_fitted_limit_belongs_to_one_request_and_is_found_in_the_cache_again(
    store: Store,
) -> None:
    sent: list[Mapping[str, Any]] = []

    def send(request: Request, *_: object) -> Any:
        sent.append(request.parameters)
        if len(request.messages[0]["content"]) > 10 and request.parameters["max_tokens"] == 4096:
            raise Refusal("rejected", VLLM)
        return {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}

    long, short = (
        Request("p", "openai/own", ({"role": "user", "content": text},), {"max_tokens": 4096})
        for text in ("a long question", "short")
    )
    client = Client(store, send=send)
    assert [client.complete(request).text for request in (long, short)] == ["x", "x"]
    assert [parameters["max_tokens"] for parameters in sent] == [4096, 2896, 4096]
    assert left_out(store, "openai/own") == []
    again = Client(store, offline=True)
    assert again.complete(long).cached
