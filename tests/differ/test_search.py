"""Queries that differ are told apart on a small database, and queries that are equal never are."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random

import pytest

from workbench.db.execute import Executor
from workbench.differ.pair import Pair
from workbench.differ.search import Outcome, needed_rules, tell_apart


def tell(shop: Path, executor: Executor, first: str, second: str, sense: str = "bird") -> Outcome:
    return tell_apart(shop, first, second, executor, "spider" if sense == "spider" else "bird")


EQUAL = [
    ("SELECT name FROM customer WHERE age > 30", "SELECT name FROM customer WHERE 30 < age"),
    ("SELECT name FROM customer WHERE age > 30", "SELECT name FROM customer WHERE age >= 31"),
    (
        "SELECT name FROM customer WHERE age BETWEEN 25 AND 41",
        "SELECT name FROM customer WHERE age >= 25 AND age <= 41",
    ),
    (
        "SELECT name FROM customer WHERE city IN ('Oslo', 'Rome')",
        "SELECT name FROM customer WHERE city = 'Rome' OR city = 'Oslo'",
    ),
    (
        "SELECT name, item FROM customer JOIN purchase ON customer_id = id",
        "SELECT a.name, b.item FROM purchase AS b, customer AS a WHERE a.id = b.customer_id",
    ),
    # A key: every purchase has its customer, whose id is unique and not NULL.
    (
        "SELECT count(*) FROM purchase",
        "SELECT count(*) FROM purchase JOIN customer ON id = customer_id",
    ),
    ("SELECT count(*) FROM customer", "SELECT count(DISTINCT id) FROM customer"),
    ("SELECT count(*) FROM customer", "SELECT count(name) FROM customer"),
    (
        "SELECT name FROM customer WHERE id IN (SELECT customer_id FROM purchase)",
        "SELECT name FROM customer WHERE EXISTS (SELECT 1 FROM purchase WHERE customer_id = id)",
    ),
    ("SELECT avg(price) FROM purchase", "SELECT sum(price) / count(price) FROM purchase"),
    (
        "SELECT id FROM customer WHERE joined LIKE '2021%'",
        "SELECT id FROM customer WHERE strftime('%Y', joined) = '2021'",
    ),
    # Which of several tied rows comes first is SQLite's choice: a difference in it is none of the queries.
    (
        "SELECT name FROM customer JOIN purchase ON customer_id = id ORDER BY price LIMIT 1",
        "SELECT name FROM purchase JOIN customer ON customer_id = id ORDER BY price LIMIT 1",
    ),
    # SQLite sorts groups, and so always gives the same one of those that tie.
    (
        "SELECT item FROM purchase GROUP BY item ORDER BY count(*) DESC LIMIT 1",
        "SELECT item FROM (SELECT item, count(*) AS n FROM purchase GROUP BY 1 ORDER BY 1 DESC) ORDER BY n DESC LIMIT 1",
    ),
    ("SELECT name FROM customer LIMIT 1", "SELECT name FROM customer ORDER BY age LIMIT 1"),
    (
        "SELECT city, name FROM customer GROUP BY city",
        "SELECT city, min(name) FROM customer GROUP BY city",
    ),
]


@pytest.mark.parametrize(("first", "second"), EQUAL, ids=[second for _, second in EQUAL])
def test_equal_queries_are_never_said_to_differ(
    first: str, second: str, shop: Path, executor: Executor
) -> None:
    for sense in ("bird", "spider"):
        assert tell(shop, executor, first, second, sense).status == "not told apart"


def test_queries_with_one_normal_form_are_equal(shop: Path, executor: Executor) -> None:
    outcome = tell(shop, executor, "select name from CUSTOMER", "SELECT Name FROM customer -- all")
    assert str(outcome) == "equal: both have the same normal form"


def test_a_query_that_does_not_run_is_reported(shop: Path, executor: Executor) -> None:
    outcome = tell(shop, executor, "SELECT name FROM customer", "SELECT shoe FROM customer")
    assert (outcome.status, outcome.error) == ("failed", "no such column: shoe")


def test_a_tie_tells_the_first_row_from_all_of_the_greatest(shop: Path, executor: Executor) -> None:
    outcome = tell(
        shop,
        executor,
        "SELECT name FROM customer ORDER BY age DESC LIMIT 1",
        "SELECT name FROM customer WHERE age = (SELECT max(age) FROM customer)",
    )
    assert outcome.status == "differ"
    assert (outcome.first.row_count, outcome.second.row_count) == (1, 2)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        tuple(
            f"SELECT name FROM customer JOIN purchase ON customer_id = id GROUP BY {column} "
            "ORDER BY count(*) DESC LIMIT 1"
            for column in ("id", "name")
        ),
        tuple(
            f"SELECT name FROM customer JOIN purchase ON customer_id = id GROUP BY id HAVING count(*) {sign} 5"
            for sign in (">", ">=")
        ),
        tuple(f"SELECT item FROM purchase WHERE price {sign} count" for sign in (">", ">=")),
    ],
    ids=["groups that merge", "a group of five", "columns that are equal"],
)
def test_groups_and_values_that_random_rows_seldom_have_are_made(
    first: str, second: str, shop: Path, executor: Executor
) -> None:
    assert tell(shop, executor, first, second).status == "differ"


def test_a_key_of_two_columns_lets_one_of_them_repeat(tmp_path: Path, executor: Executor) -> None:
    theatre = tmp_path / "theatre.sqlite"
    with closing(sqlite3.connect(theatre)) as connection:
        connection.executescript(
            "CREATE TABLE seat (line INTEGER, number INTEGER, PRIMARY KEY (line, number));"
            "INSERT INTO seat VALUES (1, 1), (1, 2), (1, 3);"
        )
    queries = (f"SELECT {distinct} number FROM seat" for distinct in ("", "DISTINCT"))
    assert tell(theatre, executor, *queries, "spider").status == "differ"


def test_the_search_gives_the_same_database_each_time(shop: Path, executor: Executor) -> None:
    queries = ("SELECT count(city) FROM customer", "SELECT count(DISTINCT city) FROM customer")
    first, second = (tell(shop, executor, *queries) for _ in range(2))
    assert first == second


def test_a_database_keeps_the_keys_and_types_of_the_schema(shop: Path, executor: Executor) -> None:
    outcome = tell(
        shop,
        executor,
        "SELECT name FROM customer JOIN purchase ON customer_id = id WHERE price > 8",
        "SELECT name FROM customer JOIN purchase ON customer_id = id WHERE price >= 8",
    )
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(outcome.database.script())
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        types = "SELECT DISTINCT typeof(number), typeof(item), typeof(price) FROM purchase"
        assert connection.execute(types).fetchall() == [("integer", "text", "real")]


def test_null_goes_only_where_real_rows_have_it_if_asked(shop: Path, executor: Executor) -> None:
    careful = partial(tell_apart, nulls=False)
    queries = ("SELECT count(*) FROM customer", "SELECT count(age) FROM customer")
    assert careful(shop, *queries, executor).status == "not told apart"
    queries = ("SELECT count(*) FROM customer", "SELECT count(city) FROM customer")
    assert careful(shop, *queries, executor).status == "differ"


def test_a_query_that_writes_changes_nothing(shop: Path, executor: Executor) -> None:
    before = shop.read_bytes()
    outcome = tell(shop, executor, "SELECT name FROM customer", "DELETE FROM customer")
    assert outcome.status == "failed"
    assert "DELETE is not allowed" in outcome.error
    assert shop.read_bytes() == before


def test_a_row_that_is_seldom_the_first_of_its_group_hides_no_tie(
    shop: Path, executor: Executor
) -> None:
    """Nine rows tie for the name that the first query takes; only one of them agrees with the second."""
    first, second = (
        f"SELECT city, {name} FROM customer GROUP BY city" for name in ("name", "min(name)")
    )
    rules = needed_rules(shop, (first, second))
    names = {2: "Bo", 4: "Di", 7: "Bo"} | dict.fromkeys(range(8, 15), "Di")
    cities = {2: ("Rome", 41, "2021-01-31")}
    rows = {
        "customer": [
            (n, name, *cities.get(n, (None, 52, "2022-02-02"))) for n, name in names.items()
        ]
    }
    assert not Pair(first, second, "bird", rules, executor).is_different(rows)


def test_ties_in_several_groups_need_not_all_show_at_once(shop: Path, executor: Executor) -> None:
    """Of two groups with five names each, an order in 25 gives the least name of both."""
    first, second = (
        f"SELECT city, {name} FROM customer GROUP BY city" for name in ("name", "min(name)")
    )
    rules = needed_rules(shop, (first, second))
    rows = [(n, f"name {n}", ("Oslo", "Rome")[n % 2], 30, None) for n in range(10)]
    for seed in range(20):
        Random(seed).shuffle(rows)
        assert not Pair(first, second, "bird", rules, executor).is_different({"customer": rows})


def test_an_index_that_sqlite_makes_for_a_join_hides_no_tie(shop: Path, executor: Executor) -> None:
    """The index has the items of a customer in their order, so that any order of rows gives the last one."""
    first, second = (
        f"SELECT city, {item} FROM customer CROSS JOIN purchase ON customer_id = id GROUP BY city"
        for item in ("item", "max(item)")
    )
    rules = needed_rules(shop, (first, second))
    rows = {
        "customer": [(1, "Ada", "Oslo", 30, None)],
        "purchase": [(1, 1, "tea", 3.5, 2), (2, 1, "cup", 8.0, 1)],
    }
    for pair in ((first, second), (first, second.replace("max", "min"))):
        assert not Pair(*pair, "bird", rules, executor).is_different(rows)
