"""Gold queries under partly wrong schemas, for CHESS's generator."""

import pytest

from workbench.benchmarks.benchmark import open_benchmark
from workbench.lab import Lab
from workbench.replies import sql_object
from workbench.train.data import NoisySchema
from workbench.types import Column, Context, Gold, Schema, Table

SCHEMA = Schema(
    "harbour",
    (
        Table(
            "ship",
            (Column("ship_name", "TEXT"), Column("built", "INTEGER"), Column("tons")),
        ),
        Table("berth", (Column("berth_name", "TEXT"), Column("metres", "REAL"))),
        Table(
            "ferry", (Column("year", "INTEGER", "when it was built"), Column("seats"))
        ),
    ),
)


@pytest.mark.parametrize(
    ("sql", "wrong", "wanted"),
    [
        (
            "SELECT ship_name FROM ship",
            1,
            {("ship", "ship_name"), ("berth", "berth_name")},
        ),
        # By its description.
        ("SELECT built FROM ship", 1, {("ship", "built"), ("ferry", "year")}),
        ("SELECT ship_name FROM ship", 0, {("ship", "ship_name")}),
        ("SELECT ship_name FROM ship", 50, {*SCHEMA.columns()}),
        ("SELECT FROM WHERE", 1, {*SCHEMA.columns()}),  # it cannot be read
    ],
)
def test_the_wrong_columns_most_like_gold_are_added(sql, wrong, wanted):
    assert {
        *NoisySchema(wrong=wrong).noisy(None, SCHEMA, Gold("q", sql)).columns()
    } == wanted


def test_the_reply_is_read_as_the_gold_query(tiny, tmp_path):
    benchmark = open_benchmark("bird-dev", tiny.write_bird(tmp_path))

    whole = lambda _, question, schema: Context(question, schema)  # noqa: E731
    talks = list(NoisySchema(whole)(Lab(None, None, benchmark.database), benchmark))
    assert len(talks) == 12
    for talk in talks:
        *_, reply = talk.messages
        assert sql_object(reply["content"]) == benchmark.golds[talk.question_id].sql
