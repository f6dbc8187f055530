"""Disk failures of the cache file, and the message that the user reads."""

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from workbench.errors import StoreError
from workbench.llm.cache.rows import text_id
from workbench.store import Store

NOBODY = 65534
PAGE = 16384


def fill(path: Path, number: int = 2000) -> None:
    with Store(path) as store, store.write() as connection:
        rows = [(f"place {i}", "s" * 50, "f" * 50) for i in range(number)]
        connection.executemany("INSERT INTO databases VALUES (?, ?, ?)", rows)


def count(store: Store) -> int:
    return store.read("SELECT count(*) FROM databases")[0][0]


def overwrite(path: Path, start: int, junk: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(junk)


def spoil_a_page_of_rows(path: Path) -> None:
    pages = range(0, path.stat().st_size, PAGE)
    content = path.read_bytes()
    leaf = next(p for p in pages if content[p] == 13 and b"place 1000" in content[p : p + PAGE])
    overwrite(path, leaf, b"\xff" * PAGE)


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """The folder without write permission. Root may always write, so root changes to the user `nobody` here."""
    modes = {path: path.stat().st_mode for path in [folder, *folder.iterdir()]}
    for path, mode in modes.items():
        path.chmod(mode & 0o555 | 0o444)
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        for path, mode in modes.items():
            path.chmod(mode)


@pytest.fixture
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp())  # tmp_path lies in a folder that others cannot enter
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def test_a_full_disk_is_named_and_loses_no_row_and_writes_work_again_with_space(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lab.sqlite"
    fill(path, 10)
    with Store(path) as store:
        pages = store.read("PRAGMA page_count")[0][0]
        store._writer.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(StoreError, match=r"disk full: .*lab\.sqlite.*make space"):
            fill_through(store)
        assert count(store) == 10
        store._writer.execute("PRAGMA max_page_count=1000000")
        fill_through(store)
        assert count(store) == 2010


def test_a_disk_that_is_full_before_the_tables_are_made_is_named(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * PAGE, hard))
    try:
        with pytest.raises(StoreError, match=r"disk") as raised:
            Store(tmp_path / "lab.sqlite")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "rollback" not in str(raised.value)


def fill_through(store: Store) -> None:
    with store.write() as connection:
        rows = [(f"more {i}", "s" * 50, "f" * 50) for i in range(2000)]
        connection.executemany("INSERT INTO databases VALUES (?, ?, ?)", rows)


def test_a_limit_on_the_size_of_files_stops_the_write_and_keeps_the_file(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    fill(path, 10)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store(path) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            with pytest.raises(StoreError, match=r"disk full|cannot be written"):
                fill_through(store)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert count(store) == 10
        fill_through(store)
        assert count(store) == 2010


def test_a_cache_file_in_a_folder_that_cannot_be_written_still_answers_reads(folder: Path) -> None:
    path = folder / "lab.sqlite"
    fill(path, 10)
    with unwritable(folder):
        with pytest.warns(UserWarning, match="cannot be written .* stops before it is paid"):
            store = Store(path)
        with store:
            assert count(store) == 10
            with pytest.raises(StoreError, match="cannot be written"):
                fill_through(store)


def leave_a_log(folder: Path, *suffixes: str) -> Path:
    """A cache file as a kill leaves it: its rows are in its log alone."""
    with Store(folder / "lab.sqlite") as store:
        fill_through(store)
        for suffix in ("", *suffixes):
            shutil.copy(folder / f"lab.sqlite{suffix}", folder / f"copy.sqlite{suffix}")
    return folder / "copy.sqlite"


@pytest.mark.parametrize("suffixes", [("-wal",), ("-wal", "-shm")])
def test_rows_in_the_log_that_a_kill_left_are_served_where_nothing_can_be_written(
    folder: Path, suffixes: tuple[str, ...]
) -> None:
    path = leave_a_log(folder, *suffixes)
    with unwritable(folder):
        with pytest.warns(UserWarning, match="cannot be written .* stops before it is paid"):
            store = Store(path)
        with store:
            assert count(store) == 2000


@pytest.mark.parametrize("suffixes", [("-wal",), ("-wal", "-shm")])
def test_rows_in_the_log_that_a_kill_left_are_served_from_a_read_only_file_system(
    folder: Path, suffixes: tuple[str, ...]
) -> None:
    leave_a_log(folder, *suffixes)
    script = (
        "import sys; from pathlib import Path; from workbench.store import Store\n"
        "print(Store(Path(sys.argv[1])).read('SELECT count(*) FROM databases'))"
    )
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    namespace = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount: run it as root, or allow user namespaces")
    command = [sys.executable, "-W", "ignore", "-c", script, str(folder / "copy.sqlite")]
    done = subprocess.run(
        [*namespace, "sh", "-c", mount, str(folder), *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[(2000,)]\n", "")


def test_an_older_file_that_cannot_be_written_is_refused_with_both_versions(folder: Path) -> None:
    path = folder / "lab.sqlite"
    fill(path, 10)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=1")
    connection.close()
    with unwritable(folder), pytest.raises(StoreError, match=r"version 1.*copy the file elsewhere"):
        Store(path)


def test_a_folder_in_which_no_cache_file_can_be_made_is_named(folder: Path) -> None:
    with unwritable(folder), pytest.raises(StoreError, match=r"lab\.sqlite.*WORKBENCH_HOME"):
        Store(folder / "lab.sqlite")


def test_a_cache_file_with_a_bad_page_is_renamed_and_its_other_rows_are_copied(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lab.sqlite"
    fill(path)
    size = path.stat().st_size
    spoil_a_page_of_rows(path)
    before = path.read_bytes()
    with pytest.warns(UserWarning, match="was damaged") as warned:
        store = Store(path)
    with store:
        lost = 2000 - count(store)
        assert 0 < lost < 500
        assert store.read("PRAGMA integrity_check") == [("ok",)]
    (warning,) = map(str, (one.message for one in warned))
    assert "renamed to lab.sqlite.corrupt-1, nothing was deleted" in warning
    assert warning.endswith(
        f"{2000 - lost:,} rows were copied into a new file, {lost:,} could not be read"
    )
    aside = tmp_path / "lab.sqlite.corrupt-1"
    assert aside.stat().st_size == size
    assert aside.read_bytes() == before


def test_a_cache_file_whose_header_is_garbage_is_renamed_and_all_rows_are_copied(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lab.sqlite"
    fill(path)
    overwrite(path, 0, b"\xff" * 100)
    with pytest.warns(UserWarning, match="2,000 rows were copied into a new file, 0 could not"):
        store = Store(path)
    with store:
        assert count(store) == 2000


def test_a_file_that_is_no_database_is_renamed_too(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    path.write_bytes(b"my notes\n" * 1000)
    with pytest.warns(UserWarning, match="0 rows were copied"):
        Store(path).close()
    assert (tmp_path / "lab.sqlite.corrupt-1").read_bytes() == b"my notes\n" * 1000


def test_each_damaged_file_gets_a_name_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    for number in (1, 2):
        path.write_bytes(b"\xff" * 20_000)
        with pytest.warns(UserWarning, match=f"corrupt-{number}"):
            Store(path).close()
    assert len(list(tmp_path.glob("*.corrupt-?"))) == 2


def test_an_empty_file_becomes_a_cache_file_with_a_word_about_it(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    path.touch()
    with pytest.warns(UserWarning, match=r"was empty \(0 bytes\), so a new one is begun"):
        store = Store(path)
    with store:
        assert count(store) == 0


def test_the_log_of_a_file_that_was_emptied_is_kept(tmp_path: Path) -> None:
    path = leave_a_log(tmp_path, "-wal")
    path.write_bytes(b"")
    log = path.with_name("copy.sqlite-wal").read_bytes()
    with pytest.warns(UserWarning, match="it is empty and its log is not"):
        Store(path).close()
    assert (tmp_path / "copy.sqlite.corrupt-1-wal").read_bytes() == log


def test_rows_whose_number_cannot_be_told_are_named_by_their_table(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    with Store(path) as store, store.write() as connection:
        rows = [(text_id(f"text {i}"), f"text {i}" * 20) for i in range(2000)]
        connection.executemany("INSERT INTO texts VALUES (?, ?)", rows)
    content = path.read_bytes()
    leaf = next(p for p in range(0, len(content), PAGE) if b"text 100text" in content[p : p + PAGE])
    overwrite(path, leaf, b"\xff" * PAGE)
    with pytest.warns(UserWarning, match="0 could not be read, besides an unknown number in texts"):
        Store(path).close()


def test_rows_in_the_log_of_a_damaged_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    with Store(path) as store:
        fill_through(store)
        shutil.copy(path, tmp_path / "copy.sqlite")
        shutil.copy(tmp_path / "lab.sqlite-wal", tmp_path / "copy.sqlite-wal")
    marker = tmp_path / "copy.sqlite.damaged"
    marker.touch()
    with Store(tmp_path / "copy.sqlite") as store:
        assert count(store) == 2000
    assert not marker.exists()


def test_damage_met_by_a_read_is_named_and_the_next_opening_copies_the_readable_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lab.sqlite"
    fill(path)
    spoil_a_page_of_rows(path)
    monkeypatch.setattr("workbench.store.store.CHECKED_BYTES", 0)
    with Store(path) as store, pytest.raises(StoreError, match=r"is damaged .* open it again"):
        store.read("SELECT * FROM databases")
    with pytest.warns(UserWarning, match="renamed to"):
        store = Store(path)
    with store:
        assert count(store) > 1500


def test_a_torn_log_keeps_the_transactions_before_the_tear(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    with Store(path) as store:
        for i in range(20):
            with store.write() as connection:
                connection.execute("INSERT INTO databases VALUES (?, 's', 'f')", (f"{i}",))
        wal = (tmp_path / "lab.sqlite-wal").read_bytes()
        main = path.read_bytes()
    for cut in range(1, 20):
        torn = tmp_path / f"torn-{cut}.sqlite"
        torn.write_bytes(main)
        torn.with_name(torn.name + "-wal").write_bytes(wal[: len(wal) * cut // 20])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            store = Store(torn)
        with store:
            kept = sorted(int(place) for (place,) in store.read("SELECT place FROM databases"))
            assert kept == list(range(len(kept)))
            assert store.read("PRAGMA integrity_check") == [("ok",)]


def test_a_lock_of_another_program_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    with Store(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        store._writer.execute("PRAGMA busy_timeout=50")
        with pytest.raises(StoreError, match="locked by another program"):
            fill_through(store)
        other.close()


@pytest.mark.parametrize("change", ["DROP TABLE calls", "ALTER TABLE calls DROP COLUMN seconds"])
def test_a_table_or_column_that_another_program_removed_is_named(
    change: str, tmp_path: Path
) -> None:
    with Store(tmp_path / "lab.sqlite") as store:
        fill_through(store)
        with store.write() as connection:
            connection.execute(change)
        with pytest.raises(StoreError, match=r"lacks .*no such .*; another program changed it"):
            store.read("SELECT seconds FROM calls")


def test_processes_that_make_the_same_new_file_at_once_can_all_use_it(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from workbench.store import Store\n"
        "while time.time() < float(sys.argv[1]): pass\n"
        "for n in range(20): Store(Path(sys.argv[2]) / f'{n}.sqlite').close()"
    )
    start = str(time.time() + 0.5)
    command = [sys.executable, "-c", script, start, str(tmp_path)]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(600) for process in processes] == [0] * 4
