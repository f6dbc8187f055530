"""Words are found in replies and prompts, whether a part of the prompt is stored with its call or shared."""

import pytest

from workbench.explore.search import asked, find
from workbench.types import Question, Request

SHARED = "a line of the schema with ships\n" * 100 + "\n"  # long enough to be stored as a part


@pytest.fixture
def store(zoo):
    """Three calls: two share a part of their prompts, and each has a reply of its own."""
    prompts = (SHARED + 'How many "tugs"?', SHARED + "Who sails, 100%?", "Nothing of that kind")
    zoo.model.replies.extend(["SELECT Reply_one", "SELECT two", "SELECT three"])
    for text in prompts:
        zoo.lab.client.complete(Request("p", "m/x", ({"role": "user", "content": text},), {}))
    return zoo.lab.client.cache


def replies_with(store, words):
    numbers = find(store, words)
    return [store.read("SELECT text FROM calls WHERE rowid = ?", [one])[0][0] for one in numbers]


@pytest.mark.parametrize(
    ("words", "replies"),
    [
        (["reply_ONE"], ["SELECT Reply_one"]),
        (["sails,"], ["SELECT two"]),
        (['"tugs"'], ["SELECT Reply_one"]),
        (["ships"], ["SELECT Reply_one", "SELECT two"]),
        (["ships", "two"], ["SELECT two"]),
        (["100%"], ["SELECT two"]),
        (["1%0"], []),
        (["nowhere"], []),
    ],
)
def test_every_word_is_in_the_prompt_or_the_reply(store, words, replies):
    assert replies_with(store, words) == replies


def test_the_question_of_a_call_is_the_one_on_a_line_of_its_prompt(store):
    question = Question("7", "zoo", "Nothing of\nthat kind")
    (about,) = asked(store.calls(), [question]).values()
    assert about is question
