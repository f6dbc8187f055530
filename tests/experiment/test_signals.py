"""SIGTERM and SIGHUP keep what is in flight, as Ctrl-C does."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

from tests.llm.server import Server
from workbench.store import Store

ROOT = Path(__file__).parents[2]
START = """
import sys, workbench as wb
client = wb.Client(wb.Cache(sys.argv[1]), api_base=sys.argv[2])
request = wb.Request("p", "openai/gpt-4o-mini", [{"role": "user", "content": "hello"}])
"""


def python(script, *arguments):
    command = [sys.executable, "-c", START + script, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | {"OPENAI_API_KEY": "none"})


BOTH = pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
ASK = """
from workbench.experiment.signals import stop_on_signals, exit_code
stop_on_signals()
try: client.complete(request)
except KeyboardInterrupt as error: sys.exit(exit_code(error))
"""
CELL = """
import sys; sys.path.insert(0, {root!r}); sys.argv = ["", {path!r}, {url!r}]
import workbench
import os; os.environ["OPENAI_API_KEY"] = "none"
"""
CELL += (
    START
    + """
client.complete(request)
"""
)


def stored(path):
    with Store(path) as store:
        return store.read("SELECT text FROM calls")


def wait_for_a_call(server):
    while not server.calls:
        time.sleep(0.01)


@BOTH
def test_a_stopped_program_stores_the_reply_in_flight_and_ends_with_the_signals_code(
    tmp_path, sent
):
    with Server(seconds=0.5) as server:
        process = python(ASK, tmp_path / "lab.sqlite", server.url)
        wait_for_a_call(server)
        process.send_signal(sent)
        process.send_signal(sent)  # as schedulers do
        assert process.wait(60) == 128 + sent
    assert stored(tmp_path / "lab.sqlite") == [("answer to: hello",)]


def test_a_program_under_nohup_goes_on(tmp_path):
    with Server(seconds=0.5) as server:
        ignoring = f"signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{ASK}"
        process = python(f"import signal\n{ignoring}", tmp_path / "lab.sqlite", server.url)
        wait_for_a_call(server)
        process.send_signal(signal.SIGHUP)
        assert process.wait(60) == 0


@pytest.mark.slow
def test_reproduce_that_is_told_to_end_keeps_the_reply_in_flight_and_says_how_to_go_on(
    tmp_path, checkout
):
    with Server(seconds=0.5) as server:
        path = str(tmp_path / "lab.sqlite")
        cell = CELL.format(root=str(ROOT), path=path, url=server.url)
        experiment = checkout(one=[cell, "import time; time.sleep(600)"], two=["1"]).path
        command = [sys.executable, "-m", "workbench", "reproduce", experiment, "--at-once", "1"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        wait_for_a_call(server)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert said.splitlines()[-1].startswith("workbench: stopped; finished work is saved")
    assert stored(tmp_path / "lab.sqlite") == [("answer to: hello",)]


@pytest.mark.slow
@BOTH
def test_a_stopped_kernel_stores_the_reply_in_flight_and_ends(tmp_path, sent):
    with Server(seconds=0.5) as server:
        manager, client = start_new_kernel()
        try:
            path = str(tmp_path / "lab.sqlite")
            client.execute(CELL.format(root=str(ROOT), path=path, url=server.url))
            wait_for_a_call(server)
            manager.signal_kernel(sent)
            assert manager.provisioner.process.wait(60) == -sent
        except subprocess.TimeoutExpired:
            pytest.fail("the kernel goes on")
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    assert stored(tmp_path / "lab.sqlite") == [("answer to: hello",)]
