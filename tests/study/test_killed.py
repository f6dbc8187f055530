"""An experiment that is stopped or killed keeps what was paid, leaves no kernel, and goes on where it stopped."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.llm.server import Server, reply_to
from workbench.errors import StoreError
from workbench.store import Store

NO_PROC = not Path("/proc/self").exists()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(NO_PROC, reason="needs /proc")]
RUNS = """import workbench as wb
study = wb.open_study(experiment, limit=limit)
run = study.run(wb.mac_sql(study.model))
table = study.save("one", study.costs({"one": run}).alone("One"))"""
ASKS = """import workbench as wb
client = wb.Client(wb.Cache(), api_base={url!r})
request = wb.Request("p", "openai/gpt-4o-mini", [{{"role": "user", "content": "hello"}}])
client.complete(request)"""
AT_ONCE, KILLS, CALLS = 8, 10, 300
FINAL = "**Final SQL**\n```sql\nSELECT 2\n```"
STUDY = """import workbench as wb
from workbench.study import study
study.client_of = lambda *given: wb.Client(given[1], api_base={url!r}, at_once={at_once})
with wb.open_study("bundled-dev", model="openai/mine", limit={questions}) as opened:
    run = opened.run(opened.{system})
    print(run.questions["queries"].sum(), *run.questions["sql"].unique(), sep="; ")"""
ENDLESS = """import sqlite3
endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
sqlite3.connect(":memory:").execute(endless).fetchall()"""


def look_twice(_, body):
    """What an agent's model says: two queries to look, then its answer."""
    said = "```sql\nSELECT 1\n```" if len(body["messages"]) < 6 else FINAL
    reply = reply_to(body)
    reply["choices"][0]["message"]["content"] = said
    return 200, reply, {}


def rows(home, select="SELECT count(*) FROM calls"):
    with suppress(StoreError), Store(home / "lab.sqlite") as store:
        return store.read(select)
    return [(0,)]


def processes(home):
    """The processes in this home: `reproduce`, its kernels, and their workers."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # the process has ended, or belongs to another user
            if f"WORKBENCH_HOME={home}".encode() in path.read_bytes():
                yield int(path.parent.name)


def wait_for(happens, seconds=120):
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def start(tmp_path):
    """Starts `workbench reproduce` in a home of its own."""
    started = []

    def start(home, path, *words):
        command = [sys.executable, "-m", "workbench", "reproduce", str(path), *words]
        environment = os.environ | {
            "WORKBENCH_HOME": str(tmp_path / home),
            "OPENAI_API_KEY": "no",
        }
        started.append(subprocess.Popen(command, env=environment, text=True, start_new_session=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT))  # fmt: skip
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def test_killed_at_random_moments_and_resumed_it_ends_with_the_same_files(
    checkout, start, tmp_path
):
    path = checkout("limit: 8", one=[RUNS]).path
    figures, home = tmp_path / "figures" / "mine", tmp_path / "killed"
    whole = start("whole", path)
    assert whole.communicate()[0].startswith("machinery check")
    files = {file.name: file.read_bytes() for file in sorted(figures.iterdir())}
    paid = rows(tmp_path / "whole")
    draw = random.Random(7)
    for had in (1, 6, 12):
        killed = start("killed", path)
        wait_for(lambda had=had: rows(home)[0][0] >= had)
        time.sleep(draw.random())
        killed.kill()
        killed.communicate()
        wait_for(lambda: not list(processes(home)))
    for file in figures.iterdir():
        file.unlink()
    done = start("killed", path)
    said = done.communicate()[0]
    assert done.returncode == 0, said
    assert {file.name: file.read_bytes() for file in sorted(figures.iterdir())} == files
    assert rows(home) == paid  # each call is stored once
    assert "one: unchanged" in start("killed", path).communicate()[0]


@pytest.fixture
def ask(tmp_path):
    """Starts a program that runs a system on the bundled questions, asking a server."""

    started = []

    def ask(server, system, questions):
        code = STUDY.format(
            url=server.url, at_once=AT_ONCE, system=system, questions=questions
        )
        home = os.environ | {"WORKBENCH_HOME": str(tmp_path), "OPENAI_API_KEY": "no"}
        command = [sys.executable, "-c", code]
        process = subprocess.Popen(
            command, env=home, cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield ask
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize(
    ("system", "questions", "respond"),
    [("direct()", CALLS, None), ("agent()", CALLS // 3, look_twice)],
)
def test_a_kill_costs_no_more_calls_than_are_under_way(
    tmp_path, ask, system, questions, respond
):
    draw = random.Random(7)
    with Server(seconds=0.05, respond=respond) as server:

        def start():
            return ask(server, system, questions)

        for _ in range(KILLS):
            killed, wanted = start(), server.calls + draw.randint(1, 2 * AT_ONCE)
            wait_for(lambda wanted=wanted: server.calls >= wanted)
            time.sleep(0.05 * draw.random())
            killed.kill()
            killed.communicate()
        assert server.calls < CALLS  # each kill came before the end
        last = start()
        said = last.communicate(timeout=120)[0]
        assert last.returncode == 0
    if respond:
        assert said == f"{2 * questions}; SELECT 2\n"
    (needed,) = rows(tmp_path)[0]
    assert needed == len({str(body["messages"]) for body in server.bodies})
    assert needed <= server.calls <= needed + KILLS * AT_ONCE


def test_ctrl_c_in_a_conversation_stores_the_reply_under_way_and_the_next_run_goes_on(
    tmp_path, ask
):
    with Server(seconds=1, respond=look_twice) as server:
        stopped = ask(server, "agent()", 1)
        wait_for(lambda: server.calls == 2)  # the second of three turns
        stopped.send_signal(signal.SIGINT)
        stopped.communicate(timeout=60)
        assert stopped.returncode != 0
        assert (server.calls, rows(tmp_path)) == (2, [(2,)])
        said = ask(server, "agent()", 1).communicate(timeout=60)[0]
        assert (said, server.calls) == ("2; SELECT 2\n", 3)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_reproduce_waits_for_the_reply_under_way_and_says_how_to_go_on(
    checkout, start, tmp_path, sent
):
    home = tmp_path / "home"
    with Server(seconds=2) as server:
        cell = f"{ASKS.format(url=server.url)}\nimport time; time.sleep(600)"
        path = checkout(one=[cell, "1 / 0"], two=["1"]).path
        process = start("home", path, "--at-once", "1")
        wait_for(lambda: server.calls)
        process.send_signal(sent)
        said = process.communicate(timeout=60)[0]
    assert process.returncode == 128 + sent
    assert said.splitlines()[-1].startswith(
        "workbench: stopped; finished work is saved"
    )
    assert rows(home, "SELECT text FROM calls") == [("answer to: hello",)]
    assert "two: done" not in said
    wait_for(lambda: not list(processes(home)))


def test_a_second_ctrl_c_ends_kernels_that_do_not_listen_within_two_seconds(
    checkout, start, tmp_path
):
    path = checkout(
        one=["import pathlib; pathlib.Path('../begun').touch()", ENDLESS]
    ).path
    process = start("home", path)
    wait_for((tmp_path / "begun").exists)
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.wait(5)
    wait_for(lambda: not list(processes(tmp_path / "home")), seconds=5)
