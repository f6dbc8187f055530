"""Cached calls are listed, opened, and asked again."""

import pytest

from workbench.errors import BadInputError
from workbench.explore.calls import (
    ask_again,
    call_html,
    calls,
    cost_again,
    open_call,
)
from workbench.explore.search import find
from workbench.llm.client import Client
from workbench.types import Request


def ask(zoo, prompt="p", model="m/x", text="hello"):
    message = {"role": "user", "content": text}
    return zoo.lab.client.complete(Request(prompt, model, (message,), {"temperature": 0.0}))


def test_calls_are_found_by_prompt_and_model(zoo):
    ask(zoo)
    ask(zoo, prompt="q")
    ask(zoo, model="m/y")
    store = zoo.lab.client.cache
    assert calls(store)[1] == 2  # the same request under another prompt's name is one call
    assert calls(store, model="m/y")[0]["prompt"].tolist() == ["p"]
    assert calls(store, prompt="nothing")[0].empty


def test_calls_are_found_by_words(zoo):
    ask(zoo)
    ask(zoo, text="hello again")
    store = zoo.lab.client.cache
    listed, number = calls(store, found=find(store, ["AGAIN"]))
    assert (number, len(listed)) == (1, 1)


def test_the_longest_come_first_when_asked_for(zoo):
    ask(zoo, text="one word more")
    ask(zoo, text="one")
    listed, _ = calls(zoo.lab.client.cache, order="longest")
    assert listed["input_tokens"].tolist() == [3, 1]


def test_what_the_limit_leaves_out_is_counted(zoo):
    for text in "abc":
        ask(zoo, text=text)
    listed, number = calls(zoo.lab.client.cache, limit=2)
    assert (number, len(listed)) == (3, 2)


def test_a_call_is_opened_in_full(zoo):
    key = ask(zoo).key
    call = open_call(zoo.lab.client.cache, key)
    page = call_html(call)
    assert "hello" in page
    assert "SELECT count(*) FROM animal" in page
    assert "temperature: 0.0" in page
    assert zoo.lab.client.key(call.request) == key


def test_an_unknown_key_is_an_error(zoo):
    with pytest.raises(BadInputError, match="no call 'x'"):
        open_call(zoo.lab.client.cache, "x")


def test_asking_again_replaces_the_reply_for_this_client_too(zoo):
    key = ask(zoo).key
    zoo.model.otherwise = "SELECT 2"
    store = zoo.lab.client.cache
    assert ask_again(zoo.lab.client, open_call(store, key)).text == "SELECT 2"
    assert open_call(store, key).answer.text == "SELECT 2"
    assert ask(zoo).text == "SELECT 2"
    assert len(zoo.model.history) == 2


def test_a_call_of_another_server_is_not_asked_again(zoo):
    call = open_call(zoo.lab.client.cache, ask(zoo).key)
    other = Client(zoo.lab.client.cache, send=zoo.model, api_base="http://elsewhere")
    with pytest.raises(BadInputError, match="another server"):
        ask_again(other, call)
    assert len(zoo.model.history) == 1


def test_the_cost_of_asking_again_is_shown_before(zoo):
    call = open_call(zoo.lab.client.cache, ask(zoo).key)
    assert cost_again(call) == "about an unknown price, at most an unknown price"
    known = open_call(zoo.lab.client.cache, ask(zoo, model="openai/gpt-4o").key)
    assert cost_again(known).startswith("about $0.000")
