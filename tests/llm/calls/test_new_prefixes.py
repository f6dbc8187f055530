"""The first call with a prefix that a provider caches goes ahead of the others."""

import threading
from dataclasses import replace

import pytest

from workbench.llm.client import Client
from workbench.llm.provider import Refusal
from workbench.store import Store
from workbench.types import Request

SHARED = "## Database schema\n" + "a " * 4000 + "\n"


def requests(count, model="openai/gpt-4.1"):
    contents = [f"{SHARED}## Question\n{number}" for number in range(count)]
    return [
        Request("p/x", model, ({"role": "user", "content": text},), shared=(len(SHARED),))
        for text in contents
    ]


class Provider:
    """Counts the calls that are under way when each one begins; so many of them must be so `together`.

    The first call of all answers at once where it goes `ahead`, and it may fail.
    """

    def __init__(self, together, *, ahead=True, fails=False):
        self.most = []
        self._under_way = 0
        self._lock = threading.Lock()
        self._ahead = 1 + fails if ahead else 0  # how many calls wait for no other
        self._fails = fails
        self._others = threading.Barrier(together)

    def __call__(self, *_):
        with self._lock:
            self._under_way += 1
            self.most.append(self._under_way)
            number = len(self.most)
        if number > self._ahead:
            self._others.wait(30)
        with self._lock:
            self._under_way -= 1
        if number == 1 and self._fails:
            raise Refusal("rejected", "no")
        return {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}


@pytest.fixture
def asked(tmp_path):
    def ask(provider, calls):
        with Store(tmp_path / "lab.sqlite") as store:
            return Client(store, send=provider).complete_many(calls)

    return ask


def test_one_call_goes_ahead_and_the_others_follow_together(asked):
    provider = Provider(together=3)
    assert [answer.text for answer in asked(provider, requests(4))] == ["yes"] * 4
    assert provider.most == [1, 1, 2, 3]


def test_where_the_first_call_fails_the_next_goes_ahead(asked):
    provider = Provider(together=2, fails=True)
    answers = asked(provider, requests(4))
    assert [bool(answer.fault) for answer in answers].count(True) == 1
    assert provider.most[:3] == [1, 1, 1]


@pytest.mark.parametrize(
    "calls",
    [
        requests(3, "openai/some-model-of-mine"),
        [replace(request, shared=()) for request in requests(3)],
    ],
)
def test_calls_that_no_provider_caches_wait_for_none(asked, calls):
    provider = Provider(together=3, ahead=False)
    asked(provider, calls)
    assert sorted(provider.most) == [1, 2, 3]
