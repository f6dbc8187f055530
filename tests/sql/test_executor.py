"""What the sandbox guarantees, and what the cache of executions promises."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from workbench.errors import UnreadableDatabaseError
from workbench.sql import executor as module
from workbench.sql import sandbox
from workbench.sql.executor import Executor
from workbench.sql.sandbox import Worker
from workbench.sql.schema import read_schema
from workbench.store import Store
from workbench.types import Limits

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
SLOW = ENDLESS.replace("FROM c)", "FROM c LIMIT 4000000)")
# A single opcode that runs for minutes without a look at the clock.
UNINTERRUPTIBLE = "SELECT length(trim(hex(zeroblob(4e6)), replace(hex(zeroblob(2e5)), '0', 'z') || '0'))"
BRIEF = Limits(seconds=0.5)
ENDLESS_TABLE = f"""CREATE VIEW e AS {ENDLESS.replace("count(*)", "x")};
    CREATE VIRTUAL TABLE f USING fts5(x, content='e', content_rowid='x')"""
GENERATED = """CREATE TABLE g(a, b GENERATED ALWAYS AS (length(printf('%.*c', 9, 'x')))); INSERT INTO g(a) VALUES (1);
    PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '9', '900000000')"""


HUGE = """WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000)
    SELECT count(*) FROM (SELECT DISTINCT x, zeroblob(1000000) FROM c)"""
looks_into_proc = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="needs /proc"
)


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "data" / "small.sqlite"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT)")
        rows = [(i, f"n{i}") for i in range(1, 1001)]
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    return path


@pytest.fixture(scope="module")
def shared():
    with Executor(workers=2) as executor:
        yield executor


@pytest.fixture
def executor():
    """One of the test's own, whose processes it counts and ends."""
    with Executor(workers=2) as executor:
        yield executor


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SETTLED", 0)  # as if the database were an hour old
    with Store(tmp_path / "lab.sqlite") as store:
        yield store


def children(of=None):
    """The processes that this test has started, or those of another process."""
    found = Path(f"/proc/{of or os.getpid()}/task").glob("*/children")
    pids = {int(pid) for path in found for pid in path.read_text().split()}
    return pids if of else pids - others.known


@pytest.fixture(autouse=True)
def others():
    others.known = set()
    others.known = children()


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def killing(times):
    """Kill that many workers, each after 0.3 s of work."""
    ended, killed = threading.Event(), set()

    def kill():
        while len(killed) < times and not ended.wait(0.02):
            for pid in children() - killed:
                if sum(map(int, state(pid)[11:13])) > 0.3 * os.sysconf("SC_CLK_TCK"):
                    os.kill(pid, signal.SIGKILL)
                    killed.add(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    assert len(killed) == times


def state(pid):
    """What the system says of a process: whether it runs, its seconds of work; a Z for one that has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["Z", *"0" * 20]


def gone(pid):
    deadline = time.monotonic() + 60
    while state(pid)[0] != "Z" and time.monotonic() < deadline:
        time.sleep(0.05)
    return state(pid)[0] == "Z"


# --- hostile SQL


REFUSED = ["DROP TABLE t", "UPDATE t SET name = 'x' RETURNING id", "CREATE TEMP TABLE e AS SELECT * FROM t",
           "ATTACH 'new.sqlite' AS new", "PRAGMA journal_mode = WAL", "BEGIN EXCLUSIVE",
           "SELECT load_extension('libm.so.6')", "SELECT * FROM pragma_database_list", "SELECT * FROM dbstat",
           "SELECT 1; DROP TABLE t", "", "SELECT ?", "SELECT '\0'", "SELECT '\ud800'",
           "SELECT 1 --" + "x" * 10**6]  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED)
def test_anything_but_one_select_is_refused_and_changes_nothing(shared, database, sql):
    before = contents(database.parent)
    execution = shared.execute(database, sql)
    assert execution.status in {"denied", "error"}
    assert execution.error
    assert str(database.parent) not in execution.error
    assert contents(database.parent) == before
    assert shared.execute(database, "SELECT count(*) FROM t").rows == ((1000,),)


def test_a_value_a_result_and_memory_are_capped(shared, database):
    doubled = "WITH RECURSIVE c(s) AS (SELECT 'a' UNION ALL SELECT s || s FROM c) SELECT s FROM c LIMIT 99"
    for sql in (
        "SELECT hex(zeroblob(15000000))",
        "SELECT zeroblob(999999999)",
        doubled,
    ):
        assert shared.execute(database, sql).status == "too_large"
    cut = shared.execute(database, "SELECT id FROM t", Limits(rows=10))
    assert (cut.status, cut.truncated, cut.row_count) == ("too_large", True, 10)
    assert cut.fingerprint == ""
    assert (
        shared.execute(database, "SELECT id FROM t", Limits(rows=1000)).status == "ok"
    )
    assert shared.execute(database, "SELECT name FROM t", Limits(bytes=500)).truncated


REFUSING = """
import resource, runpy, sys

def refuse(limit, most, setrlimit=resource.setrlimit):
    if limit == resource.RLIMIT_AS:
        raise ValueError("current limit exceeds maximum limit")
    setrlimit(limit, most)

resource.setrlimit, sys.platform = refuse, {platform!r}
runpy.run_path({worker!r}, run_name="__main__")
"""


@pytest.mark.parametrize(
    ("platform", "sql", "status"),
    [
        ("darwin", "SELECT 1", "ok"),
        ("darwin", HUGE, "too_large"),
        ("linux", "SELECT 1", "error"),
    ],
)
def test_macos_alone_may_refuse_a_limit_on_memory_and_sqlites_own_holds_there(
    database, tmp_path, monkeypatch, platform, sql, status
):
    worker = tmp_path / "worker.py"
    worker.write_text(REFUSING.format(platform=platform, worker=sandbox.WORKER))
    monkeypatch.setattr(sandbox, "WORKER", str(worker))
    with Executor(workers=1) as executor:
        assert executor.execute(database, sql).status == status


@pytest.mark.parametrize(
    ("script", "harmless", "trap"),
    [
        ("CREATE VIEW v AS SELECT load_extension('x')", "SELECT 1", "SELECT * FROM v"),
        (ENDLESS_TABLE, "SELECT 1", "SELECT count(*) FROM f"),
        (GENERATED, "SELECT a FROM g", "SELECT b FROM g"),
    ],
)
def test_a_hostile_view_or_table_stops_only_its_queries(
    shared, tmp_path, script, harmless, trap
):
    path = tmp_path / "trap.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    assert shared.execute(path, harmless).rows == ((1,),)
    assert shared.execute(path, trap, BRIEF).status in {"timeout", "denied", "error"}
    assert read_schema(path).db_id == "trap"


def test_virtual_tables_can_be_read(shared, tmp_path):
    path = tmp_path / "texts.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('hello world'), ('bye');"
            "CREATE VIEW j AS SELECT value FROM JSON_EACH('[1, 2]')"
        )
    found = shared.execute(path, "SELECT body FROM f WHERE f MATCH 'hello'")
    assert found.rows == (("hello world",),)
    for sql in ("SELECT value FROM json_each('[1, 2]')", "SELECT * FROM j"):
        assert shared.execute(path, sql).rows == ((1,), (2,))


def test_nothing_of_a_query_reaches_the_next(shared, database):
    for sql in (
        "SELECT CAST(x'ff' AS TEXT)",
        "DROP TABLE t",
        "SELECT value FROM json_each('[1]')",
    ):
        shared.execute(database, sql)
        assert shared.execute(database, "DELETE FROM t").status == "denied"
        assert shared.execute(database, "SELECT 'é'").rows == (("é",),)


def test_every_kind_of_value_is_returned_exactly(shared, database):
    sql = "SELECT NULL AS a, 9223372036854775807 AS a, 0.1, 'é😀', x'00ff', 9e999, -9e999, 'a' || char(0) || 'b'"
    expected = (
        None,
        2**63 - 1,
        0.1,
        "é😀",
        b"\x00\xff",
        float("inf"),
        float("-inf"),
        "a\0b",
    )
    execution = shared.execute(database, sql)
    assert execution.rows == (expected,)
    assert execution.columns[:2] == ("a", "a")
    assert shared.execute(database, "SELECT CAST(x'61ff62' AS TEXT)").rows == (
        ("a\\xffb",),
    )
    assert shared.execute(database, "SELECT id FROM t WHERE 0").status == "empty"


def test_fingerprints_are_equal_exactly_where_sets_of_rows_are(shared, database):
    queries = [
        "SELECT 1 UNION ALL SELECT 2",
        "SELECT 2.0 UNION ALL SELECT 1 UNION ALL SELECT 1",
    ]
    queries += ["SELECT '1' UNION ALL SELECT '2'", "SELECT 1, 2"]
    found = shared.result_fingerprints([(database, sql) for sql in queries])
    assert found[0] == found[1]
    assert len(set(found)) == 3
    assert shared.result_fingerprints([(database, "SELECT nothing")]) == [""]


# --- files


def test_what_is_no_readable_database_is_refused_in_one_sentence(
    shared, store, tmp_path
):
    loop, fifo = tmp_path / "loop.sqlite", tmp_path / "fifo.sqlite"
    loop.symlink_to(loop)
    os.mkfifo(fifo)
    names = ("gone.sqlite", "x" * 300, "a\0b", "\udcff")
    reads = (
        partial(shared.execute, sql="SELECT 1"),
        read_schema,
        lambda p: shared.fingerprints([p]),
    )
    for path in [tmp_path, loop, fifo, *(tmp_path / name for name in names)]:
        for read in reads:
            with pytest.raises(UnreadableDatabaseError) as raised:
                read(path)
            assert str(tmp_path) not in str(raised.value)
            assert "\n" not in str(raised.value).encode().decode()
    assert not (tmp_path / "gone.sqlite").exists()


def test_a_log_that_is_not_in_the_file_is_refused_and_stays(shared, database):
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("INSERT INTO t VALUES (2000, 'new')")
        connection.commit()
        for suffix in ("", "-wal"):
            shutil.copy(f"{database}{suffix}", f"{database.parent}/copy.sqlite{suffix}")
    copy = database.with_name("copy.sqlite")
    before = contents(database.parent)
    for read in (
        lambda: shared.execute(copy, "SELECT max(id) FROM t"),
        lambda: read_schema(copy),
    ):
        with pytest.raises(UnreadableDatabaseError, match="write-ahead log"):
            read()
    assert contents(database.parent) == before
    found = shared.execute(database, "SELECT max(id) FROM t")
    assert found.rows == ((2000,),)  # closed, so in the file
    assert contents(database.parent) == before


def test_a_file_cut_off_in_its_last_page_gives_no_rows(shared, database):
    database.write_bytes(database.read_bytes()[:-1000])
    execution = shared.execute(database, "SELECT id FROM t")
    assert (execution.status, execution.rows) == ("error", ())
    assert "cut off" in execution.error


@pytest.mark.parametrize("size", [1, 1000, 4096])
def test_bytes_after_the_last_page_do_not_count(shared, database, size):
    with database.open("ab") as file:
        file.write(b"x" * size)
    assert shared.execute(database, "SELECT max(id) FROM t").rows == ((1000,),)
    assert read_schema(database).table("t")


def test_reading_leaves_the_callers_own_lock_in_place(shared, database):
    with closing(sqlite3.connect(database, isolation_level=None)) as mine:
        mine.execute("BEGIN IMMEDIATE")
        shared.execute(database, "SELECT 1")
        shared.fingerprints([database])
        read_schema(database)
        other = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
        command = [sys.executable, "-c", other, str(database)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "database is locked" in done.stderr


def test_a_locked_database_is_an_error_that_is_not_cached(store, database):
    with (
        Executor(store, 1) as executor,
        closing(sqlite3.connect(database)) as connection,
    ):
        connection.execute("BEGIN EXCLUSIVE")
        execution = executor.execute(
            database, "SELECT count(*) FROM t", Limits(seconds=1)
        )
        assert "database is locked" in execution.error
        connection.execute("ROLLBACK")
        again = executor.execute(database, "SELECT count(*) FROM t", Limits(seconds=1))
        assert again.rows == ((1000,),)


@pytest.mark.parametrize("cached", [False, True])
def test_a_database_overwritten_in_place_or_behind_a_link_is_read_anew(
    tmp_path, cached
):
    def write(path, value):
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE t(a)")
            connection.execute("INSERT INTO t VALUES (?)", (value,))
        return path

    path, link = write(tmp_path / "a.sqlite", 0), tmp_path / "link.sqlite"
    others = [write(tmp_path / f"{n}.sqlite", n) for n in range(1, 6)]
    path_of_store = tmp_path / "lab.sqlite"
    with (
        Store(path_of_store) as store,
        Executor(store if cached else None, 1) as executor,
    ):
        for n, other in enumerate(others, 1):
            before = path.stat()
            with path.open("r+b") as file:
                file.write(other.read_bytes())
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            link.unlink(missing_ok=True)
            link.symlink_to(other)
            assert executor.execute(path, "SELECT a FROM t").rows == ((n,),)
            assert executor.execute(link, "SELECT a FROM t").rows == ((n,),)


# --- the cache


def test_a_second_run_asks_no_worker_and_equal_jobs_run_once(
    store, database, monkeypatch
):
    jobs = [
        (database, f"SELECT {i}, name, x'ff' FROM t WHERE id < {i}") for i in range(20)
    ]
    jobs += [
        (database, "SELECT a.id, b.name FROM t a, t b LIMIT 20000"),
        (database, ENDLESS),
    ] * 2
    requests, ask = [], Worker.ask
    record = lambda worker, given: requests.extend(given) or ask(worker, given)  # noqa: E731
    monkeypatch.setattr(Worker, "ask", record)
    with Executor(store, 1) as executor:
        first = executor.execute_many(jobs, BRIEF)
        asked = [request["sql"] for request in requests if request["do"] == "run"]
        assert len(asked) == len(set(asked)) == 22
        # The same content at another path.
        shutil.copy(database, database.with_name("copy.sqlite"))
        copies = [(database.with_name("copy.sqlite"), sql) for _, sql in jobs]
        requests.clear()
        assert executor.execute_many(jobs, BRIEF) == first
        assert executor.execute_many(copies, BRIEF) == first
        assert executor.result_fingerprints(jobs, BRIEF) == [
            e.fingerprint for e in first
        ]
        assert [request["do"] for request in requests] == ["digest"]
        assert first[-1].status == "timeout"
        executor.execute(database, ENDLESS, Limits(seconds=0.6))  # a limit of its own
        assert requests[-1]["sql"] == ENDLESS


def test_the_cache_has_one_row_for_a_database_that_changes(store, database):
    with Executor(store, 1) as executor:
        first = executor.fingerprints([database])
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("DELETE FROM t")
        second = executor.fingerprints([database])
        assert executor.fingerprints([database]) == second != first
    rows = store.read("SELECT state, fingerprint FROM databases")
    assert rows == [(module.file_state(database), second[database])]


def test_an_execution_by_another_version_of_sqlite_is_not_taken(
    store, database, monkeypatch
):
    with Executor(store, 1) as executor:
        executor.execute(database, "SELECT count(*) FROM t")
        monkeypatch.setattr(sqlite3, "sqlite_version", "3.0.0")
        executor.execute(database, "SELECT count(*) FROM t")
    assert len(store.read("SELECT key FROM executions")) == 2


@pytest.mark.parametrize(
    "value",
    [
        "random()",
        "hex(RANDOMBLOB (8))",
        "julianday('now')",
        "strftime('%f')",
        "CURRENT_TIMESTAMP",
    ],
)
def test_a_query_of_the_time_or_of_random_numbers_is_not_cached(store, database, value):
    with Executor(store, 1) as executor:
        assert executor.execute(database, f"SELECT {value}").status == "ok"
        assert executor.execute(
            database, "SELECT date(name), strftime('%Y', 1) FROM t"
        ).is_complete
    assert len(store.read("SELECT key FROM executions")) == 1


def test_a_result_of_a_database_that_has_just_changed_is_not_cached(
    store, database, monkeypatch
):
    before = database.read_bytes()
    with Executor(store, 1) as executor:
        found = executor.fingerprints([database])

        def then_changed(_executor, _databases):
            with closing(sqlite3.connect(database)) as connection, connection:
                connection.execute("DELETE FROM t")
            return found

        monkeypatch.setattr(Executor, "_contents", then_changed)
        assert executor.execute(database, "SELECT count(*) FROM t").rows == ((0,),)
        monkeypatch.undo()
        database.write_bytes(before)
        assert executor.execute(database, "SELECT count(*) FROM t").rows == ((1000,),)


# --- other requests


def test_times_are_a_row_for_each_query_and_opcodes_are_the_same_every_time(
    shared, database
):
    def timed(queries, repeats, seconds):
        request = {
            "do": "times",
            "queries": queries,
            "repeats": repeats,
            "seconds": seconds,
        }
        return shared.ask(database, request)

    queries = ["SELECT count(*) FROM t", "SELECT sum(a.id) FROM t a, t b"]
    found = timed(queries, 3, 60.0)
    times, opcodes = found["times"], found["opcodes"]
    assert [len(series) for series in times] == [3, 3]
    assert min(times[1]) > min(times[0]) > 0
    assert opcodes == timed(queries, 1, 60.0)["opcodes"]
    assert opcodes[1] > 100 * opcodes[0]
    assert timed(["SELECT 1", "SELECT nothing"], 3, 60.0)["status"] == "error"
    assert timed([ENDLESS], 3, 0.2)["status"] == "timeout"


def test_texts_are_the_distinct_short_texts_of_a_column(shared, tmp_path):
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute('CREATE TABLE "a b"("c""d")')
        values = [
            "b",
            "a",
            "b",
            1,
            None,
            "x" * 201,
            "y" * 200,
            "z\0" + "z" * 900,
            b"blob",
        ]
        connection.executemany(
            'INSERT INTO "a b" VALUES (?)', [(value,) for value in values]
        )
        connection.execute("INSERT INTO \"a b\" VALUES (CAST(x'ff' AS TEXT))")
    request = {
        "do": "texts",
        "table": "a b",
        "column": 'c"d',
        "longest": 200,
        "seconds": 60.0,
    }
    assert json.loads(shared.ask(path, request)["rows"]) == ["a", "b", "y" * 200]
    assert shared.ask(path, request | {"table": "gone"})["error"]


# --- workers


def test_queries_that_never_end_do_not_stop_the_others(executor, database):
    jobs = [(database, f"SELECT {i}") for i in range(100)]
    jobs[30], jobs[31] = (database, UNINTERRUPTIBLE), (database, ENDLESS)
    started = time.monotonic()
    executions = executor.execute_many(jobs, Limits(seconds=2))
    assert time.monotonic() - started < 60  # it would run for hours
    late = [
        i for i, execution in enumerate(executions) if execution.status == "timeout"
    ]
    assert late == [30, 31]
    assert all(executions[i].rows == ((i,),) for i in range(100) if i not in late)


@looks_into_proc
def test_a_worker_that_is_killed_is_replaced_and_its_query_runs_once_more(
    executor, database
):
    executor.execute(database, "SELECT 1")
    for pid in children():
        os.kill(pid, signal.SIGKILL)
    assert executor.execute(database, "SELECT 2").rows == ((2,),)
    with killing(times=1):
        slow, other = executor.execute_many([(database, SLOW), (database, "SELECT 2")])
    assert (slow.rows, other.rows) == (((4_000_000,),), ((2,),))


@looks_into_proc
def test_a_query_that_kills_two_workers_is_an_error_that_is_not_cached(store, database):
    with Executor(store, workers=1) as executor, killing(times=2):
        jobs = [(database, ENDLESS), (database, "SELECT 2")]
        killed, other = executor.execute_many(jobs, Limits(seconds=60))
        assert "killed twice" in killed.error
        assert other.rows == ((2,),)
        assert store.read("SELECT sql FROM executions") == [("SELECT 2",)]


@looks_into_proc
def test_a_workers_environment_is_empty_and_closing_leaves_no_process(
    executor, database
):
    executor.execute_many([(database, f"SELECT {i}") for i in range(10)])
    assert {Path(f"/proc/{pid}/environ").read_bytes() for pid in children()} == {b""}
    executor.close()
    assert children() == set()
    assert executor.execute(database, "SELECT 1").rows == ((1,),)


def test_a_text_of_many_megabytes_is_refused_at_once(shared, database):
    shared.execute(database, "SELECT 1")
    started = time.monotonic()
    refused = shared.execute(database, f"SELECT /*{'x' * 20_000_000}*/ 1")
    assert refused.error == "query string is too large"
    assert time.monotonic() - started < 4


USAGE = """
import os, sys, threading
from pathlib import Path
from workbench.sql.executor import Executor

database = Path(sys.argv[1])
executor = Executor(workers=2)


def workers():
    files = Path("/proc/self/task").glob("*/children")
    return {pid for file in files for pid in file.read_text().split()}


def usage():
    processes = {"self", *workers()}
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in processes)
    files = [len(os.listdir(f"/proc/{pid}/fd")) for pid in sorted(processes)]
    return pages * os.sysconf("SC_PAGE_SIZE"), (processes, files, threading.active_count())


def ask(start):
    for i in range(start, start + 2000, 400):
        executor.execute_many([(database, f"SELECT *, {j} FROM t LIMIT 5") for j in range(i, i + 400)])


first = 0
while not first or len(workers()) < 2:  # one of them may do it all while the other starts
    ask(first)
    first += 2000
memory, before = usage()
for start in range(first, first + 10_000, 2000):
    ask(start)
memory_after, after = usage()
assert after == before, (before, after)
assert memory_after - memory < 30_000_000, memory_after - memory
"""


@looks_into_proc
def test_ten_thousand_queries_add_no_memory_files_processes_or_threads(database):
    # Then a connection is kept.
    time.sleep(max(0, database.stat().st_ctime + 2.5 - time.time()))
    # In a process of its own, as the files that other tests left open are closed at any time.
    command = [sys.executable, "-c", USAGE, str(database)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_after_a_fork_parent_and_child_have_workers_of_their_own(database):
    program = (
        "import os, sys; from pathlib import Path; from workbench.sql.executor import Executor\n"
        "executor = Executor(workers=2); path = Path(sys.argv[1]); executor.execute(path, 'SELECT 0')\n"
        "me = 'parent' if os.fork() else 'child'\n"
        "found = [executor.execute(path, f\"SELECT '{me}', {i}\").rows for i in range(100)]\n"
        "assert found == [((me, i),) for i in range(100)], found\n"
        "if me == 'parent': sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
    )
    # Python 3.12 and later warn of a fork beside threads.
    quiet = ["-W", "ignore::DeprecationWarning"]
    command = [sys.executable, *quiet, "-c", program, str(database)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


PROGRAM = """
import sys, threading
from pathlib import Path
from workbench.sql.executor import Executor
from workbench.types import Limits
try:
    jobs = [(Path(sys.argv[1]), sys.argv[2] + " " * n) for n in range(4)]
    Executor(workers=2).execute_many(jobs, Limits(seconds=600))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.fixture
def long_query(database):
    """A program with a query that runs for minutes, and its workers."""
    command = [sys.executable, "-c", PROGRAM, str(database), UNINTERRUPTIBLE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while len(found := children(process.pid)) < 2:
            time.sleep(0.05)
        time.sleep(0.7)
        yield process, found


@looks_into_proc
@pytest.mark.parametrize(
    ("sign", "said"), [(signal.SIGINT, "interrupted\n"), (signal.SIGKILL, "")]
)
def test_ctrl_c_or_a_kill_ends_any_statement_in_two_seconds_with_its_workers(
    long_query, sign, said
):
    process, workers = long_query
    started = time.monotonic()
    process.send_signal(sign)
    assert process.communicate(timeout=60)[0] == said
    assert time.monotonic() - started < 2
    assert all(map(gone, workers))
