"""Workers end, have full disks or lack the workbench: one line names the cause, and the next run goes on."""

import pytest

from workbench.errors import ClusterError
from workbench.systems.baselines import direct

WITHOUT_WORKBENCH = "import sys; sys.modules['workbench'] = None"
ENDS_WHEN_ASKED = """
import os
import workbench.cluster.versions
workbench.cluster.versions.identity = lambda: os._exit(3)
"""
KILLED = """
import os, signal
from pathlib import Path
import workbench.study.solving as solving
def trials_or_die(system, context, lab, trials_of=solving.trials_of):
    if context.question.id == {question!r} and Path({flag!r}).exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return trials_of(system, context, lab)
solving.trials_of = trials_or_die
"""
FULL_FOR_COPIES = """
import errno, os
from pathlib import Path
from workbench.cluster.databases import Databases
def copy_or_fail(*arguments, copy=Databases._copy):
    if Path({flag!r}).exists():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    copy(*arguments)
Databases._copy = copy_or_fail
"""
FULL_FOR_THE_CACHE = """
from pathlib import Path
from workbench.cluster.worker import session
def open_small(link, opened=session._new_session):
    new = opened(link)
    if Path({flag!r}).exists():
        pages = new.store.read("PRAGMA page_count")[0][0]
        new.store._writer.execute(f"PRAGMA max_page_count={{pages}}")
    return new
session._new_session = open_small
"""


@pytest.fixture
def flag(tmp_path):
    """A file; workers fail as long as it exists."""
    path = tmp_path / "failing"
    path.touch()
    return path


def fail_at_once(machines):
    """Make the scheduler give a task up when its first worker ends; by default it gives up after four workers."""
    import distributed

    def change(dask_scheduler):
        dask_scheduler.allowed_failures = 0

    with distributed.Client(scheduler_file=str(machines.file)) as client:
        client.run_on_scheduler(change)


def test_a_question_that_ends_its_workers_is_named_and_the_others_are_answered(
    machines, study, solved, one_line, flag, keep_alive
):
    fail_at_once(machines)
    with study("") as opened:
        victim = opened.benchmark.questions[7]
    keep_alive(machines, 2, KILLED.format(question=victim.id, flag=str(flag)))
    with study(machines.file) as opened:
        with pytest.raises(ClusterError) as error:
            opened.run(direct("some/model"))
        line = one_line(error)
        assert f"{victim.db_id} {victim.id}: every worker that ran this task ended" in line
        assert "run the same again to go on" in line
        assert solved(opened) == 23
        flag.unlink()
        opened.run(direct("some/model"))
        assert solved(opened) == 24
    assert len(study.asked) == len(set(study.asked)) == 24


@pytest.mark.parametrize(
    ("preload", "message"),
    [
        (FULL_FOR_COPIES, r"sqlite cannot be copied to .* No space left on device; make space"),
        (FULL_FOR_THE_CACHE, r"worker tcp://.* failed \(StoreError: disk full: .*put this right"),
    ],
    ids=["copies", "cache"],
)
def test_a_full_disk_of_a_worker_is_named(
    machines, study, solved, one_line, flag, preload, message
):
    machines.add(preload=preload.format(flag=str(flag)))
    with study(machines.file) as opened:
        with pytest.raises(ClusterError, match=message) as error:
            opened.run(direct("some/model"))
        assert "run the same again" in one_line(error)
    flag.unlink()
    with study(machines.file) as opened:
        opened.run(direct("some/model"))
        assert solved(opened) == 24
    assert len(study.asked) == len(set(study.asked)) == 24


def test_a_worker_without_the_workbench_is_refused_by_name(machines, study, one_line):
    machines.add(preload=WITHOUT_WORKBENCH)
    machines.wait()
    with pytest.raises(ClusterError) as error, study(machines.file):
        pass
    assert "worker tcp://" in one_line(error)
    assert "cannot import this version of workbench (ModuleNotFoundError" in one_line(error)


def test_a_worker_that_ends_while_a_cluster_opens_is_left_out(machines, study, solved):
    machines.add(preload=ENDS_WHEN_ASKED)
    machines.wait()
    machines.add()
    with study(machines.file) as opened:
        assert machines.workers[0].wait(300) == 3
        opened.run(direct("some/model"))
        assert solved(opened) == 24


def test_another_worker_takes_over_from_a_worker_without_the_workbench(machines, study, solved):
    machines.add()

    def replace_the_worker():
        machines.lose(0)
        machines.add(preload=WITHOUT_WORKBENCH)
        machines.workers[0].wait(300)  # Dask ends a worker that cannot read its task
        machines.lose(0)
        machines.add()

    with study(machines.file, third=replace_the_worker) as opened:
        opened.run(direct("some/model"))
        assert solved(opened) == 24
    assert len(study.asked) == len(set(study.asked)) == 24
