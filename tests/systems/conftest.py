"""A small database, and agents that say what a table says they do."""

import json
import sqlite3
from contextlib import closing
from types import SimpleNamespace

import pytest

from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.sql.executor import Executor
from workbench.systems.system import solve
from workbench.types import Question

QUESTION = Question(
    "q1", "zoo", "Which animals of the Gobi have four legs?", "four legs refers to legs = 4"
)
RIGHT = "SELECT name FROM animal WHERE legs = 4"
EMPTY = "SELECT name FROM animal WHERE legs = 'four'"
SELECTED = {"animal": "keep_all", "cage": "drop_all"}

# What the agents say, by the name of what they are asked; a list is taken from the front.
REPLIES = {
    "retrieve/keywords": '["Gobi", "four legs"]',
    "prune/filter_column": '{"relevant": "yes"}',
    "prune/select_tables": '{"tables": ["animal"]}',
    "prune/select_columns": '{"columns": {"animal": ["name", "legs"]}}',
    "prune/mac_selector": json.dumps(SELECTED),
    "generate/chess_candidate": json.dumps({"reasoning": "", "sql": RIGHT}),
    "generate/decomposer": f"Sub question 1: ...\n```sql\n{RIGHT}\n```",
    "generate/direct": RIGHT,
    "generate/zero_shot": RIGHT,
    "fix/reviser": json.dumps({"sql": RIGHT}),
    "fix/refiner": RIGHT,
    "generate/divide_and_conquer": f"**Final SQL**\n```sql\n{RIGHT}\n```",
    "generate/query_plan": f"**Query plan**\n1. Open animal.\n**Final SQL**\n```sql\n{RIGHT}\n```",
    "generate/examples_by_feature": '{"question": "How many?", "sql": "SELECT count(*) FROM animal"}',
    "generate/examples_by_column": '{"question": "Which?", "sql": "SELECT name FROM animal"}',
    "generate/synthetic_examples": RIGHT,
    "fix/fixer": f"Final answer: {RIGHT}",
    "select/pairwise": "A",
    "select/ranker": "[1]",
    "select/unit_tests": '["The query should x."]',
    "select/evaluate_one_test": "Candidate 1: passed\nCandidate 2: failed",
}


@pytest.fixture
def zoo(tmp_path, sandbox):
    """`run(system)`: its selection; `asked`: the requests it made, by prompt."""
    path = tmp_path / "zoo.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            """CREATE TABLE animal(id INTEGER PRIMARY KEY, name TEXT, legs INTEGER, home TEXT);
            INSERT INTO animal VALUES (1, 'bat', 2, 'Gobi desert'), (2, 'cat', 4, 'Delhi');
            CREATE TABLE cage(number INTEGER PRIMARY KEY, size INTEGER, animal_id INTEGER REFERENCES animal(id));"""
        )
    (tmp_path / "database_description").mkdir()
    (tmp_path / "database_description" / "animal.csv").write_text(
        "original_column_name,column_name,column_description,data_format,value_description\n"
        "home,,the place where it was caught,text,\nlegs,,how many legs it has,integer,\n"
    )
    with Cache(tmp_path / "lab.sqlite") as store:
        executor = Executor(store, sandbox=sandbox)
        made = SimpleNamespace(asked={}, replies=dict(REPLIES), path=path)

        def send(request, url, seconds):
            del url, seconds
            made.asked.setdefault(request.prompt, []).append(request)
            reply = made.replies[request.prompt]
            text = reply.pop(0) if isinstance(reply, list) else reply
            choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            return {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}

        made.lab = Lab(Client(store, send=send), executor, lambda _: path)
        made.run = lambda system: solve(system, QUESTION, made.lab)
        yield made
