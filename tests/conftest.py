"""Fixtures of all tests: a temporary WORKBENCH_HOME, tiny BIRD and Spider benchmarks, the real Spider data."""

import json
import os
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

from workbench.sql.sandbox import Sandbox

pytest_plugins = ["pytester"]

# Hypothesis measures its deadline, and how long drawing an example takes, in wall-clock time, which a busy machine
# exceeds. Every run draws new examples: few by default, many in continuous integration.
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", untimed, max_examples=25)
settings.register_profile("many", untimed, max_examples=200, print_blob=True)
settings.load_profile("many" if os.environ.get("CI") == "true" else "few")


MARKERS = {  # a test that uses the fixture gets these markers
    "chromium": ("browser", "slow"),
    "torch": ("extras",),
    "embed_extra": ("extras",),
    "dask": ("extras",),
    "machines": ("extras", "slow"),
    "encrypted_machines": ("extras", "slow"),
    "real_spider": ("spider",),
    "real_golds": ("golds",),
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        for fixture in MARKERS.keys() & set(getattr(item, "fixturenames", ())):
            for marker in MARKERS[fixture]:
                item.add_marker(marker)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """In continuous integration (CI=true) a skipped test fails. macOS has no /proc, so some are skipped there."""
    report = yield
    strict = os.environ.get("CI") == "true" and sys.platform == "linux"
    if report.skipped and strict and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where CI=true: {report.longrepr[-1]}"
    return report


DATABASES = {
    "zoo": """CREATE TABLE animal(id INTEGER PRIMARY KEY, name TEXT, legs INTEGER);
        INSERT INTO animal VALUES (1, 'ant', 6), (2, 'bat', 2), (3, 'cat', 4), (4, 'dog', 4);""",
    "shop": """CREATE TABLE item(id INTEGER PRIMARY KEY, label TEXT, price REAL);
        INSERT INTO item VALUES (1, 'axe', 9.5), (2, 'bag', 9.5), (3, 'cup', 2.0);""",
    "pond": """CREATE TABLE fish(id INTEGER PRIMARY KEY, kind TEXT, grams INTEGER);
        INSERT INTO fish VALUES (1, 'carp', 900), (2, 'pike', 700), (3, 'carp', 300);""",
}
GOLDS = {
    "zoo": [
        "SELECT count(*) FROM animal",
        "SELECT name FROM animal ORDER BY name",
        "SELECT name FROM animal WHERE legs = 4",
        "SELECT max(legs) FROM animal",
    ],
    "shop": [
        "SELECT count(*) FROM item",
        "SELECT label FROM item ORDER BY price",
        "SELECT price FROM item",
        "SELECT label, price FROM item",
    ],
    "pond": [
        "SELECT count(*) FROM fish",
        "SELECT kind FROM fish ORDER BY grams",
        "SELECT DISTINCT kind FROM fish",
        "SELECT kind FROM fish WHERE grams > 1000",
    ],
}
# Twelve questions, so that ids sorted as text ("0", "1", "10", "11", "2", ...) stand in another order.
ITEMS = [
    (db_id, f"{db_id}, question {n}?", sql)
    for db_id in GOLDS
    for n, sql in enumerate(GOLDS[db_id])
]
GOLD_SQL = [sql for _, _, sql in ITEMS]
SPARSE = [3, 7, 20, 100, 101, 102, 500, 900, 901, 1000, 1200, 1500]


def write_databases(folder):
    for name, script in DATABASES.items():
        (folder / name).mkdir(parents=True)
        with closing(sqlite3.connect(folder / name / f"{name}.sqlite")) as database:
            database.executescript(script)


def bird_items(ids=range(12)):
    return [
        {
            "question_id": key,
            "db_id": db_id,
            "question": text,
            "evidence": f"hint {key}",
            "SQL": sql,
            "difficulty": "simple" if key % 2 else "challenging",
        }
        for key, (db_id, text, sql) in zip(ids, ITEMS, strict=True)
    ]


def write_bird(folder, file="dev.json", databases="dev_databases", items=None):
    write_databases(folder / databases)
    (folder / file).write_text(json.dumps(bird_items() if items is None else items))
    return folder


def tables_json():
    columns = {"zoo": ("animal", "name", "legs"), "shop": ("item", "label", "price")}
    columns["pond"] = ("fish", "kind", "grams")
    return [
        {
            "db_id": name,
            "table_names_original": [table],
            "column_names_original": [
                [-1, "*"],
                [0, "id"],
                *([0, column] for column in others),
            ],
            "column_types": ["text", "number", "text", "number"],
            "primary_keys": [1],
            "foreign_keys": [],
        }
        for name, (table, *others) in columns.items()
    ]


def spider_items():
    return [
        {"db_id": db_id, "question": text, "query": sql} for db_id, text, sql in ITEMS
    ]


def write_spider(folder, file="dev.json", databases="database"):
    write_databases(folder / databases)
    (folder / file).write_text(json.dumps(spider_items()))
    (folder / "tables.json").write_text(json.dumps(tables_json()))
    return folder


@pytest.fixture(scope="session")
def tiny():
    """Twelve questions over three databases of one table each, written as BIRD or as Spider unpacks."""
    return SimpleNamespace(
        gold=GOLD_SQL,
        items=ITEMS,
        sparse=SPARSE,
        bird_items=bird_items,
        spider_items=spider_items,
        tables_json=tables_json,
        write_bird=write_bird,
        write_spider=write_spider,
        write_databases=write_databases,
    )


@pytest.fixture(autouse=True, scope="session")
def signals_arrive():
    """Ctrl-C and SIGHUP reach the programs that tests start, also where pytest runs in the background or under nohup.

    There they are ignored, and a process that is started inherits that.
    """
    reached = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {
        number: signal.signal(number, handler) for number, handler in reached.items()
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True, scope="session")
def home_of_the_tests(tmp_path_factory):
    """No test touches the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def sandbox():
    """A process that runs SQL, started once for all tests that only need results.

    An executor that uses it is not closed, since that would end the process.
    """
    with closing(Sandbox(1)) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def real_spider():
    """The folder of the real Spider data, which is not part of this repository."""
    folder = os.environ.get("WORKBENCH_SPIDER")
    if not folder:
        pytest.skip(
            "needs WORKBENCH_SPIDER: a folder with Spider's dev.json and database/"
        )
    return Path(folder)


@pytest.fixture(scope="session")
def real_golds():
    """The folder of published revisions of BIRD and Spider, which are not part of this repository."""
    folder = os.environ.get("WORKBENCH_GOLDS")
    if not folder:
        pytest.skip(
            "needs WORKBENCH_GOLDS: a folder with Arcwise-Plat, Spider-Syn and Spider-DK"
        )
    return Path(folder)
