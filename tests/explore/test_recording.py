"""Calls are recorded without paying, and edited without anything but the context getting in."""

from dataclasses import replace

import pytest

import workbench as wb
from tests.explore.conftest import RIGHT
from workbench.errors import BadInputError
from workbench.explorer.recording import cost, edited, record, template
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.send import scripted

OWN = wb.Prompt("# User\n## Question\n{{ question }}")


def test_recording_pays_nothing_and_shows_what_is_missing_with_its_price(zoo):
    found = record(zoo.system, zoo.questions[0], zoo.lab)
    (call,) = found.missing
    assert (zoo.asked, found.selection, call.verb) == ([], None, "generate")
    assert call.data["question"] == zoo.questions[0].text
    assert cost(zoo.lab.client, [call]).startswith("$0.0")
    assert cost(zoo.lab.client, [replace(call, request=replace(call.request, model="me/unknown"))]) == "price unknown"  # fmt: skip


def test_what_was_paid_for_is_recorded_as_it_was_sent_and_not_counted_again(zoo):
    paid = record(zoo.system, zoo.questions[0], zoo.lab, pay=True)
    hits = zoo.lab.client.ledger.total().hits
    found = record(zoo.system, zoo.questions[0], zoo.lab)
    assert found == paid
    assert [call.request.messages for call in found.calls] == [
        one.messages for one in zoo.asked
    ]
    assert found.queries == {found.calls[0].reply.key: "SELECT count(*) FROM animal"}
    assert zoo.lab.client.ledger.total().hits == hits
    assert cost(zoo.lab.client, found.calls) == "cached"


@pytest.fixture
def change(zoo):
    (call,) = record(zoo.system, zoo.questions[3], zoo.lab).calls
    prompt = template(zoo.system, call.request.prompt, zoo.lab)
    return lambda **edit: edited(call, prompt, edit) if edit else call


def test_source_data_model_and_temperature_are_edited(zoo, change):
    call, prompt = change(), template(zoo.system, "generate/direct", zoo.lab)
    assert change(source=prompt.source).request == call.request
    page = "# System\nBe kind.\n# User\n## Question\n{{ question }}\n"
    assert change(source=page).parts == [("System", "", "Be kind."), ("User", "Question", "zoo, question 3?")]  # fmt: skip
    assert "legs are feet" in change(data={"hint": "legs are feet"}).text
    edit = change(model="m/y", temperature=0.7).request
    assert (edit.model, edit.parameters) == (
        "m/y",
        {**call.request.parameters, "temperature": 0.7},
    )


def test_the_turns_of_a_conversation_stay_when_its_template_is_edited(zoo, change):
    call = change()
    turns = (
        {"role": "assistant", "content": "Look."},
        {"role": "user", "content": "4 rows"},
    )
    asked = replace(
        call, request=replace(call.request, messages=(*call.request.messages, *turns))
    )
    prompt = template(zoo.system, call.request.prompt, zoo.lab)
    found = edited(asked, prompt, {"source": "# User\nBe brief."})
    assert [role for role, *_ in found.parts] == ["User", "Assistant", "User"]
    assert found.text.endswith("# Assistant\nLook.\n# User\n4 rows")


def test_gold_is_no_part_of_what_a_prompt_can_show(zoo, change):
    call = change()
    with pytest.raises(BadInputError, match="gold"):
        change(source="# User\n{{ gold }}")
    gold = zoo.benchmark.golds[zoo.questions[3].id].sql
    assert gold == "SELECT max(legs) FROM animal"
    assert gold not in call.text + " ".join(map(str, call.data.values()))


def test_a_prompt_of_a_cell_is_found_in_its_system(zoo):
    system = replace(zoo.system, generate=(wb.Generate(OWN, zoo.study.model),))
    assert template(system, OWN.name, zoo.lab) is OWN


def test_a_reply_that_was_cut_off_is_shown_with_the_call_that_gave_it_more_room(
    zoo, tmp_path
):
    cut = {
        "choices": [{"message": {"content": "SELECT coun"}, "finish_reason": "length"}]
    }
    with Cache(tmp_path / "short.sqlite") as store:
        lab = replace(
            zoo.lab, client=Client(store, send=scripted([cut], otherwise=RIGHT))
        )
        (call,) = record(zoo.system, zoo.questions[0], lab, pay=True).calls
        assert call.reply.text == RIGHT
