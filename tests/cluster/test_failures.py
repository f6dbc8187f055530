"""What goes wrong on a cluster ends a run with one line; what came back is kept, and running again goes on."""

import os
import signal
import time

import pytest

from workbench.cluster.versions import check_versions, versions
from workbench.errors import BudgetError, ClusterError
from workbench.llm.budget import Budget
from workbench.llm.client import Client
from workbench.study import open_study
from workbench.study.previewing import stand_in
from workbench.study.settings import Experiment
from workbench.systems.baselines import direct


@pytest.fixture
def study(machines, tmp_path, monkeypatch):
    """Opens a study of 24 questions and a model that answers after a while; `asked` has the keys of its calls.

    With `third`, this happens when the third call is made.
    """
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    asked = []

    def opened(budget=None, third=None):
        def send(request, key, url, seconds):
            asked.append(key)
            if third and len(asked) == 3:
                third()
            time.sleep(0.2)
            return stand_in(request, key, url, seconds)

        for module in ("study", "opening"):
            client = f"workbench.study.{module}.client_of"
            monkeypatch.setattr(
                client, lambda store, _, **__: Client(store, send=send, budget=budget)
            )
        experiment = Experiment("small", folder=tmp_path, model="some/model")
        return open_study(experiment, limit=24, cluster=str(machines.file))

    opened.asked = asked
    return opened


def solved(opened):
    ((count,),) = opened.lab.client.store.read("SELECT count(*) FROM selections")
    return count


def one_line(error):
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_reached_budget_ends_the_run_and_the_next_goes_on(machines, study):
    machines.add()
    with study(Budget(calls=5)) as opened:
        with pytest.raises(BudgetError) as error:
            opened.run(direct("some/model"))
        assert "the budget of 5 calls is used up" in one_line(error)
    assert len(study.asked) == 5
    with study() as opened:
        opened.run(direct("some/model"))
        assert solved(opened) == 24
    assert len(study.asked) == len(set(study.asked)) == 24


def test_after_ctrl_c_what_came_back_is_not_asked_again(machines, study):
    machines.add()
    with study(third=lambda: os.kill(os.getpid(), signal.SIGINT)) as opened:
        with pytest.raises(KeyboardInterrupt):
            opened.run(direct("some/model"))
        assert solved(opened) < 24
        opened.run(direct("some/model"))
        assert solved(opened) == 24
    assert len(study.asked) == len(set(study.asked)) == 24


def test_a_lost_scheduler_ends_the_run_with_one_line(machines, study, monkeypatch):
    monkeypatch.setattr("workbench.cluster.tasks._LOST", 1.0)
    machines.add()
    with study(third=machines.scheduler.kill) as opened, pytest.raises(ClusterError) as error:
        opened.run(direct("some/model"))
    assert "scheduler" in one_line(error)
    assert "run the same again to go on" in one_line(error)


def test_another_version_is_named():
    other = {**versions(), "Python": "3.99"}
    with pytest.raises(ClusterError, match=r"worker tcp://w has Python 3\.99 and not 3"):
        check_versions(versions(), other, "tcp://w")
    check_versions(versions(), dict(versions()), "tcp://w")
