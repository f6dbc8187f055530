"""A small database, and a model that says what a table says it says."""

import json
import re
import sqlite3
from contextlib import closing
from types import SimpleNamespace

import pytest

import workbench as wb
from workbench.canonical import content_hash
from workbench.types import Candidate, Completion, Context, Question

QUESTION = Question(
    "q1",
    "zoo",
    "Which animals of the Gobi have four legs?",
    "four legs refers to legs = 4",
)
RIGHT = "SELECT name FROM animal WHERE legs = 4"
ALL = "SELECT name FROM animal"
EMPTY = "SELECT name FROM animal WHERE legs = 'four'"
BROKEN = "SELECT nme FROM animal"
SCHEMA = """
CREATE TABLE animal(id INTEGER PRIMARY KEY, name TEXT, legs INTEGER, home TEXT);
INSERT INTO animal VALUES (1, 'bat', 2, 'Gobi desert'), (2, 'cat', 4, 'Delhi'), (3, 'ant', 6, NULL);
CREATE TABLE cage(number INTEGER PRIMARY KEY, size INTEGER, animal_id INTEGER REFERENCES animal(id));
"""
REASON = '"chain_of_thought_reasoning": "It is asked for."'


def passes(request, label="Candidate Response"):
    """A verdict on each candidate that the prompt shows: those with the right query pass."""
    text = request.messages[-1]["content"]
    shown = re.findall(rf"## {label} #\d+\nQuery:\n```sql\n(.*?)\n```", text, re.DOTALL)
    lines = [
        f"{label} #{n}: {'Passed' if sql == RIGHT else 'Failed'}"
        for n, sql in enumerate(shown, 1)
    ]
    return (
        "<Thinking>I compare.</Thinking>\n<Answer>\n" + "\n".join(lines) + "\n</Answer>"
    )


def all_but_home(request):
    """A line for each column of a group: all are relevant but animal.home."""
    shown = request.messages[-1]["content"].rpartition("## Columns")[2]
    names = re.findall(r"^Column: (.+)$", shown, re.MULTILINE)
    verdicts = {name: "No" if name == "animal.home" else "Yes" for name in names}
    rows = (
        {"column": n, "is_column_information_relevant": v} for n, v in verdicts.items()
    )
    return "\n".join(map(json.dumps, rows))


def better(request):
    """The letter of the right query, else A."""
    text = request.messages[-1]["content"]
    return "B" if RIGHT in text.partition("## Candidate B")[2] else "A"


REPLIES = {
    "retrieve/keywords": '["Gobi", "four legs"]',
    "prune/filter_column": f'{{{REASON}, "is_column_information_relevant": "Yes"}}',
    "prune/filter_column_group": all_but_home,
    "prune/select_tables": f'{{{REASON}, "table_names": ["animal"]}}',
    "prune/select_columns": f'{{{REASON}, "animal": ["name", "legs"]}}',
    "prune/mac_selector": '```json\n{"animal": "keep_all", "cage": "drop_all"}\n```',
    "generate/chess_candidate": json.dumps(
        {"chain_of_thought_reasoning": "", "SQL": RIGHT}
    ),
    "generate/decomposer": f"Sub question 1: Which?\nSQL\n```sql\n{RIGHT}\n```\nQuestion Solved.",
    "generate/decomposer_spider": f"Sub question 1: Which?\nSQL\n```sql\n{RIGHT}\n```",
    "generate/agent": f"**Final SQL**\n```sql\n{RIGHT}\n```",
    "generate/direct": f"**Final SQL**\n```sql\n{RIGHT}\n```",
    "generate/zero_shot": f"**Final SQL**\n```sql\n{RIGHT}\n```",
    "generate/divide_and_conquer": f"**1. Divide and Conquer:**\n...\n**Final Optimized SQL Query:**\n{RIGHT}",
    "generate/query_plan": f"**Query Plan**:\n...\n**Final Optimized SQL Query:**\n{RIGHT}",
    "generate/examples_by_feature": '{"input": "How many animals?", "output": "SELECT count(*) FROM animal"}',
    "generate/examples_by_column": '{"input": "Which have no legs? (Hints: no legs is 0)", "output": "SELECT name FROM animal WHERE legs = 0"}',
    "generate/synthetic_examples": f"**Final SQL**\n```sql\n{RIGHT}\n```",
    "fix/fixer": f"legs is a number.\n\nFinal Answer: {RIGHT}",
    "fix/reviser": json.dumps({"chain_of_thought_reasoning": "", "revised_SQL": RIGHT}),
    "fix/refiner": f"```sql\n{RIGHT}\n```",
    "select/pairwise": better,
    "select/ranker": "[1, 2]",
    "select/unit_tests": '<Thinking>They differ.</Thinking>\n<Answer>\n["The query should filter by legs."]\n</Answer>',
    "select/evaluate_one_test": passes,
    "select/evaluate_one_candidate": lambda request: passes(request, "Unit Test"),
}


class Model:
    """The client of a lab: answers each request by its prompt's entry in `replies`, a text or a function.

    A list of texts is taken from the front. `asked` has the requests in the order in which they came.
    """

    def __init__(self, replies=REPLIES):
        self.replies = dict(replies)
        self.asked = []

    def complete_many(self, requests):
        return [self.complete(request) for request in requests]

    def complete(self, request):
        self.asked.append(request)
        reply = self.replies[request.prompt]
        text = (
            reply(request)
            if callable(reply)
            else reply.pop(0)
            if type(reply) is list
            else reply
        )
        key = content_hash(
            "call", [request.messages, request.parameters, request.sample]
        )
        return Completion(text, request.model, "stop", key=key)

    def of(self, prompt):
        return [request for request in self.asked if request.prompt == prompt]

    def counts(self):
        """How many different calls there are of each prompt: equal ones are paid once."""
        calls = {
            (r.prompt, json.dumps([r.messages, r.parameters, r.sample]))
            for r in self.asked
        }
        return {
            name: sum(p == name for p, _ in calls)
            for name in dict.fromkeys(p for p, _ in calls)
        }


@pytest.fixture
def zoo(tmp_path, executor):
    """`run(system)` gives its selection; `model` answers."""
    path = tmp_path / "zoo.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SCHEMA)
    (tmp_path / "database_description").mkdir()
    (tmp_path / "database_description" / "animal.csv").write_text(
        "original_column_name,column_name,column_description,data_format,value_description\n"
        "home,,the place where it was caught,text,\nlegs,,how many legs it has,integer,\n"
    )
    model = Model()
    model.cache = executor.store
    # The calls in one order.
    lab = wb.Lab(model, executor, lambda _: path, at_once=False)
    return SimpleNamespace(
        model=model,
        lab=lab,
        path=path,
        run=lambda system: wb.solve(system, QUESTION, lab),
    )


@pytest.fixture(scope="session")
def executor(tmp_path_factory):
    path = tmp_path_factory.mktemp("systems") / "lab.sqlite"
    with wb.Cache(path) as store, wb.Executor(store, workers=1) as executor:
        executor.store = store
        yield executor


@pytest.fixture
def context(zoo):
    return Context(QUESTION, zoo.lab.schema("zoo"))


def trials(zoo, *queries, generator="g"):
    """The queries as candidates of one generator, run."""
    candidates = [Candidate(sql, generator, n) for n, sql in enumerate(queries)]
    return zoo.lab.run_candidates(QUESTION, candidates)
