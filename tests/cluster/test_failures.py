"""A failure on a cluster ends a run with one line that names it; the results so far are cached, and the next run goes on."""

import os
import signal
import subprocess
import sys
import threading

import pytest

import workbench as wb
from workbench.errors import BadInputError, BudgetError, ClusterError

DIRECT = wb.direct("some/model")
ENDS = """
import os
import workbench.study.solve as solving
def trials_or_end(system, context, lab, trials_of=solving.trials_of):
    if context.question.id == {question!r} and os.path.exists({flag!r}):
        os._exit(9)
    return trials_of(system, context, lab)
solving.trials_of = trials_or_end
"""
OTHER_SQLITE = "import sqlite3; sqlite3.sqlite_version = '3.0.0'"
PLAIN = """
import sys, workbench as wb, workbench.cli.run
with wb.open_study("bundled-dev", limit=1) as study:
    study.run(wb.direct(study.model))
print(*{"dask", "distributed"} & set(sys.modules))
"""


def goes_on(solved, machines):
    """The next run asks for what is missing, and for nothing else."""
    solved.run("home", DIRECT, cluster=machines.file)
    assert solved.count("home") == 24
    assert set(solved.asked.values()) == {1}
    assert len(solved.asked) == 24


def test_a_reached_budget_ends_the_run(machines, solved):
    machines.add()
    with pytest.raises(BudgetError, match="5 calls is used up"):
        solved.run("home", DIRECT, cluster=machines.file, budget=wb.Budget(calls=5))
    assert len(solved.asked) == 5
    goes_on(solved, machines)


def test_ctrl_c_loses_no_reply(machines, solved):
    machines.add()
    stop = lambda: os.kill(os.getpid(), signal.SIGINT)  # noqa: E731
    with pytest.raises(KeyboardInterrupt):
        solved.run("home", DIRECT, cluster=machines.file, third=stop)
    assert solved.count("home") < 24
    goes_on(solved, machines)


def test_a_lost_scheduler_is_named(machines, solved):
    machines.add()
    with pytest.raises(ClusterError, match="scheduler is lost"):
        solved.run("home", DIRECT, cluster=machines.file, third=machines.scheduler.kill)


def test_a_question_that_ends_its_workers_is_named_and_others_are_answered(
    machines, solved, tmp_path
):
    flag = tmp_path / "failing"
    flag.touch()
    victim = list(solved.run("here", DIRECT)[0])[7]
    solved.asked.clear()
    preload, ended = ENDS.format(question=victim, flag=str(flag)), threading.Event()

    def replace():
        while not ended.wait(0.2):
            for number, worker in enumerate(machines.workers):
                if worker.poll() is not None:
                    machines.lose(number)
                    machines.add(preload)
                    break

    machines.add(preload), machines.add(preload)
    keeper = threading.Thread(target=replace)
    keeper.start()
    try:
        with pytest.raises(
            ClusterError, match=rf"\b{victim}\b.*every worker that ran this ended"
        ):
            solved.run("home", DIRECT, cluster=machines.file)
        assert 8 <= solved.count("home") < 24
        flag.unlink()
        goes_on(solved, machines)
    finally:
        ended.set()
        keeper.join()


def test_a_worker_with_another_sqlite_is_refused(machines, solved):
    machines.add(OTHER_SQLITE)
    with pytest.raises(ClusterError, match=r"worker tcp://.*3\.0\.0"):
        solved.run("home", DIRECT, cluster=machines.file)


def test_a_message_without_the_runs_token_gets_nothing(machines, tmp_path):
    from distributed import rpc

    from workbench.cluster import Relay, open_pool

    with (
        open_pool(str(machines.file)) as client,
        wb.Cache(tmp_path / "lab.sqlite") as store,
    ):
        relay = Relay(client, wb.Lab(wb.Client(store), wb.Executor(store), None))

        async def asks(token):
            return await rpc(relay.address).endpoint(
                token=token, arguments=("openai/gpt-4o",)
            )

        assert "answer" in client.sync(asks, relay.token)
        assert "token" in client.sync(asks, "another")["error"]
        relay.close()


def test_encrypted_connections_need_only_dasks_settings(encrypted_machines, solved):
    import dask

    machines = encrypted_machines
    machines.add()
    tls = {"ca-file": machines.certificate, "client.cert": machines.certificate}
    tls |= {"client.key": machines.key}
    settings = {f"distributed.comm.tls.{name}": value for name, value in tls.items()}
    with dask.config.set(settings | {"distributed.comm.require-encryption": True}):
        goes_on(solved, machines)


@pytest.mark.parametrize("cluster", ["missing.json", "local:", "local:0", "local:two"])
def test_a_cluster_that_names_none_is_refused(dask, cluster):
    from workbench.cluster import open_pool

    with pytest.raises(BadInputError, match="local:4"), open_pool(cluster):
        pass


def test_without_a_cluster_nothing_of_dask_is_imported(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PLAIN],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.stdout.split() == []


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "workbench.cluster", raising=False)
    with pytest.raises(
        BadInputError, match=r"pip install 'text2sql-workbench\[cluster\]'"
    ):
        wb.open_study("bundled-dev", cluster="local:2")
