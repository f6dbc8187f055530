"""Queries run on small databases in memory, with the same restrictions as on files."""

from collections.abc import Iterator

import pytest

from workbench.db.execute import Executor
from workbench.db.sandbox.small import SmallDatabase
from workbench.types import Limits

SCHEMA = ("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT NOT NULL, data BLOB)",)
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor(workers=1) as executor:
        yield executor


def small(*rows: tuple) -> SmallDatabase:
    return SmallDatabase(SCHEMA, {"t": rows})


def test_every_query_runs_on_every_database(executor: Executor) -> None:
    databases = [small((1, "a", None)), small((1, "b", b"\0"), (2, "c", None))]
    answers = executor.execute_in_memory(databases, ["SELECT name, data FROM t", "SELECT 1.5"])
    assert [[one.rows for one in answer] for answer in answers] == [
        [(("a", None),), ((1.5,),)],
        [(("b", b"\0"), ("c", None)), ((1.5,),)],
    ]


@pytest.mark.parametrize("rows", [((1, "a", None), (1, "b", None)), ((1, None, None),)])
def test_rows_that_break_a_constraint_have_no_answers(executor: Executor, rows: tuple) -> None:
    assert executor.execute_in_memory([small(*rows)], ["SELECT 1"]) == [None]


def test_a_query_that_writes_is_denied(executor: Executor) -> None:
    (answer,) = executor.execute_in_memory([small((1, "a", None))], ["DELETE FROM t"])
    assert answer[0].status == "denied"


def test_an_endless_query_ends_with_the_time_limit(executor: Executor) -> None:
    (answer,) = executor.execute_in_memory([small()], ["SELECT 1", ENDLESS], Limits(seconds=0.5))
    assert answer[1].status == "timeout"


def test_an_infinite_number_stays_infinite(executor: Executor) -> None:
    database = small((1, "a", float("inf")), (2, "b", float("-inf")))
    (answer,) = executor.execute_in_memory([database], ["SELECT data FROM t ORDER BY id"])
    assert answer[0].rows == ((float("inf"),), (float("-inf"),))
    assert SmallDatabase.from_json(database.as_json()) == database
    assert "9e999)" in database.script()
    assert "-9e999)" in database.script()


def test_the_script_makes_the_same_database(executor: Executor) -> None:
    database = small((1, "it's\ntwo lines", b"\x01"), (2, "", None))
    assert database.script() == (
        f"{SCHEMA[0]};\n"
        "INSERT INTO \"t\" VALUES (1, 'it''s\ntwo lines', x'01');\n"
        "INSERT INTO \"t\" VALUES (2, '', NULL);\n"
    )
