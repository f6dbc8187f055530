"""Calls are recorded without paying, and edited without anything but the context getting in."""

from dataclasses import replace

import pytest

from tests.explore.conftest import RIGHT
from workbench.errors import BadInputError
from workbench.explore.compare.texts import text
from workbench.explore.prompt.editor import template_source as source
from workbench.explore.prompt.steps import Edit, record
from workbench.llm.cache import Cache
from workbench.llm.client import Client


def test_recording_makes_no_calls_and_names_the_missing_one(zoo):
    found = record(zoo.system, zoo.questions[0], zoo.lab)
    assert zoo.model.history == []
    assert "offline" in found.missing
    (step,) = found.steps
    assert step.request.prompt == "generate/direct"
    assert step.data["question"] == zoo.questions[0].text
    assert found.selection is None


def test_missing_calls_are_made_with_pay(zoo):
    found = record(zoo.system, zoo.questions[0], zoo.lab, pay=True)
    assert found.missing == ""
    assert found.selection.sql == "SELECT count(*) FROM animal"
    assert len(zoo.model.history) == 1


def test_recording_cached_calls_does_not_change_the_ledger(zoo):
    record(zoo.system, zoo.questions[0], zoo.lab, pay=True)
    hits = zoo.lab.client.ledger.total().hits
    found = record(zoo.system, zoo.questions[0], zoo.lab)
    assert found.selection.sql == "SELECT count(*) FROM animal"
    assert len(zoo.model.history) == 1
    assert zoo.lab.client.ledger.total().hits == hits


def test_the_contexts_of_all_stages_are_kept(zoo):
    (context,) = record(zoo.system, zoo.questions[0], zoo.lab).contexts
    assert context.schema.columns() == (("animal", "id"), ("animal", "name"), ("animal", "legs"))


@pytest.fixture
def step(zoo):
    return record(zoo.system, zoo.questions[3], zoo.lab).steps[0]


def test_without_a_change_it_is_the_same_call(zoo, step):
    assert zoo.lab.client.key(Edit()(step).request) == zoo.lab.client.key(step.request)


def test_a_template_edited_to_itself_is_the_same_call(zoo, step):
    edited = Edit(source("generate/direct"))(step)
    assert zoo.lab.client.key(edited.request) == zoo.lab.client.key(step.request)


def test_an_edited_template_is_rendered_with_the_same_data(step):
    page = "# System\nBe brief.\n# User\n## Question\n{{ question }}\n"
    system, user = Edit(page)(step).request.messages
    assert system["content"] == "Be brief."
    assert user["content"] == "## Question\nzoo, question 3?"


def test_an_edited_text_of_the_context_reaches_the_prompt(step):
    assert "legs are feet" in text(Edit(data={"hint": "legs are feet"})(step).request)


def test_model_and_parameters_can_be_changed(step):
    edited = Edit(model="m/y", parameters={"temperature": 0.7})(step).request
    assert (edited.model, edited.parameters) == ("m/y", {"temperature": 0.7})


def test_a_template_that_wants_other_data_is_an_error_that_names_it(step):
    with pytest.raises(BadInputError, match="gold"):
        Edit("# System\n# User\n{{ gold }}")(step)


def test_gold_is_no_part_of_what_a_prompt_can_show(zoo, step):
    gold = zoo.benchmark.golds[zoo.questions[3].id].sql
    assert gold == "SELECT max(legs) FROM animal"
    assert gold not in text(step.request)
    assert gold not in " ".join(map(str, step.data.values()))


def test_a_reply_that_was_cut_off_is_shown_with_the_call_that_gave_it_more_room(zoo, tmp_path):
    def send(request, *_):
        cut_off = request.parameters["max_tokens"] < 2000
        text, reason = ("SELECT coun", "length") if cut_off else (RIGHT, "stop")
        return {"choices": [{"message": {"content": text}, "finish_reason": reason}]}

    with Cache(tmp_path / "short.sqlite") as store:
        lab = replace(zoo.lab, client=Client(store, send=send))
        (step,) = record(zoo.system, zoo.questions[0], lab, pay=True).steps
        assert lab.client.cached(step.request).text == RIGHT
