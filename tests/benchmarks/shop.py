"""A made-up shop: a database of about 150 MB, questions on it, and pools of candidates, all from a seed.

It stands for what a pool of a sampling system looks like: 21 candidates a question, three generators of
seven samples each, of which about a third differ in their text. Most agree with gold in other words; others
miss a condition, ask for another column, find nothing for a value in the wrong case, or do not parse.
"""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

CUSTOMERS = 135_000  # and three orders and seven items for each
GENERATORS, SAMPLES = ("direct", "divide_and_conquer", "query_plan"), 7
_SEGMENTS = ("consumer", "corporate", "public", "online")
_CATEGORIES = 25
_REGIONS = 40


def build(path: Path, customers: int = CUSTOMERS) -> None:
    """The database, the same at every call: its values are a hash of the row's number.

    Rows are as wide as those of real databases, so that a query is busy reading pages.
    """
    orders, products = 3 * customers, customers // 10
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(f"""
            PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
            CREATE TABLE region(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT NOT NULL,
                region_id INTEGER REFERENCES region, segment TEXT, joined TEXT, credit INTEGER,
                street TEXT, city TEXT, mail TEXT);
            CREATE TABLE product(id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT, price INTEGER,
                description TEXT);
            CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer,
                ordered TEXT, status TEXT, channel TEXT, street TEXT, city TEXT, remark TEXT);
            CREATE TABLE item(order_id INTEGER NOT NULL REFERENCES orders,
                product_id INTEGER NOT NULL REFERENCES product, quantity INTEGER, discount INTEGER,
                remark TEXT);
            CREATE TEMP TABLE n(i INTEGER PRIMARY KEY, h INTEGER);
            BEGIN;
            WITH RECURSIVE count(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM count WHERE i < {7 * customers})
            INSERT INTO n SELECT i, ((i * 2654435761) % 4294967296) >> 7 FROM count;
            INSERT INTO region SELECT i, 'Region ' || i FROM n WHERE i <= {_REGIONS};
            INSERT INTO customer SELECT i, 'Customer ' || i, 1 + h % {_REGIONS},
                CASE h / 40 % 4 WHEN 0 THEN 'consumer' WHEN 1 THEN 'corporate' WHEN 2 THEN 'public'
                    ELSE 'online' END,
                date('2015-01-01', (h / 160 % 3000) || ' days'), h / 7 % 10000,
                (h % 300) || ' Long Street, Building ' || (h % 17), 'City of ' || (h % 500),
                'customer.' || i || '@mail.example.org'
                FROM n WHERE i <= {customers};
            INSERT INTO product SELECT i, 'Product ' || i, 'category ' || (h % {_CATEGORIES}), 1 + h / 25 % 500,
                'A product of kind ' || (h % 90) || ', sold in boxes of ' || (h % 12)
                FROM n WHERE i <= {products};
            INSERT INTO orders SELECT i, 1 + h % {customers}, date('2018-01-01', (h / 11 % 2000) || ' days'),
                CASE h / 3 % 5 WHEN 0 THEN 'open' WHEN 1 THEN 'returned' ELSE 'shipped' END,
                CASE h / 17 % 3 WHEN 0 THEN 'web' WHEN 1 THEN 'phone' ELSE 'store' END,
                (h % 300) || ' Long Street, Building ' || (h % 17), 'City of ' || (h % 500),
                'to be left at door ' || (h % 40) || ' between ' || (h % 12) || ' and ' || (h % 12)
                FROM n WHERE i <= {orders};
            INSERT INTO item SELECT 1 + h % {orders}, 1 + h / 5 % {products}, 1 + h / 13 % 9, h / 19 % 30,
                'packed in box ' || (h % 1000) || ' on shelf ' || (h % 70) || ' of hall ' || (h % 9)
                FROM n;
            CREATE INDEX customer_region ON customer(region_id);
            CREATE INDEX orders_customer ON orders(customer_id);
            CREATE INDEX orders_ordered ON orders(ordered);
            CREATE INDEX item_product ON item(product_id);
            COMMIT;
        """)


@dataclass(frozen=True, slots=True)
class Asked:
    """Gold, other queries with its answer, and queries that go wrong in the ways that models do."""

    gold: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]


def questions(count: int, seed: int = 0) -> Iterator[tuple[Asked, list[str]]]:
    """So many questions with the candidates of each generator in turn, sample by sample."""
    draw = random.Random(seed)
    kinds = (_segment, _category, _channel, _credit, _returned, _price, _top, _customer)
    for number in range(count):
        asked = kinds[number % len(kinds)](draw)
        share = draw.choice(
            (0.95, 0.85, 0.7, 0.4, 0.1)
        )  # of right ones: questions differ in difficulty
        yield (
            asked,
            [
                _pick(draw, (asked.gold, *asked.right) if draw.random() < share else asked.wrong)
                for _ in range(len(GENERATORS) * SAMPLES)
            ],
        )


def _pick(draw: random.Random, among: tuple[str, ...]) -> str:
    """The first ones more often, as samples of a model fall."""
    return draw.choices(among, [1 / (place + 1) ** 1.5 for place in range(len(among))])[0]


def _segment(draw: random.Random) -> Asked:
    region, segment = draw.randint(1, _REGIONS), draw.choice(_SEGMENTS)
    joined = "FROM customer AS T1 JOIN region AS T2 ON T1.region_id = T2.id"
    where = f"WHERE T2.name = 'Region {region}' AND T1.segment = '{segment}'"
    return Asked(
        f"SELECT COUNT(*) {joined} {where}",
        (
            f"SELECT COUNT(T1.id) {joined} {where}",
            (
                f"SELECT COUNT(*) FROM customer WHERE segment = '{segment}' AND region_id ="
                f" (SELECT id FROM region WHERE name = 'Region {region}')"
            ),
            (
                f"SELECT SUM(CASE WHEN T1.segment = '{segment}' THEN 1 ELSE 0 END) {joined}"
                f" WHERE T2.name = 'Region {region}'"
            ),
            f"SELECT COUNT(DISTINCT T1.id) {joined} {where};",
        ),
        (
            f"SELECT COUNT(*) {joined} WHERE T2.name = 'Region {region}'",
            f"SELECT COUNT(*) {joined} WHERE T2.name = 'region {region}' AND T1.segment = '{segment}'",
            f"SELECT COUNT(*) FROM customer WHERE segment = '{segment.upper()}'",
            f"SELECT COUNT(* {joined} {where}",
        ),
    )


def _category(draw: random.Random) -> Asked:
    category = f"category {draw.randrange(_CATEGORIES)}"
    joined = "FROM item AS T1 JOIN product AS T2 ON T1.product_id = T2.id"
    return Asked(
        f"SELECT SUM(T1.quantity) {joined} WHERE T2.category = '{category}'",
        (
            (
                f"SELECT SUM(i.quantity) FROM product p JOIN item i ON i.product_id = p.id"
                f" WHERE p.category = '{category}'"
            ),
            (
                f"SELECT SUM(quantity) FROM item WHERE product_id IN"
                f" (SELECT id FROM product WHERE category = '{category}')"
            ),
            (
                f"WITH sold AS (SELECT T1.quantity AS q {joined} WHERE T2.category = '{category}')"
                " SELECT SUM(q) FROM sold"
            ),
        ),
        (
            f"SELECT COUNT(*) {joined} WHERE T2.category = '{category}'",
            f"SELECT SUM(T1.quantity * T2.price) {joined} WHERE T2.category = '{category}'",
            f"SELECT SUM(T1.quantity) {joined} WHERE T2.category = '{category.title()}'",
            f"SELECT SUM(T1.amount) {joined} WHERE T2.category = '{category}'",
        ),
    )


def _channel(draw: random.Random) -> Asked:
    year, month = draw.randint(2018, 2022), draw.randint(1, 12)
    period = f"ordered BETWEEN '{year}-{month:02}-01' AND '{year}-{month:02}-31'"
    return Asked(
        f"SELECT channel, COUNT(*) FROM orders WHERE {period} GROUP BY channel",
        (
            f"SELECT channel, COUNT(id) AS n FROM orders WHERE {period} GROUP BY channel ORDER BY n DESC",
            (
                f"SELECT channel, COUNT(*) FROM orders WHERE ordered LIKE '{year}-{month:02}-%'"
                " GROUP BY channel"
            ),
            (
                f"SELECT channel, COUNT(*) FROM orders WHERE strftime('%Y-%m', ordered) = '{year}-{month:02}'"
                " GROUP BY channel"
            ),
        ),
        (
            f"SELECT COUNT(*), channel FROM orders WHERE {period} GROUP BY channel",
            f"SELECT channel, COUNT(*) FROM orders WHERE ordered LIKE '{year}%' GROUP BY channel",
            f"SELECT channel, COUNT(*) FROM orders WHERE YEAR(ordered) = {year} GROUP BY channel",
            f"SELECT channel, COUNT(DISTINCT customer_id) FROM orders WHERE {period} GROUP BY channel",
        ),
    )


def _credit(draw: random.Random) -> Asked:
    region, least = draw.randint(1, _REGIONS), 100 * draw.randint(40, 95)
    joined = "FROM customer AS T1 INNER JOIN region AS T2 ON T1.region_id = T2.id"
    where = f"WHERE T2.name = 'Region {region}' AND T1.credit > {least}"
    return Asked(
        f"SELECT T1.name {joined} {where}",
        (
            f"SELECT DISTINCT T1.name {joined} {where}",
            f"SELECT T1.name {joined} {where} ORDER BY T1.name",
            (
                f"SELECT name FROM customer WHERE credit > {least} AND region_id IN"
                f" (SELECT id FROM region WHERE name = 'Region {region}')"
            ),
        ),
        (
            f"SELECT T1.name {joined} WHERE T2.name = 'Region {region}' AND T1.credit >= {least - 100}",
            f"SELECT T1.id, T1.name {joined} {where}",
            f"SELECT T1.name {joined} WHERE T2.name = '{region}' AND T1.credit > {least}",
            f"SELECT T1.name {joined} {where} LIMIT 10",
        ),
    )


def _returned(draw: random.Random) -> Asked:
    region = draw.randint(1, _REGIONS)
    return Asked(
        "SELECT COUNT(DISTINCT T1.id) FROM customer AS T1 JOIN orders AS T2 ON T2.customer_id = T1.id"
        f" WHERE T1.region_id = {region} AND T2.status = 'returned'",
        (
            (
                f"SELECT COUNT(*) FROM customer WHERE region_id = {region} AND id IN"
                " (SELECT customer_id FROM orders WHERE status = 'returned')"
            ),
            (
                f"SELECT COUNT(*) FROM customer AS c WHERE c.region_id = {region} AND EXISTS"
                " (SELECT 1 FROM orders AS o WHERE o.customer_id = c.id AND o.status = 'returned')"
            ),
            (
                "SELECT COUNT(DISTINCT o.customer_id) FROM orders o JOIN customer c ON c.id = o.customer_id"
                f" WHERE o.status = 'returned' AND c.region_id = {region}"
            ),
        ),
        (
            (
                "SELECT COUNT(*) FROM customer AS T1 JOIN orders AS T2 ON T2.customer_id = T1.id"
                f" WHERE T1.region_id = {region} AND T2.status = 'returned'"
            ),
            f"SELECT COUNT(*) FROM customer WHERE region_id = {region} AND status = 'returned'",
            (
                f"SELECT COUNT(*) FROM customer WHERE region_id = {region} AND id NOT IN"
                " (SELECT customer_id FROM orders WHERE status = 'returned')"
            ),
            f"SELECT COUNT(*) FROM returned WHERE region_id = {region}",
        ),
    )


def _price(draw: random.Random) -> Asked:
    category = f"category {draw.randrange(_CATEGORIES)}"
    return Asked(
        f"SELECT name FROM product WHERE category = '{category}' ORDER BY price DESC, id LIMIT 1",
        (
            (
                f"SELECT name FROM product WHERE category = '{category}' AND price = (SELECT MAX(price) FROM"
                f" product WHERE category = '{category}') ORDER BY id LIMIT 1"
            ),
            (
                "SELECT name FROM (SELECT name, ROW_NUMBER() OVER (ORDER BY price DESC, id) AS place FROM"
                f" product WHERE category = '{category}') WHERE place = 1"
            ),
        ),
        (
            f"SELECT name, MAX(price) FROM product WHERE category = '{category}'",
            f"SELECT name FROM product WHERE category = '{category}' ORDER BY price ASC LIMIT 1",
            f"SELECT name FROM product WHERE category = '{category.upper()}' ORDER BY price DESC LIMIT 1",
            f"SELECT TOP 1 name FROM product WHERE category = '{category}' ORDER BY price DESC",
        ),
    )


def _top(draw: random.Random) -> Asked:
    category = f"category {draw.randrange(_CATEGORIES)}"
    joined = "FROM item AS T1 JOIN product AS T2 ON T1.product_id = T2.id"
    where = f"WHERE T2.category = '{category}'"
    return Asked(
        f"SELECT T2.name {joined} {where} GROUP BY T2.id ORDER BY SUM(T1.quantity) DESC, T2.id LIMIT 5",
        (
            (
                "SELECT p.name FROM product p JOIN item i ON i.product_id = p.id WHERE p.category ="
                f" '{category}' GROUP BY p.id, p.name ORDER BY SUM(i.quantity) DESC, p.id LIMIT 5"
            ),
            (
                f"WITH sold AS (SELECT T2.id AS id, T2.name AS name, SUM(T1.quantity) AS q {joined} {where}"
                " GROUP BY T2.id) SELECT name FROM sold ORDER BY q DESC, id LIMIT 5"
            ),
        ),
        (
            f"SELECT T2.name {joined} {where} GROUP BY T2.id ORDER BY COUNT(*) DESC, T2.id LIMIT 5",
            (
                f"SELECT T2.name, SUM(T1.quantity) {joined} {where} GROUP BY T2.id"
                " ORDER BY SUM(T1.quantity) DESC, T2.id LIMIT 5"
            ),
            f"SELECT T2.name {joined} {where} GROUP BY T2.id ORDER BY T1.quantity DESC LIMIT 1",
            f"SELECT T2.title {joined} {where} GROUP BY T2.id ORDER BY SUM(T1.quantity) DESC LIMIT 5",
        ),
    )


def _customer(draw: random.Random) -> Asked:
    number = draw.randint(1, 10_000)
    joined = "FROM orders AS T1 JOIN customer AS T2 ON T1.customer_id = T2.id"
    return Asked(
        f"SELECT T1.ordered {joined} WHERE T2.id = {number} AND T1.channel = 'web'",
        (
            f"SELECT DISTINCT T1.ordered {joined} WHERE T2.id = {number} AND T1.channel = 'web'",
            (
                "SELECT ordered FROM orders WHERE channel = 'web' AND customer_id ="
                f" (SELECT id FROM customer WHERE id = {number})"
            ),
            f"SELECT T1.ordered {joined} WHERE T2.id = {number} AND T1.channel = 'web' ORDER BY 1",
        ),
        (
            f"SELECT T1.ordered {joined} WHERE T2.id = {number}",
            f"SELECT T1.ordered {joined} WHERE T2.id = {number} AND T1.channel = 'Web'",
            f"SELECT MAX(T1.ordered) {joined} WHERE T2.id = {number} AND T1.channel = 'web'",
            f"SELECT T1.ordered {joined} WHERE T2.id = '{number} AND T1.channel = 'web'",
        ),
    )
