"""Older cache files are brought up to date, and no row in them is lost."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.llm.test_cache import call
from workbench.errors import StoreError
from workbench.llm.cache.rows import COLUMNS, Call, pack
from workbench.llm.cache.transfer import calls, verify
from workbench.store import Store
from workbench.store.migrations import MIGRATIONS, statements


def old_file(path: Path, version: int) -> sqlite3.Connection:
    """An open file as the workbench of that version made it."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    for migration in MIGRATIONS[:version]:
        connection.executescript(migration)
    connection.execute(f"PRAGMA user_version={version}")
    return connection


def store_call(old: sqlite3.Connection, one: Call) -> None:
    """Store a call as versions 2 to 6 did, which had no checksums."""
    texts, row = pack(one)
    old.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", texts)
    old.execute(f"INSERT INTO calls({COLUMNS}) VALUES ({', '.join('?' * 16)})", row[:16])


def test_a_cache_file_from_a_newer_workbench_is_refused_with_both_versions(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    Store(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(StoreError, match=rf"version 99.*reads up to {len(MIGRATIONS)}"):
        Store(path)


def test_a_database_of_another_program_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customer (name)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"shop\.sqlite is no cache file"):
        Store(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_migration_keeps_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lab.sqlite"
    with Store(path) as store:
        store._writer.execute("INSERT INTO databases VALUES ('kept', 's', 'f')")
    monkeypatch.setattr("workbench.store.store.MIGRATIONS", (*MIGRATIONS, "CREATE TABLE later(a)"))
    with Store(path) as store:
        assert store.read("SELECT place FROM databases") == [("kept",)]
        assert store.read("SELECT * FROM later") == []


def test_a_migration_that_fails_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lab.sqlite"
    Store(path).close()
    monkeypatch.setattr(
        "workbench.store.store.MIGRATIONS",
        (*MIGRATIONS, "CREATE TABLE later(a); CREATE nonsense"),
    )
    with pytest.raises(StoreError, match="syntax error"):
        Store(path)
    monkeypatch.undo()
    with Store(path) as store:
        assert store.read("SELECT name FROM sqlite_schema WHERE name = 'later'") == []


def test_a_file_of_the_first_version_gets_every_table_at_once(tmp_path: Path) -> None:
    old = old_file(tmp_path / "lab.sqlite", 1)
    old.execute("INSERT INTO databases VALUES ('kept', 's', 'f')")
    old.close()
    with Store(tmp_path / "lab.sqlite") as store:
        assert store.read("SELECT place FROM databases") == [("kept",)]
        assert store.read("SELECT * FROM calls") == []
        assert store.read("PRAGMA user_version") == [(len(MIGRATIONS),)]


def test_a_file_of_version_3_keeps_every_call(tmp_path: Path) -> None:
    old = old_file(tmp_path / "lab.sqlite", 3)
    paid = [call(key=f"call:{i}", text=f"answer {i}") for i in range(50)]
    for one in paid:
        store_call(old, one)
    old.close()
    with Store(tmp_path / "lab.sqlite") as store:
        assert sorted(calls(store), key=lambda c: c.key) == sorted(paid, key=lambda c: c.key)
        assert store.read("SELECT count(*) FROM calls WHERE checksum IS NULL") == [(0,)]
        store._writer.execute("UPDATE calls SET text = 'changed' WHERE key = 'call:7'")
        changed = [line for line in verify(store) if "its answer" in line]
        assert changed == ["call:7: its answer or another field was changed"]


def test_a_process_of_version_3_goes_on_using_the_file_after_its_migration(tmp_path: Path) -> None:
    """It locks, finds locked calls and stores a paid reply with the statements of its own code."""
    old = old_file(tmp_path / "lab.sqlite", 3)
    with Store(tmp_path / "lab.sqlite") as store:
        lock = ("call:old", "other/host 1 x", 3600.0, time.time())
        old.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)", lock)
        select = "SELECT owner, seconds FROM claims WHERE key = ?"
        assert old.execute(select, ("call:old",)).fetchall() == [("other/host 1 x", 3600.0)]
        store_call(old, call(key="call:old"))
        old.execute("DELETE FROM claims WHERE key = ?", ("call:old",))
        assert [one.key for one in calls(store)] == ["call:old"]
    old.close()


def test_a_trigger_is_one_statement() -> None:
    script = "CREATE TABLE a(b); CREATE TRIGGER t DELETE ON a BEGIN SELECT 1; SELECT 2; END;"
    assert [part.split()[1] for part in statements(script) if part.strip(" ;")] == [
        "TABLE",
        "TRIGGER",
    ]
