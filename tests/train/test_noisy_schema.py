"""Gold queries under partly wrong schemas, for CHESS's generator."""

from workbench.replies import sql_object
from workbench.train.noisy_schema import NoisySchema
from workbench.types import Column, Context, Gold, Schema, Table

SCHEMA = Schema(
    "harbour",
    (
        Table("ship", (Column("ship_name", "TEXT"), Column("built", "INTEGER"), Column("tons"))),
        Table("berth", (Column("berth_name", "TEXT"), Column("metres", "REAL"))),
        Table("ferry", (Column("year", "INTEGER", "when it was built"), Column("seats"))),
    ),
)


def columns(sql, wrong):
    return NoisySchema(wrong=wrong).noisy(None, SCHEMA, Gold("q", sql)).columns()


def test_the_wrong_columns_most_like_gold_in_name_or_description_are_added():
    assert columns("SELECT ship_name FROM ship", wrong=1) == (
        ("ship", "ship_name"),
        ("berth", "berth_name"),
    )
    assert ("ferry", "year") in columns("SELECT built FROM ship", wrong=1)


def test_without_wrong_columns_only_those_of_gold_are_left():
    assert columns("SELECT ship_name FROM ship", wrong=0) == (("ship", "ship_name"),)


def test_a_gold_query_that_cannot_be_read_keeps_the_whole_schema():
    assert columns("SELECT FROM WHERE", wrong=1) == SCHEMA.columns()


def test_more_wrong_columns_than_there_are_is_the_whole_schema():
    assert columns("SELECT ship_name FROM ship", wrong=50) == SCHEMA.columns()


def test_the_reply_is_read_as_the_gold_query(tiny, tmp_path):
    from workbench.benchmarks.load import open_benchmark
    from workbench.lab import Lab

    benchmark = open_benchmark("bird-dev", tiny.write_bird(tmp_path))

    def retrieve(lab, question, schema):
        return Context(question, schema)

    talks = list(NoisySchema(retrieve)(Lab(None, None, benchmark.database), benchmark))
    assert len(talks) == 12
    for talk in talks:
        *_, reply = talk.messages
        assert sql_object(reply["content"]) == benchmark.golds[talk.question_id].sql
