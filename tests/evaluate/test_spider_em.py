"""Spider's exact match: each rule and quirk on a small schema, then Spider's own queries."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.benchmarks.benchmark import open_benchmark
from workbench.evaluate.spider_em import exact_match, hardness
from workbench.types import Column, ForeignKey, Schema, Table


def table(name, columns, *keys):
    links = tuple(ForeignKey((mine,), other, (theirs,)) for mine, other, theirs in keys)
    return Table(name, tuple(map(Column, columns.split())), foreign_keys=links)


SHOP = Schema(
    "shop",
    (
        table("Author", "id name country born"),
        table("Book", "id title author_id year price", ("author_id", "Author", "id")),
        table("Sale", "book_id shop copies", ("book_id", "Book", "id")),
    ),
)

JOINED = "FROM author AS T1 JOIN book AS T2 ON T1.id = T2.author_id"
SUB = "SELECT name FROM author WHERE id IN"

CASES = [
    # What does not count.
    ("select NAME from AUTHOR", "SELECT name FROM author;", True, "case and semicolon"),
    (f"SELECT T1.name {JOINED}",
     "SELECT author.name FROM author JOIN book ON author.id = book.author_id", True, "aliases"),
    ("SELECT name FROM author WHERE born > 1900", "SELECT name FROM author WHERE born > 2000", True, "values"),
    ("SELECT name FROM author WHERE country = 'Chile'",
     "SELECT name FROM author WHERE country = 3", True, "the type of a value"),
    ("SELECT name FROM author WHERE name = country",
     "SELECT name FROM author WHERE name = 'x'", True, "a column on the right is a value"),
    ("SELECT DISTINCT name FROM author", "SELECT name FROM author", True, "DISTINCT"),
    ("SELECT count(DISTINCT name) FROM author", "SELECT count(name) FROM author", True, "DISTINCT in an aggregate"),
    ("SELECT born, name FROM author", "SELECT name, born FROM author", True, "order of columns"),
    ("SELECT name FROM author WHERE born > 1 AND country = 'a'",
     "SELECT name FROM author WHERE country = 'b' AND born > 2", True, "order of conditions"),
    (f"SELECT T1.name {JOINED}",
     "SELECT T1.name FROM book AS T2 JOIN author AS T1 ON T2.price = T1.born", True, "order of tables and what they are joined on"),
    ("SELECT name FROM author ORDER BY born LIMIT 1",
     "SELECT name FROM author ORDER BY born ASC LIMIT 3", True, "LIMIT's number, and ASC is the default"),
    ("SELECT name FROM author ORDER BY born DESC, name ASC",
     "SELECT name FROM author ORDER BY born, name", True, "all but the last direction"),
    ("SELECT name FROM author LIMIT 1 OFFSET 5", "SELECT name FROM author LIMIT 1", True, "OFFSET"),
    ("SELECT name FROM author WHERE born = value AND id = 1",
     "SELECT name FROM author WHERE born = 5 AND id = 1", True, "the placeholder `value`"),
    ("SELECT name FROM author WHERE born = id OR country = 'x' AND name = 'y'",
     "SELECT name FROM author WHERE born = 1 AND name = 'y'", True, "an OR after a column on the right is skipped"),
    # Linked columns.
    (f"SELECT T2.author_id {JOINED}", f"SELECT T1.id {JOINED}", True, "two ends of a key"),
    ("SELECT book_id FROM sale", "SELECT id FROM book", False, "a key leads to no other table in FROM"),
    (f"SELECT T1.name {JOINED} GROUP BY T2.author_id",
     f"SELECT T1.name {JOINED} GROUP BY T1.id", True, "keys in GROUP BY"),
    (f"SELECT name FROM author UNION SELECT T2.author_id {JOINED}",
     f"SELECT name FROM author UNION SELECT T1.id {JOINED}", False, "keys of a combined query, unless the first one reads the tables too"),
    (f"{SUB} (SELECT T1.id {JOINED})",
     f"{SUB} (SELECT T2.author_id {JOINED})", False, "in a subquery linked columns are two"),
    # What does count.
    ("SELECT name FROM author", "SELECT name, born FROM author", False, "a column less"),
    ("SELECT max(born) FROM author", "SELECT min(born) FROM author", False, "the aggregate"),
    ("SELECT born - id FROM author", "SELECT born + id FROM author", False, "the arithmetic"),
    ("SELECT id FROM book", "SELECT book.id FROM book JOIN sale ON book.id = sale.book_id", False, "the tables"),
    ("SELECT name FROM author WHERE born > 1", "SELECT name FROM author WHERE born >= 1", False, "the operator"),
    ("SELECT name FROM author WHERE name NOT LIKE 'a'", "SELECT name FROM author WHERE name LIKE 'a'", False, "NOT"),
    ("SELECT name FROM author WHERE born BETWEEN 1 AND 2",
     "SELECT name FROM author WHERE born > 1 AND born < 2", False, "BETWEEN is one condition"),
    ("SELECT name FROM author WHERE born = 1 OR id = 2",
     "SELECT name FROM author WHERE born = 1 AND id = 2", False, "AND is not OR"),
    (f"SELECT T1.name {JOINED} AND T1.born > 5 OR T2.year = 2",
     f"SELECT T1.name {JOINED}", False, "an OR in a join's condition"),
    ("SELECT country FROM author GROUP BY country HAVING count(*) > 1",
     "SELECT country FROM author GROUP BY country HAVING count(*) > 5", True, "values in HAVING do not"),
    ("SELECT country FROM author GROUP BY country",
     "SELECT country FROM author GROUP BY country HAVING count(*) > 5", False, "HAVING"),
    ("SELECT country FROM author GROUP BY country, born",
     "SELECT country FROM author GROUP BY born, country", False, "the order of GROUP BY"),
    ("SELECT name FROM author ORDER BY born DESC", "SELECT name FROM author ORDER BY born", False, "the direction"),
    ("SELECT name FROM author ORDER BY born",
     "SELECT name FROM author ORDER BY born LIMIT 1", False, "that there is a LIMIT"),
    # Queries in queries.
    (f"{SUB} (SELECT author_id FROM book WHERE year = 1)",
     f"{SUB} (SELECT author_id FROM book WHERE year = 2)", True, "values in a subquery do not"),
    (f"{SUB} (SELECT DISTINCT author_id FROM book)",
     f"{SUB} (SELECT author_id FROM book)", False, "DISTINCT in a subquery does"),
    ("SELECT count(*) FROM (SELECT id FROM book WHERE year = 1.0)",
     "SELECT count(*) FROM (SELECT id FROM book WHERE year = 1)", True, "the spelling of a number"),
    ("SELECT count(*) FROM (SELECT id FROM book WHERE year = 1)",
     "SELECT count(*) FROM (SELECT id FROM book WHERE year = 2)", False, "values of a subquery in FROM do"),
    ("SELECT name FROM author UNION SELECT title FROM book",
     "SELECT name FROM author INTERSECT SELECT title FROM book", False, "the set operation"),
    ("SELECT name FROM author EXCEPT SELECT name FROM author WHERE born = 1 AND id = 2",
     "SELECT name FROM author EXCEPT SELECT name FROM author WHERE id = 3 AND born = 4", True, "a combined query is compared like the first"),
    # What the grammar does not read, and reads.
    ("SELECT name FROM author WHERE born=1", "SELECT name FROM author WHERE born = 1", False, "="),
    ("SELECT name FROM author WHERE born > = 1", "SELECT name FROM author WHERE born >= 1", True, ">="),
    ("SELECT name FROM author WHERE born>1", "SELECT name FROM author WHERE born > 1", True, ">"),
    ("SELECT name FROM author T1", "SELECT name FROM author", False, "an alias without AS"),
    ("SELECT name AS n FROM author", "SELECT name FROM author", False, "a column's alias"),
    ("SELECT `name` FROM author", "SELECT name FROM author", False, "backticks"),
    ('SELECT "name" FROM author', "SELECT name FROM author", False, "a quoted column"),
    ("SELECT name born FROM author", "SELECT name, born FROM author", True, "a missing comma"),
    ("SELECT T1.name FROM author AS T1 INNER JOIN book AS T2 ON T1.id = T2.author_id",
     f"SELECT T1.name {JOINED}", False, "INNER JOIN"),
    (f"SELECT T1.name {JOINED} INNER JOIN sale AS T3 ON T3.book_id = T2.id",
     f"SELECT T1.name {JOINED} JOIN sale AS T3 ON T3.book_id = T2.id", True, "a second INNER JOIN, whose INNER goes with the value before it"),
    ("SELECT name FROM author WHERE name = 'O''Hara''s'",
     "SELECT name FROM author WHERE name = 'x'", False, "a string glued to a string"),
    ("SELECT name FROM author WHERE name = 'x", "SELECT name FROM author WHERE name = 'x", False, "an open string"),
    ("SELECT name FROM author WHERE born IS NOT NULL",
     "SELECT name FROM author WHERE born IS NOT NULL", False, "even against itself: nothing matches an unreadable gold"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("predicted", "gold", "expected", "why"), CASES, ids=[c[3] for c in CASES]
)
def test_a_pair_matches_as_spider_says(predicted, gold, expected, why):
    assert exact_match(predicted, gold, SHOP) is expected


def test_a_column_in_two_foreign_keys_links_all_three():
    likes = table(
        "likes", "who whom", ("who", "person", "id"), ("whom", "person", "id")
    )
    schema = Schema("likes", (table("person", "id name"), likes))
    joined = "FROM person JOIN likes ON person.id = likes.who"
    assert exact_match(f"SELECT whom {joined}", f"SELECT who {joined}", schema)


@pytest.mark.parametrize(
    ("sql", "level"),
    [
        ("SELECT count(*) FROM author", "easy"),
        ("SELECT name FROM author WHERE born > 1", "easy"),
        ("SELECT max(born) FROM author ORDER BY id", "easy"),
        ("SELECT name, born FROM author", "medium"),
        ("SELECT name FROM author WHERE born > 1 ORDER BY id", "medium"),
        ("SELECT name FROM author WHERE name LIKE 'a'", "medium"),
        ("SELECT max(born), min(born) FROM author WHERE id > 1", "medium"),
        ("SELECT name FROM author WHERE born > 1 OR id = 2", "medium"),
        ("SELECT name FROM author WHERE born > 1 ORDER BY id LIMIT 1", "hard"),
        (f"SELECT T1.name {JOINED} GROUP BY T1.id ORDER BY T1.born", "hard"),
        (
            "SELECT max(born), min(id) FROM author WHERE id > 1 AND born > 2 ORDER BY id",
            "hard",
        ),
        (f"{SUB} (SELECT author_id FROM book)", "hard"),
        ("SELECT name FROM author UNION SELECT title FROM book", "hard"),
        (f"SELECT T1.name {JOINED} GROUP BY T1.id ORDER BY T1.born LIMIT 1", "extra"),
        ("SELECT name, born FROM author WHERE id IN (SELECT id FROM book)", "extra"),
        ("SELECT id FROM (SELECT id FROM book WHERE id > 1 AND year > 1)", ""),
        (
            "SELECT count(*) FROM (SELECT id FROM book WHERE id > 1 AND year > 1)",
            "easy",
        ),
        (
            "SELECT name FROM author WHERE name NOT LIKE 'a' AND name NOT LIKE 'b'",
            "hard",
        ),
        ("SELECT name FROM author WHERE born IS NULL", ""),
    ],
)
def test_hardness_follows_spiders_counts(sql, level):
    assert hardness(sql, SHOP) == level


VOCABULARY = (
    "select from where group by order having limit union except in not like between and or join "
    "on as distinct count max ( ) , ; * - = < > ! . 1 2.5 'a' \" author book T1 T1.name name id "
    "book.id"
)
WORDS = st.sampled_from(VOCABULARY.split())


@given(st.text() | st.lists(WORDS, max_size=40).map(" ".join))
def test_no_text_raises_an_exception(text):
    exact_match(text, "SELECT name FROM author", SHOP)
    exact_match("SELECT name FROM author", text, SHOP)
    assert hardness(text, SHOP) in {"easy", "medium", "hard", "extra", ""}


@given(st.lists(WORDS, max_size=20))
def test_every_readable_query_matches_itself(words):
    sql = " ".join(["SELECT name FROM author", *words])
    assert exact_match(sql, sql, SHOP) is (hardness(sql, SHOP) != "")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT name FROM author WHERE id IN (" * 5_000,
        "SELECT name FROM author UNION " * 5_000,
        "SELECT name FROM " + "(" * 100_000,
        "SELECT " + "'" * 100_000,
        "SELECT name FROM author WHERE " + "id = 1 AND " * 20_000,
        ". " * 100_000,
    ],
    ids=["nested", "united", "brackets", "quotes", "conditions", "stops"],
)
def test_a_monstrous_text_is_answered_soon(text):
    began = time.process_time()
    exact_match(text, "SELECT name FROM author", SHOP)
    assert time.process_time() - began < 20


# Spider's own questions and other systems' answers.


@pytest.fixture(scope="module")
def gold(real_spider):
    """Each question's gold query and schema."""
    benchmark = open_benchmark("spider", real_spider)
    return [
        (benchmark.golds[q.id].sql, benchmark.schemas[q.db_id])
        for q in benchmark.questions
    ]


def test_every_gold_query_is_read_and_matches_itself(gold):
    assert all(exact_match(sql, sql, schema) for sql, schema in gold)
