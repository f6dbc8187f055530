"""Gold queries that the data does not decide are found with their evidence, and no others."""

import sqlite3
from contextlib import closing

import pytest

from workbench.benchmarks.benchmark import Benchmark, open_benchmark
from workbench.evaluate.audit import FINDINGS, undetermined
from workbench.sql.executor import Executor
from workbench.types import Gold, Question

SCRIPT = """CREATE TABLE car(name TEXT, power TEXT, year INTEGER, price REAL, maker TEXT);
    INSERT INTO car VALUES ('a', '97', 1970, 10.0, 'x'), ('b', '150', 1970, 20.0, 'x'), ('c', '110', 1971, NULL, 'y'),
        ('d', '90', 1972, 30.0, 'y');"""


@pytest.fixture(scope="module")
def findings(tmp_path_factory, sandbox):
    """The findings about one query, and their evidence."""
    folder = tmp_path_factory.mktemp("audit")
    (folder / "cars").mkdir()
    with closing(sqlite3.connect(folder / "cars/cars.sqlite")) as database:
        database.executescript(SCRIPT)

    def findings(sql):
        asked = (Question("1", "cars", "?"),)
        benchmark = Benchmark("b", "bird", folder, asked, {"1": Gold("1", sql)})
        frame = undetermined(benchmark, Executor(sandbox=sandbox))
        return dict(zip(frame["finding"], frame["evidence"], strict=True))

    return findings


@pytest.mark.parametrize(
    ("sql", "finding", "evidence"),
    [
        ("SELECT name FROM car ORDER BY year LIMIT 1", "tie", "2 rows at 1970: a | b"),
        (
            "SELECT name, year AS y FROM car ORDER BY y LIMIT 1",
            "tie",
            "2 rows at 1970: a, 1970 |",
        ),
        (
            "SELECT maker, count(*) FROM car GROUP BY 1 ORDER BY 2 LIMIT 1",
            "tie",
            "2 rows at 2: ",
        ),
        (
            "SELECT name FROM car ORDER BY maker LIMIT 2 OFFSET 1",
            "tie",
            "2 rows at x: a | b",
        ),
        (
            "WITH new AS (SELECT * FROM car) SELECT name FROM new ORDER BY maker LIMIT 1",
            "tie",
            "2",
        ),
        (
            "SELECT 1 WHERE 'a' = (SELECT name FROM car ORDER BY maker LIMIT 1)",
            "tie",
            "2 rows at x",
        ),
        (
            "SELECT name FROM car ORDER BY price LIMIT 1",
            "null first",
            "c, None | a, 10.0 |",
        ),
        (
            "SELECT name FROM car ORDER BY power DESC LIMIT 1",
            "sorted as text",
            "97 | 90 | 150 | .",
        ),
        (
            "SELECT max(power) FROM car",
            "compared as text",
            "max is '97', and 150 is a number",
        ),
        ("SELECT name FROM car WHERE power > 100", "compared as text", "'97' >= '100'"),
        (
            "SELECT name FROM car WHERE power BETWEEN 8 AND 95",
            "compared as text",
            "'150' < '8'",
        ),
        ("SELECT unknown FROM car", "fails", "no such column: unknown"),
        ("SELECT name FROM car WHERE year = 1", "empty", ""),
        ("SELECT max(price) FROM car WHERE name = 'c'", "only nulls", "None"),
    ],
)
def test_what_the_data_does_not_decide_is_found_with_its_evidence(
    findings, sql, finding, evidence
):
    found = findings(sql)
    assert found[finding].startswith(evidence)
    assert set(found) <= set(FINDINGS)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM car ORDER BY year, name LIMIT 1",
        "SELECT name FROM car ORDER BY year LIMIT 2",
        "SELECT year FROM car ORDER BY year LIMIT 1",  # equal rows
        "SELECT name FROM car ORDER BY year",
        "SELECT name FROM car ORDER BY price DESC LIMIT 1",
        "SELECT * FROM car ORDER BY 2 LIMIT 1",  # a column of * is not known
        "SELECT power FROM car GROUP BY name ORDER BY max(year), name LIMIT 1",
        "SELECT name FROM car ORDER BY CAST(power AS INTEGER) DESC LIMIT 1",
        "SELECT name FROM car WHERE CAST(power AS INTEGER) > 100",
        "SELECT max(year) FROM car WHERE year > 1970",
        "SELECT name FROM car AS a WHERE year = (SELECT year FROM car WHERE name > a.name ORDER BY maker LIMIT 1) OR 1",
    ],
)
def test_what_the_data_decides_is_no_finding(findings, sql):
    assert findings(sql) == {}


@pytest.mark.spider
def test_on_half_of_spiders_dev_27_limits_cut_a_tie(real_spider, sandbox):
    frame = undetermined(
        open_benchmark("spider", real_spider), Executor(sandbox=sandbox)
    )
    counts = frame["finding"].value_counts()
    assert counts["tie"] == 27
    assert counts["sorted as text"] == 2
