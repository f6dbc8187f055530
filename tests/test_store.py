import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from workbench import store
from workbench.errors import StoreError
from workbench.store import MIGRATIONS, Store


def database_row(place: str) -> tuple[str, str, str]:
    return (place, "state", "fingerprint")


def insert(book: Store, place: str) -> None:
    with book.write() as connection:
        connection.execute("INSERT INTO databases VALUES (?, ?, ?)", database_row(place))


def fail_in_the_middle(book: Store) -> None:
    with book.write() as connection:
        connection.execute("INSERT INTO databases VALUES ('a', 'b', 'c')")
        _ = 1 / 0


def test_what_was_written_is_read_back_after_reopening(tmp_path: Path) -> None:
    with Store(tmp_path / "lab.sqlite") as book:
        insert(book, "a")
    with Store(tmp_path / "lab.sqlite") as book:
        assert book.read("SELECT * FROM databases") == [database_row("a")]


def test_a_write_that_raises_leaves_nothing(tmp_path: Path) -> None:
    with Store(tmp_path / "lab.sqlite") as book:
        with pytest.raises(ZeroDivisionError):
            fail_in_the_middle(book)
        assert book.read("SELECT * FROM databases") == []


def test_keys_are_read_by_the_thousand(tmp_path: Path) -> None:
    keys = [f"place {i}" for i in range(5000)]
    with Store(tmp_path / "lab.sqlite") as book:
        with book.write() as connection:
            connection.executemany(
                "INSERT INTO databases VALUES (?, 's', 'f')", [(k,) for k in keys]
            )
        found = book.read_keys("SELECT place FROM databases WHERE place IN", [*keys, "not there"])
        assert {row[0] for row in found} == set(keys)


def test_any_sqlite_tool_reads_it(tmp_path: Path) -> None:
    with Store(tmp_path / "lab.sqlite") as book:
        insert(book, "a")
        with sqlite3.connect(tmp_path / "lab.sqlite") as other:
            assert other.execute("SELECT place FROM databases").fetchall() == [("a",)]
        other.close()
        assert "executions" in book.browse().table_names()


def test_a_book_from_a_newer_workbench_is_refused_with_both_versions(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    Store(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(StoreError, match=rf"version 99.*reads up to {len(MIGRATIONS)}"):
        Store(path)


def test_an_older_book_is_migrated_and_keeps_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lab.sqlite"
    with Store(path) as book:
        insert(book, "kept")
    monkeypatch.setattr(store, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE later(a)"))
    with Store(path) as book:
        assert book.read("SELECT place FROM databases") == [("kept",)]
        assert book.read("SELECT * FROM later") == []


def test_a_migration_that_fails_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lab.sqlite"
    Store(path).close()
    monkeypatch.setattr(
        store, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE later(a); CREATE nonsense")
    )
    with pytest.raises(StoreError, match="syntax error"):
        Store(path)
    monkeypatch.undo()
    with Store(path) as book:
        assert book.read("SELECT name FROM sqlite_schema WHERE name = 'later'") == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="WORKBENCH_HOME"):
        Store(tmp_path / "file" / "lab.sqlite")


def test_threads_and_processes_write_at_once_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    script = (
        "import sys; from pathlib import Path; from workbench.store import Store\n"
        "with Store(Path(sys.argv[1])) as book:\n"
        "    for i in range(50):\n"
        "        with book.write() as connection:\n"
        "            connection.execute('INSERT INTO databases VALUES (?, 0, 0)', (f'{sys.argv[2]} {i}',))\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", script, str(path), str(n)]) for n in range(2)
    ]
    with Store(path) as book:
        threads = [
            threading.Thread(target=lambda n=n: [insert(book, f"t{n} {i}") for i in range(50)])
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [process.wait(60) for process in processes] == [0, 0]
        assert book.read("SELECT count(*) FROM databases") == [(300,)]
