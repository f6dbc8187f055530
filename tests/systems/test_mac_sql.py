"""MAC-SQL's agents, and algorithm 1."""

import pytest

import workbench as wb
from tests.systems.conftest import BROKEN, EMPTY, QUESTION, RIGHT, trials
from workbench.errors import BadInputError
from workbench.systems.mac_sql import Selector, decomposer
from workbench.types import Column, Context, Schema, Table

ALL_COLUMNS = {"id", "name", "legs", "home"}


def kept(zoo, context, reply):
    zoo.model.replies["prune/mac_selector"] = reply
    pruned = Selector("m/x", most_columns=3)(zoo.lab, context)
    return {
        table.name: {column.name for column in table.columns}
        for table in pruned.schema.tables
    }


def test_the_selector_keeps_drops_and_lists(zoo, context):
    cage = {"number", "size", "animal_id"}
    assert kept(zoo, context, '{"animal": ["home"], "cage": "drop_all"}') == {
        "animal": {"id", "home"}
    }
    assert kept(zoo, context, '{"animal": "keep_all"}') == {
        "animal": ALL_COLUMNS,
        "cage": cage,
    }
    for nothing in ("All of them.", '{"animal": "drop_all", "cage": "drop_all"}'):
        assert kept(zoo, context, nothing) == {"animal": ALL_COLUMNS, "cage": cage}


def test_small_databases_are_not_simplified(zoo, context):
    assert Selector("m/x")(zoo.lab, context) is context
    assert not zoo.model.asked
    Selector("m/x", mean_columns=3)(zoo.lab, context)  # 7 columns in 2 tables
    assert zoo.model.asked


def test_the_schema_shows_values_and_nulls_in_the_papers_form(zoo):
    zoo.run(wb.mac_sql("m/x"))
    shown = zoo.model.of("generate/decomposer")[0].messages[-1]["content"]
    schema = shown.rpartition("## Database schema\n")[2]
    assert "# Table: animal\n[\n" in schema
    assert "how many legs it has. Value examples: [" in schema
    assert "NULL]" in schema or "None]" in schema  # of home


def test_the_last_sub_question_is_the_answer(zoo, context):
    reply = f"Sub question 1: a\nSQL\n```sql\n{EMPTY}\n```\nSub question 2: b\nSQL\n```sql\n{RIGHT}\n```"
    zoo.model.replies["generate/decomposer"] = reply
    (candidate,) = wb.mac_sql("m/x").generate[0](zoo.lab, context)
    assert (candidate.sql, candidate.reasoning) == (RIGHT, reply)


@pytest.mark.parametrize(("shots", "examples"), [(0, 0), (1, 1), (2, 2)])
@pytest.mark.parametrize("benchmark", ["bird", "spider"])
def test_shots_are_shown_in_the_prompt_of_each_benchmark(
    zoo, context, shots, examples, benchmark
):
    wb.mac_sql("m/x", shots=shots, benchmark=benchmark).generate[0](zoo.lab, context)
    (asked,) = zoo.model.asked
    shown = asked.messages[-1]["content"]
    assert shown.count("## Worked example") == examples
    assert "## Hint" in shown


def test_without_decomposing_one_query_is_asked_for(zoo, context):
    decomposer("m/x", shots=0, decompose=False)(zoo.lab, context)
    assert "ub question" not in str(zoo.model.asked[0].messages)
    for wrong in (
        {"shots": 3},
        {"shots": 1, "decompose": False},
        {"benchmark": "wikisql"},
    ):
        with pytest.raises(BadInputError):
            decomposer("m/x", **wrong)


def test_the_refiner_is_told_the_error_and_its_class(zoo, context):
    refine = wb.mac_sql("m/x").fix[0]
    for sql, error, classed in (
        (BROKEN, "no such column: nme", True),
        (EMPTY, "No rows", False),
    ):
        zoo.model.asked.clear()
        assert refine(zoo.lab, context, *trials(zoo, sql)).candidate.sql == RIGHT
        shown = zoo.model.asked[0].messages[-1]["content"]
        assert f"## SQLite error\n{error}" in shown
        assert ("## Exception class\nsqlite3.OperationalError" in shown) is classed


def test_the_refiner_tries_three_times_and_keeps_the_last_query(zoo, context):
    queries = ["SELECT a FROM animal", "SELECT b FROM animal", "SELECT c FROM animal"]
    zoo.model.replies["fix/refiner"] = [f"```sql\n{sql}\n```" for sql in queries]
    refined = wb.mac_sql("m/x").fix[0](zoo.lab, context, *trials(zoo, BROKEN))
    assert refined.candidate.sql == queries[-1]


def test_on_spider_the_refiner_repairs_only_queries_that_fail(zoo, context):
    zoo.model.replies["fix/refiner"] = []
    spider = wb.mac_sql("m/x", benchmark="spider").fix[0]
    assert spider(zoo.lab, context, *trials(zoo, EMPTY)).candidate.sql == EMPTY
    assert wb.mac_sql("m/x").fix[0].suspect == "empty"


@pytest.mark.parametrize(
    ("columns", "tables", "asked"), [(30, 5, 0), (31, 6, 1), (12, 2, 0), (13, 2, 1)]
)
def test_more_than_30_columns_or_6_a_table_are_simplified(zoo, columns, tables, asked):
    """30 columns in 5 tables are 6 a table; 31 in 6 are fewer, and more than 30."""
    names = [
        tuple(Column(f"c{n}") for n in range(i, columns, tables)) for i in range(tables)
    ]
    schema = Schema("d", tuple(Table(f"t{i}", own) for i, own in enumerate(names)))
    zoo.model.replies["prune/mac_selector"] = '{"t0": "keep_all"}'
    Selector("m/x")(zoo.lab, Context(QUESTION, schema))
    assert len(zoo.model.asked) == asked
