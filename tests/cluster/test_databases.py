"""A worker uses a shared database only if it has the driver's content, and keeps its copies below a limit."""

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from workbench.cluster.databases import LIMIT, Databases, database_files
from workbench.errors import ClusterError
from workbench.sql.executor import Executor


@pytest.fixture
def executor():
    with Executor(workers=1) as opened:
        yield opened


@pytest.fixture
def drivers(tmp_path, tiny, executor):
    """The driver's databases by name, each with the description of a column."""
    tiny.write_databases(tmp_path / "driver")
    for folder in (tmp_path / "driver").iterdir():
        (folder / "database_description").mkdir()
        (folder / "database_description" / "t.csv").write_text("a,b\n")
    return tmp_path / "driver"


@pytest.fixture
def worker(tmp_path, executor):
    warnings = []
    opened = Databases(tmp_path / "worker", executor, warnings.append)
    yield opened, warnings
    opened.close()


def on_driver(drivers, name, executor, path=""):
    """The driver's description of a database, and the function that reads its files."""
    file = drivers / name / f"{name}.sqlite"
    found = database_files(file, executor)

    def read(inside, start):
        with (file.parent / inside).open("rb") as opened:
            opened.seek(start)
            return opened.read(1000)

    return replace(found, path=path or f"/nowhere/{name}/{name}.sqlite"), read


def test_a_shared_database_is_used_where_it_lies(drivers, worker, executor):
    databases, warnings = worker
    file = drivers / "zoo" / "zoo.sqlite"
    assert databases.local(*on_driver(drivers, "zoo", executor, str(file))) == file
    assert warnings == []


def test_a_missing_database_comes_from_the_driver_once(drivers, worker, executor):
    databases, warnings = worker
    wanted, read = on_driver(drivers, "zoo", executor)
    copy = databases.local(wanted, read)
    assert (copy.name, copy.parent.name) == ("zoo.sqlite", "zoo")
    assert database_files(copy, executor).content == wanted.content
    assert (copy.parent / "database_description" / "t.csv").is_file()
    assert databases.local(wanted, None) == copy
    assert warnings == []


@pytest.mark.parametrize("what", ["rows", "descriptions"])
def test_another_content_under_the_same_path_is_a_warning(
    drivers, worker, executor, tmp_path, what
):
    databases, warnings = worker
    other = tmp_path / "other" / "zoo"
    shutil.copytree(drivers / "zoo", other)
    if what == "rows":
        with closing(sqlite3.connect(other / "zoo.sqlite")) as database:
            database.execute("DELETE FROM animal WHERE id = 1")
            database.commit()
    else:
        (other / "database_description" / "t.csv").write_text("a,c\n")
    wanted, read = on_driver(drivers, "zoo", executor, str(other / "zoo.sqlite"))
    copy = databases.local(wanted, read)
    assert database_files(copy, executor).content == wanted.content
    assert [line.split(":")[0] for line in warnings] == [
        f"{other / 'zoo.sqlite'} differs from the driver's file"
    ]


def test_a_database_that_changes_while_it_is_copied_is_refused(drivers, worker, executor):
    databases, _ = worker
    wanted, read = on_driver(drivers, "zoo", executor)
    with pytest.raises(ClusterError, match="changed while it was copied"):
        databases.local(wanted, lambda file, start: read(file, start)[::-1])
    assert databases.local(wanted, read).is_file()


def test_the_copy_that_was_used_least_recently_makes_room(drivers, executor, tmp_path, monkeypatch):
    def use(name):
        databases = Databases(tmp_path / "worker", executor, str)
        copy = databases.local(*on_driver(drivers, name, executor))
        databases.close()
        return copy

    zoo, shop = use("zoo"), use("shop")
    os.utime(shop.parents[1], (1, 1))
    monkeypatch.setenv(LIMIT, str(2.5 * zoo.stat().st_size / 1e9))
    pond = use("pond")
    assert (zoo.is_file(), shop.is_file(), pond.is_file()) == (True, False, True)


def test_a_copy_in_use_is_not_deleted(drivers, executor, tmp_path, monkeypatch):
    used = Databases(tmp_path / "worker", executor, str)
    zoo = used.local(*on_driver(drivers, "zoo", executor))
    monkeypatch.setenv(LIMIT, str(1.5 * zoo.stat().st_size / 1e9))
    other = Databases(tmp_path / "worker", executor, str)
    with pytest.raises(ClusterError, match=LIMIT):
        other.local(*on_driver(drivers, "shop", executor))
    assert zoo.is_file()
    used.close()
    assert other.local(*on_driver(drivers, "shop", executor)).is_file()
    other.close()


def test_a_copy_in_use_serves_others_too(drivers, executor, tmp_path):
    one, other = (Databases(tmp_path / "worker", executor, str) for _ in range(2))
    given = on_driver(drivers, "zoo", executor)
    assert one.local(*given) == other.local(*given)
    one.close(), other.close()
