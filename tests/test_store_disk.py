"""What a disk can do to the lab book, and what a person then reads."""

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
from workbench.store import MIGRATIONS, Store

NOBODY = 65534
PAGE = 16384


def fill(path: Path, number: int = 2000) -> None:
    with Store(path) as book, book.write() as connection:
        rows = [(f"place {i}", "s" * 50, "f" * 50) for i in range(number)]
        connection.executemany("INSERT INTO databases VALUES (?, ?, ?)", rows)


def count(book: Store) -> int:
    return book.read("SELECT count(*) FROM databases")[0][0]


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
    """The folder as somebody sees it who may only read: root may always write, so root steps back."""
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


def test_a_full_disk_is_named_keeps_the_book_and_is_over_when_there_is_space(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lab.sqlite"
    fill(path, 10)
    with Store(path) as book:
        pages = book.read("PRAGMA page_count")[0][0]
        book._writer.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(StoreError, match=r"disk full: .*lab\.sqlite.*make space"):
            fill_through(book)
        assert count(book) == 10
        book._writer.execute("PRAGMA max_page_count=1000000")
        fill_through(book)
        assert count(book) == 2010


def fill_through(book: Store) -> None:
    with book.write() as connection:
        rows = [(f"more {i}", "s" * 50, "f" * 50) for i in range(2000)]
        connection.executemany("INSERT INTO databases VALUES (?, ?, ?)", rows)


def test_a_limit_on_the_size_of_files_stops_the_write_and_keeps_the_book(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    fill(path, 10)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Store(path) as book:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            with pytest.raises(StoreError, match=r"disk full|cannot be written"):
                fill_through(book)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert count(book) == 10
        fill_through(book)
        assert count(book) == 2010


def test_a_book_in_a_folder_that_cannot_be_written_serves_what_it_holds(folder: Path) -> None:
    path = folder / "lab.sqlite"
    fill(path, 10)
    with unwritable(folder):
        with pytest.warns(UserWarning, match="cannot be written .* stops before it is paid"):
            book = Store(path)
        with book:
            assert count(book) == 10
            with pytest.raises(StoreError, match="cannot be written"):
                fill_through(book)


def test_a_log_that_cannot_be_read_where_nothing_can_be_written_is_named(folder: Path) -> None:
    with Store(folder / "lab.sqlite") as book:
        fill_through(book)
        for name in ("copy.sqlite", "copy.sqlite-wal"):
            shutil.copy(folder / name.replace("copy", "lab"), folder / name)
    with unwritable(folder), pytest.raises(StoreError, match="copy both files to another folder"):
        Store(folder / "copy.sqlite")


def test_an_older_book_that_cannot_be_written_is_refused_with_both_versions(folder: Path) -> None:
    path = folder / "lab.sqlite"
    fill(path, 10)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=1")
    connection.close()
    with unwritable(folder), pytest.raises(StoreError, match=r"version 1.*copy it elsewhere"):
        Store(path)


def test_a_folder_in_which_no_book_can_be_made_is_named(folder: Path) -> None:
    with unwritable(folder), pytest.raises(StoreError, match=r"lab\.sqlite.*WORKBENCH_HOME"):
        Store(folder / "lab.sqlite")


def test_a_book_with_a_bad_page_is_set_aside_and_the_other_rows_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    fill(path)
    size = path.stat().st_size
    spoil_a_page_of_rows(path)
    before = path.read_bytes()
    with pytest.warns(UserWarning, match=r"set aside as lab\.sqlite\.corrupt-1, nothing was del"):
        book = Store(path)
    with book:
        assert 1500 < count(book) < 2000
        assert book.read("PRAGMA integrity_check") == [("ok",)]
    aside = tmp_path / "lab.sqlite.corrupt-1"
    assert aside.stat().st_size == size
    assert aside.read_bytes() == before


def test_a_book_whose_header_is_garbage_is_set_aside_and_all_rows_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    fill(path)
    overwrite(path, 0, b"\xff" * 100)
    with pytest.warns(UserWarning, match="2,000 rows were carried into a new book, 0 could not"):
        book = Store(path)
    with book:
        assert count(book) == 2000


def test_a_file_that_is_no_database_is_set_aside_too(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    path.write_bytes(b"my notes\n" * 1000)
    with pytest.warns(UserWarning, match="0 rows were carried"):
        Store(path).close()
    assert (tmp_path / "lab.sqlite.corrupt-1").read_bytes() == b"my notes\n" * 1000


def test_each_damaged_book_gets_a_name_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    for number in (1, 2):
        path.write_bytes(b"\xff" * 20_000)
        with pytest.warns(UserWarning, match=f"corrupt-{number}"):
            Store(path).close()
    assert len(list(tmp_path.glob("*.corrupt-?"))) == 2


def test_an_empty_file_becomes_a_new_book(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    path.touch()
    with Store(path) as book:
        assert count(book) == 0


def test_rows_in_the_log_of_a_damaged_book_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    with Store(path) as book:
        fill_through(book)
        shutil.copy(path, tmp_path / "copy.sqlite")
        shutil.copy(tmp_path / "lab.sqlite-wal", tmp_path / "copy.sqlite-wal")
    marker = tmp_path / "copy.sqlite.damaged"
    marker.touch()
    with Store(tmp_path / "copy.sqlite") as book:
        assert count(book) == 2000
    assert not marker.exists()


def test_damage_met_while_reading_is_named_and_mended_by_opening_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lab.sqlite"
    fill(path)
    spoil_a_page_of_rows(path)
    monkeypatch.setattr("workbench.store.CHECKED", 0)
    with Store(path) as book, pytest.raises(StoreError, match=r"is damaged .* open it again"):
        book.read("SELECT * FROM databases")
    with pytest.warns(UserWarning, match="set aside"):
        book = Store(path)
    with book:
        assert count(book) > 1500


def test_a_torn_log_keeps_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    with Store(path) as book:
        for i in range(20):
            with book.write() as connection:
                connection.execute("INSERT INTO databases VALUES (?, 's', 'f')", (f"{i}",))
        wal = (tmp_path / "lab.sqlite-wal").read_bytes()
        main = path.read_bytes()
    for cut in range(1, 20):
        torn = tmp_path / f"torn-{cut}.sqlite"
        torn.write_bytes(main)
        torn.with_name(torn.name + "-wal").write_bytes(wal[: len(wal) * cut // 20])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = Store(torn)
        with book:
            kept = sorted(int(place) for (place,) in book.read("SELECT place FROM databases"))
            assert kept == list(range(len(kept)))
            assert book.read("PRAGMA integrity_check") == [("ok",)]


def test_a_book_that_another_program_locks_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lab.sqlite"
    with Store(path) as book:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        book._writer.execute("PRAGMA busy_timeout=50")
        with pytest.raises(StoreError, match="locked by another program"):
            fill_through(book)
        other.close()


def test_processes_that_make_the_same_new_book_at_once_all_get_it(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from workbench.store import Store\n"
        "while time.time() < float(sys.argv[1]): pass\n"
        "for n in range(20): Store(Path(sys.argv[2]) / f'{n}.sqlite').close()"
    )
    start = str(time.time() + 0.5)
    command = [sys.executable, "-c", script, start, str(tmp_path)]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4


def test_a_book_of_the_first_version_gets_the_tables_of_the_next_in_one_step(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lab.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(MIGRATIONS[0])
    connection.execute("INSERT INTO databases VALUES ('kept', 's', 'f')")
    connection.execute("PRAGMA user_version=1")
    connection.commit()
    connection.close()
    with Store(path) as book:
        assert book.read("SELECT place FROM databases") == [("kept",)]
        assert book.read("SELECT * FROM calls") == []
        assert book.read("PRAGMA user_version") == [(len(MIGRATIONS),)]
