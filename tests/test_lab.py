"""Requests that a lab makes for a step, and the replies to them."""

import threading
from dataclasses import dataclass, replace

import pytest

from workbench.errors import BadInputError, BudgetError
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.faults import Refusal
from workbench.llm.money import Budget
from workbench.llm.scripted import scripted
from workbench.sql.schema_text import mac_sql_text
from workbench.types import Column, Context, Question, Schema, Table

QUESTION = Question("q1", "zoo", "How many animals are there?", "count the rows")
CONTEXT = Context(QUESTION, Schema("zoo", (Table("animal", (Column("name"),)),)))


@dataclass(frozen=True)
class Asker:
    model: str = "test/model"
    temperature: float = 0.5


@pytest.fixture
def lab(tmp_path):
    script = scripted(["first", "second"])
    with Cache(tmp_path / "lab.sqlite") as store:
        yield Lab(Client(store, send=script), None, None, system="mine")


def test_a_request_about_a_context_shows_its_schema_question_and_hint(lab):
    request = lab.request(Asker(), "generate/direct", CONTEXT, 3, think=False)
    text = request.messages[1]["content"]
    for part in ("CREATE TABLE animal", QUESTION.text, QUESTION.evidence):
        assert part in text
    assert (request.prompt, request.model) == ("generate/direct", "test/model")
    assert (request.parameters["temperature"], request.sample) == (0.5, 3)
    assert (request.question, request.system) == ("q1", "mine")


def test_a_labs_parameters_are_added_to_all_calls_of_their_model(lab):
    given = {"test/model": {"temperature": None, "seed": 3}, "test/other": {"seed": 4}}
    lab = replace(lab, parameters=given)
    first = lab.request(Asker(), "generate/direct", CONTEXT, think=False)
    assert first.parameters == {"seed": 3, "max_tokens": 1024}
    third = lab.request(Asker("test/third"), "generate/direct", CONTEXT, think=False)
    assert third.parameters == {"temperature": 0.5, "max_tokens": 1024}


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


def test_without_at_once_items_are_worked_on_in_the_callers_own_thread(lab):
    threads = replace(lab, at_once=False).each(lambda _: threading.get_ident(), [1, 2, 3])
    assert set(threads) == {threading.get_ident()}


def cut_off(text, reason="length"):
    """A reply as a provider sends it that ends at its output limit."""
    usage = {"prompt_tokens": 9, "completion_tokens": 1024}
    return {
        "choices": [{"message": {"content": text}, "finish_reason": reason}],
        "usage": usage,
    }


@pytest.fixture
def answered(tmp_path):
    """A lab whose model gives these replies, and the requests that it was sent."""
    with Cache(tmp_path / "lab.sqlite") as store:

        def make(*replies, **parameters):
            script = scripted(replies)
            given = {"test/model": parameters}
            return Lab(Client(store, send=script), None, None, parameters=given), script.history

        yield make


def direct(lab):
    return lab.ask(Asker(), "generate/direct", CONTEXT, think=False)


def test_a_reply_that_is_cut_off_is_asked_for_once_more_with_twice_the_room(answered):
    lab, history = answered(cut_off("SELECT na"), "SELECT name FROM animal")
    assert direct(lab).text == "SELECT name FROM animal"
    assert [request.parameters["max_tokens"] for request in history] == [1024, 2048]


def test_both_replies_are_paid_once(answered):
    lab, _ = answered(cut_off("SELECT na"), "SELECT name FROM animal")
    direct(lab)
    again, history = answered()
    assert direct(again).text == "SELECT name FROM animal"
    assert not history
    assert again.client.ledger.total().hits == 2


def test_a_reply_that_is_cut_off_twice_is_taken_as_it_is(answered):
    lab, history = answered(cut_off("SELECT na"), cut_off("SELECT name FROM animal, anim"))
    reply = direct(lab)
    assert (reply.text, reply.finish_reason) == ("SELECT name FROM animal, anim", "length")
    assert len(history) == 2


def test_a_thought_that_is_cut_off_gets_the_room_of_a_model_that_thinks(answered):
    lab, history = answered(cut_off("<think>The animals are"), "SELECT name FROM animal")
    assert direct(lab).text == "SELECT name FROM animal"
    assert history[1].parameters["max_tokens"] == 2048 + 8192


def test_a_users_limit_is_not_exceeded(answered):
    lab, history = answered(cut_off("SELECT na"), max_tokens=64)
    assert direct(lab).text == "SELECT na"
    assert [request.parameters["max_tokens"] for request in history] == [64]


def test_the_shorter_reply_stays_where_the_longer_one_fails(answered):
    lab, _ = answered(cut_off("SELECT name"), Refusal("rejected", "too long"))
    assert direct(lab).text == "SELECT name"


def test_more_room_is_within_the_budget(tmp_path):
    script = scripted([cut_off("SELECT na"), "SELECT name FROM animal"])
    with Cache(tmp_path / "lab.sqlite") as store:
        lab = Lab(Client(store, send=script, budget=Budget(calls=1)), None, None)
        with pytest.raises(BudgetError, match="the budget of 1 calls is used up"):
            direct(lab)
        assert len(script.history) == 1
