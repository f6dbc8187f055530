"""A Dask scheduler and workers as processes, each worker with a home and a disk of its own, as on machines that share nothing."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import workbench.cluster.databases
from workbench.cluster.databases import DatabaseFiles

_WAIT = 300.0  # seconds, for a busy computer


class Machines:
    """A scheduler at `address`, and its workers. `lose` kills a worker, `add` starts one."""

    def __init__(self, folder):
        self.folder = folder
        self.workers = []
        self._count = 0
        file = folder / "scheduler.json"
        options = [
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(file),
            "--host",
            "127.0.0.1",
        ]
        self.scheduler = self._start("scheduler", *options)
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

    def add(self, **environment):
        self._count += 1
        home = self.folder / f"machine{self._count}"
        home.mkdir()
        options = [
            "--scheduler-file",
            str(self.file),
            "--no-nanny",
            "--nthreads",
            "1",
            "--no-dashboard",
        ]
        own = {"HOME": str(home), "WORKBENCH_HOME": str(home / "home"), "TMPDIR": str(home)}
        disk = ["--local-directory", str(home / "disk")]
        self.workers.append(self._start("worker", *options, *disk, **own | environment))
        return home

    def lose(self, number):
        worker = self.workers.pop(number)
        worker.kill()
        worker.wait()

    def close(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def machines(tmp_path, monkeypatch):
    """No worker yet. The driver tells workers paths of databases that they do not have."""
    pytest.importorskip("distributed", reason="needs the extra `cluster`: make test-extras")
    from workbench.cluster import driver

    def elsewhere(path, executor):
        found = workbench.cluster.databases.database_files(path, executor)
        return DatabaseFiles(f"/nowhere{found.path}", found.content, found.files)

    monkeypatch.setattr(driver, "database_files", elsewhere)
    started = Machines(tmp_path)
    yield started
    started.close()


def rows(home: Path):
    """What a run leaves in the cache, without times."""
    import sqlite3

    with sqlite3.connect(home / "lab.sqlite") as book:
        columns = {
            "calls": "key, text, messages, parameters, reply",
            "executions": "key, database, status, fingerprint, columns, rows",
            "attempts": "key, question, record",
            "selections": "key, question, attempt, record",
        }
        return {
            table: sorted(book.execute(f"SELECT {names} FROM {table}"))
            for table, names in columns.items()
        }


@pytest.fixture
def cached_rows():
    return rows
