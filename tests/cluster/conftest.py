"""A Dask scheduler and workers as processes; each worker has its own home and disk, as if on a machine of its own."""

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace

import pytest

import workbench as wb
from workbench.benchmarks.benchmark import open_benchmark, some
from workbench.llm.send import answer_here
from workbench.study.solve import solve_all

WAIT = 300.0  # seconds, for a busy computer
COLUMNS = {  # without times
    "calls": "key, text, model, messages, parameters, reply",
    "executions": "key, database, sql, status, fingerprint, columns, rows",
    "attempts": "key, question, record",
    "selections": "key, question, attempt, record",
}


class Machines:
    """A scheduler, whose address is in `file`, and its workers."""

    def __init__(self, folder, *options):
        self.folder, self.options, self.workers, self.homes = folder, options, [], []
        self.file = folder / "scheduler.json"
        address = [
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--scheduler-file",
            str(self.file),
        ]
        self.scheduler = self._start("scheduler", *address, "--no-dashboard", *options)
        until = time.monotonic() + WAIT
        while not self.file.is_file() or not self.file.read_text().strip():
            assert time.monotonic() < until, (folder / "scheduler.log").read_text()
            time.sleep(0.05)

    def _start(self, kind, *options, **environment):
        with (self.folder / f"{kind}.log").open("ab") as output:
            command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options]
            environment = os.environ | environment
            return subprocess.Popen(
                command, stdout=output, stderr=output, env=environment
            )

    def add(self, preload=""):
        """Start a worker, which first runs the code `preload`."""
        home = self.folder / f"machine{len(self.homes)}"
        home.mkdir()
        self.homes.append(home)
        (home / "preload.py").write_text(preload)
        options = ["--scheduler-file", str(self.file), "--nthreads", "1", "--no-nanny"]
        options += [
            "--preload",
            str(home / "preload.py"),
            "--local-directory",
            str(home / "disk"),
        ]
        folders = {
            "HOME": str(home),
            "WORKBENCH_HOME": str(home / "home"),
            "TMPDIR": str(home),
        }
        self.workers.append(
            self._start("worker", *options, "--no-dashboard", *self.options, **folders)
        )

    def lose(self, number):
        worker = self.workers.pop(number)
        worker.kill()
        worker.wait()

    def close(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def dask():
    pytest.importorskip(
        "distributed", reason="needs the extra `cluster`: make test-extras"
    )


@pytest.fixture
def apart(monkeypatch, dask, tmp_path):
    """At the run's path, workers find no file, or a file of another content."""
    import workbench.cluster as relay

    def elsewhere(path, executor):
        place = f"/nowhere{path}" if path == harbour else str(other / path.name)
        return files_of(path, executor)._replace(path=place)

    harbour, other = (
        open_benchmark("bundled-dev").database("harbour"),
        tmp_path / "other",
    )
    other.mkdir()
    for name in ("night_trains", "observatory", "seed_bank"):
        shutil.copy(harbour, other / f"{name}.sqlite")
    files_of = relay.files_of
    monkeypatch.setattr(relay, "files_of", elsewhere)


@pytest.fixture
def machines(tmp_path, apart):
    """A cluster without a worker yet."""
    started = Machines(tmp_path)
    yield started
    started.close()


@pytest.fixture
def encrypted_machines(tmp_path, apart):
    """A cluster whose connections are encrypted with a certificate made for this test."""
    if not shutil.which("openssl"):
        pytest.skip("needs the program openssl, which makes a certificate")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    made = [
        "-subj",
        "/CN=cluster",
        "-keyout",
        str(key),
        "-out",
        str(certificate),
        "-days",
        "2",
    ]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *made]
    subprocess.run(command, check=True, capture_output=True)
    files = {"ca-file": certificate, "cert": certificate, "key": key}
    options = [
        text for name, file in files.items() for text in (f"--tls-{name}", str(file))
    ]
    started = Machines(tmp_path, "--protocol", "tls", *options)
    started.certificate, started.key = str(certificate), str(key)
    yield started
    started.close()


@pytest.fixture
def solved(tmp_path):
    """Solves questions in a home of its own; returns the records, and the rows of the cache.

    The parser answers in place of `some/model`; `asked` counts the calls, and `third` is called with the third.
    """
    asked = Counter()

    def solve(
        home, system, limit=24, cluster="", third=None, budget=None, prompts=None
    ):
        def send(request, url, seconds):
            asked[str(request.messages), request.sample] += 1
            if third and asked.total() == 3:
                third()
            return answer_here(replace(request, model="embedded/parser"))

        benchmark = open_benchmark("bundled-dev")
        with ExitStack() as opened:
            store = opened.enter_context(wb.Cache(tmp_path / home / "lab.sqlite"))
            executor = opened.enter_context(wb.Executor(store))
            given = {"send": send} if system.generate[0].model == "some/model" else {}
            client = wb.Client(store, budget=budget, **given)
            lab = wb.Lab(
                client, executor, benchmark.database, prompts, system=system.name
            )
            pool = None
            if cluster:
                from workbench.cluster import open_pool

                pool = opened.enter_context(open_pool(str(cluster)))
            questions = some(benchmark.questions, limit)
            records = solve_all(system, questions, lab, cluster=pool)
            selects = {
                name: f"SELECT {columns} FROM {name}"
                for name, columns in COLUMNS.items()
            }
            return records, {
                name: sorted(store.read(sql)) for name, sql in selects.items()
            }

    def count(home):
        with wb.Cache(tmp_path / home / "lab.sqlite") as store:
            return store.read("SELECT count(*) FROM selections")[0][0]

    return SimpleNamespace(run=solve, count=count, asked=asked)
