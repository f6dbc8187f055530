import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.errors import BadInputError, StoreError, UnreadableDatabaseError
from workbench.retrieve.index import values as module
from workbench.retrieve.index.minhash import MinHash
from workbench.retrieve.index.trigram import Trigram
from workbench.retrieve.index.values import Hit, build_index, open_index
from workbench.store import home

KINDS = [Trigram(), MinHash()]
both = pytest.mark.parametrize("kind", KINDS, ids=["trigram", "minhash"])
NAMES = ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Kurt Gödel", "TX", "東京都"]


def change(path, script):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


def places(found):
    return [(one.table, one.column, one.value) for one in found]


@both
def test_a_value_is_found_with_its_column_and_comes_first(database, kind):
    index = open_index(database(name=NAMES, city=["London"]), kind)
    for name in NAMES:
        assert index.search(name, 3)[0] == Hit("t_name", "name", name, 1.0)
    assert index.search("Alan Turin", 3)[0].value == "Alan Turing"
    assert len(index) == 7
    assert index.columns == (("t_city", "city"), ("t_name", "name"))


@both
def test_a_value_of_several_columns_is_found_in_each(database, kind):
    path = database(b=["Paris", "Rome"], a=["Rome"], c=["Rome"])
    assert places(open_index(path, kind).search("Rome", 3)) == [
        ("t_a", "a", "Rome"),
        ("t_b", "b", "Rome"),
        ("t_c", "c", "Rome"),
    ]


@both
def test_equal_scores_are_ordered_by_table_column_and_value(database, kind):
    path = database(b=["xyz1", "xyz2"], a=["xyz9", "xyz3"])
    index = open_index(path, kind)
    found = index.search("xyz", 10)
    assert found == sorted(found, key=lambda f: (-f.score, f.table, f.column, f.value))
    assert [index.search("xyz", n) for n in range(1, 5)] == [found[:n] for n in range(1, 5)]


@both
def test_an_empty_database_has_an_index_that_finds_nothing(database, kind):
    index = open_index(database("CREATE TABLE t (c)"), kind)
    assert len(index) == 0
    assert index.search("anything", 5) == []


@both
def test_cells_that_are_left_out_are_listed(database, kind):
    path = database("CREATE TABLE t (c); INSERT INTO t VALUES (1), (2)")
    build_index(path, kind)
    assert open_index(path, kind).skipped == ("t.c: no text: 2",)


def test_a_limit_below_one_is_an_error(database):
    with pytest.raises(BadInputError, match="limit is 0"):
        open_index(database(c=["x"])).search("x", 0)


def test_an_index_is_written_to_the_workbenchs_home_or_to_the_given_folder(database, tmp_path):
    path = database(c=["x"])
    assert build_index(path).parent == home() / "indexes"
    assert build_index(path, folder=tmp_path / "new" / "place").parent == tmp_path / "new" / "place"


def test_each_kind_of_index_and_each_database_has_a_file_of_its_own(database, tmp_path):
    first, second = database(c=["x"]), database(file="other", c=["x"])
    kinds = [*KINDS, MinHash(64), replace(Trigram(), candidates=9)]
    assert len({build_index(path, kind) for path in (first, second) for kind in kinds}) == 8


def test_an_index_is_built_once(database, monkeypatch):
    path = database(c=["x"])
    open_index(path)
    monkeypatch.setattr(module, "_build", None)
    assert open_index(path).search("x", 1)


def test_an_index_wanted_by_many_at_once_is_built_once(database, monkeypatch):
    path, built, build = database(c=["x"]), [], module._build
    monkeypatch.setattr(module, "_build", lambda *a: (built.append(1), build(*a)))
    threads = [threading.Thread(target=open_index, args=(path,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [1]


def test_a_database_that_changed_is_indexed_anew(database):
    path = database(c=["old"])
    open_index(path)
    change(path, "INSERT INTO t_c VALUES ('new')")
    assert open_index(path).search("new", 1)[0].value == "new"


def test_an_open_index_refuses_once_the_database_has_changed(database):
    path = database(c=["old"])
    index = open_index(path)
    change(path, "INSERT INTO t_c VALUES ('new')")
    with pytest.raises(BadInputError, match=r"shop\.sqlite has changed .* open it again"):
        index.search("old", 1)


def test_a_change_that_is_only_in_the_write_ahead_log_is_refused(database):
    path = database("PRAGMA journal_mode=WAL; CREATE TABLE t (c); INSERT INTO t VALUES ('old')")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        index = open_index(path)
        writer.execute("INSERT INTO t VALUES ('new')")
        assert path.with_name("shop.sqlite-wal").stat().st_size
        with pytest.raises(BadInputError, match="write-ahead log"):
            index.search("new", 1)
    assert open_index(path).search("new", 1)[0].value == "new"


def test_a_file_that_was_only_touched_keeps_its_index(database, monkeypatch):
    path = database(c=["x"])
    index = open_index(path)
    os.utime(path)
    assert index.search("x", 1)
    monkeypatch.setattr(module, "_build", None)
    assert open_index(path).search("x", 1)


def test_a_database_that_changes_under_the_build_has_no_index(database, monkeypatch, tmp_path):
    path = database(c=["old"])
    from workbench.retrieve.index import columns

    def slow(database, progress):
        values = read(database, progress)
        change(path, "INSERT INTO t_c VALUES ('new')")
        return values

    read = columns.read_values
    monkeypatch.setattr(columns, "read_values", slow)
    with pytest.raises(UnreadableDatabaseError, match="changed while its values were read"):
        build_index(path, folder=tmp_path / "indexes")
    assert not list((tmp_path / "indexes").glob("*.values"))


KILLED = """
import os, signal, sys
from pathlib import Path
from workbench.retrieve.index import values
os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)
values.build_index(Path(sys.argv[1]))
"""


def test_a_killed_build_leaves_the_older_index_as_it_was(database):
    path = database(c=["x", "y"])
    built = build_index(path)
    before = built.read_bytes()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert built.read_bytes() == before
    assert open_index(path).search("x", 1)[0].value == "x"
    build_index(path)
    assert sorted(p.suffix for p in built.parent.glob(f"{built.stem}*")) == [".lock", ".values"]


@pytest.mark.parametrize("damage", [b"", b"something else\n", b"workbench arrays 1\n{", None])
def test_a_damaged_index_is_built_anew(database, damage):
    path = database(c=["x"])
    built = build_index(path)
    built.write_bytes(built.read_bytes()[:-64] if damage is None else damage)
    assert open_index(path).search("x", 1)[0].value == "x"


def test_a_folder_that_cannot_be_used_is_one_line(database, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="name another folder"):
        open_index(database(c=["x"]), folder=tmp_path / "file" / "indexes")


def test_a_missing_file_is_one_clear_error(tmp_path):
    with pytest.raises(UnreadableDatabaseError, match=r"none\.sqlite"):
        open_index(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


@both
def test_progress_goes_from_0_to_1(database, kind):
    shares = []
    build_index(database(a=["x"], b=["y"]), kind, progress=lambda d, t: shares.append(d / t))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@both
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cells=st.lists(st.text(max_size=20).filter(lambda t: t.isprintable()), min_size=1, max_size=20)
)
def test_the_order_of_rows_changes_nothing(database, kind, cells):
    index = open_index(database(a=cells, b=cells[:3]), kind)
    mixed = random.Random(1).sample(cells, len(cells))
    again = open_index(database(file="mixed", b=cells[:3], a=mixed), kind)
    for query in cells[:5]:
        assert index.search(query, 7) == again.search(query, 7)


def test_two_builds_give_the_same_bytes_whatever_the_hash_seed(database, tmp_path):
    path = database(a=[f"some name {n * n}" for n in range(500)], b=NAMES)
    program = f"""
from pathlib import Path
from workbench.retrieve.index.minhash import MinHash
from workbench.retrieve.index.trigram import Trigram
from workbench.sql import executor
from workbench.retrieve.index import values
executor.SETTLED = 0
for kind in {KINDS!r}:
    values.build_index(Path({str(path)!r}), kind, Path("."))
"""
    built = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[3])}
        subprocess.run([sys.executable, "-c", program], check=True, cwd=folder, env=env)
        built.append(
            {file.name: sha256(file.read_bytes()).hexdigest() for file in folder.glob("*.values")}
        )
    assert len(built[0]) == len(KINDS)
    assert built[0] == built[1]
