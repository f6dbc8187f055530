"""A schema, and a lab whose model gives scripted replies."""

import pytest

from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.scripted import scripted
from workbench.sql.executor import Executor
from workbench.types import Column, Context, Question, Schema, Table

SCHEMA = Schema(
    "zoo",
    (
        Table("animal", (Column("id"), Column("name"), Column("legs")), ("id",)),
        Table("keeper", (Column("id"), Column("name")), ("id",)),
        Table("cage", (Column("number"), Column("size"))),
    ),
)
CONTEXT = Context(Question("q1", "zoo", "Which animals have four legs?"), SCHEMA)
SQL = "SELECT name FROM animal WHERE legs = 4"


@pytest.fixture
def ask(tmp_path):
    """`ask(step, replies)`: the candidates, and what was asked for them."""
    with Cache(tmp_path / "lab.sqlite") as store, Executor(workers=1) as executor:

        def ask(step, *replies, otherwise=None, context=CONTEXT):
            script = scripted(replies, otherwise=otherwise)
            lab = Lab(Client(store, send=script), executor, lambda _: tmp_path / "none.sqlite")
            return step(lab, context), script.history

        yield ask
