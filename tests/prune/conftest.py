"""A bank's schema, and a lab whose model gives scripted replies."""

from types import SimpleNamespace

import pytest

from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.scripted import scripted
from workbench.types import Column, Context, ForeignKey, Question, Schema, Table

FEATURES = ("area", "people", "villages", "towns", "salary", "crimes", "jobless", "ratio", "firms")


def table(name, columns, key=(), links=()):
    keys = tuple(ForeignKey((column,), target, (column,)) for column, target in links)
    return Table(name, tuple(map(Column, columns)), key, keys)


SCHEMA = Schema(
    "bank",
    (
        table("client", ("client_id", "sex", "born", "district_id"), ("client_id",), [("district_id", "district")]),
        table("district", ("district_id", "name", *FEATURES), ("district_id",)),
        table("Account Book", ("account_id", "opened on", "district_id"), ("account_id",), [("district_id", "district")]),
        table("note", ("text", "day")),
    ),
)  # fmt: skip


@pytest.fixture
def bank(tmp_path):
    """`cut(step, replies)`: the columns by table that a step leaves; `asked`: what it asked."""
    context = Context(Question("q1", "bank", "How many women live where salaries are low?"), SCHEMA)
    with Cache(tmp_path / "lab.sqlite") as store:
        made = SimpleNamespace(context=context, schema=SCHEMA, asked=[])

        def cut(step, *replies, otherwise=None, context=context):
            script = scripted(replies, otherwise=otherwise)
            made.asked = script.history
            client = Client(
                store, send=script, at_once=1
            )  # the replies belong to the columns in order
            left = step(Lab(client, None, None), context).schema
            return {t.name: [c.name for c in t.columns] for t in left.tables}

        made.cut = cut
        made.whole = {t.name: [c.name for c in t.columns] for t in SCHEMA.tables}
        yield made
