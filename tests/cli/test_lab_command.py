"""`workbench lab`: it starts on the notebooks, leaves the user's Jupyter alone, and ends without a trace."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import closing

import pytest
from click.testing import CliRunner

from workbench.cli.servers import lab as command
from workbench.errors import BadInputError, StoreError

ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+/)(.*)\?token=(\w+)")


def ask(url):
    with urllib.request.urlopen(url, timeout=300) as reply:  # noqa: S310  of our own server
        return json.load(reply)


def invoke(*arguments):
    CliRunner().invoke(command.lab, arguments, catch_exceptions=False, standalone_mode=False)


def test_it_prints_the_url_of_a_running_server_and_ctrl_c_removes_its_files(tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/explore.ipynb").write_text("{}")
    user = tmp_path / "user"
    user.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "lab", "--no-browser"],
        cwd=tmp_path,
        env=os.environ | {"HOME": str(user), "WORKBENCH_HOME": "home"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        url = process.stdout.readline().split()[0]
        server, page, token = ADDRESS.fullmatch(url).groups()
        root = ask(f"{server}api/contents/?token={token}")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()
        process.communicate()
    assert page == "lab/tree/notebooks/explore.ipynb"
    assert "notebooks" in {entry["name"] for entry in root["content"]}
    assert (process.returncode, out) == (0, "")
    assert re.fullmatch(r"\[C .* ServerApp\] received signal 15, stopping\n", err)
    assert {path.name for path in user.iterdir()} <= {".ipython"}
    left = {path.name for path in (tmp_path / "home/jupyter/runtime").iterdir()}
    assert left == {"jupyter_cookie_secret"}


def test_a_port_that_is_taken_is_an_error_of_one_line():
    with closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(BadInputError, match=rf"--port {port}: .*in use; name another"):
            invoke("--no-browser", "--port", str(port))


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_it_is_ready_ends_jupyterlab_too(sent, monkeypatch):
    ended = []

    class Server:
        def __init__(self, *_, **__):
            self.returncode = None

        def poll(self):
            signal.raise_signal(sent)

        def terminate(self):
            ended.append(sent)

        def wait(self):
            return 0

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    monkeypatch.setattr(command.subprocess, "Popen", Server)
    try:
        invoke("--no-browser")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert ended == [sent]


def test_without_jupyterlab_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(command, "find_spec", lambda _: None)
    with pytest.raises(BadInputError, match="pip install jupyterlab"):
        invoke("--no-browser")


def test_a_setting_that_the_user_changed_stays(tmp_path):
    command._environment(tmp_path)
    (file,) = (tmp_path / "jupyter").rglob("*.jupyterlab-settings")
    assert json.loads(file.read_text()) == {"fetchNews": "false", "checkForUpdates": False}
    file.write_text("{}")
    command._environment(tmp_path)
    assert file.read_text() == "{}"


def test_a_home_that_cannot_be_written_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "file"))
    with pytest.raises(StoreError, match="Not a directory"):
        invoke("--no-browser")
