import time

from tests.llm.server import Server
from tests.llm.wire import ask
from workbench.llm.calls import limits
from workbench.llm.calls.limits import Limiter, pause
from workbench.llm.client import Client
from workbench.llm.provider import Refusal
from workbench.store import Store


def test_each_round_of_answers_allows_one_more_up_to_the_most() -> None:
    limiter = Limiter(start=4, most=6)
    for _ in range(4):
        limiter.start(print)
        limiter.end(answered=True)
    assert 4.8 < limiter.allowed < 5
    for _ in range(100):
        limiter.start(print)
        limiter.end(answered=True)
    assert limiter.allowed == 6


def test_the_429s_of_calls_that_were_under_way_together_halve_once() -> None:
    limiter = Limiter(start=8)
    started = time.monotonic()
    for _ in range(5):
        limiter.throttled(started, 0)
    assert limiter.allowed == 4
    limiter.throttled(time.monotonic(), 0)
    assert limiter.allowed == 2


def test_one_call_is_always_allowed() -> None:
    limiter = Limiter(start=1)
    limiter.throttled(time.monotonic(), 0)
    assert limiter.start(print)


def test_who_finds_it_full_is_rung_for_when_a_call_ends() -> None:
    rung = []
    limiter = Limiter(start=1)
    assert limiter.start(print)
    assert not limiter.start(lambda: rung.append("now"))
    limiter.end()
    assert rung == ["now"]


def test_nothing_is_sent_while_a_retry_after_lasts() -> None:
    limiter = Limiter()
    limiter.throttled(time.monotonic(), 0.5)
    assert not limiter.start(print)
    assert 0 < limiter.opens_in() <= 0.5
    time.sleep(limiter.opens_in())
    assert limiter.start(print)


def test_pauses_grow_are_jittered_and_capped() -> None:
    first = {pause(1) for _ in range(20)}
    assert len(first) > 1
    assert 0.5 <= min(first) <= max(first) <= 1.0
    assert pause(50) <= limits.LONGEST_WAIT
    assert 3 <= pause(1, retry_after=3) <= 3.3
    assert pause(1, retry_after=10**6) <= limits.LONGEST_WAIT * 1.1


def test_a_run_finds_the_rate_that_a_provider_allows(store: Store, server: Server) -> None:
    def send(request: object, key: str, url: str, seconds: float) -> dict[str, object]:
        from tests.llm import wire

        try:
            return wire.send(request, key, url, seconds)
        except Refusal as refusal:
            raise Refusal("rate_limit", "slow down", again=True, wait=0.02) from refusal

    server.capacity = 3
    server.seconds = 0.01
    client = Client(store, send=send, api_base=server.url, at_once=64)
    answers = client.complete_many([ask(f"question {i}") for i in range(150)])
    assert all(answer.text for answer in answers)
    assert server.calls == 150
    assert client.ledger.retried["rate_limit"] < 150
