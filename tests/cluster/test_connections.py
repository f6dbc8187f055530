"""A user's own Dask client, what its dashboard shows, and connections that are encrypted."""

from workbench.systems.baselines import direct


def test_a_users_own_client_computes_and_stays_open(machines, study, solved):
    import distributed

    machines.add()
    with distributed.Client(scheduler_file=str(machines.file)) as client:
        with study(client) as opened:
            opened.run(direct("some/model"))
            assert solved(opened) == 24
            databases = {question.db_id for question in opened.benchmark.questions}
        assert client.status == "running"
        shown = set(client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.task_prefixes]))
    named = {f"direct, chain of thought {name}" for name in databases}
    assert named <= shown
    assert {name.partition(" ")[0] for name in shown - named} <= {"queries"}


def test_encrypted_connections_need_only_dasks_own_settings(encrypted_machines, study, solved):
    import dask

    machines = encrypted_machines
    machines.add()
    settings = {
        "distributed.comm.tls.ca-file": str(machines.certificate),
        "distributed.comm.tls.client.cert": str(machines.certificate),
        "distributed.comm.tls.client.key": str(machines.key),
        "distributed.comm.require-encryption": True,
    }
    with dask.config.set(settings), study(machines.file) as opened:
        opened.run(direct("some/model"))
        assert solved(opened) == 24
        assert opened.lab.executor.sandbox._cluster._driver.address.startswith("tls://")
