"""Reached like any model, answering from the messages alone."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.embedded import provider
from workbench.errors import BadInputError
from workbench.llm import keys
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.types import Request

ROOT = Path(__file__).parents[2]

# Whatever touches the world outside the process raises an audit event.
ALONE = """
import sys
from tests.embedded.cases import CASES
from workbench.embedded.answer import answer
from workbench.prompts.prompt import load

prompts = {case: load(case.split()[0]).messages(**data) for case, data in CASES.items()}
asked = [[dict(m, content=m["content"].replace("door", "motor")) for m in p] for p in prompts.values()]
for messages in prompts.values():
    answer(messages, temperature=1.0, seed="first")  # modules and weights are loaded with the first answers
seen = []
sys.addaudithook(lambda event, args: seen.append((event, args)) if watching else None)
watching = True
for messages in asked:
    assert answer(messages, temperature=1.0, seed="second")
watching = False
world = ("open", "os.", "sqlite3.", "socket.", "subprocess.", "urllib.", "shutil.", "import", "ctypes.")
outside = [(event, args) for event, args in seen if event.startswith(world)]
assert not outside, outside
open("/dev/null").close()
watching = True
open("/dev/null").close()
watching = False
assert any(event == "open" for event, _ in seen), "the hook hears nothing"
print("alone")
"""


def run(script):
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_opens_no_file_no_database_and_no_network_to_answer():
    assert run(ALONE) == "alone\n"


@pytest.fixture
def book(tmp_path):
    with Cache(tmp_path / "lab.sqlite") as store:
        yield store


def ask(text="## Answer\nGive only a JSON list of strings:\n", **parameters):
    messages = [{"role": "user", "content": f"## Question\nWho is Ada Lovelace?\n\n{text}"}]
    return Request("retrieve/keywords", "embedded/parser", messages, parameters)


def test_it_is_reached_through_the_client_and_costs_nothing(book):
    client = Client(book)
    answer = client.complete(ask(temperature=0.0))
    assert "Ada Lovelace" in answer.text
    assert (answer.cost, answer.cached) == (0.0, False)
    assert answer.input_tokens > 0
    assert Client(book, offline=True).complete(ask(temperature=0.0)).cached


def test_another_version_of_it_does_not_answer_from_what_this_one_said(book, monkeypatch):
    key = Client(book).key(ask())
    changed = (provider.answer, lambda model: provider.version(model) + "changed")
    monkeypatch.setitem(keys._registered, "embedded", changed)
    assert Client(book).key(ask()) != key


def test_its_version_is_a_hash_of_its_code_and_weights():
    assert re.fullmatch(r"embedded/parser@[0-9a-f]{16}", provider.version("embedded/parser"))


def test_a_model_that_does_not_exist_is_one_clear_error(book):
    request = Request("p", "embedded/oracle", [{"role": "user", "content": "hello"}])
    with pytest.raises(BadInputError, match="no model embedded/oracle; there is embedded/parser"):
        Client(book).complete(request)


@pytest.mark.parametrize(("limit", "reason"), [(3, "length"), (10_000, "stop")])
def test_an_output_limit_cuts_the_answer_and_says_so(limit, reason):
    whole = provider.answer(ask(temperature=0.0), "seed")
    reply = provider.answer(ask(temperature=0.0, max_tokens=limit), "seed")
    (choice,) = reply["choices"]
    assert whole["choices"][0]["message"]["content"].startswith(choice["message"]["content"])
    assert choice["finish_reason"] == reason
    assert reply["usage"]["completion_tokens"] <= limit


def test_an_output_limit_that_suffices_changes_no_sample():
    def seeds(**parameters):
        return keys.seed(ask(**parameters))

    assert seeds(temperature=0.5) == seeds(temperature=0.5, max_tokens=1000)
    assert seeds(temperature=0.5) != seeds(temperature=0.7)
