import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from workbench.errors import StoreError
from workbench.store import Store


def database_row(place: str) -> tuple[str, str, str]:
    return (place, "state", "fingerprint")


def insert(store: Store, place: str) -> None:
    with store.write() as connection:
        connection.execute("INSERT INTO databases VALUES (?, ?, ?)", database_row(place))


def fail_in_the_middle(store: Store) -> None:
    with store.write() as connection:
        connection.execute("INSERT INTO databases VALUES ('a', 'b', 'c')")
        _ = 1 / 0


def test_rows_are_read_back_after_reopening(tmp_path: Path) -> None:
    with Store(tmp_path / "lab.sqlite") as store:
        insert(store, "a")
    with Store(tmp_path / "lab.sqlite") as store:
        assert store.read("SELECT * FROM databases") == [database_row("a")]


def test_a_write_that_raises_is_rolled_back(tmp_path: Path) -> None:
    with Store(tmp_path / "lab.sqlite") as store:
        with pytest.raises(ZeroDivisionError):
            fail_in_the_middle(store)
        assert store.read("SELECT * FROM databases") == []


def test_keys_are_read_by_the_thousand(tmp_path: Path) -> None:
    keys = [f"place {i}" for i in range(5000)]
    with Store(tmp_path / "lab.sqlite") as store:
        with store.write() as connection:
            connection.executemany(
                "INSERT INTO databases VALUES (?, 's', 'f')", [(k,) for k in keys]
            )
        found = store.read_keys("SELECT place FROM databases WHERE place IN", [*keys, "not there"])
        assert {row[0] for row in found} == set(keys)


def test_any_sqlite_tool_reads_the_file(tmp_path: Path) -> None:
    with Store(tmp_path / "lab.sqlite") as store:
        insert(store, "a")
        with sqlite3.connect(tmp_path / "lab.sqlite") as other:
            assert other.execute("SELECT place FROM databases").fetchall() == [("a",)]
        other.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="WORKBENCH_HOME"):
        Store(tmp_path / "file" / "lab.sqlite")


def test_threads_and_processes_write_at_once_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    script = (
        "import sys; from pathlib import Path; from workbench.store import Store\n"
        "with Store(Path(sys.argv[1])) as store:\n"
        "    for i in range(50):\n"
        "        with store.write() as connection:\n"
        "            connection.execute('INSERT INTO databases VALUES (?, 0, 0)', (f'{sys.argv[2]} {i}',))\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", script, str(path), str(n)]) for n in range(2)
    ]
    with Store(path) as store:
        threads = [
            threading.Thread(target=lambda n=n: [insert(store, f"t{n} {i}") for i in range(50)])
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [process.wait(600) for process in processes] == [0, 0]
        assert store.read("SELECT count(*) FROM databases") == [(300,)]
