import subprocess
import sys

import pytest

from tests.llm.wire import ROOT, ask
from workbench.errors import BudgetError
from workbench.llm.budget import Budget, Ledger
from workbench.llm.client import Client
from workbench.llm.remote.prices import cost, most, price
from workbench.llm.scripted import Scripted
from workbench.store import Store
from workbench.types import Completion, Request, Usage

MODEL = ask().model


def test_prices_are_read_without_importing_litellm() -> None:
    script = (
        "import sys; from workbench.llm.remote.prices import price\n"
        "assert price('openai/gpt-4o-mini').input > 0\n"
        "print('litellm' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "False\n"


def test_a_cost_counts_cached_input_at_its_own_price() -> None:
    found = price(MODEL)
    assert found is not None
    assert found.cached < found.input < found.output
    fresh, cached = cost(MODEL, Usage(1000, 100)), cost(MODEL, Usage(1000, 100, 1000))
    assert fresh == pytest.approx(1000 * found.input + 100 * found.output)
    assert cached == pytest.approx(1000 * found.cached + 100 * found.output)


def test_a_model_without_a_price_costs_an_unknown_amount_not_nothing() -> None:
    assert cost("hosted_vllm/my-own", Usage(1000, 100)) is None


def test_another_providers_price_is_not_taken() -> None:
    assert price("hosted_vllm/gpt-4o-mini") is None


def test_a_total_says_how_many_calls_without_a_price_it_leaves_out() -> None:
    ledger = Ledger()
    ledger.paid(ask(), Completion("x", MODEL, cost=0.5))
    ledger.paid(ask(), Completion("x", MODEL, cost=None))
    assert "2 calls paid: $0.5000 and 1 call of unknown price" in str(ledger)


def test_calls_paid_now_and_cached_answers_are_counted_apart(store: Store) -> None:
    Client(store, send=Scripted(["one two"])).complete(ask("cached"))
    client = Client(store, send=Scripted(["one two three"]))
    client.complete(ask("cached"))
    client.complete(ask("new"))
    total = client.ledger.total()
    assert (total.calls, total.hits) == (1, 1)
    assert (total.output_tokens, total.cached_output_tokens) == (3, 2)
    assert total.cost == pytest.approx(cost(MODEL, Usage(1, 3)))
    assert total.cached_cost == pytest.approx(cost(MODEL, Usage(1, 2)))


def test_calls_are_counted_by_prompt_question_system_and_model(store: Store) -> None:
    client = Client(store, send=Scripted(otherwise="x"))
    messages = ask().messages
    for number, (prompt, question, system) in enumerate(
        [("generate", "q1", "CHASE"), ("generate", "q2", "CHASE"), ("fix", "q2", "CHESS")]
    ):
        client.complete(Request(prompt, MODEL, messages, {}, number, question, system))
    ledger = client.ledger
    assert {name: tally.calls for name, tally in ledger.by("prompt").items()} == {
        "generate": 2,
        "fix": 1,
    }
    assert {name: tally.calls for name, tally in ledger.by("question").items()} == {
        "q1": 1,
        "q2": 2,
    }
    assert {name: tally.calls for name, tally in ledger.by("system").items()} == {
        "CHASE": 2,
        "CHESS": 1,
    }
    assert ledger.by("model")[MODEL] == ledger.total()


def test_a_budget_is_never_exceeded_and_the_run_goes_on_when_it_is_raised(store: Store) -> None:
    requests = [ask(f"question {i}", max_tokens=100) for i in range(40)]
    each = most(requests[0])
    assert each is not None
    budget = Budget(each * 10)
    client = Client(store, send=Scripted(otherwise="word " * 100), budget=budget)
    with pytest.raises(BudgetError, match=r"budget of .* is reached.*of 40 answers are cached"):
        client.complete_many(requests)
    assert 0 < budget.spent <= each * 10
    kept = store.read("SELECT count(*) FROM calls")[0][0]
    model = Scripted(otherwise="x")
    Client(store, send=model, budget=Budget(each * 100)).complete_many(requests)
    assert len(model.history) == 40 - kept


def test_a_budget_may_be_a_number_of_calls(store: Store) -> None:
    model = Scripted(otherwise="x")
    client = Client(store, send=model, budget=Budget(calls=7))
    with pytest.raises(BudgetError, match="budget of 7 calls"):
        client.complete_many([ask(f"question {i}") for i in range(40)])
    assert len(model.history) == 7


def test_a_budget_in_dollars_is_refused_for_a_model_without_a_price(store: Store) -> None:
    client = Client(store, send=Scripted(), budget=Budget(1.0))
    with pytest.raises(BudgetError, match="no price is known for hosted_vllm/x"):
        client.complete(Request("p", "hosted_vllm/x", ask().messages))


def test_cached_answers_count_for_no_budget(store: Store) -> None:
    Client(store, send=Scripted(["x"])).complete(ask())
    assert Client(store, budget=Budget(calls=0)).complete(ask()).text == "x"


def reply(tokens: int) -> dict[str, object]:
    usage = {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens}
    choice = {"message": {"content": "x"}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": usage}


def test_a_dollar_buys_one_reply_of_60_000_tokens_where_no_limit_is_set(store: Store) -> None:
    model = Scripted([reply(60_000) for _ in range(9)])
    budget = Budget(1.0)
    client = Client(store, send=model, budget=budget)
    asked = [Request("p", "gemini/gemini-2.5-pro", ask(f"{n}").messages) for n in range(9)]
    with pytest.raises(BudgetError, match="a lower max_tokens"):
        client.complete_many(asked)
    assert len(model.history) == 1
    assert budget.spent == pytest.approx(0.6, rel=0.01)


def test_a_server_that_counts_no_tokens_is_refused_under_a_budget_in_dollars(store: Store) -> None:
    silent = [{"choices": [{"message": {"content": "x"}}]} for _ in range(9)]
    client = Client(store, send=Scripted(silent), budget=Budget(1.0), at_once=1)
    with pytest.raises(BudgetError, match=r"no token counts come from .*--calls"):
        client.complete_many([ask(f"{n}", max_tokens=100) for n in range(9)])
    assert client.ledger.total().unpriced == 1
    assert "1 calls paid: $0.0000 and 1 call of unknown price" in str(client.ledger)


def test_a_server_that_counts_no_tokens_is_asked_under_a_budget_in_calls(store: Store) -> None:
    silent = Scripted([{"choices": [{"message": {"content": "x"}}]} for _ in range(3)])
    client = Client(store, send=silent, budget=Budget(calls=3))
    answers = client.complete_many([ask(f"{n}") for n in range(3)])
    assert [answer.cost for answer in answers] == [None] * 3
