"""Workers that share no folder fill the driver's cache with the same rows as a single process, byte for byte."""

import random
import threading
from collections import Counter

import pytest

from workbench.evaluate.judge import judge
from workbench.llm.client import Client
from workbench.study import open_study
from workbench.study.experiment import Experiment
from workbench.study.previewing import stand_in
from workbench.systems.chase_sql import chase_sql
from workbench.systems.mac_sql import mac_sql


@pytest.fixture
def solved(tmp_path, monkeypatch, cached_rows):
    """Runs a system in a home of its own; returns the rows of its cache, its tables and its verdicts."""

    def run(name, system, limit, cluster=""):
        home = tmp_path / name
        monkeypatch.setenv("WORKBENCH_HOME", str(home))
        experiment = Experiment("small", folder=tmp_path, model=system.generate[0].model)
        with open_study(experiment, limit=limit, cluster=cluster) as study:
            done = study.run(system)
            verdicts = judge(study.benchmark, done.answers, study.lab.executor)
        return (
            cached_rows(home),
            done.questions.to_json(),
            done.trials.to_json(),
            verdicts.to_json(),
        )

    return run


@pytest.mark.parametrize("count", [2, 4])
def test_machines_give_what_one_process_gives(machines, solved, count):
    homes = [machines.add() for _ in range(count)]
    system = chase_sql("embedded/parser")
    assert solved("there", system, 40, str(machines.file)) == solved("here", system, 40)
    copies = [list((home / "disk").rglob("*.sqlite")) for home in homes]
    assert all(copies)  # each worker copied databases from the driver
    assert not any((home / "home").exists() for home in homes)


@pytest.fixture
def provider(monkeypatch):
    """A provider whose replies the parser computes; counts the calls."""
    asked = Counter()
    lock = threading.Lock()

    def send(request, url, seconds):
        with lock:
            asked[request.messages[-1]["content"], request.sample] += 1
        return stand_in(request)

    for module in ("study", "opening"):
        client = f"workbench.study.{module}.client_of"
        monkeypatch.setattr(client, lambda store, _, **__: Client(store, send=send))
    return asked


@pytest.mark.parametrize(
    ("system", "limit", "rounds"), [(mac_sql, 16, 3), (chase_sql, 40, 10)], ids=["mac", "chase"]
)
def test_killed_workers_cost_no_call_twice(machines, solved, provider, system, limit, rounds):
    """Three of four workers are killed and replaced each time that the number of calls reaches a random one."""
    asked = system("some/model")
    here = solved("here", asked, limit)
    assert set(provider.values()) == {1}
    calls = len(provider)
    provider.clear()
    for _ in range(4):
        machines.add()
    chance = random.Random(7)
    moments = sorted(chance.sample(range(calls * 9 // 10), rounds))
    ended = threading.Event()
    killed = []

    def kill():
        for moment in moments:
            while len(provider) < moment:
                if ended.wait(0.05):
                    return
            for number in sorted(chance.sample(range(4), 3), reverse=True):
                machines.lose(number)
                machines.add()
            killed.append(moment)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        there = solved("there", asked, limit, str(machines.file))
    finally:
        ended.set()
        killer.join()
    assert killed == moments
    assert set(provider.values()) == {1}
    assert len(provider) == calls
    assert there == here
