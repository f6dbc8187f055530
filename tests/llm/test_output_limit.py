"""How long a reply may be: the tokens of its answer, and of the thought of a model that thinks."""

from collections.abc import Mapping
from typing import Any

import pytest

from workbench.llm.parameters import call_parameters, with_more_room
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
