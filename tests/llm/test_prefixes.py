"""How requests are sent to providers that cache the prefixes of prompts."""

from dataclasses import replace

import pytest

from workbench.llm.cache.keys import request_key
from workbench.llm.remote.prefixes import as_sent, cached_ends, prefix_hash, with_common_part
from workbench.types import Request

SCHEMA, TASK = f"## Database schema\n{'a ' * 4000}\n", f"## Task\n{'b ' * 4000}\n"
CLAUDE, GPT, GEMINI = "anthropic/claude-sonnet-4-5", "openai/gpt-4.1", "gemini/gemini-2.5-pro"


def request(model, question="?", schema=SCHEMA, task=TASK):
    content = f"{schema}{task}## Question\n{question}"
    messages = ({"role": "system", "content": "s"}, {"role": "user", "content": content})
    return Request("p/x", model, messages, shared=(len(schema), len(schema + task)))


def test_anthropic_s_models_get_marks_behind_what_calls_share():
    messages, parameters = as_sent(request(CLAUDE))
    blocks = messages[1]["content"]
    assert [block["text"] for block in blocks] == [SCHEMA, TASK, "## Question\n?"]
    assert ["cache_control" in block for block in blocks] == [True, True, False]
    assert not parameters


def test_openai_s_models_get_one_key_for_all_prompts_about_a_schema():
    (messages, first), (_, second) = (
        as_sent(request(GPT, question, task=task))
        for question, task in (("?", TASK), ("!", "## Task\nc"))
    )
    assert messages == request(GPT).messages
    assert first["prompt_cache_key"] == second["prompt_cache_key"]
    assert as_sent(request(GPT, schema=SCHEMA + "x"))[1] != first


def test_a_user_s_own_key_wins():
    own = replace(request(GPT), parameters={"prompt_cache_key": "mine"})
    assert as_sent(own)[1] == {"prompt_cache_key": "mine"}


@pytest.mark.parametrize(
    ("asked", "url"),
    [
        (request(GEMINI), ""),
        (request("openai/some-model-of-mine"), ""),
        (request(GPT), "http://localhost:8000/v1"),
        (request(CLAUDE, schema="## Database schema\nshort", task="## Task\nshort"), ""),
        (replace(request(CLAUDE), shared=()), ""),
    ],
)
def test_other_requests_are_sent_as_they_are(asked, url):
    assert as_sent(asked, url) == (asked.messages, asked.parameters)


def test_a_model_s_own_minimum_counts():
    long_enough_for_sonnet = request(CLAUDE, task="## Task\nb")
    assert len(cached_ends(long_enough_for_sonnet)) == 2
    assert not cached_ends(replace(long_enough_for_sonnet, model="anthropic/claude-haiku-4-5"))


def test_the_key_of_a_call_does_not_know_what_it_shares():
    assert request_key(request(CLAUDE), "") == request_key(replace(request(CLAUDE), shared=()), "")


def test_requests_that_are_sent_together_share_the_sections_they_begin_with():
    several = with_common_part([replace(request(GPT, question), shared=()) for question in "ab"])
    rests = [one.messages[1]["content"][one.shared[0] :] for one in several]
    assert rests == ["## Question\na", "## Question\nb"]


def test_equal_requests_share_everything():
    one, two = with_common_part([request(GPT), replace(request(GPT), sample=1)])
    assert one.shared == two.shared
    assert one.shared[-1] == len(one.messages[1]["content"])


def test_a_single_request_shares_what_it_did():
    assert with_common_part([request(GPT)]) == [request(GPT)]


def test_questions_about_one_database_have_one_prefix():
    assert prefix_hash(request(CLAUDE, "?")) == prefix_hash(request(CLAUDE, "!"))
    assert prefix_hash(request(CLAUDE)) != prefix_hash(request(CLAUDE, task=TASK + "c"))
    assert prefix_hash(replace(request(CLAUDE), shared=())) == ""
