"""Every way a provider can fail, over real HTTP and through LiteLLM."""

import pytest

from tests.llm.server import Server
from tests.llm.wire import ask
from workbench.errors import ProviderError
from workbench.llm.budget import Budget
from workbench.llm.calls import pauses
from workbench.llm.client import Client
from workbench.llm.provider import Refusal
from workbench.llm.scripted import Scripted
from workbench.store import Store

pytestmark = pytest.mark.usefixtures("litellm")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    def pause(attempt: int, retry_after: float = 0.0) -> float:
        return original(attempt, retry_after) if retry_after else 0.01

    original = pauses.pause
    monkeypatch.setattr("workbench.llm.calls.refusals.pause", pause)
    monkeypatch.setattr("workbench.llm.calls.limits._FIRST_PAUSE", 0.01)


@pytest.mark.parametrize(
    ("plan", "fault"),
    [
        ("429", "rate_limit"),
        ("429-after", "rate_limit"),
        ("500", "server"),
        ("503", "server"),
        ("529", "server"),
        ("reset", "connection"),
        ("cut", "connection"),
        ("half", "malformed"),
        ("html", "malformed"),
    ],
)
def test_a_passing_fault_is_asked_again_and_counted(
    store: Store, server: Server, plan: str, fault: str
) -> None:
    server.plan.append(plan)
    client = Client(store, api_base=server.url)
    answer = client.complete(ask())
    assert answer.text == "answer to: hello"
    assert server.asked.total() == 2
    assert client.ledger.retried == {fault: 1}
    assert f"sent again after: {fault} 1" in str(client.ledger)


def test_retry_after_is_waited_for_by_all_calls(store: Store, server: Server) -> None:
    server.plan.append("429-after")
    server.retry_after = "0.4"
    Client(store, api_base=server.url, at_once=1).complete_many([ask("a"), ask("b")])
    assert server.times[1] - server.times[0] >= 0.4


def test_a_retry_after_of_an_hour_is_capped(
    store: Store, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.llm.calls.pauses.LONGEST_WAIT", 0.1)
    monkeypatch.setattr("workbench.llm.calls.refusals.LONGEST_WAIT", 0.1)
    server.plan.append("429-after")
    server.retry_after = "3600"
    assert Client(store, api_base=server.url).complete(ask()).text


@pytest.mark.parametrize(
    ("plan", "fault", "said"),
    [
        ("empty", "empty", "no choices"),
        ("400", "rejected", "not supported"),
    ],
)
def test_a_requests_own_failure_is_a_value_and_is_not_cached(
    store: Store, server: Server, plan: str, fault: str, said: str
) -> None:
    server.plan.append(plan)
    client = Client(store, api_base=server.url)
    answer = client.complete(ask())
    assert (answer.text, answer.fault) == ("", fault)
    assert said in answer.error
    assert server.asked.total() == 1
    assert client.ledger.failed == {fault: 1}
    assert client.complete(ask()).text == "answer to: hello"


def test_a_reply_without_text_is_kept_and_paid_once(store: Store, server: Server) -> None:
    server.plan.append("null")
    client = Client(store, api_base=server.url)
    answer, again = client.complete(ask()), client.complete(ask())
    assert (answer.text, answer.fault, again.cached) == ("", "", True)
    assert server.calls == 1


def test_a_fault_that_lasts_ends_after_the_retries_and_says_how_often(
    store: Store, server: Server
) -> None:
    server.plan.extend(["500"] * 3)
    client = Client(store, api_base=server.url, retries=2)
    one, other = client.complete_many([ask("a")])[0], client.complete(ask("b"))
    assert one.fault == "server"
    assert "tried 3 times" in one.error
    assert other.text == "answer to: b"
    assert (client.ledger.retried, client.ledger.failed) == ({"server": 2}, {"server": 1})


def test_a_body_that_trickles_is_given_up_at_the_deadline(store: Store, server: Server) -> None:
    server.plan.append("trickle")
    client = Client(store, api_base=server.url, timeout=0.4, deadline=0.5)
    answer = client.complete(ask())
    assert answer.fault == "timeout"
    assert client.ledger.failed == {"timeout": 1}


def test_a_reply_slower_than_the_time_out_is_sent_once_and_stored_when_it_comes(
    store: Store, server: Server
) -> None:
    server.seconds = 1.0
    budget = Budget(calls=10)
    client = Client(store, api_base=server.url, timeout=0.2, budget=budget)
    answer = client.complete(ask())
    assert answer.fault == "timeout"
    assert "perhaps paid, so it is not sent again" in answer.error
    assert "sent without a whole reply, perhaps paid: 1" in str(client.ledger)
    patient = Client(store, api_base=server.url)
    assert (
        patient.complete(ask()).text == "answer to: hello"
    )  # waits for the first client's attempt
    assert server.asked.total() == 1
    assert (client.ledger.perhaps_paid, client.ledger.total().calls, budget.made) == (0, 1, 1)


def test_a_time_out_that_the_sender_reports_is_not_repeated_and_counts_for_the_budget(
    store: Store,
) -> None:
    model = Scripted([Refusal("timeout", "read timed out", again=True)])
    budget = Budget(calls=1)
    client = Client(store, send=model, budget=budget)
    assert client.complete(ask()).fault == "timeout"
    assert (client.ledger.perhaps_paid, budget.made) == (1, 1)


def test_a_torn_reply_counts_as_perhaps_paid_and_a_refused_connection_does_not(
    store: Store, server: Server
) -> None:
    server.plan.append("half")
    torn = Client(store, api_base=server.url)
    torn.complete(ask())
    assert torn.ledger.perhaps_paid == 1
    nobody = Client(store, api_base="http://127.0.0.1:1/v1", retries=1)
    nobody.complete(ask())
    assert nobody.ledger.perhaps_paid == 0


def test_a_server_that_is_not_there_is_a_failure_of_each_item(store: Store) -> None:
    client = Client(store, api_base="http://127.0.0.1:1/v1", retries=1)
    answer = client.complete(ask())
    assert answer.fault == "connection"


def test_a_filtered_reply_is_kept_as_such_and_counted_apart(store: Store, server: Server) -> None:
    server.plan.append("filter")
    client = Client(store, api_base=server.url)
    assert client.complete(ask()).fault == "filtered"
    again = client.complete(ask())
    assert (again.fault, again.cached) == ("filtered", True)
    assert server.asked.total() == 1
    assert client.ledger.flagged == {"content_filter": 2}


def test_a_reply_cut_off_by_its_limit_is_flagged_and_kept_for_that_limit_only(
    store: Store, server: Server
) -> None:
    server.plan.append("length")
    client = Client(store, api_base=server.url)
    assert client.complete(ask(max_tokens=5)).finish_reason == "length"
    assert client.complete(ask(max_tokens=5)).cached
    assert client.complete(ask(max_tokens=500)).finish_reason == "stop"
    assert client.ledger.flagged == {"length": 2}


@pytest.mark.parametrize("plan", ["401", "402", "404", "quota"])
def test_a_refused_key_or_account_stops_the_run_keeps_all_and_says_how_to_go_on(
    store: Store, server: Server, plan: str
) -> None:
    server.plan.extend(["ok"] * 5 + [plan] * 100)
    client = Client(store, api_base=server.url, at_once=1)
    requests = [ask(f"question {i}") for i in range(20)]
    with pytest.raises(ProviderError, match=r"5 of 20 answers .* run the same again"):
        client.complete_many(requests)
    assert server.asked.total() == 6
    server.plan.clear()
    assert all(answer.text for answer in Client(store, api_base=server.url).complete_many(requests))
    assert server.calls == 20


def test_every_fault_in_one_run_ends_as_it_should_and_is_counted(
    store: Store, server: Server
) -> None:
    plan = [
        "429",
        "429-after",
        "500",
        "reset",
        "half",
        "cut",
        "html",
        "empty",
        "null",
        "filter",
        "length",
        "400",
        "ok",
        "ok",
    ]
    server.plan.extend(plan)
    client = Client(store, api_base=server.url, at_once=4)
    answers = client.complete_many([ask(f"question {i}") for i in range(40)])
    assert len(answers) == 40
    assert client.ledger.retried == {
        "rate_limit": 2,
        "server": 1,
        "connection": 2,
        "malformed": 2,
    }
    assert client.ledger.failed == {"empty": 1, "rejected": 1}
    assert client.ledger.flagged == {"content_filter": 1, "length": 1}
    assert client.ledger.total().calls == 39
