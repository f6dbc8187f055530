import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from workbench.db.execute import Executor

SHOP = """
CREATE TABLE customer (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, age INTEGER, joined TEXT
);
CREATE TABLE purchase (
    number INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer (id),
    item TEXT NOT NULL, price REAL, count INTEGER
);
INSERT INTO customer VALUES
    (1, 'Ada', 'Oslo', 30, '2020-05-01'), (2, 'Bo', 'Rome', 41, '2021-01-31'),
    (3, 'Cy', 'Oslo', 25, '2021-12-24'), (4, 'Di', NULL, 52, '2022-02-02');
INSERT INTO purchase VALUES
    (1, 1, 'tea', 3.5, 2), (2, 1, 'cup', 8.0, 1), (3, 2, 'tea', 3.5, 5), (4, 3, 'pot', 20.0, 1);
"""


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SHOP)
    return path


@pytest.fixture(scope="module")  # not longer: tests of the executor count this process's children
def executor() -> Iterator[Executor]:
    with Executor(workers=1) as executor:
        yield executor
