"""Requests that a lab makes for a step, and the replies to them."""

from dataclasses import dataclass, replace

import pytest

from workbench.db.text.schema_text import mac_sql_text
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.llm.scripted import Scripted
from workbench.store import Store
from workbench.types import Column, Context, Question, Schema, Table

QUESTION = Question("q1", "zoo", "How many animals are there?", "count the rows")
CONTEXT = Context(QUESTION, Schema("zoo", (Table("animal", (Column("name"),)),)))


@dataclass(frozen=True)
class Asker:
    model: str = "test/model"
    temperature: float = 0.5


@pytest.fixture
def lab(tmp_path):
    script = Scripted(["first", "second"])
    with Store(tmp_path / "lab.sqlite") as store:
        yield Lab(Client(store, send=script), None, None, system="mine")


def test_a_request_about_a_context_shows_its_schema_question_and_hint(lab):
    request = lab.request(Asker(), "generate/direct", CONTEXT, 3, think=False)
    text = request.messages[1]["content"]
    for part in ("CREATE TABLE animal", QUESTION.text, QUESTION.evidence):
        assert part in text
    assert (request.prompt, request.model) == ("generate/direct", "test/model")
    assert (request.parameters, request.sample) == ({"temperature": 0.5}, 3)
    assert (request.question, request.system) == ("q1", "mine")


def test_a_labs_parameters_are_those_of_all_calls_of_a_model(lab):
    given = {"test/model": {"temperature": None, "seed": 3}, "test/other": {"seed": 4}}
    lab = replace(lab, parameters=given)
    assert lab.request(Asker(), "generate/direct", CONTEXT, think=False).parameters == {"seed": 3}
    third = lab.request(Asker("test/third"), "generate/direct", CONTEXT, think=False)
    assert third.parameters == {"temperature": 0.5}


def test_a_request_about_a_question_shows_the_data_alone(lab):
    request = lab.request(Asker(), "retrieve/keywords", QUESTION, question="Who?", hint="")
    assert "Who?" in request.messages[1]["content"]
    assert request.question == "q1"
    with pytest.raises(BadInputError, match="hint, question missing"):
        lab.request(Asker(), "retrieve/keywords", QUESTION)


def test_the_schema_is_written_as_the_step_wants_it(lab):
    request = lab.request(Asker(), "prune/mac_selector", CONTEXT, schema_text=mac_sql_text)
    assert mac_sql_text(CONTEXT.schema) in request.messages[1]["content"]


def test_replies_come_in_the_order_of_their_requests(lab):
    def request(sample):
        return lab.request(Asker(), "generate/direct", CONTEXT, sample, think=False)

    assert lab.ask(Asker(), "generate/direct", CONTEXT, 1, think=False).text == "first"
    replies = lab.ask_many(request(sample) for sample in (0, 1))
    assert [reply.text for reply in replies] == ["second", "first"]  # sample 1 is cached


def test_watch_sees_each_request_with_the_data_of_its_prompt(lab):
    seen = []
    watched = Lab(lab.client, None, None, watch=lambda request, data: seen.append((request, data)))
    request = watched.request(Asker(), "generate/direct", CONTEXT, think=True)
    ((watched_request, data),) = seen
    assert watched_request is request
    assert data["question"] == QUESTION.text
    assert data["think"] is True
