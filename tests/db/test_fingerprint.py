import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from workbench.db import fingerprint as module
from workbench.db.execute import Executor
from workbench.db.fingerprint import database_fingerprints
from workbench.db.sandbox import opening
from workbench.db.sandbox.supervisor import Supervisor
from workbench.db.schema import read_schema
from workbench.errors import UnreadableDatabaseError
from workbench.store import Store


def database_fingerprint(path: Path, store: Store | None = None) -> str:
    with closing(Supervisor(1)) as workers:
        return database_fingerprints([path], workers, store)[path]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t(a)")
    return path


def test_equal_content_has_one_fingerprint_at_any_path(database: Path, tmp_path: Path) -> None:
    shutil.copy(database, tmp_path / "b.sqlite")
    assert database_fingerprint(database) == database_fingerprint(tmp_path / "b.sqlite")


def test_rows_in_the_write_ahead_log_change_the_fingerprint(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        before = database_fingerprint(database)
        connection.execute("INSERT INTO t VALUES (1)")
        connection.commit()
        assert database_fingerprint(database) != before


def test_a_file_is_hashed_once_and_again_when_it_changes_even_with_its_time_set_back(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_SETTLED_AGE", 0)
    asked: list[str] = []
    run = module.Supervisor.run

    def record(workers: Supervisor, requests: list[dict[str, str]], seconds: float) -> object:
        asked.extend(request["path"] for request in requests)
        return run(workers, requests, seconds)

    monkeypatch.setattr(module.Supervisor, "run", record)
    with Store(tmp_path / "lab.sqlite") as store:
        before = database_fingerprint(database, store)
        assert database_fingerprint(database, store) == before
        assert asked == [str(database)]
        times = database.stat()
        content = bytearray(database.read_bytes())
        content[-1] ^= 1
        database.write_bytes(content)
        os.utime(database, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert database_fingerprint(database, store) != before


def test_a_file_that_just_changed_is_not_cached(database: Path, tmp_path: Path) -> None:
    with Store(tmp_path / "lab.sqlite") as store:
        database_fingerprint(database, store)
        assert store.read("SELECT * FROM databases") == []


def test_hashing_leaves_the_callers_own_lock_in_place(database: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as mine:
        mine.execute("BEGIN IMMEDIATE")
        database_fingerprint(database)
        read_schema(database)
        with closing(sqlite3.connect(database, timeout=0, isolation_level=None)) as inside:
            assert inside.execute("SELECT count(*) FROM t").fetchone() == (0,)
        other = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
        done = subprocess.run(
            [sys.executable, "-c", other, str(database)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "database is locked" in done.stderr


@pytest.mark.parametrize("what", ["missing.sqlite", "."])
def test_a_path_without_a_file_is_an_error(tmp_path: Path, what: str) -> None:
    with pytest.raises(UnreadableDatabaseError):
        database_fingerprint(tmp_path / what)


def sparse(path: Path, size: int) -> Path:
    """A database of one row, followed by a hole."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t(a)")
        connection.execute("INSERT INTO t VALUES (1)")
    os.truncate(path, size)
    return path


def test_a_huge_sparse_file_is_hashed_and_queried_within_the_deadline(tmp_path: Path) -> None:
    """Reading its ten terabytes would take hours."""
    path = sparse(tmp_path / "a.sqlite", 10 * 10**12)
    with Store(tmp_path / "lab.sqlite") as store, Executor(store, 1) as executor:
        assert executor.execute(path, "SELECT a FROM t").rows == ((1,),)


def test_sparse_files_have_equal_fingerprints_exactly_if_their_content_is_equal(
    tmp_path: Path,
) -> None:
    one, same, other = (sparse(tmp_path / name, 2**31) for name in "abc")
    with same.open("r+b") as file:  # zeros that are written are no other content
        file.seek(2**30)
        file.write(bytes(10**6))
    with other.open("r+b") as file:
        file.seek(2**30 + 7)
        file.write(b"x")
    first = database_fingerprint(one)
    assert database_fingerprint(same) == first
    assert database_fingerprint(other) != first
    assert database_fingerprint(sparse(tmp_path / "d", 2**32)) != first


def test_hashing_ends_at_a_deadline_of_its_own(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SECONDS", -1.0)
    with pytest.raises(UnreadableDatabaseError, match=r"a\.sqlite: no answer .* was hashed"):
        database_fingerprint(database)
