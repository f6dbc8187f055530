"""A limit of money limits: what is unknown is never zero, and what a person gives is checked."""

import asyncio
import math
import sqlite3
from contextlib import closing, suppress

import pytest

import workbench as wb
from tests.llm.server import Server, reply_to
from workbench.errors import BadInputError, BudgetError
from workbench.llm import calls
from workbench.llm.money import Budget, litellm, price


def test_no_model_of_litellms_table_is_free():
    assert price(wb.Request("p", "anthropic/claude-opus-4-1", []), 1000, 1000) != 0
    free = []
    for name, entry in litellm().model_cost.items():
        provider = entry.get("litellm_provider", "")
        if provider in {"github_copilot", "chatgpt"} or name == "sample_spec":
            continue  # LiteLLM asks the network for their key
        model = name if name.startswith(f"{provider}/") else f"{provider}/{name}"
        cost = price(wb.Request("p", model, []), 1000, 1000)
        if cost is not None and not 0 < cost < math.inf:
            free.append(model)
    assert not free


def test_a_model_is_free_if_it_runs_here_or_a_person_says_so(monkeypatch):
    local, named = (
        wb.Request("p", "embedded/parser", []),
        wb.Request("p", "hosted_vllm/qwen", []),
    )
    assert (price(local, 9, 9), price(named, 9, 9)) == (0.0, None)
    monkeypatch.setenv("WORKBENCH_FREE", "ollama/llama3, hosted_vllm/*")
    assert price(named, 9, 9) == 0.0


def test_a_price_of_zero_is_refused_under_a_limit_of_dollars(cache, ask, monkeypatch):
    monkeypatch.setattr(litellm(), "cost_per_token", lambda *_, **__: (0.0, 0.0))
    with Server() as server:
        client = wb.Client(cache, api_base=server.url, budget=wb.Budget(dollars=5))
        with pytest.raises(BudgetError, match="WORKBENCH_FREE"):
            client.complete(ask(1)[0])
    assert not server.requests


def replies(usage):
    body = reply_to({"messages": [{"content": "a"}]})
    if usage is None:
        del body["usage"]
    else:
        body["usage"] = usage
    return lambda *_: (200, body, {})


@pytest.mark.parametrize(
    "usage", [None, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}]
)
def test_a_reply_without_usage_costs_what_was_reserved(cache, ask, usage):
    with Server(respond=replies(usage)) as server:
        client = wb.Client(cache, api_base=server.url, budget=wb.Budget(dollars=0.001))
        with pytest.raises(BudgetError):
            client.complete_many(ask(50, max_tokens=100))
        assert 0.0008 < client.budget.spent <= 0.001
        assert client.ledger.total().unpriced == server.calls < 50


@pytest.mark.parametrize("cost", [-375.0, math.nan, math.inf, "1", True])
def test_a_cost_that_is_no_amount_is_unknown(cache, ask, cost):
    reply = {"choices": [{"message": {"content": "a"}}], "cost": cost}
    client = wb.Client(cache, send=wb.scripted([reply]), budget=wb.Budget(dollars=1))
    answer = client.complete(ask(1, max_tokens=100)[0])
    assert answer.cost is None or cost is True
    assert client.budget.spent > 0


def test_negative_usage_does_not_refill_a_budget(cache, ask):
    usage = {"prompt_tokens": -(10**9), "completion_tokens": -5, "total_tokens": -5}
    with Server(respond=replies(usage)) as server:
        client = wb.Client(cache, api_base=server.url, budget=wb.Budget(dollars=1))
        assert client.complete(ask(1, max_tokens=100)[0]).fault == "malformed"
        assert client.budget.spent > 0


def test_a_model_that_ignores_its_limit_is_known_under_every_prompt(cache):
    expensive = {"choices": [{"message": {"content": "a"}}], "cost": 0.6}
    requests = [
        wb.Request(
            f"prompt {n}",
            "openai/gpt-4o",
            [{"role": "user", "content": "q"}],
            {"max_tokens": 5},
            n,
        )
        for n in range(64)
    ]
    client = wb.Client(
        cache, send=wb.scripted([expensive] * 64), budget=wb.Budget(dollars=1)
    )
    with pytest.raises(BudgetError):
        client.complete_many(requests)
    assert client.budget.spent <= 4 * 0.6


@pytest.mark.parametrize(
    "make",
    [
        lambda _: wb.Budget(calls="1"),
        lambda _: wb.Budget(calls=1.5),
        lambda _: wb.Budget(calls=-1),
        lambda _: wb.Budget(dollars="5"),
        lambda _: wb.Budget(dollars=-1),
        lambda _: wb.Budget(math.nan),
        lambda cache: wb.Client(cache, at_once=0),
        lambda cache: wb.Client(cache, at_once="4"),
        lambda cache: wb.Client(cache, retries=-1),
        lambda cache: wb.Client(cache, timeout=0),
        lambda cache: wb.Client(cache, timeout="9"),
    ],
)
def test_a_number_that_a_person_gives_is_checked(cache, make):
    with pytest.raises(BadInputError, match="it must be"):
        make(cache)


def test_a_limit_of_calls_holds_for_models_of_this_process(cache, ask):
    wb.register("counted", lambda *_: {"choices": [{"message": {"content": "a"}}]}, "1")
    client = wb.Client(cache, budget=wb.Budget(calls=3))
    with pytest.raises(BudgetError, match="3 calls is used up"):
        client.complete_many(ask(5, "counted/m"))
    assert (client.budget.made, len(cache.read("SELECT key FROM calls"))) == (3, 3)
    assert wb.Client(cache, offline=True).complete_many(ask(3, "counted/m"))


def test_an_error_names_the_limit_that_is_set_whatever_other_processes_do(
    cache, ask, monkeypatch
):
    asyncio.run(wb.Budget(calls=1, name="shared").reserve(cache, ask(1)[0]))
    reached = Budget._reached

    def after_anothers_end(budget, needed):
        with (
            closing(sqlite3.connect(cache.path, timeout=0)) as other,
            suppress(sqlite3.OperationalError),  # locked
            other,
        ):
            other.execute("UPDATE budgets SET under_way = 0")
        return reached(budget, needed)

    monkeypatch.setattr(Budget, "_reached", after_anothers_end)
    mine = wb.Budget(calls=1, name="shared")
    with pytest.raises(BudgetError, match="the budget of 1 calls is used up"):
        asyncio.run(mine.reserve(cache, ask(1)[0]))


def test_the_longest_reply_is_what_the_price_list_says():
    def longest(model, **parameters):
        return calls.longest(wb.Request("p", model, [], parameters))

    limits = calls._limits()
    unlisted = []
    for name, entry in litellm().model_cost.items():
        most = entry.get("max_output_tokens")
        is_chat = entry.get("mode") == "chat" and isinstance(most, int)
        model = f"{entry.get('litellm_provider')}/{name}"
        if is_chat and "/" not in name and model not in limits:
            unlisted.append((model, most))
    assert unlisted
    assert [(model, longest(model)) for model, _ in unlisted] == unlisted
    assert longest("openai/gpt-4o", max_tokens=7) == 7
    assert longest("openai/gpt-4o", max_completion_tokens=8) == 8
    assert longest("mistral/gpt-4o") == 128_000  # another provider's model of that name
