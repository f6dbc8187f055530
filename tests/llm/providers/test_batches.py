"""A batch that LiteLLM sends has the bodies, the keys and the replies of live calls."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.llm.providers.batch_all import MODELS
from tests.llm.providers.protocols import KEYS
from tests.llm.wire import ROOT


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Each provider's two answers, live and in a batch, and the bodies that it was sent."""
    folder = tmp_path_factory.mktemp("asked")
    command = [sys.executable, "-m", "tests.llm.providers.batch_all", str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ | KEYS
    )
    return {name: rest for name, *rest in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", MODELS)
def test_the_body_in_a_batch_is_that_of_a_live_call(found: dict[str, list[Any]], name: str) -> None:
    live, batched = found[name][1]
    assert batched == live


@pytest.mark.parametrize("name", MODELS)
def test_the_answer_of_a_batch_is_stored_as_a_live_one_is(
    found: dict[str, list[Any]], name: str
) -> None:
    live, batched = found[name][0]
    assert batched["stored"][0].pop("batch") == "batch-0"
    assert batched["stored"] == live["stored"]


@pytest.mark.parametrize("name", ["OpenAI", "OpenAI, reasoning", "Azure"])
def test_a_batch_costs_half(found: dict[str, list[Any]], name: str) -> None:
    live, batched = found[name][0]
    assert batched["cost"] == pytest.approx(live["cost"] / 2)


def test_another_server_is_not_sent_openais_key(found: dict[str, list[Any]]) -> None:
    assert not any(KEYS["OPENAI_API_KEY"] in key for key in found["vLLM"][2])
