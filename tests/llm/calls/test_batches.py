"""Calls in batches: the same keys and answers as live ones, and each answer paid and kept once."""

import random
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.llm import wire
from tests.llm.batch_server import Files
from tests.llm.batch_wire import Wire
from tests.llm.server import Server
from tests.llm.wire import ask, python
from workbench.errors import BudgetError
from workbench.llm.budget import Budget
from workbench.llm.calls.batches import following, gathering
from workbench.llm.calls.call_state import CallState
from workbench.llm.client import Client
from workbench.llm.scripted import Scripted
from workbench.store import Store
from workbench.types import Completion

REQUESTS = [ask(f"question {number}") for number in range(9)]
TEXTS = [f"answer to: question {number}" for number in range(9)]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "QUIET", 0.5)
    monkeypatch.setattr(following, "POLL", (0.01, 0.02))
    monkeypatch.setattr(following, "SETTLING", 0.05)


@pytest.fixture
def files(server: Server) -> Iterator[Files]:
    return Files(server)


def client(store: Store, server: Server, **options: object) -> Client:
    return Client(store, send=wire.send, api_base=server.url, batch=Wire(), **options)  # type: ignore[arg-type]


def unread(store: Store) -> int:
    return int(store.read("SELECT count(*) FROM batch_items")[0][0])


def test_a_batch_gives_the_same_keys_and_answers_as_live_calls(
    store: Store, server: Server, files: Files, tmp_path: Path
) -> None:
    batched = client(store, server).complete_many(REQUESTS)
    with Store(tmp_path / "live.sqlite") as other:
        live = Client(other, send=wire.send, api_base=server.url).complete_many(REQUESTS)
    assert [(a.key, a.text, a.usage) for a in batched] == [(a.key, a.text, a.usage) for a in live]
    assert len(files.batches) == 1
    assert not unread(store)


def test_more_calls_than_a_provider_takes_live_share_a_batch(
    store: Store, server: Server, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "QUIET", 1.0)
    client(store, server).complete_many([ask(f"question {number}") for number in range(300)])
    assert [batch["request_counts"]["total"] for batch in files.batches.values()] == [300]


def test_the_price_of_a_batch_is_half(store: Store, server: Server, files: Files) -> None:
    asked = client(store, server)
    (answer,) = asked.complete_many(REQUESTS[:1])
    live = 100 * 0.15e-6 + 20 * 0.6e-6
    assert answer.cost == pytest.approx(live / 2)
    assert asked.ledger.total().cost == pytest.approx(live / 2)
    assert files.paid.total() == 1


def test_the_calls_of_many_runs_at_one_step_share_a_batch(
    store: Store, server: Server, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "QUIET", 0.5)
    asked = client(store, server)
    threads = [threading.Thread(target=asked.complete, args=(one,)) for one in REQUESTS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(files.batches) == 1
    assert asked.ledger.total().calls == len(REQUESTS)


@pytest.mark.parametrize("fault", ["expired", "errors"])
def test_expired_and_failed_items_are_asked_again_alone(
    store: Store, server: Server, files: Files, fault: str
) -> None:
    files.plan.append(fault)
    answers = client(store, server).complete_many(REQUESTS)
    assert [answer.text for answer in answers] == TEXTS
    assert sorted(files.asked.values()) == [1] * 6 + [2] * 3
    assert set(files.paid.values()) == {1}


def test_a_file_of_results_that_is_cut_off_is_read_again_and_nothing_is_asked_twice(
    store: Store, server: Server, files: Files
) -> None:
    files.plan.append("cut")
    answers = client(store, server).complete_many(REQUESTS)
    assert [answer.text for answer in answers] == TEXTS
    assert set(files.asked.values()) == {1}


@pytest.mark.parametrize(("lost", "made"), [("after", 1), ("before", 1)])
def test_a_batch_whose_id_did_not_arrive_is_found_by_its_name_and_not_sent_again(
    store: Store, server: Server, files: Files, lost: str, made: int
) -> None:
    files.lost.append(lost)
    answers = client(store, server).complete_many(REQUESTS)
    assert [answer.text for answer in answers] == TEXTS
    assert len(files.batches) == made


def test_a_batch_that_cannot_be_looked_for_is_asked_for_once_more(
    store: Store, server: Server, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Wire, "find", lambda *_: "")
    files.lost.append("after")
    answers = client(store, server).complete_many(REQUESTS)
    assert [answer.text for answer in answers] == TEXTS
    assert len(files.batches) == 2


def test_an_item_that_fails_its_batch_is_refused_and_the_others_are_sent_again(
    store: Store, server: Server, files: Files
) -> None:
    files.plan.append("invalid")
    answers = client(store, server).complete_many(REQUESTS)
    assert [answer.fault for answer in answers] == ["", "rejected", *[""] * 7]
    assert set(files.paid.values()) == {1}


def test_a_provider_that_takes_no_more_tokens_gets_smaller_batches(
    store: Store, server: Server, files: Files
) -> None:
    files.plan.append("enqueued")
    answers = client(store, server).complete_many(REQUESTS)
    assert [answer.text for answer in answers] == TEXTS
    sizes = [batch["request_counts"]["total"] for batch in files.batches.values()]
    assert sizes == [9, 4, 4, 1]


def _stop_after_sending(asked: Client, files: Files) -> None:
    """Send the requests as a batch, and stop the client before its answers are read."""
    files.looks = 10**6

    def stop() -> None:
        while not files.batches:
            time.sleep(0.01)
        with asked.stopped():
            time.sleep(1)

    stopping = threading.Thread(target=stop)
    stopping.start()
    with pytest.raises(KeyboardInterrupt):
        asked.complete_many(REQUESTS)
    stopping.join()
    files.looks = 1


def test_a_stopped_run_sends_nothing_more_and_the_next_takes_up_its_answers(
    store: Store, server: Server, files: Files
) -> None:
    _stop_after_sending(client(store, server), files)
    answers = client(store, server).complete_many(REQUESTS)
    assert [answer.text for answer in answers] == TEXTS
    assert set(files.asked.values()) == {1}


def test_a_call_whose_batch_is_read_while_it_starts_is_not_sent_again(
    store: Store, server: Server, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stop_after_sending(client(store, server), files)
    slow, other = client(store, server), client(store, server)
    key = slow.key(REQUESTS[0])
    looks = []
    cached = CallState.cached_many

    def look(state: CallState, wanted: Sequence[str]) -> dict[str, Completion]:
        found = cached(state, wanted)
        if key in wanted:
            looks.append(found)
            if len(looks) == 2:  # the run has locked the call, and is about to send it
                other.complete(REQUESTS[1])  # reads the whole batch
        return found

    monkeypatch.setattr(CallState, "cached_many", look)
    assert slow.complete(REQUESTS[0]).text == TEXTS[0]
    assert looks[:2] == [{}, {}]
    assert set(files.asked.values()) == {1}


def test_a_live_run_waits_for_the_batch_of_a_run_that_was_stopped(
    store: Store, server: Server, files: Files
) -> None:
    files.looks = 1_000_000  # the batch is not answered before its run is killed
    process = python(_KILLED, store.path, server.url)
    while not files.batches:
        time.sleep(0.01)
    process.kill()
    process.wait()
    files.looks = 1
    live = Client(store, send=wire.send, api_base=server.url)
    live._state.batches._sent._service = Wire()  # type: ignore[union-attr]
    answers = live.complete_many([REQUESTS[0], ask("another")])
    assert [answer.text for answer in answers] == [TEXTS[0], "answer to: another"]
    assert files.paid.total() == 9
    assert server.calls == 1
    assert not unread(store)  # also the answers for which nobody waited are stored
    assert Client(store, offline=True, api_base=server.url).complete(REQUESTS[8]).text == TEXTS[8]


_KILLED = """
from tests.llm.batch_wire import Wire
from workbench.llm.calls.batches import following, gathering
gathering.QUIET, following.POLL, following.SETTLING = 0.5, (0.01, 0.02), 0.5
client = Client(store, send=send, api_base=sys.argv[2], batch=Wire())
print("begun", flush=True)
answers = client.complete_many([ask(f"question {number}") for number in range(9)])
print(*(answer.text for answer in answers), sep="\\n")
"""


@pytest.mark.slow
def test_twenty_kills_at_random_moments_lose_nothing_and_pay_nothing_twice(
    tmp_path: Path, server: Server
) -> None:
    moments = random.Random(18)
    for number in range(10):
        files = Files(server, looks=moments.randint(1, 4))
        files.plan.extend(moments.choice(["", "expired", "cut", "errors"]) for _ in range(3))
        store = tmp_path / str(number) / "lab.sqlite"
        for _ in range(2):
            with python(_KILLED, store, server.url, stdout=subprocess.PIPE) as process:
                assert process.stdout
                process.stdout.readline()
                time.sleep(moments.uniform(0, 0.3))
                process.kill()
        with python(_KILLED, store, server.url, stdout=subprocess.PIPE) as process:
            assert process.communicate(timeout=120)[0].splitlines()[1:] == TEXTS
        assert set(files.paid.values()) == {1}, files.paid
        with Store(store) as kept:
            assert not unread(kept)


def test_a_budget_holds_for_batches_at_their_price(
    store: Store, server: Server, files: Files
) -> None:
    most = (60 * 0.15e-6 + 16_384 * 0.6e-6) / 2
    asked = client(store, server, budget=Budget(2.5 * most))
    answers = asked.complete_many(REQUESTS)
    assert [answer.text for answer in answers] == TEXTS
    assert len(files.batches) > 1  # two calls fit at first
    poor = client(store, server, budget=Budget(most / 2))
    with pytest.raises(BudgetError, match="is reached"):
        poor.complete(ask("another"))


def test_a_model_without_batches_is_asked_live_with_one_line(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Client(store, send=Scripted(["a", "b"]), batch=True)
    request = ask()
    other = [
        type(request)("p", "anthropic/claude-sonnet-4-5", request.messages, {}, n) for n in (0, 1)
    ]
    assert {answer.text for answer in asked.complete_many(other)} == {"a", "b"}
    line = "anthropic/claude-sonnet-4-5: LiteLLM creates no batches of anthropic; its calls are sent live\n"
    assert capsys.readouterr().err == line
