import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from workbench.db.execute import Executor
from workbench.db.sandbox import opening
from workbench.db.sandbox.process import WorkerProcess
from workbench.db.sandbox.supervisor import Supervisor
from workbench.errors import UnreadableDatabaseError
from workbench.store import Store
from workbench.types import Execution, Limits

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
SLOW = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 4000000) SELECT count(*) FROM c"
# A single opcode that runs for minutes without calling the progress handler.
UNINTERRUPTIBLE = (
    "SELECT length(trim(hex(zeroblob(4e6)), replace(hex(zeroblob(2e5)), '0', 'z') || '0'))"
)
BRIEF = Limits(seconds=0.5)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "small.sqlite"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?)", [(i, f"n{i}") for i in range(1, 1001)]
        )
        connection.commit()
    return path


@pytest.fixture
def executor(supervisor: Supervisor) -> Executor:
    return Executor(supervisor=supervisor)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(opening, "_SETTLED_AGE", 0)  # as if the database were an hour old
    with Store(tmp_path / "lab.sqlite") as store:
        yield store


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def all_children() -> set[int]:
    found = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(pid) for path in found for pid in path.read_text().split()}


OTHERS: set[int] = set()  # processes that other tests share


@pytest.fixture(autouse=True)
def _others() -> None:
    OTHERS.clear()
    OTHERS.update(all_children())


def children() -> set[int]:
    """The processes that this test has started."""
    return all_children() - OTHERS


@contextmanager
def killing(times: int) -> Iterator[None]:
    """Kill that many workers, each after 0.3 s of work."""
    ended = threading.Event()
    killed: set[int] = set()

    def kill() -> None:
        while len(killed) < times and not ended.wait(0.02):
            for pid in children() - killed:
                if _seconds_of_work(pid) > 0.3:
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


def _seconds_of_work(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class TestHostileSQL:
    @pytest.mark.parametrize(
        "sql",
        [
            "DROP TABLE t",
            "UPDATE t SET name = 'x'",
            "UPDATE t SET name = 'x' RETURNING id",
            "WITH d AS (SELECT 1) DELETE FROM t WHERE id = 1 RETURNING id",
            "INSERT INTO t VALUES (9999, 'x')",
            "REPLACE INTO t VALUES (1, 'x')",
            "CREATE TABLE evil(a)",
            "CREATE TEMP TABLE evil AS SELECT * FROM t",
            "ALTER TABLE t RENAME TO u",
            "ATTACH 'new.sqlite' AS new",
            "VACUUM",
            "VACUUM INTO 'copy.sqlite'",
            "PRAGMA user_version = 7",
            "PRAGMA journal_mode = WAL",
            "PRAGMA query_only = OFF",
            "PRAGMA writable_schema = ON",
            "BEGIN EXCLUSIVE",
            "SELECT load_extension('libm.so.6')",
            "SELECT fts3_tokenizer('x', x'0000000000000000')",
            "SELECT * FROM pragma_database_list",
            "SELECT * FROM dbstat",
            "SELECT data FROM sqlite_dbpage",
        ],
    )
    def test_anything_but_a_select_is_denied_and_changes_nothing_on_disk(
        self, executor: Executor, database: Path, sql: str
    ) -> None:
        before = contents(database.parent)
        execution = executor.execute(database, sql)
        assert execution.status in {"denied", "error"}
        assert execution.error
        assert contents(database.parent) == before
        assert executor.execute(database, "SELECT count(*) FROM t").rows == ((1000,),)

    def test_of_two_statements_neither_runs(self, executor: Executor, database: Path) -> None:
        execution = executor.execute(database, "SELECT 1; DROP TABLE t")
        assert (execution.status, execution.rows) == ("error", ())

    @pytest.mark.parametrize("sql", [ENDLESS, UNINTERRUPTIBLE])
    def test_an_endless_query_is_stopped_soon_after_its_deadline(
        self, executor: Executor, database: Path, sql: str
    ) -> None:
        started = time.monotonic()
        assert executor.execute(database, sql, BRIEF).status == "timeout"
        assert time.monotonic() - started < 300  # the queries would run for hours
        assert executor.execute(database, "SELECT 1").rows == ((1,),)

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT length(zeroblob(999999999))",
            "SELECT hex(zeroblob(15000000))",
            "WITH RECURSIVE c(s) AS (SELECT 'a' UNION ALL SELECT s || s FROM c) SELECT max(length(s)) FROM c",
        ],
    )
    def test_a_value_that_is_too_large_has_the_status_too_large(
        self, executor: Executor, database: Path, sql: str
    ) -> None:
        assert executor.execute(database, sql).status == "too_large"

    def test_rows_beyond_the_limit_are_cut_and_the_result_is_marked_truncated(
        self, executor: Executor, database: Path
    ) -> None:
        execution = executor.execute(database, "SELECT id FROM t", Limits(rows=10))
        assert execution.status == "too_large"
        assert execution.truncated
        assert len(execution.rows) == 10
        assert execution.fingerprint == ""

    def test_a_result_at_the_limit_is_complete(self, executor: Executor, database: Path) -> None:
        assert executor.execute(database, "SELECT id FROM t", Limits(rows=1000)).status == "ok"

    @pytest.mark.parametrize("sql", ["", "  ", "-- nothing", "/* open", "SELECT ?", "SELECT 'open"])
    def test_text_that_is_not_a_query_is_an_error_with_a_reason(
        self, executor: Executor, database: Path, sql: str
    ) -> None:
        execution = executor.execute(database, sql)
        assert execution.status == "error"
        assert execution.error

    @pytest.mark.parametrize(
        ("sql", "reason"),
        [
            ("SELECT '\0'", "NUL"),
            ("SELECT '\ud800'", "surrogate"),
            ("SELECT 1 --" + "x" * 10**6, "longer"),
        ],
    )
    def test_text_that_cannot_be_sent_to_sqlite_is_an_error_with_a_reason(
        self, executor: Executor, database: Path, sql: str, reason: str
    ) -> None:
        assert reason in executor.execute(database, sql).error

    @pytest.mark.parametrize("name", ["is_locked", "busy", "too big", "out of memory", "disk I/O"])
    def test_a_missing_column_is_named_even_if_it_is_called_like_another_failure(
        self, store: Store, database: Path, name: str
    ) -> None:
        with Executor(store) as executor:
            assert (
                executor.execute(database, f"SELECT t.`{name}` FROM t").error
                == f"no such column: t.{name}"
            )
            assert store.read("SELECT count(*) FROM executions") == [(1,)]

    def test_a_view_that_is_not_utf8_stops_no_other_query(
        self, executor: Executor, tmp_path: Path
    ) -> None:
        path = tmp_path / "odd.sqlite"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
            connection.execute("PRAGMA writable_schema=ON")
            view = b"CREATE VIEW v AS SELECT '\xff'"
            connection.execute(
                "INSERT INTO sqlite_master VALUES ('view', 'v', 'v', 0, CAST(? AS TEXT))", (view,)
            )
            connection.commit()
        assert executor.execute(path, "SELECT a FROM t").rows == ((1,),)

    def test_an_error_names_no_folder(self, executor: Executor, database: Path) -> None:
        for sql in ("SELECT * FROM gone", "ATTACH '/etc/hosts' AS h", "SELECT"):
            assert str(database.parent) not in executor.execute(database, sql).error

    def test_virtual_tables_can_still_be_read(self, executor: Executor, tmp_path: Path) -> None:
        path = tmp_path / "texts.sqlite"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(
                "CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('hello world'), ('bye');"
                "CREATE VIRTUAL TABLE r USING rtree(id, a, b); INSERT INTO r VALUES (1, 2, 3);"
                "CREATE VIEW j AS SELECT value FROM JSON_EACH('[1, 2]')"
            )
        assert executor.execute(path, "SELECT body FROM f WHERE f MATCH 'hello'").rows == (
            ("hello world",),
        )
        assert executor.execute(path, "SELECT id FROM r WHERE a >= 2").rows == ((1,),)
        for sql in ("SELECT value FROM json_each('[1, 2]')", "SELECT * FROM j"):
            assert executor.execute(path, sql).rows == ((1,), (2,))

    @pytest.mark.parametrize(
        ("script", "harmless", "trap"),
        [
            ("CREATE VIEW v AS SELECT load_extension('x')", "SELECT 1", "SELECT * FROM v"),
            ("CREATE VIEW v AS SELECT * FROM pragma_database_list", "SELECT 1", "SELECT * FROM v"),
            (
                (
                    "CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
                    " SELECT x FROM c;"
                    "CREATE VIRTUAL TABLE f USING fts5(x, content='endless', content_rowid='x')"
                ),
                "SELECT 1",
                "SELECT count(*) FROM f",
            ),
            (
                (
                    "CREATE TABLE g(a, b GENERATED ALWAYS AS (length(printf('%.*c', 9, 'x'))));"
                    "INSERT INTO g(a) VALUES (1); PRAGMA writable_schema = ON;"
                    "UPDATE sqlite_schema SET sql = replace(sql, '9', '900000000')"
                ),
                "SELECT a FROM g",
                "SELECT b FROM g",
            ),
        ],
    )
    def test_a_hostile_view_or_table_stops_only_the_queries_that_read_it(
        self, executor: Executor, tmp_path: Path, script: str, harmless: str, trap: str
    ) -> None:
        path = tmp_path / "trap.sqlite"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)
        assert executor.execute(path, harmless).rows == ((1,),)
        assert executor.execute(path, trap, BRIEF).status in {"timeout", "denied", "error"}


class TestValues:
    def test_every_kind_of_value_is_returned_exactly(
        self, executor: Executor, database: Path
    ) -> None:
        sql = "SELECT NULL, 9223372036854775807, 0.1, 'é😀', x'00ff', 9e999, -9e999, 'a' || char(0) || 'b'"
        expected = (None, 2**63 - 1, 0.1, "é😀", b"\x00\xff", float("inf"), float("-inf"), "a\0b")
        assert executor.execute(database, sql).rows == (expected,)

    def test_bytes_outside_utf8_become_escapes(self, executor: Executor, database: Path) -> None:
        execution = executor.execute(database, "SELECT CAST(x'61ff62' AS TEXT), 'é'")
        assert execution.rows == (("a\\xffb", "é"),)

    def test_columns_of_the_same_name_are_all_kept(
        self, executor: Executor, database: Path
    ) -> None:
        execution = executor.execute(database, 'SELECT 1 AS a, 2 AS a, 3 AS ""')
        assert execution.columns == ("a", "a", "")
        assert execution.rows == ((1, 2, 3),)

    def test_no_rows_have_the_status_empty(self, executor: Executor, database: Path) -> None:
        assert executor.execute(database, "SELECT id FROM t WHERE 0").status == "empty"


class TestFiles:
    def test_a_missing_database_is_an_error_and_is_not_created(
        self, executor: Executor, tmp_path: Path
    ) -> None:
        with pytest.raises(UnreadableDatabaseError, match=r"gone\.sqlite"):
            executor.execute(tmp_path / "gone.sqlite", "SELECT 1")
        assert not (tmp_path / "gone.sqlite").exists()

    def test_an_odd_file_name_is_opened(self, executor: Executor, tmp_path: Path) -> None:
        path = tmp_path / "a ?#%;'é😀&mode=rw.sqlite"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE t(a)")
        assert executor.execute(path, "SELECT count(*) FROM t").rows == ((0,),)

    def test_reading_a_wal_database_that_no_process_has_open_leaves_no_file(
        self, executor: Executor, database: Path
    ) -> None:
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
        before = contents(database.parent)
        assert executor.execute(database, "SELECT count(*) FROM t").rows == ((1000,),)
        assert contents(database.parent) == before

    def test_rows_in_the_write_ahead_log_are_read(self, store: Store, database: Path) -> None:
        with Executor(store) as executor, closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            assert executor.execute(database, "SELECT max(id) FROM t").rows == ((1000,),)
            connection.execute("INSERT INTO t VALUES (2000, 'new')")
            connection.commit()
            assert executor.execute(database, "SELECT max(id) FROM t").rows == ((2000,),)

    def test_a_locked_database_is_an_error_that_is_not_cached(
        self, store: Store, database: Path
    ) -> None:
        with Executor(store) as executor, closing(sqlite3.connect(database)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            execution = executor.execute(database, "SELECT count(*) FROM t")
            assert "locked by another program" in execution.error
            connection.execute("ROLLBACK")
            assert executor.execute(database, "SELECT count(*) FROM t").rows == ((1000,),)


class TestCache:
    def test_a_second_run_sends_nothing_to_a_worker(
        self, store: Store, database: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        jobs = [(database, f"SELECT {i}, name, x'ff' FROM t WHERE id < {i}") for i in range(20)]
        with Executor(store) as executor:
            first = executor.execute_many(jobs)
        monkeypatch.setattr(WorkerProcess, "__init__", _refuse)
        with Executor(store) as executor:
            assert executor.execute_many(jobs) == first

    def test_with_a_cache_that_cannot_be_written_queries_run_and_cached_results_are_read(
        self, store: Store, database: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with Executor(store) as executor:
            executor.execute(database, "SELECT 1")
            monkeypatch.setattr(store, "read_only", True)
            monkeypatch.setattr(store, "write", _refuse)
            assert executor.execute(database, "SELECT 2").rows == ((2,),)
            monkeypatch.setattr(WorkerProcess, "send", _refuse)
            assert executor.execute(database, "SELECT 1").rows == ((1,),)

    def test_equal_jobs_run_once(self, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        sent: list[object] = []
        send = WorkerProcess.send

        def record(worker: WorkerProcess, index: int, request: bytes, seconds: float) -> None:
            sent.append(json.loads(request)["sql"])
            send(worker, index, request, seconds)

        monkeypatch.setattr(WorkerProcess, "send", record)
        with Executor() as executor:
            executions = executor.execute_many([(database, "SELECT 1")] * 50)
        assert sent == ["SELECT 1"]
        assert len(executions) == 50

    def test_a_timeout_is_cached_for_its_time_limit(
        self, store: Store, database: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with Executor(store) as executor:
            assert executor.execute(database, ENDLESS, BRIEF).status == "timeout"
            monkeypatch.setattr(WorkerProcess, "send", _refuse)
            assert executor.execute(database, ENDLESS, BRIEF).status == "timeout"
            with pytest.raises(AssertionError, match="not from the cache"):
                executor.execute(database, ENDLESS, Limits(seconds=0.6))

    def test_large_results_are_cached_completely(self, store: Store, database: Path) -> None:
        sql = "SELECT a.id, b.name FROM t a, t b LIMIT 20000"
        with Executor(store) as executor:
            first = executor.execute(database, sql)
            assert executor.execute(database, sql) == first
        assert store.read("SELECT typeof(rows) FROM executions") == [("blob",)]

    def test_progress_ends_at_the_number_of_jobs(self, store: Store, database: Path) -> None:
        jobs = [(database, f"SELECT {i % 3}") for i in range(10)]
        with Executor(store) as executor:
            for _ in range(2):
                reports: list[tuple[int, int]] = []
                executor.execute_many(jobs, progress=lambda *state, to=reports: to.append(state))
                assert reports == sorted(reports)
                assert reports[-1] == (10, 10)


class TestWorkers:
    @pytest.fixture
    def executor(self) -> Iterator[Executor]:
        """An executor of the test's own, whose processes the test counts and ends."""
        with Executor(workers=2) as executor:
            yield executor

    def test_queries_that_never_end_do_not_stop_the_others(
        self, executor: Executor, database: Path
    ) -> None:
        jobs = [(database, f"SELECT {i}") for i in range(100)]
        jobs[30] = (database, UNINTERRUPTIBLE)
        jobs[31] = (database, ENDLESS)
        executions = executor.execute_many(jobs, Limits(seconds=2))
        late = [i for i, execution in enumerate(executions) if execution.status == "timeout"]
        assert late == [30, 31]
        assert all(executions[i].rows == ((i,),) for i in range(100) if i not in late)

    def test_queries_queued_behind_a_slow_query_are_answered_once(
        self, executor: Executor, database: Path
    ) -> None:
        slow = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT {}) SELECT count(*) FROM c"
        # After about this number of rows, the queries behind the slow query move to another worker.
        for n in range(400_000, 1_600_000, 150_000):
            jobs = [(database, slow.format(n)), *((database, f"SELECT {i}, {n}") for i in range(7))]
            first, *others = executor.execute_many(jobs)
            assert first.rows == ((n,),)
            assert [other.rows for other in others] == [((i, n),) for i in range(7)]

    def test_if_the_caller_reads_results_slowly_no_query_times_out(
        self, executor: Executor, database: Path
    ) -> None:
        pauses = iter([4.0])
        executions = executor.execute_many(
            [(database, f"SELECT {i}") for i in range(40)],
            Limits(seconds=3),
            progress=lambda done, _: time.sleep(next(pauses, 0)) if done else None,
        )
        assert [execution.rows for execution in executions] == [((i,),) for i in range(40)]

    def test_closing_while_a_query_runs_leaves_as_many_slots_as_before(self) -> None:
        supervisor = Supervisor(2)
        with supervisor._borrow(1):
            supervisor.close()
        assert supervisor._idle.qsize() == 2

    def test_after_a_fork_parent_and_child_have_workers_of_their_own(self, database: Path) -> None:
        program = (
            "import os, sys; from pathlib import Path; from workbench.db.execute import Executor\n"
            "executor = Executor(workers=2); path = Path(sys.argv[1]); executor.execute(path, 'SELECT 0')\n"
            "me = 'parent' if os.fork() else 'child'\n"
            "found = [executor.execute(path, f\"SELECT '{me}', {i}\").rows for i in range(100)]\n"
            "assert found == [((me, i),) for i in range(100)], found\n"
            "if me == 'parent': sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, str(database)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")

    def test_large_queries_and_large_answers_do_not_block_each_other(
        self, executor: Executor, database: Path
    ) -> None:
        text = "x" * 300_000
        jobs = [(database, f"SELECT '{text}{i}' FROM t LIMIT 10") for i in range(20)]
        executions = executor.execute_many(jobs)
        assert [execution.rows[-1] for execution in executions] == [
            (f"{text}{i}",) for i in range(20)
        ]

    def test_a_query_reads_the_database_as_it_is_after_a_change(
        self, executor: Executor, database: Path
    ) -> None:
        def count() -> object:
            return executor.execute(database, "SELECT count(*) FROM t").rows[0][0]

        assert count() == 1000
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("DELETE FROM t WHERE id > 10")
            connection.commit()
            assert count() == 10
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("DELETE FROM t WHERE id > 5")
            connection.commit()
            assert count() == 5
        assert count() == 5
        other = database.with_name("other.sqlite")
        with closing(sqlite3.connect(other)) as connection:
            connection.execute("CREATE TABLE t(id)")
        other.rename(database)
        assert count() == 0

    def test_no_effect_of_a_query_reaches_the_next_query(
        self, executor: Executor, database: Path
    ) -> None:
        for sql in (
            "SELECT CAST(x'ff' AS TEXT)",
            "DROP TABLE t",
            "SELECT value FROM json_each('[1]')",
        ):
            executor.execute(database, sql)
            assert executor.execute(database, "DELETE FROM t").status == "denied"
            assert executor.execute(database, "SELECT count(*) FROM t").rows == ((1000,),)

    def test_a_worker_killed_while_idle_is_replaced_silently(self, database: Path) -> None:
        with Executor(workers=1) as executor:
            executor.execute(database, "SELECT 1")
            (pid,) = children()
            os.kill(pid, signal.SIGKILL)
            assert gone(pid, 200)
            assert executor.execute(database, "SELECT 2").rows == ((2,),)

    @pytest.mark.parametrize("workers", [1, 2])
    def test_a_query_whose_worker_is_killed_runs_once_more(
        self, database: Path, workers: int
    ) -> None:
        with Executor(workers=workers) as executor, killing(times=1):
            queries = [SLOW, "SELECT 2"]
            slow, other = executor.execute_many([(database, sql) for sql in queries])
            assert (slow.rows, other.rows) == (((4_000_000,),), ((2,),))

    def test_a_database_whose_hashing_is_killed_is_hashed_once_more(self, database: Path) -> None:
        with Executor(workers=1) as executor:
            os.truncate(database, 900_000_000)  # hashed in more than 0.3 s
            undisturbed = executor.fingerprints([database])
            executor.close()
            with killing(times=1):
                assert executor.fingerprints([database]) == undisturbed

    def test_a_query_that_kills_two_workers_fails_and_others_succeed(
        self, store: Store, database: Path
    ) -> None:
        with Executor(store, workers=1) as executor, killing(times=2):
            jobs = [(database, ENDLESS), (database, "SELECT 2")]
            killed, other = executor.execute_many(jobs, Limits(seconds=60))
            assert killed.status == "error"
            assert killed.error.startswith(f"{database.name}: the worker process was killed twice")
            assert other.rows == ((2,),)
            assert store.read("SELECT count(*) FROM executions WHERE sql = ?", (ENDLESS,)) == [(0,)]

    def test_a_workers_environment_is_empty(self, executor: Executor, database: Path) -> None:
        executor.execute(database, "SELECT 1")
        assert [Path(f"/proc/{pid}/environ").read_bytes() for pid in children()] == [b""]

    def test_closing_leaves_no_process(self, executor: Executor, database: Path) -> None:
        executor.execute_many([(database, f"SELECT {i}") for i in range(10)])
        assert children()
        executor.close()
        assert children() == set()

    def test_threads_share_the_workers_and_get_their_own_answers(
        self, executor: Executor, database: Path
    ) -> None:
        wrong: list[Execution] = []

        def ask(n: int) -> None:
            for i in range(25):
                execution = executor.execute(database, f"SELECT {n}, {i}")
                if execution.rows != ((n, i),):
                    wrong.append(execution)

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert len(children()) <= 2

    def test_ten_thousand_queries_add_no_memory_files_or_processes(
        self, executor: Executor, database: Path
    ) -> None:
        def usage() -> tuple[int, int, int]:
            pids = {os.getpid(), *children()}
            pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
            files = sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids)
            return pages * os.sysconf("SC_PAGE_SIZE"), files, len(pids)

        def ask(start: int) -> None:
            for i in range(start, start + 5):
                executor.execute_many(
                    [
                        (database, f"SELECT *, {j} FROM t LIMIT 5")
                        for j in range(i * 400, i * 400 + 400)
                    ]
                )

        while time.time() - database.stat().st_ctime < 2.5:
            time.sleep(0.1)  # a worker keeps no connection to a file that just changed
        ask(0)
        before = usage()
        ask(5), ask(10), ask(15), ask(20)
        after = usage()
        assert after[1:] == before[1:]
        assert after[0] - before[0] < 30_000_000


PROGRAM = """
import sys
from pathlib import Path
from workbench.db.execute import Executor
from workbench.types import Limits
try:
    Executor(workers=2).execute_many([(Path(sys.argv[1]), sys.argv[2])], Limits(seconds=600))
except KeyboardInterrupt:
    print("interrupted")
"""


def start_long_query(database: Path) -> tuple[subprocess.Popen[str], int]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(database), UNINTERRUPTIBLE],
        stdout=subprocess.PIPE,
        text=True,
    )
    workers: list[str] = []
    while not workers:
        time.sleep(0.05)
        workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    time.sleep(0.5)
    return process, int(workers[0])


def test_statuses_are_those_of_the_executions(database: Path, store: Store) -> None:
    jobs = [
        (database, sql)
        for sql in ("SELECT 1", "SELECT id FROM t WHERE id < 0", "SELECT nothing", "DROP TABLE t")
    ]
    with Executor(store, workers=1) as executor:
        fresh, cached = executor.statuses(jobs), executor.statuses(jobs)
        statuses = [execution.status for execution in executor.execute_many(jobs)]
    assert fresh == cached == statuses == ["ok", "empty", "error", "denied"]


def gone(pid: int, within: float) -> bool:
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_ctrl_c_ends_any_statement_and_leaves_no_worker(
    database: Path,
) -> None:
    process, worker = start_long_query(database)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=300)[0] == "interrupted\n"  # the limit is 600 s
    assert gone(worker, 200)


def test_workers_end_when_their_parent_is_killed(database: Path) -> None:
    process, worker = start_long_query(database)
    process.kill()
    process.communicate()
    assert gone(worker, 200)


def test_a_worker_that_starts_after_its_parent_died_ends_at_once() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    program = f"from workbench.db.sandbox.worker import main; main({dead.pid})"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE) as worker:
        assert worker.wait(timeout=60) == 0


def _refuse(*_: object, **__: object) -> None:
    raise AssertionError("not from the cache")
