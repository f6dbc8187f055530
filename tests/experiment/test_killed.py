"""An experiment that is killed and run again continues where it stopped."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

RUNS = """from workbench.study import open_study
from workbench.systems.mac_sql import mac_sql
study = open_study(experiment, limit=limit)
run = study.run(mac_sql())"""


def rows(home, table):
    cache = home / "lab.sqlite"
    if not cache.exists():
        return 0
    with closing(sqlite3.connect(cache)) as database:
        try:
            return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        except sqlite3.OperationalError:  # the tables are not made yet
            return 0


@pytest.mark.parametrize("after", [2, 12])
def test_calls_paid_before_a_kill_are_not_paid_again(checkout, tmp_path, after):
    checkout("limit: 10", one=[RUNS])
    (tmp_path / "experiments" / "mine.yaml").write_text(
        (tmp_path / "experiments" / "mine.yaml").read_text() + "benchmark: bundled-dev\n"
    )
    home = tmp_path / "home"
    command = [sys.executable, "-m", "workbench", "reproduce", tmp_path / "experiments/mine.yaml"]
    environment = os.environ | {"WORKBENCH_HOME": str(home)}

    killed = subprocess.Popen(
        command, env=environment, start_new_session=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while rows(home, "calls") < after and killed.poll() is None:
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)  # its kernels have sessions of their own
    killed.wait()
    _wait_for_orphans(home)
    had = rows(home, "calls")
    assert had >= after

    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((home / "runs" / "mine" / "one.json").read_text())
    assert record["calls"] == rows(home, "calls") - had
    assert rows(home, "selections") == 10

    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "one: unchanged" in again.stderr


def _wait_for_orphans(home):
    """A kernel checks every second whether its parent process is alive, and ends if it is not."""
    deadline = time.monotonic() + 120
    while any(f"WORKBENCH_HOME={home}".encode() in environment for environment in _environments()):
        assert time.monotonic() < deadline, "a kernel outlived its parent process"
        time.sleep(0.1)


def _environments():
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # the process has ended, or belongs to another user
            yield path.read_bytes()
