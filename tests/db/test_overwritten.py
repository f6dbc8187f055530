"""A database that is overwritten in place, or that has a log, as queries meet it."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from workbench.db import execute
from workbench.db.execute import Executor
from workbench.store import Store

ALL = "SELECT a FROM t"


def write(path: Path, value: int) -> Path:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t(a)")
        connection.execute("INSERT INTO t VALUES (?)", (value,))
    return path


def overwrite(path: Path, other: Path) -> None:
    """Put the other file's bytes into this one, of the same size, and set its time back."""
    before = path.stat()
    with path.open("r+b") as file:
        file.write(other.read_bytes())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("cached", [False, True])
def test_a_database_overwritten_in_place_is_read_anew(tmp_path: Path, cached: bool) -> None:
    path = write(tmp_path / "a.sqlite", 0)
    others = [write(tmp_path / f"{n}.sqlite", n) for n in range(1, 10)]
    with (
        Store(tmp_path / "lab.sqlite") as store,
        Executor(store if cached else None, 1) as executor,
    ):
        for n, other in enumerate(others, 1):
            overwrite(path, other)
            assert executor.execute(path, ALL).rows == ((n,),)


def test_a_result_is_not_cached_if_the_database_is_overwritten_before_the_query_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, same = write(tmp_path / "a.sqlite", 1), write(tmp_path / "same.sqlite", 1)
    other = write(tmp_path / "other.sqlite", 2)

    def then_overwritten(*arguments: Any) -> dict[Path, str]:
        found = fingerprints(*arguments)
        overwrite(path, other)
        return found

    fingerprints = execute.database_fingerprints
    with Store(tmp_path / "lab.sqlite") as store, Executor(store, 1) as executor:
        with monkeypatch.context() as patch:
            patch.setattr(execute, "database_fingerprints", then_overwritten)
            assert executor.execute(path, ALL).rows == ((2,),)
        assert executor.execute(same, ALL).rows == ((1,),)


def test_reading_a_database_with_a_log_leaves_no_file_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "users"
    folder.mkdir()
    with closing(sqlite3.connect(tmp_path / "live.sqlite", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE t(a)")
        connection.execute("INSERT INTO t VALUES (1)")
        for suffix in ("", "-wal"):
            shutil.copy(tmp_path / f"live.sqlite{suffix}", folder / f"a.sqlite{suffix}")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with Executor(None, 1) as executor:
        assert executor.execute(folder / "a.sqlite", ALL).rows == ((1,),)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


@pytest.mark.parametrize("cached", [True, False])
def test_a_link_that_leads_to_another_database_is_followed_anew(
    tmp_path: Path, *, cached: bool
) -> None:
    link = tmp_path / "link.sqlite"
    with (
        Store(tmp_path / "lab.sqlite") as store,
        Executor(store if cached else None, 1) as executor,
    ):
        for n in (1, 2):
            link.unlink(missing_ok=True)
            link.symlink_to(write(tmp_path / f"{n}.sqlite", n))
            assert executor.execute(link, ALL).rows == ((n,),)
