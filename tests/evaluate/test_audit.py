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
        ("SELECT name FROM car ORDER BY year LIMIT 1", "tie", "a | b"),
        (
            "SELECT name, year AS y FROM car ORDER BY y LIMIT 1",
            "tie",
            "a, 1970 | b, 1970",
        ),
        (
            "SELECT maker, count(*) FROM car GROUP BY 1 ORDER BY 2 LIMIT 1",
            "tie",
            "x, 2 | y, 2",
        ),
        (
            "SELECT name FROM car ORDER BY maker LIMIT 2 OFFSET 1",
            "tie",
            "a | b | c | ...",
        ),
        ("SELECT DISTINCT name FROM car ORDER BY year LIMIT 1", "tie", "a | b"),
        (
            "SELECT name, year FROM car UNION SELECT 'z', 1980 ORDER BY year LIMIT 1",
            "tie",
            "a, 1970 | b, 1970",
        ),
        (
            "SELECT * FROM car ORDER BY 3 LIMIT 1",
            "tie",
            "a, 97, 1970, 10.0, x | b, 150, 1970, 20.0, x",
        ),
        (
            "WITH new AS (SELECT * FROM car) SELECT name FROM new ORDER BY maker LIMIT 1",
            "tie",
            "a | b",
        ),
        (
            "SELECT 1 WHERE 'a' = (SELECT name FROM car ORDER BY maker LIMIT 1)",
            "tie",
            "1",
        ),
        (
            "SELECT name FROM car AS a WHERE 'b' = (SELECT name FROM car WHERE maker = a.maker ORDER BY year LIMIT 1)",
            "tie",
            "a | b",
        ),
        (
            "SELECT maker, car.* FROM car WHERE name < 'c' ORDER BY maker LIMIT 1",
            "tie",
            "x, a, 97, 1970, 10.0, x | x, b, 150, 1970, 20.0, x",
        ),
        ("SELECT name FROM car ORDER BY price LIMIT 1", "null first", "a | c"),
        ("SELECT max(DISTINCT power) FROM car", "compared as text", "150 | 97"),
        ("SELECT name FROM car ORDER BY power DESC LIMIT 1", "sorted as text", "a | b"),
        (
            "SELECT name FROM car ORDER BY max(power, '') LIMIT 1",
            "sorted as text",
            "c | d",
        ),
        ("SELECT max(power) FROM car", "compared as text", "150 | 97"),
        ("SELECT name FROM car WHERE power > 100", "compared as text", "a | d"),
        ("SELECT name FROM car WHERE 100 < power", "compared as text", "a | d"),
        (
            "SELECT name FROM car WHERE power BETWEEN 80 AND 120",
            "compared as text",
            "a | c | d",
        ),
        (
            "SELECT name FROM car WHERE power > (SELECT min(power) FROM car)",
            "compared as text",
            "c | d",
        ),
        ("SELECT unknown FROM car", "fails", "no such column: unknown"),
        ("SELECT name FROM car WHERE year = 1", "empty", ""),
        ("SELECT max(price) FROM car WHERE name = 'c'", "only nulls", "None"),
    ],
)
def test_what_the_data_does_not_decide_is_found_with_its_evidence(
    findings, sql, finding, evidence
):
    shown = findings(sql)
    assert shown[finding] == evidence
    assert set(shown) <= set(FINDINGS)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM car ORDER BY year, name LIMIT 1",
        "SELECT name FROM car ORDER BY year LIMIT 2",
        "SELECT year FROM car ORDER BY year LIMIT 1",  # equal rows
        "SELECT name FROM car ORDER BY year",
        "SELECT name FROM car ORDER BY price DESC LIMIT 1",
        "SELECT power FROM car GROUP BY name ORDER BY max(year), name LIMIT 1",
        "SELECT count(*) FROM car WHERE maker = (SELECT maker FROM car ORDER BY year LIMIT 1)",
        "SELECT name FROM car ORDER BY price IS NULL, price LIMIT 1",
        "SELECT price, power FROM car WHERE year = 1971 ORDER BY maker LIMIT 1",
        "SELECT name FROM car ORDER BY CAST(power AS INTEGER) DESC LIMIT 1",
        "SELECT name FROM car WHERE CAST(power AS INTEGER) > 100",
        "SELECT max(year) FROM car WHERE year > 1970",
        "SELECT max(power) FROM car WHERE year > 1971",  # one row, whatever the others are
        "SELECT name FROM car WHERE power > 100 AND maker = 'y' AND year = 1971",
        "SELECT name FROM car WHERE power < 'many'",
        "SELECT max('1.50')",
        "SELECT '2.0.1' > '10.0.1', '2010-01-02' > '2010-01-01'",  # no numbers
        "SELECT power, name FROM car ORDER BY 1 DESC LIMIT 1",  # a column's number stays
    ],
)
def test_what_the_data_decides_is_no_finding(findings, sql):
    assert findings(sql) == {}


def test_a_tie_with_a_null_in_the_result_is_a_tie_alone(findings):
    tie = findings("SELECT price, maker FROM car ORDER BY maker DESC LIMIT 1")
    assert tie == {"tie": "30.0, y | None, y"}


@pytest.mark.spider
def test_on_half_of_spiders_dev_27_limits_cut_a_tie(real_spider, sandbox):
    frame = undetermined(
        open_benchmark("spider", real_spider), Executor(sandbox=sandbox)
    )
    counts = frame["finding"].value_counts()
    assert counts["tie"] == 27
    assert counts["sorted as text"] == 4
    assert counts["compared as text"] == 4
