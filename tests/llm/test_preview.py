from pathlib import Path

import orjson
import pytest

from tests.llm.wire import ask
from workbench.errors import BadInputError
from workbench.llm.client import Client
from workbench.llm.preview import Estimate, preview, preview_file
from workbench.llm.remote.prices import cost
from workbench.llm.scripted import Scripted
from workbench.store import Store
from workbench.types import Request, Usage

MODEL = ask().model


def test_cached_answers_are_counted(store: Store) -> None:
    requests = [ask(f"question {i}") for i in range(10)]
    Client(store, send=Scripted(otherwise="x")).complete_many(requests[:4])
    found = preview(Client(store), [*requests, requests[9]])
    assert (found.requests, found.cached, found.new) == (11, 5, 6)
    assert "11 requests: 5 cached, 6 calls to make" in str(found)


def test_a_preview_makes_no_call_and_changes_no_cache_file(store: Store) -> None:
    model = Scripted()
    client = Client(store, send=model)
    preview(client, [ask()])
    assert model.history == []
    assert str(client.ledger).startswith("0 calls\n")


def test_what_earlier_calls_took_narrows_the_range(store: Store) -> None:
    requests = [ask("word " * 100 + str(i), max_tokens=1000) for i in range(20)]
    before = preview(Client(store), requests)
    Client(store, send=Scripted(otherwise="one two three")).complete_many(requests[:10])
    after = preview(Client(store), requests[10:])
    exact = cost(MODEL, Usage(101, 3))
    assert exact is not None
    assert after.together.live[0] == pytest.approx(10 * exact, rel=0.05)
    assert after.together.live[1] == pytest.approx(10 * exact, rel=0.05)
    assert before.together.live[1] > 5 * before.together.live[0]


def test_a_limit_on_tokens_bounds_the_cost(store: Store) -> None:
    small = preview(Client(store), [ask("x", max_tokens=10)])
    large = preview(Client(store), [ask("x", max_tokens=1000)])
    assert small.together.live[1] < large.together.live[1]


def test_a_model_without_a_price_is_left_out_and_said(store: Store) -> None:
    found = preview(Client(store), [Request("p", "hosted_vllm/x", ask().messages)])
    assert found.together.unpriced == 1
    assert "1 call of unknown price" in str(found)


def test_calls_that_depend_on_replies_are_estimated_and_the_preview_says_so(store: Store) -> None:
    found = preview(Client(store), [ask()], [Estimate("fix", MODEL, 50, 2000)])
    assert (found.new, found.expected) == (1, 50)
    assert found.together.input[0] > 50 * 1000
    assert "about 50 more, whose prompts depend on replies: an estimate" in str(found)


def test_a_preview_of_no_calls_costs_nothing(store: Store) -> None:
    found = preview(Client(store), [])
    assert found.together.live == (0.0, 0.0)
    assert found.seconds == (0.0, 0.0)


def test_the_wait_is_at_least_that_of_one_call_and_at_most_that_of_one_prompt_after_another(
    store: Store,
) -> None:
    steps = [Estimate("generate", MODEL, 3, 2000), Estimate("fix", MODEL, 2, 2000)]
    found = preview(Client(store, at_once=1000), [], steps)
    assert found.seconds == (1.0, 40.0)  # a call takes 1 to 20 seconds, by a rule of thumb
    assert found.table().splitlines()[-1].endswith("  1 s to 40 s")


def test_a_saved_preview_holds_each_call_as_it_will_be_sent(store: Store, tmp_path: Path) -> None:
    client = Client(store, send=Scripted(otherwise="x"))
    client.complete_many([ask("a"), ask("b")])
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps(ask(text)) for text in "abxy"))
    told = str(preview_file(client, path))
    assert "4 requests: 2 cached, 2 calls to make" in told


def test_a_saved_preview_holds_estimates_of_calls_that_depend_on_replies(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "calls.jsonl"
    later = {"prompt": "fix", "model": MODEL, "calls": 300, "input_tokens": 1000}
    path.write_bytes(orjson.dumps(ask("a")) + b"\n" + orjson.dumps(later))
    told = str(preview_file(Client(store), path))
    assert "1 request: 0 cached, 1 call to make" in told
    assert "about 300 more, whose prompts depend on replies: an estimate" in told


@pytest.mark.parametrize("line", ["[]", "{", '{"prompt": "p"}', '{"calls": 1}', "3"])
def test_a_line_that_is_neither_call_nor_estimate_is_named(
    store: Store, tmp_path: Path, line: str
) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(orjson.dumps(ask("a")) + b"\n" + line.encode())
    with pytest.raises(BadInputError, match=r"line 2: .*expected a call .* or an estimate"):
        preview_file(Client(store), path)


def test_the_upper_end_counts_the_tokens_of_thinking(store: Store) -> None:
    def most(model: str, **parameters: object) -> float:
        return preview(
            Client(store), [Request("p", model, ask().messages, parameters)]
        ).together.live[1]

    limited = {"max_tokens": 9000}
    budget = {"thinking": {"type": "enabled", "budget_tokens": 4000}}
    assert most("openai/gpt-5", **limited) == pytest.approx(9000 * 1e-5, rel=0.01)
    assert most("openai/gpt-4o", **limited) == pytest.approx(1000 * 1e-5, rel=0.01)
    assert most("gemini/gemini-2.5-pro", **budget) == pytest.approx(5000 * 1e-5, rel=0.01)


def test_an_estimate_may_say_how_long_its_replies_are(store: Store) -> None:
    short, long = (Estimate("fix", "openai/gpt-5", 1, 100, limit) for limit in (50, 9000))
    ends = [preview(Client(store), [], [estimate]).together.live[1] for estimate in (short, long)]
    assert ends[1] - ends[0] == pytest.approx((9000 - 50) * 1e-5)


def test_an_estimate_without_a_limit_has_the_room_that_steps_give(store: Store) -> None:
    def most(model: str) -> float:
        return preview(Client(store), [], [Estimate("fix", model, 1, 0)]).together.live[1]

    assert most("openai/gpt-5") == pytest.approx((1000 + 8192) * 1e-5)
    assert most("openai/gpt-4o") == pytest.approx(1000 * 1e-5)


def test_calls_that_can_be_in_batches_are_priced_both_ways(store: Store) -> None:
    estimates = [
        Estimate("p", "openai/gpt-4.1", 10, 1000),
        Estimate("p", "anthropic/claude-sonnet-4-5", 10, 1000),
    ]
    (one, other) = (preview(Client(store), [], [estimate]) for estimate in estimates)
    assert one.together.batched == pytest.approx([cost / 2 for cost in one.together.live])
    assert "(in batches $" in str(one)
    assert other.together.batched == other.together.live
    assert "in batches" not in str(other)
