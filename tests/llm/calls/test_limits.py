import heapq
import random
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from tests.llm import wire
from tests.llm.server import Server
from tests.llm.wire import ask
from workbench.llm.calls import limits
from workbench.llm.calls.limits import Limiter
from workbench.llm.calls.pauses import LONGEST_WAIT, pause
from workbench.llm.client import Client
from workbench.llm.provider import Refusal
from workbench.store import Store


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


def wake() -> None:
    """What a limiter calls when there is room; these tests look for themselves."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(limits, "time", clock)
    return clock


def send(limiter: Limiter) -> float:
    """Send a call if one is allowed now, and return the time; 0 if none is allowed."""
    if allowed := limiter.start(wake):
        limiter.sends()
    return allowed


def refused_of(
    accepts: Callable[[float], bool],
    clock: Clock,
    number: int,
    refusal: float = 0.1,
    cost: float = 0.0,
) -> int:
    """How many 429s, each after `refusal` seconds, a limiter meets until so many calls are answered after a second.

    The process computes for `cost` seconds before it sends an allowed call, and reads replies after that.
    """
    limiter = Limiter()
    unsent: deque[float] = deque()
    under_way: list[tuple[float, float, bool]] = []
    answered = refused = 0
    while answered < number:
        while answered + len(under_way) + len(unsent) < number and (now := limiter.start(wake)):
            unsent.append(now)
        if unsent:
            clock.now += cost
            limiter.sends()
            fine = accepts(clock.now)
            end = clock.now + (1.0 if fine else refusal)
            heapq.heappush(under_way, (end, unsent.popleft(), fine))
        else:
            times = [under_way[0][0]] if under_way else []
            opens = limiter.opens_in()  # zero where it waits for an answer
            due = opens and answered + len(under_way) < number
            times += [clock.now + opens + 1e-6] if due else []
            clock.now = max(clock.now, min(times))
        while under_way and under_way[0][0] <= clock.now:
            _, sent, fine = heapq.heappop(under_way)
            limiter.end()
            if fine:
                answered += 1
                limiter.accepted(sent)
            else:
                refused += 1
                limiter.throttled(sent)
    return refused


def sliding(most: int, seconds: float) -> Callable[[float], bool]:
    """A server that accepts so many calls in any so many seconds."""
    times: deque[float] = deque()

    def accepts(now: float) -> bool:
        while times and times[0] <= now - seconds:
            times.popleft()
        if len(times) < most:
            times.append(now)
            return True
        return False

    return accepts


def bucket(most: int, seconds: float) -> Callable[[float], bool]:
    """A server that has so many tokens at first and gets as many again in so many seconds."""
    state = [float(most), 1000.0]

    def accepts(now: float) -> bool:
        state[0] = min(most, state[0] + (now - state[1]) * most / seconds)
        state[1] = now
        state[0] -= (fine := state[0] >= 1)
        return fine

    return accepts


def at_once(most: int) -> Callable[[float], bool]:
    """A server that accepts a call while fewer than so many are under way, a second each."""
    return sliding(most, 1.0)


def by_chance(share: float) -> Callable[[float], bool]:
    """A server that refuses such a share of all calls."""
    chance = random.Random(0)
    return lambda _: chance.random() >= share


@pytest.mark.parametrize("refusal", [0.002, 0.1])
@pytest.mark.parametrize("most", [3, 10, 64, 256, 1000])
def test_as_many_calls_are_under_way_as_a_provider_takes_at_once(
    clock: Clock, most: int, refusal: float
) -> None:
    """They take at most a third longer than if the number had been known."""
    refused_of(at_once(most), clock, 12 * most, refusal)
    assert clock.now - 1000 < 16


@pytest.mark.parametrize("cost", [0.001, 0.0015, 0.003])
def test_a_slow_process_finds_the_limit_with_few_429s(clock: Clock, cost: float) -> None:
    assert refused_of(at_once(256), clock, 10_000, 0.002, cost) < 200
    assert clock.now - 1000 < 1.25 * max(10_000 / 256, 10_000 * cost)


@pytest.mark.parametrize("share", [0.01, 0.03])
def test_429s_by_chance_change_nothing(clock: Clock, share: float) -> None:
    refused_of(by_chance(share), clock, 4000, 0.002)
    assert clock.now - 1000 < 2 * 4000 / 64


@pytest.mark.parametrize(
    ("limit", "seconds", "refused"),
    [((sliding, 50, 60), 720, 45), ((bucket, 50, 60), 500, 45), ((sliding, 10, 1), 100, 75)],
    ids=["50 a minute", "a bucket of 50", "10 a second"],
)
def test_a_rate_limit_known_only_from_429s_is_found_with_few_of_them(
    clock: Clock, limit: tuple[Any, int, int], seconds: float, refused: int
) -> None:
    """Of 400 calls; 54 of the first 64 are refused where 10 a second are accepted."""
    server, most, period = limit
    assert refused_of(server(most, period), clock, 400) <= refused
    assert clock.now - 1000 <= seconds


def test_as_many_calls_as_the_user_allows_are_sent_at_once() -> None:
    limiter = Limiter(most=64)
    assert [send(limiter) > 0 for _ in range(65)] == [True] * 64 + [False]


def test_more_calls_are_sent_at_once_with_time_until_a_429(clock: Clock) -> None:
    limiter = Limiter(most=1024)
    sent = 0
    for _ in range(20):
        while send(limiter):
            sent += 1
        clock.now += limiter.opens_in()
    assert sent == 1024
    assert clock.now - 1000 < 1


def started(limiter: Limiter, number: int) -> list[float]:
    """When so many calls were sent."""
    return [send(limiter) for _ in range(number)]


def refuse(limiter: Limiter, sent: float, wait: float = 0.0) -> None:
    """End a call with a 429."""
    limiter.end()
    limiter.throttled(sent, wait)


def test_after_a_429_a_single_call_tries(clock: Clock) -> None:
    limiter = Limiter()
    refuse(limiter, started(limiter, 5)[0])
    assert send(limiter)
    assert not send(limiter)


def test_a_trial_without_a_429_lets_the_others_go_on(clock: Clock) -> None:
    limiter = Limiter()
    refuse(limiter, started(limiter, 5)[0])
    send(limiter)
    clock.now += limiter.opens_in() + 1e-6
    assert all(started(limiter, 59))


def test_no_more_calls_are_sent_at_once_after_a_429_and_a_refused_trial(clock: Clock) -> None:
    limiter = Limiter(most=1024)
    refuse(limiter, started(limiter, 65)[0])
    refuse(limiter, send(limiter))
    limiter.end()
    limiter.accepted(1000.0)
    clock.now += limiter.opens_in()
    assert send(limiter)
    clock.now += 10
    assert limiter.window == 63
    assert not send(limiter)


def test_a_late_429_lowers_the_limit_by_one_call_whatever_has_ended_since(clock: Clock) -> None:
    limiter = Limiter(most=1024)
    first, *late, _ = started(limiter, 64)
    refuse(limiter, first)
    refuse(limiter, send(limiter))
    for _ in range(40):  # they were accepted
        limiter.end()
        limiter.accepted(1000.0)
    for sent in late[:10]:
        refuse(limiter, sent)
    assert limiter.window == 63 - 10


def test_calls_that_are_all_refused_begin_one_pause(clock: Clock) -> None:
    limiter = Limiter()
    for sent in started(limiter, 5):
        refuse(limiter, sent)
    refuse(limiter, send(limiter))
    assert 1.0 <= limiter.opens_in() <= 1.1


def test_each_429_after_a_pause_doubles_the_next(clock: Clock) -> None:
    limiter = Limiter()
    refuse(limiter, send(limiter))
    for seconds in (1, 2, 4, 8, 16, 32, 60, 60):
        clock.now += limiter.opens_in()
        refuse(limiter, send(limiter))
        assert seconds <= limiter.opens_in() <= 1.1 * seconds


def test_a_caller_refused_by_a_full_limit_is_called_back_when_a_call_ends() -> None:
    called = []
    limiter = Limiter(most=1)
    assert send(limiter)
    assert not limiter.start(lambda: called.append("now"))
    limiter.end()
    assert called == ["now"]


def test_the_next_in_line_is_called_back_when_a_call_is_sent_at_a_pace(clock: Clock) -> None:
    called = []
    limiter = Limiter()
    limiter.interval = 0.1
    started(limiter, 2)
    waits = [lambda: called.append("first"), lambda: called.append("second")]
    assert not any(limiter.start(wait) for wait in waits)
    clock.now += limiter.opens_in()
    assert limiter.start(waits[0])
    assert called == ["second"]


def test_the_first_in_line_is_called_back_when_another_asks_in_time(clock: Clock) -> None:
    called = []
    limiter = Limiter()
    limiter.interval = 0.1
    started(limiter, 2)
    assert not limiter.start(lambda: called.append("first"))
    clock.now += limiter.opens_in()
    assert not send(limiter)
    assert called == ["first"]


def test_nothing_is_sent_while_a_retry_after_lasts(clock: Clock) -> None:
    limiter = Limiter()
    refuse(limiter, send(limiter), 5)
    assert not send(limiter)
    assert 5 <= limiter.opens_in() <= 5.5
    clock.now += limiter.opens_in()
    assert send(limiter)


def test_pauses_grow_are_jittered_and_capped() -> None:
    first = {pause(1) for _ in range(20)}
    assert len(first) > 1
    assert 0.5 <= min(first) <= max(first) <= 1.0
    assert pause(50) <= LONGEST_WAIT
    assert 3 <= pause(1, retry_after=3) <= 3.3
    assert pause(1, retry_after=10**6) <= LONGEST_WAIT * 1.1


def test_the_first_calls_of_a_run_are_sent_all_at_once(store: Store, server: Server) -> None:
    server.seconds = 1.0
    requests = [ask(f"question {i}") for i in range(40)]
    Client(store, send=wire.send, api_base=server.url, at_once=40).complete_many(requests)
    assert server.most_at_once == 40


def test_a_run_finds_the_rate_that_a_provider_allows(store: Store, server: Server) -> None:
    def send(request: object, key: str, url: str, seconds: float) -> dict[str, object]:
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
