"""Algorithm 2: examples made for the question, in two ways, checked, and mixed into the prompt."""

import json
import re
import sqlite3
from contextlib import closing

import pytest

from tests.generate.conftest import SQL
from workbench.generate.synthetic_examples import SyntheticExamples
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.faults import Refusal
from workbench.llm.scripted import scripted
from workbench.replies.examples import read_examples
from workbench.sql.executor import Executor
from workbench.types import Context, Example, Question

ONE = Example("How many animals?", "SELECT count(*) FROM animal")
TWO = Example("Who is first?", "SELECT min(name) FROM animal", "first refers to min(name)")
AS_JSON = [
    {"question": ONE.question, "sql": ONE.sql},
    {"question": TWO.question, "hint": TWO.hint, "sql": TWO.sql},
]
LINES = "\n".join(map(json.dumps, AS_JSON))

REPLIES = [
    LINES,
    f"Here are the examples:\n```json\n{LINES}\n```\nI hope they help.",
    json.dumps(AS_JSON),
    json.dumps({"examples": AS_JSON}),
    LINES.replace('"question"', '"Question"').replace('"sql"', '"SQL"'),
    LINES.replace('"question"', '"input"').replace('"sql"', '"output"'),
    f'1. {LINES.replace(chr(10), chr(10) + "2. ")}\n3. {{"question": "Which anim',
    f"{LINES}\n" + '{"question": "No query?"}',
    f'{{"question": "Broken", "sql": SELECT}}\n{LINES}',
    json.dumps(AS_JSON, indent=2),
    "\n".join(map(str, AS_JSON)),
    LINES.replace('"}', '",}'),
    f'{{"question": "Nothing?", "sql": null, "hint": null}}\n{LINES}',
]


@pytest.mark.parametrize("reply", REPLIES)
def test_complete_examples_are_read_from_every_form_of_reply(reply):
    assert [Example(**row) for row in read_examples(reply)] == [ONE, TWO]


@pytest.mark.parametrize(
    "reply",
    ["", "I cannot.", "{}", "[]", "{", '["a"]', "{" * 3000, '{"a":' * 20_000],
)
def test_a_reply_without_examples_gives_none(reply):
    assert read_examples(reply) == []


@pytest.fixture
def zoo(tmp_path, sandbox):
    """`write(step, replies)`: the examples, the candidates and what was asked."""
    path = tmp_path / "zoo.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE animal(id INTEGER PRIMARY KEY, name TEXT, legs INTEGER);"
            "CREATE TABLE cage(number INTEGER PRIMARY KEY, size INTEGER);"
            "INSERT INTO animal VALUES (1, 'bat', 2), (2, 'cat', 4);"
        )
    with Cache(tmp_path / "lab.sqlite") as store:
        executor = Executor(store, sandbox=sandbox)

        def write(step, *replies, otherwise=SQL):
            script = scripted(replies, otherwise=otherwise)
            lab = Lab(Client(store, send=script, retries=0), executor, lambda _: path)
            context = Context(Question("q1", "zoo", "Which have four legs?"), lab.schema("zoo"))
            found = step(lab, context)
            return found, script.history

        yield write


def prompt_of(request):
    return request.messages[1]["content"]


def one(**more):
    return SyntheticExamples("test/model", **more)


def test_it_asks_for_examples_by_feature_and_by_column_and_shows_them_all(zoo):
    (candidate,), asked = zoo(one(), json.dumps(AS_JSON[0]), json.dumps(AS_JSON[1]))
    assert [request.prompt for request in asked] == [
        "generate/examples_by_feature",
        "generate/examples_by_column",
        "generate/synthetic_examples",
    ]
    assert candidate.sql == SQL
    shown = prompt_of(asked[2]).split("\n## Examples\n")[1]
    assert f"Question: {ONE.question}\nSQL: {ONE.sql}" in shown
    assert f"Question: {TWO.question}\nHint: {TWO.hint}\nSQL: {TWO.sql}" in shown


def test_seventy_five_by_default(zoo):
    _, asked = zoo(one())
    assert "38" in prompt_of(asked[0])
    assert "37" in prompt_of(asked[1])


def test_examples_are_written_once_for_all_samples(zoo):
    found, asked = zoo(one(samples=7, temperature=0.8))
    assert len(found) == 7
    assert len(asked) == 2 + 7


def shown(request):
    """The questions of the examples in a prompt, in order."""
    text = prompt_of(request).split("\n## Examples\n")[1].split("\n## ")[0]
    return re.findall(r"^Question: (.*)$", text, re.MULTILINE)


MANY = "\n".join(
    json.dumps({"question": f"Number {n}?", "sql": f"SELECT {n} FROM animal"}) for n in range(9)
)


def test_shuffled_each_sample_shows_the_same_examples_in_an_order_of_its_own(zoo):
    _, asked = zoo(one(samples=7, temperature=0.8, shuffle=True, by_column=0), MANY)
    orders = [shown(request) for request in asked[1:]]
    assert len({tuple(order) for order in orders}) == 7
    assert len({tuple(sorted(order)) for order in orders}) == 1


def test_unshuffled_all_samples_show_one_order(zoo):
    _, asked = zoo(one(samples=3, temperature=0.8, by_column=0), MANY)
    assert len({tuple(shown(request)) for request in asked[1:]}) == 1


@pytest.mark.parametrize("number", [0, 3, 10])
def test_examples_of_another_database_stand_in_the_prompt_about_columns(zoo, number):
    _, asked = zoo(one(by_feature=0, shots=number))
    assert prompt_of(asked[0]).count('{"question": "') == number + 1  # and the form of the answer


def test_without_examples_the_prompt_does_not_speak_of_them(zoo):
    _, asked = zoo(one(by_feature=0, by_column=0))
    assert "The examples" not in prompt_of(asked[0])


def test_failing_empty_and_repeated_examples_are_not_shown(zoo):
    lines = [
        {"question": "Broken?", "sql": "SELECT gone FROM animal"},
        {"question": "Empty?", "sql": "SELECT name FROM animal WHERE legs = 9"},
        *AS_JSON,
        {"question": "Twice?", "sql": "select COUNT(*)  from animal"},
    ]
    _, asked = zoo(one(by_column=0), "\n".join(map(json.dumps, lines)))
    shown = prompt_of(asked[-1])
    assert TWO.question in shown
    for question in ("Broken?", "Empty?"):
        assert question not in shown
    assert (ONE.question in shown) != ("Twice?" in shown)


def test_surplus_examples_are_not_shown(zoo):
    _, asked = zoo(one(by_feature=1, by_column=0), LINES)
    assert ONE.question in prompt_of(asked[-1])
    assert TWO.question not in prompt_of(asked[-1])


def test_the_second_half_is_about_the_columns_that_were_selected(zoo):
    def only_names(lab, context):
        del lab
        return Context(context.question, context.schema.only([("animal", "name")]))

    _, asked = zoo(one(columns=only_names))
    by_feature, by_column, final = map(prompt_of, asked)
    assert "CREATE TABLE cage" in by_feature
    assert "CREATE TABLE cage" not in by_column
    assert "CREATE TABLE cage" in final


@pytest.mark.parametrize("reply", ["no examples", Refusal("rejected", "no")])
def test_without_examples_the_query_is_still_requested(zoo, reply):
    (candidate,), asked = zoo(one(), reply, reply)
    assert candidate.sql == SQL
    assert "\n## Examples\n" not in prompt_of(asked[-1])
