"""`--parameter` sets parameters of a model and of roles; what the model refuses is said and stands in the stamp."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.llm.server import Server, reply_to
from workbench.embedded import provider
from workbench.types import Request


def answer(_, body):
    """The embedded parser's answer as OpenAI would send it."""
    found = provider.answer(Request("", provider.MODEL, body["messages"], {"temperature": 0.0}), "")
    reply = reply_to(body)
    reply["choices"][0]["message"] = found["choices"][0]["message"]
    return 200, reply, {}


@pytest.fixture
def server():
    with Server() as running:
        running.respond = answer
        yield running


@pytest.fixture
def workbench(tmp_path, server):
    """Runs a command in a process of its own that finds OpenAI at the server."""
    environment = os.environ | {
        "OPENAI_API_KEY": "sk-test-0123456789",
        "WORKBENCH_HOME": str(tmp_path / "home"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "OPENAI_API_BASE": server.url,
    }  # fmt: skip

    def workbench(*words):
        return subprocess.run(
            [sys.executable, "-m", "workbench", *map(str, words)],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return workbench


LOW = ("--parameter", "reasoning_effort=low")


@pytest.mark.slow  # processes that import LiteLLM and all that `run` draws with
def test_run_sends_what_the_model_takes_and_the_table_says_what_it_refuses(workbench, server):
    room = ("--parameter", "generation:max_tokens=700")
    command = ("run", "direct", "--limit", 2, "--model", "openai/gpt-5", *LOW, *room)
    done = workbench(*command)
    assert done.returncode == 0, done.stderr
    sent = {(b["reasoning_effort"], b["max_completion_tokens"]) for b in server.bodies}
    assert sent == {("low", 700)}
    assert not any("temperature" in body for body in server.bodies)
    assert done.stderr.count("openai/gpt-5 does not take temperature: left out") == 1
    assert "openai/gpt-5 (takes no temperature) on bundled-dev, N = 2" in done.stdout
    asked = server.requests
    assert workbench(*command).returncode == 0
    assert server.requests == asked


@pytest.mark.slow  # as above
def test_ask_sets_parameters_of_a_role(workbench, server):
    rest = ("--parameter", "rest:seed=5")
    system = ("--system", "mac", "--model", "openai/gpt-5")
    done = workbench("ask", "harbour", "How many tugs are there?", *system, *LOW, *rest)
    assert done.stdout.startswith("1 row:"), done.stderr
    seeded = ["seed" in body for body in server.bodies]
    assert 0 < sum(seeded) < len(seeded)
    assert {body["reasoning_effort"] for body in server.bodies} == {"low"}


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("temprature=0", "there is no parameter 'temprature'; there is"),
        ("judging:seed=1", "give them by a model, like openai/gpt-4o, or by a role"),
        ("seed", "'seed' is not NAME=VALUE or ROLE:NAME=VALUE"),
    ],
)
def test_a_mistake_is_told_in_one_line_before_anything_is_asked(
    workbench, server, given, complaint
):
    done = workbench("ask", "harbour", "How many?", "--parameter", given)
    assert done.returncode
    assert complaint in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert server.requests == 0
