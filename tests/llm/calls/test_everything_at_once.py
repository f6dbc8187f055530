"""Random replies, faults, full disks, clock jumps, kills and second clients, one step after another.

After each step: nothing that was acknowledged is lost, no request is under way twice, no lock is left, spent and
reserved dollars stay within the budget, and every run ends.
"""

import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.llm.calls.test_locks import SCRIPT
from tests.llm.wire import ask
from workbench.errors import BudgetError, ProviderError, StoreError
from workbench.llm.budget import Budget
from workbench.llm.calls import limits
from workbench.llm.calls.locks import CallLocks
from workbench.llm.client import Client
from workbench.llm.provider import Refusal
from workbench.store import Store
from workbench.types import Completion

DOLLARS = 0.0002  # some seven calls at their most, all of them at their real cost
FAULTS: dict[str, dict[str, Any]] = {
    "rate_limit": {"again": True, "wait": 0.001},
    "server": {"again": True},
    "connection": {"again": True},
    "timeout": {"again": True},
    "malformed": {"again": True},
    "rejected": {},
}
numbers = st.lists(st.integers(0, 30), min_size=1, max_size=8)
faults = st.lists(st.sampled_from(["", *FAULTS, "slow", "fatal"]), max_size=6)


class Provider:
    """Answers requests, meets them with the planned faults, and sees whether one is under way twice."""

    def __init__(self) -> None:
        self.plan: list[str] = []
        self.under_way: Counter[str] = Counter()
        self.twice = 0
        self.paid: Counter[str] = Counter()
        self.lock = threading.Lock()

    def send(self, _request: object, key: str, _url: str, _seconds: float) -> dict[str, Any]:
        with self.lock:
            self.under_way[key] += 1
            self.twice += self.under_way[key] > 1
            fault = self.plan.pop() if self.plan else ""
        try:
            time.sleep(0.15 if fault == "slow" else random.uniform(0, 0.003))
            if fault == "fatal":
                raise Refusal("rejected", "your key is refused", fatal=True)
            if fault in FAULTS:
                raise Refusal(fault, "as planned", **FAULTS[fault])  # type: ignore[arg-type]
            with self.lock:
                self.paid[key] += 1
        finally:
            with self.lock:
                self.under_way[key] -= 1
        usage = {"prompt_tokens": 10, "completion_tokens": 10}
        message = {"content": f"answer to {key}"}
        return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = Store(Path(self.folder.name) / "lab.sqlite")
        self.provider = Provider()
        self.budget = Budget(dollars=DOLLARS)
        self.acknowledged: dict[str, str] = {}
        self.clients = [self.client(), self.client()]
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr("workbench.llm.calls.refusals.pause", lambda *_: 0.001)
        self.patch.setattr(limits, "_FIRST_PAUSE", 0.002)
        self.full = False

    def client(self) -> Client:
        return Client(
            self.store, send=self.provider.send, budget=self.budget, at_once=4, timeout=0.1
        )

    def teardown(self) -> None:
        self.patch.undo()
        self.make_space()
        while self.provider.under_way.total():
            time.sleep(0.01)
        self.store.close()
        self.folder.cleanup()

    def keep(self, answers: list[Completion]) -> None:
        self.acknowledged |= {one.key: one.text for one in answers if not one.fault}

    def run(self, client: Client, wanted: list[int]) -> None:
        requests = [ask(f"question {n}", max_tokens=20) for n in wanted]
        try:
            self.keep(client.complete_many(requests))
        except (ProviderError, BudgetError, StoreError):
            assert True  # a run may end so; what it received is kept, which the invariants check

    @rule(wanted=numbers, plan=faults)
    def one_run(self, wanted: list[int], plan: list[str]) -> None:
        self.provider.plan = plan
        self.run(self.clients[0], wanted)

    @rule(wanted=numbers, others=numbers, plan=faults)
    def runs_of_two_clients_at_once(
        self, wanted: list[int], others: list[int], plan: list[str]
    ) -> None:
        self.provider.plan = plan
        with ThreadPoolExecutor(4) as pool:
            runs = [
                pool.submit(self.run, client, list_)
                for client in self.clients
                for list_ in (wanted, others)
            ]
            for run in runs:
                run.result(60)

    @rule()
    def a_new_client(self) -> None:
        self.clients = [self.clients[1], self.client()]

    @precondition(lambda self: not self.full)
    @rule()
    def the_disk_fills(self) -> None:
        pages = self.store.read("PRAGMA page_count")[0][0]
        self.store._writer.execute(f"PRAGMA max_page_count={pages}")
        self.full = True

    @rule()
    def make_space(self) -> None:
        self.store._writer.execute("PRAGMA max_page_count=1000000")
        self.full = False

    @rule(seconds=st.sampled_from([-1e9, 1e9]))
    def the_clock_jumps(self, seconds: float) -> None:
        now = time.time
        self.patch.setattr(time, "time", lambda: now() + seconds)

    @rule(number=st.integers(0, 30))
    def another_process_locks_a_call_and_is_killed(self, number: int) -> None:
        key = self.clients[0].key(ask(f"question {number}", max_tokens=20))
        command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(self.store.path), key]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
        ) as process:
            assert process.stdout
            process.stdout.readline()
            process.kill()

    @invariant()
    def what_was_acknowledged_is_on_disk(self) -> None:
        with Store(self.store.path) as fresh:
            stored = dict(fresh.read("SELECT key, text FROM calls"))
        assert self.acknowledged.items() <= stored.items()

    @invariant()
    def no_request_is_under_way_twice_or_paid_twice(self) -> None:
        assert self.provider.twice == 0
        assert max(self.provider.paid.values(), default=0) <= 1

    @invariant()
    def no_lock_is_left_where_nothing_is_under_way(self) -> None:
        while any(self.provider.under_way.values()) or any(
            client._state.in_flight for client in self.clients
        ):
            time.sleep(0.005)
        locks = CallLocks(self.store)
        for number in range(31):
            key = self.clients[0].key(ask(f"question {number}", max_tokens=20))
            assert locks.acquire(key)
            locks.release(key)

    @invariant()
    def the_budget_holds(self) -> None:
        assert self.budget.spent + self.budget._reserved <= DOLLARS + 1e-9


Machine.TestCase.settings = settings(
    max_examples=10, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
TestEverythingAtOnce = pytest.mark.slow(Machine.TestCase)
