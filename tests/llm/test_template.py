"""A template holds a request's own texts alone, and is made only where their places are certain."""

import json

import httpx
import pytest

from workbench.llm.remote.sending.posting import _Kind
from workbench.llm.remote.sending.template import parted, template

ASKED = [{"role": "system", "content": "Answer."}, {"role": "user", "content": "one"}]
OTHER = [{"role": "system", "content": 'Say "ü".'}, {"role": "user", "content": "two\n"}]


def message(*texts):
    return {
        "messages": [{"role": "user", "content": [{"type": "text", "text": t} for t in texts[1:]]}],
        "system": [{"type": "text", "text": texts[0]}],
    }


def filled(body, path="/v1/messages", messages=ASKED, others=OTHER):
    form, texts = parted(messages)
    other_form, other_texts = parted(others)
    assert form == other_form
    found = template(body, path, messages, texts)
    return found and json.loads(found.filled(others, other_texts))


def test_another_call_has_its_own_texts_at_the_same_places():
    assert filled(message("Answer.", "one")) == message('Say "ü".', "two\n")


def test_unchanged_messages_have_their_place_in_any_protocol():
    body = {"model": "m", "messages": ASKED, "n": 1}
    assert filled(body, "/v1/chat/completions") == body | {"messages": OTHER}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (message("Answer.", "one "), "/v1/messages"),  # a changed text
        (message("Answer.", "one", "one"), "/v1/messages"),  # a text that stands twice
        (message("Answer.\none"), "/v1/messages"),  # texts in one
        (message("Answer.", "one") | {"stop": ["one"]}, "/v1/messages"),  # a text that is a parameter, too
        (message("Answer.", "one"), "/v1/chat/completions"),  # another protocol's path
    ],
)  # fmt: skip
def test_places_that_are_not_certain_make_no_template(body, path):
    assert filled(body, path) is None


def test_a_mark_that_litellm_does_not_send_makes_no_template():
    part = {"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}}
    marked = [{"role": "user", "content": [part, {"type": "text", "text": "two"}]}]
    body = {"contents": [{"parts": [{"text": "one"}, {"text": "two"}]}]}
    form, texts = parted(marked)
    assert template(body, "/models/m:generateContent", marked, texts) is None
    assert form != parted([{"role": "user", "content": [{**part, "text": "a"}, part]}])[0]


@pytest.mark.parametrize(
    ("role", "text"), [("user", ""), ("system", " \n"), ("user", None), ("user", [])]
)
def test_messages_that_are_not_texts_have_no_form(role, text):
    assert parted([{"role": role, "content": text}]) is None
    assert parted([]) is None


def test_white_space_at_the_end_of_an_answer_makes_another_form():
    forms = [
        parted([{"role": role, "content": text}])[0]
        for role in ("user", "assistant")
        for text in ("a", "b\n")
    ]
    assert len(set(forms)) == 3


@pytest.mark.parametrize(
    ("headers", "query", "learnt"),
    [
        ({"x-api-key": "a-key-of-the-environment"}, "", True),
        ({"x-goog-api-key": "a-key-of-the-environment"}, "", True),
        ({}, "?key=a-key-of-the-environment", True),
        ({"x-api-key": "another"}, "", False),
        ({"x-goog-api-key": "another"}, "", False),
        ({}, "?key=another", False),
    ],
)
def test_a_noted_form_has_no_key_but_one_of_the_environment(headers, query, learnt, monkeypatch):
    monkeypatch.setenv("EXAMPLE_API_KEY", "a-key-of-the-environment")
    kind = _Kind()
    url = f"http://localhost/v1/messages{query}"
    request = httpx.Request("POST", url, headers=headers, json=message("Answer.", "one"))
    kind.note(request, ASKED, ["Answer.", "one"])
    assert bool(kind.template) == learnt
