"""Words are found in replies and prompts, whether a part of the prompt is stored with its call or shared."""

import pytest

from workbench.explore.search import Search, asked
from workbench.llm.cache import transfer
from workbench.types import Question, Request

SHARED = "a line of the schema with ships\n" * 100 + "\n"  # long enough to be stored as a part


@pytest.fixture
def store(zoo):
    """Three calls: two share a part of their prompts, and each has a reply of its own."""
    prompts = (SHARED + 'How many "tugs"?', SHARED + "Who sails, 100%?", "Nothing of that kind")
    zoo.model.replies.extend(["SELECT Reply_one", "SELECT two", "SELECT three"])
    for text in prompts:
        zoo.lab.client.complete(Request("p", "m/x", ({"role": "user", "content": text},), {}))
    return zoo.lab.client.store


def replies_with(store, words):
    numbers = Search(store).find(words)
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
    (about,) = asked(transfer.calls(store), [question]).values()
    assert about is question


def test_a_call_made_since_is_found(zoo, store):
    search = Search(store)
    zoo.model.replies.append("SELECT later")
    zoo.lab.client.complete(Request("p", "m/x", ({"role": "user", "content": SHARED},), {}))
    assert len(search.find(["later"])) == 1
    assert len(search.find(["ships"])) == 3


def test_a_search_reads_no_call_again_and_runs_two_queries_for_a_word(zoo, store, monkeypatch):
    search, queries = Search(store), []
    search.prepare().join()
    read = type(store).read

    def counted(self, query, values=()):
        found = read(self, query, values)
        queries.append((query, len(found)))
        return found

    monkeypatch.setattr(type(store), "read", counted)
    search.find(["ships", "two"])
    again = [rows for query, rows in queries if query.startswith("SELECT rowid, messages")]
    assert again == [0]
    assert len(queries) == 1 + 2 * 2
