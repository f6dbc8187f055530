"""What a lab asks for a step, and how it reads, asks again, counts and runs."""

import os
import signal
import sqlite3
import threading
import warnings
from contextlib import closing
from dataclasses import dataclass

import pytest

from workbench import replies
from workbench.errors import BadInputError, StoppedError
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.faults import Refusal
from workbench.llm.send import scripted
from workbench.prompts import Prompt
from workbench.sql.executor import Executor
from workbench.sql.texts import mac_sql_text
from workbench.types import Candidate, Column, Context, Question, Schema, Table

QUESTION = Question("q1", "zoo", "How many animals are there?", "count the rows")
CONTEXT = Context(QUESTION, Schema("zoo", (Table("animal", (Column("name"),)),)))
PROMPT = Prompt(
    "---\nrole: generation\noutput_limit: 100\n---\n# User\n{{ question }} {{ hint }} {{ schema | fence }}"
)
NAMES, ALL = "SELECT name FROM animal", "SELECT * FROM animal"


@dataclass(frozen=True)
class Asker:
    model: str = "test/model"
    temperature: float = 0.5


@pytest.fixture
def answered(tmp_path):
    """A lab whose model gives these replies, and the requests that it was sent."""

    def make(*script, **settings):
        send = scripted(script)
        client = Client(Cache(tmp_path / "lab.sqlite"), send=send, retries=0)
        return Lab(client, None, None, system="mine", **settings), send.history

    return make


def ask(lab, read=replies.sql, prompt=PROMPT, sample=0):
    return lab.ask(Asker(), prompt, CONTEXT, read, sample)


def cut_off(text):
    """A reply as a provider sends it that ends at its output limit."""
    usage = {"prompt_tokens": 9, "completion_tokens": 100}
    return {
        "choices": [{"message": {"content": text}, "finish_reason": "length"}],
        "usage": usage,
    }


def test_a_request_shows_its_context_and_names_what_it_is_for(answered):
    lab, _ = answered()
    request = lab.request(Asker(), PROMPT, CONTEXT, 3)
    text = request.messages[-1]["content"]
    assert all(
        part in text
        for part in ("CREATE TABLE animal", QUESTION.text, QUESTION.evidence)
    )
    assert (request.prompt, request.model, request.sample) == (
        "generate/own",
        "test/model",
        3,
    )
    assert (request.question, request.system, request.again) == ("q1", "mine", False)
    assert request.parameters == {"temperature": 0.5, "max_tokens": 100}
    shown = lab.request(Asker(), PROMPT, CONTEXT, schema_text=mac_sql_text)
    assert mac_sql_text(CONTEXT.schema) in shown.messages[-1]["content"]


def test_a_roles_parameters_win_over_its_models_and_both_over_the_steps(answered):
    given = {"test/model": {"temperature": None, "seed": 3}, "generation": {"seed": 4}}
    lab, _ = answered(parameters=given)
    assert lab.request(Asker(), PROMPT, CONTEXT).parameters == {
        "seed": 4,
        "max_tokens": 100,
    }


def test_a_judges_prompt_of_a_cell_does_not_get_the_generators_parameters(answered):
    lab, _ = answered(parameters={"generation": {"seed": 4}, "judge": {"seed": 5}})
    judge = Prompt("---\nrole: judge\n---\n# User\nA or B?")
    assert lab.request(Asker(), judge, CONTEXT).parameters["seed"] == 5
    with pytest.raises(BadInputError, match="generate/own has no role"):
        lab.request(Asker(), Prompt("# User\nA or B?"), CONTEXT)


def test_a_reply_in_the_form_asked_for_is_one_call(answered):
    lab, history = answered(f"```sql\n{NAMES}\n```")
    found = ask(lab)
    assert (found.value, found.problem, found.asked_again) == (NAMES, "", "")
    assert found.keys == (found.completion.key,)
    assert len(history) == 1


def test_an_unread_reply_is_asked_once_more_under_its_own_key(answered):
    lab, history = answered("<think>Hm.</think>The names, I would say.", NAMES)
    found = ask(lab)
    assert (found.value, found.problem) == (NAMES, "")
    assert "in a fence that begins with ```sql" in found.asked_again
    first, second = history
    assert second.messages[:-2] == first.messages
    assert second.messages[-2] == {
        "role": "assistant",
        "content": "The names, I would say.",
    }
    assert second.messages[-1]["role"] == "user"
    assert "in a fence that begins with ```sql" in second.messages[-1]["content"]
    assert (first.again, second.again) == (False, True)
    assert found.keys == (lab.client.key(first), lab.client.key(second))


def test_a_reply_that_stays_unread_is_a_value_with_a_problem(answered):
    lab, history = answered("A or B?", "I cannot tell.")
    found = ask(lab, replies.letter)
    assert found.value is None
    assert "A or B" in found.problem
    assert found.completion.text == "I cannot tell."
    assert (len(history), len(found.keys)) == (2, 2)
    assert found.wanted in found.problem


def test_a_fault_is_a_problem_and_is_not_asked_again(answered):
    lab, history = answered(Refusal("rejected", "the prompt is too long"))
    found = ask(lab)
    assert (found.value, found.asked_again, len(history)) == (None, "", 1)
    assert "too long" in found.problem
    assert found.wanted == ""


def test_only_the_unread_of_many_are_asked_again_and_all_keep_their_order(answered):
    lab, history = answered("A", "neither", "B", "A")
    asked = [lab.request(Asker(), PROMPT, CONTEXT, sample) for sample in range(3)]
    found = lab.ask_many(asked, replies.letter)
    assert len(history) == 4
    assert sorted(bool(one.asked_again) for one in found) == [False, False, True]
    by_sample = {r.sample: n for n, r in enumerate(history[:3])}
    texts = ["A", "A", "B"]  # the second was asked again
    assert [found[s].value for s in range(3)] == [texts[by_sample[s]] for s in range(3)]


def test_a_reply_that_is_cut_off_is_asked_for_once_more_with_twice_the_room(answered):
    lab, history = answered(cut_off("SELECT na"), NAMES)
    found = ask(lab)
    assert (found.value, found.asked_again, len(found.keys)) == (NAMES, "", 2)
    assert [request.parameters["max_tokens"] for request in history] == [100, 200]


def test_a_users_output_limit_is_not_exceeded(answered):
    whole = cut_off(f"```sql\n{NAMES}\n```\nThis")
    lab, history = answered(whole, parameters={"test/model": {"max_tokens": 64}})
    assert ask(lab).value == NAMES
    assert [request.parameters["max_tokens"] for request in history] == [64]


def test_a_query_that_ends_where_the_reply_was_cut_off_is_unread(answered):
    lab, _ = answered(cut_off(NAMES), cut_off(NAMES), cut_off(NAMES), cut_off(NAMES))
    assert ask(lab).value is None


def test_where_the_longer_reply_fails_the_first_one_counts(answered):
    lab, _ = answered(cut_off("A\n\nIt"), Refusal("rejected", "too many tokens"))
    found = ask(lab, replies.letter)
    assert (found.value, found.problem) == ("A", "")


def test_watch_sees_each_request_with_the_data_of_its_prompt(answered):
    seen = []
    lab, history = answered(
        "No.", NAMES, watch=lambda request, data: seen.append((request, data))
    )
    ask(lab)
    assert [request for request, _ in seen] == history
    assert seen[0][1]["question"] == QUESTION.text


def test_each_request_is_heard_once_with_the_answer_that_counts(answered):
    heard = []
    lab, _ = answered("No.", NAMES, "B", heard=lambda *pair: heard.append(pair))
    first, second = ask(lab), ask(lab, replies.letter, sample=1)
    assert [found for _, found in heard] == [first, second]
    assert [(request.sample, request.again) for request, _ in heard] == [
        (0, False),
        (1, False),
    ]
    assert [(bool(found.asked_again), found.wanted) for _, found in heard] == [
        (True, ""),
        (False, ""),
    ]


@pytest.mark.parametrize(("settings", "threads"), [({}, 3), ({"at_once": False}, 1)])
def test_each_returns_the_results_in_order_and_works_in_threads_unless_told_not_to(
    answered, settings, threads
):
    lab, _ = answered(**settings)
    together = threading.Barrier(threads, timeout=5)

    def work(n):
        together.wait()
        return n, threading.get_ident()

    found = lab.each(work, iter([1, 2, 3]))
    assert [n for n, _ in found] == [1, 2, 3]
    assert len({thread for _, thread in found}) == threads


def test_candidates_are_numbered_by_generator_and_run_where_they_have_a_query(
    tmp_path, zoo
):
    with Executor() as executor:
        lab = Lab(Client(Cache(tmp_path / "lab.sqlite")), executor, lambda _: zoo)
        made = [Candidate(NAMES, "a", 9), Candidate("", "b", 9), Candidate(ALL, "a", 9)]
        first, second, third = lab.run_candidates(QUESTION, made)
    assert [t.candidate.sample for t in (first, second, third)] == [0, 0, 1]
    assert second.execution is None
    assert (first.execution.rows, third.execution.row_count) == (
        (("lion",), ("owl",)),
        2,
    )


@pytest.fixture
def zoo(tmp_path):
    path = tmp_path / "zoo.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            "CREATE TABLE animal (name); INSERT INTO animal VALUES ('lion'), ('owl')"
        )
    database.close()
    return path


def test_a_schema_is_read_anew_when_its_database_has_changed(tmp_path, zoo):
    lab = Lab(Client(Cache(tmp_path / "lab.sqlite")), None, lambda _: zoo)
    assert lab.schema("zoo") is lab.schema("zoo")
    with closing(sqlite3.connect(zoo)) as database, database:
        database.execute("CREATE TABLE keeper (name)")
    database.close()
    assert [table.name for table in lab.schema("zoo").tables] == ["animal", "keeper"]


def test_after_an_error_nothing_begins_and_what_has_begun_is_waited_for(answered):
    ended = []

    def work(item):
        if item == 0:
            raise ValueError("the first")
        threading.Event().wait(0.05)
        ended.append(item)

    with pytest.raises(ValueError, match="the first"):
        answered()[0].each(work, range(9), threads=3)
    assert set(ended) <= {1, 2}


def test_after_an_error_what_has_begun_asks_nothing_more_where_threads_are_given(
    answered,
):
    lab, history = answered(*[NAMES] * 9)
    begun, asked = threading.Event(), []

    def work(item):
        if item == 0:
            begun.wait(5)
            raise ValueError("the first")
        begun.set()
        threading.Event().wait(0.5)  # until the main thread has seen the error
        try:
            asked.append(ask(lab, sample=item))
        except StoppedError:
            asked.append(None)

    with pytest.raises(ValueError, match="the first"):
        lab.each(work, range(9), threads=2)
    assert (asked, history) == ([None], [])


def test_a_forked_process_has_threads_of_its_own(answered):
    lab, _ = answered()
    assert lab.each(abs, [-1, -2], threads=2) == [1, 2]
    # A fork beside threads, which Python 3.12 and later warn of.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        signal.alarm(5)
        os._exit(lab.each(abs, [-3], threads=1) != [3])
    assert os.waitpid(child, 0)[1] == 0
