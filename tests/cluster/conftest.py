"""A Dask scheduler and workers as processes; each worker has its own home and disk, as if on a machine of its own."""

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import workbench.cluster.databases
from workbench.cluster.databases import DatabaseFiles
from workbench.llm.client import Client
from workbench.study import open_study
from workbench.study.experiment import Experiment
from workbench.study.previewing import stand_in

_WAIT = 300.0  # seconds, for a busy computer


class Machines:
    """A scheduler, whose address is in `file`, and its workers. `lose` kills a worker, `add` starts a worker.

    `options` are those of Dask's command for the scheduler and for each worker.
    """

    def __init__(self, folder, *options):
        self.folder = folder
        self.workers = []
        self._count = 0
        self._options = options
        file = folder / "scheduler.json"
        address = ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)]
        self.scheduler = self._start("scheduler", *address, "--no-dashboard", *options)
        until = time.monotonic() + _WAIT
        while not file.is_file() or not file.read_text().strip():
            assert time.monotonic() < until, (folder / "scheduler.log").read_text()
            time.sleep(0.05)
        self.file = file

    def _start(self, kind, *options, **environment):
        log = self.folder / f"{kind}{len(self.workers) if kind == 'worker' else ''}.log"
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options]
        with log.open("ab") as output:
            return subprocess.Popen(
                command, stdout=output, stderr=output, env=os.environ | environment
            )

    def add(self, *, preload="", **environment):
        """Start a worker, which first runs the code `preload`; returns the folder with the worker's home and disk."""
        self._count += 1
        home = self.folder / f"machine{self._count}"
        home.mkdir()
        options = ["--scheduler-file", str(self.file), "--nthreads", "1", "--no-dashboard"]
        if preload:
            (home / "preload.py").write_text(preload)
            options += ["--preload", str(home / "preload.py")]
        options += ["--no-nanny", *self._options]
        folders = {"HOME": str(home), "WORKBENCH_HOME": str(home / "home"), "TMPDIR": str(home)}
        disk = ["--local-directory", str(home / "disk")]
        self.workers.append(self._start("worker", *options, *disk, **folders | environment))
        return home

    def wait(self):
        """Wait until the scheduler knows all workers."""
        import distributed

        with distributed.Client(scheduler_file=str(self.file)) as client:
            client.wait_for_workers(len(self.workers), timeout=_WAIT)

    def lose(self, number):
        worker = self.workers.pop(number)
        worker.kill()
        worker.wait()

    def close(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def apart(monkeypatch):
    """The driver gives workers paths of databases that do not exist on their machines."""
    pytest.importorskip("distributed", reason="needs the extra `cluster`: make test-extras")
    from workbench.cluster import driver

    def missing_path(path, executor):
        found = workbench.cluster.databases.database_files(path, executor)
        return DatabaseFiles(f"/nowhere{found.path}", found.content, found.files)

    monkeypatch.setattr(driver, "database_files", missing_path)


@pytest.fixture
def machines(tmp_path, apart):
    """A cluster without a worker yet."""
    started = Machines(tmp_path)
    yield started
    started.close()


@pytest.fixture
def encrypted_machines(tmp_path, apart):
    """A cluster without a worker yet, whose connections are encrypted with a certificate made for this test."""
    if not shutil.which("openssl"):
        pytest.skip("needs the program openssl, which makes a certificate")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    made = ["-subj", "/CN=cluster", "-keyout", str(key), "-out", str(certificate), "-days", "2"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *made]
    subprocess.run(command, check=True, capture_output=True)
    files = {"ca-file": certificate, "cert": certificate, "key": key}
    options = [text for name, file in files.items() for text in (f"--tls-{name}", str(file))]
    started = Machines(tmp_path, "--protocol", "tls", *options)
    started.certificate, started.key = certificate, key
    yield started
    started.close()


def rows(home: Path):
    """The rows in a home's cache, without the columns of times."""
    import sqlite3

    with sqlite3.connect(home / "lab.sqlite") as cache:
        columns = {
            "calls": "key, text, messages, parameters, reply",
            "executions": "key, database, status, fingerprint, columns, rows",
            "attempts": "key, question, record",
            "selections": "key, question, attempt, record",
        }
        return {
            table: sorted(cache.execute(f"SELECT {names} FROM {table}"))
            for table, names in columns.items()
        }


@pytest.fixture
def cached_rows():
    return rows


@pytest.fixture
def keep_alive():
    """Starts some workers, and replaces each worker that ends."""
    ended = threading.Event()
    started = []

    def start(machines, count, preload):
        def replace():
            while not ended.wait(0.2):
                for number, worker in enumerate(machines.workers):
                    if worker.poll() is not None:
                        machines.lose(number)
                        machines.add(preload=preload)
                        break

        for _ in range(count):
            machines.add(preload=preload)
        started.append(threading.Thread(target=replace))
        started[0].start()

    yield start
    ended.set()
    for thread in started:
        thread.join()


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Opens a study of 24 questions with a model that answers after a while; `asked` has the keys of its calls.

    `third` is a function that is called when the model gets its third call.
    """
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    asked = []

    def opened(cluster, budget=None, third=None):
        def send(request, url, seconds):
            asked.append(request)
            if third and len(asked) == 3:
                third()
            time.sleep(0.2)
            return stand_in(request)

        for module in ("study", "opening"):
            client = f"workbench.study.{module}.client_of"
            monkeypatch.setattr(
                client, lambda store, _, **__: Client(store, send=send, budget=budget)
            )
        cluster = str(cluster) if isinstance(cluster, Path) else cluster
        experiment = Experiment("small", folder=tmp_path, model="some/model")
        return open_study(experiment, limit=24, cluster=cluster)

    opened.asked = asked
    return opened


@pytest.fixture
def solved():
    """The number of questions whose answers an open study has in its cache."""
    return lambda opened: opened.lab.client.cache.read("SELECT count(*) FROM selections")[0][0]


@pytest.fixture
def one_line():
    """The text of an expected error, which must have one line."""

    def text(error):
        assert "\n" not in str(error.value)
        return str(error.value)

    return text
