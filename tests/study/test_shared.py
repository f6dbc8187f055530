"""Processes that want the same run share its questions, and systems that prepare alike share their contexts."""

import subprocess
import sys
from dataclasses import replace

import pytest

from workbench.llm.cache import Cache
from workbench.study.experiment import Experiment
from workbench.study.study import open_study
from workbench.systems.mac_sql import mac_sql
from workbench.systems.select import Majority

RUN = """
import os
import sys
from dataclasses import replace
from pathlib import Path
from multiprocessing import get_context
from workbench.study.study import open_study
from workbench.study.experiment import Experiment
from workbench.systems.mac_sql import mac_sql
systems = {"whole": mac_sql(), "no fixer": replace(mac_sql(), fix=())}
fork = get_context("fork")  # so that modules are imported once
ready = fork.Barrier(2)
def run(system):
    with open_study(Experiment("small"), limit=24) as study:
        ready.wait()
        paid = study.run(systems[system]).paid.calls
    Path(os.environ["WORKBENCH_HOME"], f"asked-{os.getpid()}").write_text(str(paid))
both = [fork.Process(target=run, args=[system]) for system in sys.argv[1:]]
for process in both:
    process.start()
for process in both:
    process.join()
sys.exit(any(process.exitcode for process in both))
"""


@pytest.mark.slow  # processes that each run a system on 24 questions
@pytest.mark.parametrize(("other", "selections"), [("whole", 24), ("no fixer", 48)])
def test_two_processes_make_each_call_once(other, selections, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    subprocess.run([sys.executable, "-c", RUN, "whole", other], check=True)
    asked = [int(path.read_text()) for path in tmp_path.glob("asked-*")]
    with Cache() as store:
        assert store.read("SELECT count(*) FROM selections") == [(selections,)]
        assert store.read("SELECT count(*) FROM calls") == [(sum(asked),)]
    assert len(asked) == 2
    assert min(asked) > 0, "both took part"


def test_a_question_that_another_process_solves_is_waited_for(tmp_path, monkeypatch):
    from workbench.llm.turns import Locks
    from workbench.study import solve

    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    with open_study(Experiment("small"), limit=3, figures=tmp_path) as study:
        lock = solve.lock_name(study.benchmark.questions[0])
        Locks(study.lab.client.cache.path).acquire(lock)
        waited = []

        def wait(seconds):
            waited.append(seconds)
            Locks(study.lab.client.cache.path).release(lock)

        monkeypatch.setattr(solve.time, "sleep", wait)
        assert len(study.run(mac_sql()).questions) == 3
        assert waited


def test_systems_with_equal_retrieval_and_pruning_share_its_calls_and_each_counts_their_cost(
    tmp_path, monkeypatch
):
    from workbench.llm.client import Client
    from workbench.study import solve

    monkeypatch.setattr(solve, "_prepared", {})
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    with open_study(Experiment("small"), limit=3, figures=tmp_path) as study:
        store, asked = study.lab.client.cache, study.benchmark.questions
        whole = mac_sql()
        tallies, costs = [], []
        for system in (whole, replace(whole, fix=(), select=Majority())):
            lab = replace(study.lab, client=Client(store))
            kept = solve.solve_all(system, asked, lab)
            tallies.append(lab.client.ledger.frame())
            costs.append(sum(one.candidates["cost"]["calls"] for one in kept.values()))
        assert "prune/mac_selector" in set(tallies[0]["prompt"])
        assert "prune/mac_selector" not in set(tallies[1]["prompt"])
        assert costs[1] == len(tallies[1]) + 3
