"""A failure on a cluster ends a run with one line; the results so far are cached, and the next run goes on."""

import os
import signal

import pytest

from workbench.cluster.versions import check_versions, versions
from workbench.errors import BudgetError, ClusterError
from workbench.llm.money import Budget
from workbench.systems.baselines import direct


def test_a_reached_budget_ends_the_run_and_the_next_goes_on(machines, study, solved, one_line):
    machines.add()
    with study(machines.file, Budget(calls=5)) as opened:
        with pytest.raises(BudgetError) as error:
            opened.run(direct("some/model"))
        assert "the budget of 5 calls is used up" in one_line(error)
    assert len(study.asked) == 5
    with study(machines.file) as opened:
        opened.run(direct("some/model"))
        assert solved(opened) == 24
    assert len(study.asked) == len(set(study.asked)) == 24


def test_after_ctrl_c_cached_calls_are_not_made_again(machines, study, solved):
    machines.add()
    with study(machines.file, third=lambda: os.kill(os.getpid(), signal.SIGINT)) as opened:
        with pytest.raises(KeyboardInterrupt):
            opened.run(direct("some/model"))
        assert solved(opened) < 24
        opened.run(direct("some/model"))
        assert solved(opened) == 24
    assert len(study.asked) == len(set(study.asked)) == 24


def test_a_lost_scheduler_ends_the_run_with_one_line(machines, study, one_line, monkeypatch):
    monkeypatch.setattr("workbench.cluster.tasks._LOST", 1.0)
    machines.add()
    with (
        study(machines.file, third=machines.scheduler.kill) as opened,
        pytest.raises(ClusterError) as error,
    ):
        opened.run(direct("some/model"))
    assert "scheduler" in one_line(error)
    assert "run the same again to go on" in one_line(error)


def test_another_version_is_named():
    other = {**versions(), "Python": "3.99"}
    with pytest.raises(ClusterError, match=r"worker tcp://w has Python 3\.99 and not 3"):
        check_versions(versions(), other, "tcp://w")
    check_versions(versions(), dict(versions()), "tcp://w")
