"""A question over a small database, candidates of several results, and a judge that is consistent."""

import re
import sqlite3
from contextlib import closing
from types import SimpleNamespace

import pytest

from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.sql.executor import Executor
from workbench.types import Candidate, Context, Question, Trial

RIGHT = "SELECT name FROM animal WHERE legs = 4"
QUERIES = {
    "right": RIGHT,
    "right, spelled otherwise": "select name from animal where legs = 2 + 2",
    "wrong": "SELECT name FROM animal",
    "wrong, too": "SELECT id FROM animal WHERE legs = 4",
    "empty": "SELECT name FROM animal WHERE legs = 9",
    "empty, too": "SELECT name FROM animal WHERE legs = 8",
    "broken": "SELECT nome FROM animal",
    "only null": "SELECT MAX(name) FROM animal WHERE legs = 9",
}


@pytest.fixture
def zoo(tmp_path, sandbox):
    """The lab over one database, its context, and `trials(names)`: candidates of QUERIES, run."""
    path = tmp_path / "zoo.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            """CREATE TABLE animal(id INTEGER PRIMARY KEY, name TEXT, legs INTEGER);
            INSERT INTO animal VALUES (1, 'ant', 6), (2, 'bat', 2), (3, 'cat', 4), (4, 'dog', 4);
            CREATE TABLE keeper(id INTEGER PRIMARY KEY, name TEXT, animal_id INTEGER
              REFERENCES animal(id));"""
        )
    question = Question("q1", "zoo", "Which animals have four legs?")
    with Cache(tmp_path / "lab.sqlite") as store:
        executor = Executor(store, sandbox=sandbox)

        def lab(send):
            return Lab(Client(store, send=send), executor, lambda _: path)

        def trials(*names):
            return [
                Trial(Candidate(QUERIES[name], "g", n), executor.execute(path, QUERIES[name]))
                for n, name in enumerate(names)
            ]

        schema = lab(None).schema("zoo")
        yield SimpleNamespace(
            lab=lab, trials=trials, context=Context(question, schema), queries=QUERIES, path=path
        )


@pytest.fixture
def fair():
    """A judge that knows the right query, whichever place it stands in; of two wrong ones it takes the first
    by the alphabet."""

    class Judge:
        def __init__(self):
            self.asked = []

        def __call__(self, request, url, seconds):
            del url, seconds
            text = request.messages[-1]["content"]
            self.asked.append(text)
            first, second = re.findall(r"Query:\n```sql\n(.*?)\n```", text, re.DOTALL)[-2:]
            good = {RIGHT, QUERIES["right, spelled otherwise"]}
            won = first in good or (second not in good and first <= second)
            choice = {
                "message": {"role": "assistant", "content": "A" if won else "B"},
                "finish_reason": "stop",
            }
            return {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}

    return Judge()
