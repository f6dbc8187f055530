"""A chat that is posted in the form of LiteLLM's request is what LiteLLM's `completion` makes of the same call."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.llm.providers import talks
from tests.llm.providers.ask_both_ways import FAULTS, SEVERAL, names
from tests.llm.providers.protocols import KEYS
from tests.llm.wire import ROOT

MORE = {"DEEPSEEK_API_KEY": "a-key-of-deepseek", "OPENROUTER_API_KEY": "a-key-of-openrouter",
        "TOGETHERAI_API_KEY": "a-key-of-together"}  # fmt: skip
POSTED = ("OpenAI: ", "OpenAI, Responses: ", "Azure: ", "Anthropic: ", "Gemini: ", "Mistral: ", "vLLM: ",
          "llama.cpp: ", "answer of ")  # fmt: skip


@pytest.fixture(scope="module")
def found() -> dict[str, list[Any]]:
    """What came of each case: calls posted, calls by the whole of LiteLLM, and the results of both ways."""
    command = [sys.executable, "-m", "tests.llm.providers.ask_both_ways"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ | KEYS | MORE
    )
    rows = map(json.loads, done.stdout.splitlines())
    return {name: rest for name, *rest in rows}


@pytest.mark.parametrize("name", names())
def test_a_posted_call_ends_as_litellms_own(found: dict[str, list[Any]], name: str) -> None:
    _, _, wanted, given = found[name]
    assert given == wanted


@pytest.mark.parametrize("name", [name for name in names() if name.startswith(POSTED)])
def test_chats_are_posted(found: dict[str, list[Any]], name: str) -> None:
    posted, _, _, _ = found[name]
    assert posted == 1


@pytest.mark.parametrize("name", talks.SPOKEN)
@pytest.mark.parametrize("title", talks.CALLS)
def test_a_call_is_posted_unless_litellm_may_change_its_texts(
    found: dict[str, list[Any]], name: str, title: str
) -> None:
    posted, whole, _, _ = found[f"{name}, {title}"]
    assert (posted, whole) == ((0, 1) if title in talks.LEFT[name] else (1, 0))


@pytest.mark.parametrize(
    ("name", "title"),
    [(name, title) for name, replies in talks.REPLIES.items() for title in replies],
)
def test_a_reply_of_a_known_form_is_read_without_the_whole_of_litellm(
    found: dict[str, list[Any]], name: str, title: str
) -> None:
    posted, whole, _, _ = found[f"{name}, reply: {title}"]
    assert (posted, whole) == (1, title in talks.WHOLE[name])


@pytest.mark.parametrize("name", ["OpenAI: answer", "OpenAI, Responses: answer", "Anthropic: answer", "Gemini: answer",
                                  "vLLM: answer", "Mistral: answer", "Azure: answer",
                                  *(f"answer of {model}" for model in SEVERAL)])  # fmt: skip
def test_an_answer_of_a_known_form_is_read_without_the_whole_of_litellm(
    found: dict[str, list[Any]], name: str
) -> None:
    _, whole, _, _ = found[name]
    assert whole == 0


@pytest.mark.parametrize("name", ["429", "429-after", "OpenAI: rate limit", "429 in OpenAI's words", "429 with a detail",
                                  "429 in Mistral's words", "429 with a text", "OpenAI, Responses: rate limit",
                                  *(f"{name}, {title}" for name in talks.THROTTLED for title in talks.THROTTLED[name])])  # fmt: skip
def test_a_429_of_a_known_form_is_read_without_the_whole_of_litellm(
    found: dict[str, list[Any]], name: str
) -> None:
    _, whole, _, _ = found[name]
    assert whole == 0


@pytest.mark.parametrize("name", ["quota", "429 of a day", *(f"{name}, {title}" for name in talks.FATAL for title in talks.FATAL[name])])  # fmt: skip
def test_a_429_that_ends_a_run_is_read_by_litellm(found: dict[str, list[Any]], name: str) -> None:
    _, whole, _, _ = found[name]
    assert whole == 1


def test_the_protocol_of_ollama_stays_with_litellm(found: dict[str, list[Any]]) -> None:
    posted, whole, _, _ = found["Ollama: answer"]
    assert (posted, whole) == (0, 1)


@pytest.mark.parametrize("name", ["", "Anthropic, ", "Gemini, "])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_met_by_a_posted_call(
    found: dict[str, list[Any]], fault: str, name: str
) -> None:
    posted, _, _, _ = found[name + fault]
    assert posted == 1


WATCHED = """
import sys
from pathlib import Path
from tests.llm.server import Server
from tests.llm.wire import ask
from workbench.llm import provider
from workbench.llm.client import Client
from workbench.store import Store

seen = []
litellm = provider.load()
litellm.input_callback = [seen.append]
with Server() as server, Store(Path(sys.argv[1])) as store:
    client = Client(store, api_base=server.url)
    for number in range(3):
        client.complete(ask(str(number)))
print(len(seen))
"""


def test_callbacks_of_litellm_see_every_call(tmp_path: object) -> None:
    command = [sys.executable, "-c", WATCHED, f"{tmp_path}/lab.sqlite"]
    environment = os.environ | KEYS
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment
    )
    assert done.stdout == "3\n"
