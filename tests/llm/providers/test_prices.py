"""What a call costs is what LiteLLM's own calculator says, whatever the model's name and price list."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.llm.wire import ROOT, ask
from workbench.llm import provider
from workbench.llm.client import Client
from workbench.llm.preview import preview
from workbench.llm.preview.estimates import Estimate
from workbench.llm.remote.listed import listed
from workbench.llm.remote.prices import bill, longest, most, price
from workbench.store import Store
from workbench.types import Request

MODELS = [
    "openai/gpt-5",
    "openai/gpt-5-pro",
    "openai/o3",
    "openai/ft:gpt-4o-mini-2024-07-18:my-company::1",
    "azure/gpt-4o",
    "anthropic/claude-opus-4-6",
    "anthropic/claude-sonnet-4-5",
    "gemini/gemini-2.5-pro",
    "gemini/gemini-2.5-flash",
    "vertex_ai/gemini-2.5-pro",
    "vertex_ai/claude-sonnet-4-5",
    "bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0",
    "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "bedrock/converse/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "bedrock/us-east-1/anthropic.claude-v2:1",
    "bedrock/eu.amazon.nova-pro-v1:0",
    "mistral/mistral-large-latest",
    "deepseek/deepseek-chat",
    "together_ai/meta-llama/Meta-Llama-3-70B-Instruct-Turbo",
]


def usage(read: int, written: int, **more: int) -> dict[str, Any]:
    """A reply's counts, as LiteLLM gives them: `cached` and `stored` input, `reasoning` output."""
    cached, stored = more.get("cached", 0), more.get("stored", 0)
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_creation_tokens": stored},
        "completion_tokens_details": {"reasoning_tokens": more.get("reasoning", 0)},
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": stored,
    }


COUNTS = {
    "plain": usage(1000, 100),
    "cached": usage(1000, 100, cached=400),
    "reasoning": usage(1000, 900, reasoning=800),
    "above 200k": usage(250_000, 100, cached=1000),
}


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("model", MODELS)
def test_a_call_costs_what_litellm_calculates(model: str, counts: str) -> None:
    assert bill(model, {"usage": COUNTS[counts]}) == pytest.approx(
        calculated(model, COUNTS[counts])
    )


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize("model", [m for m in MODELS if "claude" in m])
def test_input_that_the_provider_writes_to_its_cache_costs_what_litellm_calculates(
    model: str,
) -> None:
    stored = usage(1000, 100, cached=300, stored=500)
    assert bill(model, {"usage": stored}) == pytest.approx(calculated(model, stored))


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize("tier", ["priority", "flex", "default"])
@pytest.mark.parametrize("model", MODELS)
def test_a_call_of_another_service_tier_costs_what_litellm_calculates(
    model: str, tier: str
) -> None:
    served = [bill(model, {"usage": counts, "service_tier": tier}) for counts in COUNTS.values()]
    assert served == pytest.approx([calculated(model, counts, tier) for counts in COUNTS.values()])


def test_the_service_tier_that_a_reply_names_wins_over_the_requests() -> None:
    reply = {"usage": COUNTS["plain"]}
    as_asked = bill("openai/gpt-5", reply, "priority")
    assert as_asked == pytest.approx(1000 * 2.5e-6 + 100 * 2e-5)
    assert bill("openai/gpt-5", reply | {"service_tier": "default"}, "priority") == as_asked / 2


def test_a_budget_and_a_preview_count_the_price_of_the_service_tier(store: Store) -> None:
    def ends(**parameters: object) -> tuple[float | None, float]:
        request = Request("p", "openai/gpt-5", ask().messages, {"max_tokens": 100, **parameters})
        return most(request), preview(Client(store), [request]).together.live[1]

    assert ends(service_tier="flex") == pytest.approx([dollars / 2 for dollars in ends()])
    estimates = [Estimate("p", "openai/gpt-5", 1, 100, tier=tier) for tier in ("", "priority")]
    plain, fast = (preview(Client(store), [], [one]).together.live[1] for one in estimates)
    assert fast == pytest.approx(2 * plain)


def calculated(model: str, counts: dict[str, Any], tier: str | None = None) -> float:
    litellm = provider.load()
    reply = litellm.ModelResponse(
        model=model.partition("/")[2], usage=litellm.Usage(**counts), choices=[]
    )
    return float(litellm.completion_cost(reply, model=model, service_tier=tier))


def test_an_unknown_model_has_no_price_and_another_providers_is_not_taken() -> None:
    assert price("hosted_vllm/gpt-4o-mini") is None
    assert price("openai/claude-sonnet-4-5") is None
    assert listed("openai/nothing") == {}


NAMED = [
    name
    for file in (ROOT / "README.md", *sorted(Path(ROOT / "experiments").glob("*.yaml")))
    for name in re.findall(
        r"\b((?:openai|anthropic|gemini|mistral|together_ai)/[\w./-]+\w)", file.read_text()
    )
]


@pytest.mark.parametrize("model", sorted(set(NAMED)))
def test_every_model_that_the_readme_or_an_experiment_names_has_a_price(model: str) -> None:
    assert price(model) is not None


def test_a_call_without_a_limit_may_cost_as_much_as_the_models_longest_reply() -> None:
    request = Request("p", "gemini/gemini-2.5-pro", ask().messages)
    assert longest(request) == 65_536
    assert most(request) == pytest.approx(65_536 * 1e-5, rel=0.01)
    limited = Request("p", "gemini/gemini-2.5-pro", ask().messages, {"max_tokens": 100})
    assert most(limited) < 0.01
