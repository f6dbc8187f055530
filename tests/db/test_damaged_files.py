"""Files that a copy, a crash or a slip has damaged: reading changes no byte and makes up no row."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from workbench.db.execute import Executor
from workbench.db.schema import read_schema
from workbench.errors import UnreadableDatabaseError
from workbench.store import Store


@pytest.fixture
def logged(tmp_path: Path) -> Path:
    """A copy of a database of which all rows are in its write-ahead log."""
    source, copy = tmp_path / "source.sqlite", tmp_path / "copy" / "odd.sqlite"
    copy.parent.mkdir()
    with closing(sqlite3.connect(source)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.commit()
        copy.write_bytes(source.read_bytes())
        log = source.with_name("source.sqlite-wal").read_bytes()
        copy.with_name("odd.sqlite-wal").write_bytes(log)
    return copy


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


LOGS: dict[str, Callable[[bytes], bytes]] = {
    "whole": lambda log: log,
    "cut after its header": lambda log: log[:32],
    "cut in its header": lambda log: log[:20],
    "cut in its first transaction": lambda log: log[:3000],
    "of other checksums": lambda log: log[:24] + bytes(8) + log[32:],
    "of other salts": lambda log: log[:40] + bytes(8) + log[48:],
    "no log at all": lambda log: b"garbage" * len(log),
}


@pytest.mark.parametrize("damage", LOGS)
def test_reading_leaves_a_damaged_write_ahead_log_as_it_is(logged: Path, damage: str) -> None:
    log = logged.with_name("odd.sqlite-wal")
    log.write_bytes(LOGS[damage](log.read_bytes()))
    before = contents(logged.parent)
    rows = ((1,),) if damage == "whole" else ()
    with Executor(workers=1) as executor:
        assert executor.execute(logged, "SELECT a FROM t").rows == rows
    assert [table.name for table in read_schema(logged).tables] == (["t"] if rows else [])
    assert contents(logged.parent) == before


def test_the_log_of_an_empty_file_stays(logged: Path) -> None:
    logged.write_bytes(b"")
    before = contents(logged.parent)
    assert read_schema(logged).tables == ()
    assert contents(logged.parent) == before


def test_a_file_cut_off_in_its_last_page_gives_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "odd.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.commit()
    path.write_bytes(path.read_bytes()[:5000])
    with Executor(workers=1) as executor:
        execution = executor.execute(path, "SELECT a FROM t")
    assert (execution.status, execution.rows) == ("error", ())
    assert "cut off: 5,000 of its 8,192 bytes are here" in execution.error
    with pytest.raises(UnreadableDatabaseError, match=r"cut off.*restore it"):
        read_schema(path)


@pytest.mark.parametrize(
    "name",
    ["loop.sqlite", "x" * 300, "a\0b", "not utf-8 \udcff"],
    ids=["loop", "long", "NUL", "bytes"],
)
def test_a_name_by_which_no_file_can_be_used_is_one_clear_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "loop.sqlite":
        path.symlink_to(path)
    if "utf-8" in name:
        path.touch()
    with Store(tmp_path / "lab.sqlite") as store:
        for executor in (Executor(workers=1), Executor(store, workers=1)):
            with executor, pytest.raises(UnreadableDatabaseError) as raised:
                executor.execute(path, "SELECT 1")
            assert str(tmp_path) not in str(raised.value)
    with pytest.raises(UnreadableDatabaseError) as raised:
        read_schema(path)
    assert str(tmp_path) not in str(raised.value)
    str(raised.value).encode()


def test_a_schema_that_is_not_utf8_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "odd.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("UPDATE sqlite_schema SET name = x'ff', tbl_name = x'ff', rootpage = 99")
        connection.commit()
    with pytest.raises(UnreadableDatabaseError, match=r"odd\.sqlite: its schema has text"):
        read_schema(path)
