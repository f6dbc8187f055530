"""The public face: a program as a user writes it, the keys that are kept, and what a cache file refuses."""

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import workbench as wb
from tests.llm.conftest import CANARY
from tests.llm.server import Server
from workbench import store
from workbench.errors import BadInputError, CacheMissError, StoreError
from workbench.llm import calls
from workbench.llm.cache import this_machine

KEYS = json.loads(Path(__file__).with_name("keys.json").read_text())


def test_the_program_of_the_manual(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    wb.Cache(tmp_path / "other.sqlite").close()
    with Server() as server:
        cache = wb.Cache()  # $WORKBENCH_HOME/lab.sqlite
        client = wb.Client(cache, at_once=64, retries=4, timeout=600, budget=wb.Budget(dollars=5),
                           offline=False, batch=False,
                           api_base={"openai/gpt-4o-mini": server.url})  # fmt: skip
        ask = [{"role": "user", "content": "How many rows has t? Answer in SQL."}]
        asked = ("direct", "openai/gpt-4o-mini", ask, {"temperature": 0.7})
        requests = [wb.Request(*asked, sample=n) for n in range(3)]
        before = client.preview(requests)
        for reply in client.complete_many(requests):
            assert reply.text or reply.fault
            assert (reply.cached, reply.cost) == (False, pytest.approx(2.7e-05))
        paid = client.ledger.frame().groupby("prompt").dollars.sum()
        assert paid["direct"] == pytest.approx(8.1e-05)
        assert server.calls == 3
    assert (before.calls, before.cached) == (3, 0)
    assert 0 < before.low < 8.1e-05 < before.high
    assert cache.path == tmp_path / "home" / "lab.sqlite"
    assert cache.export(tmp_path / "run.jsonl") == 3
    assert cache.merge(tmp_path / "other.sqlite") == (0, 0)
    scripted = wb.Client(
        wb.Cache(tmp_path / "third.sqlite"), send=wb.scripted(["SELECT 1"])
    )
    assert scripted.complete(requests[0]).text == "SELECT 1"
    wb.register(
        "echo", lambda _, seed: {"choices": [{"message": {"content": seed[:5]}}]}, "1"
    )
    here = wb.Client(cache).complete(wb.Request("p", "echo/any", ask))
    assert (here.text, here.cost, here.cached) == ("seed:", 0.0, False)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("case", KEYS, ids=lambda case: case["request"]["model"])
def test_keys_stay_what_they_are(cache, case):
    wb.register("here", dict, "here/model@1")
    wb.register("named", dict, "named/a@2 http://h/1")
    base = {
        "hosted_vllm/qwen": "http://user:secret@LOCALHOST:8000/v1/?q=1#f",
        "openai/proxied": "https://proxy.example/v1",
        "named/a": "http://h/1",
    }
    request = wb.Request(
        **case["request"], question="left out", system="left out", again=True
    )
    client = wb.Client(cache, api_base=base)
    assert (client.key(request), client.endpoint(request.model)) == (
        case["key"],
        case["endpoint"],
    )


def test_an_export_gives_an_equal_cache(cache, tmp_path, ask):
    texts = ["SELECT 'é — 数'", "", "a\nb\x00c", '{"json": [1, 2]}', " ", "\u2028"]
    client = wb.Client(cache, send=wb.scripted(texts))
    answers = client.complete_many(ask(len(texts)))
    cache.export(tmp_path / "a.jsonl")
    with wb.Cache(tmp_path / "new.sqlite") as new:
        assert new.merge(tmp_path / "a.jsonl") == (len(texts), 0)
        assert new.merge(tmp_path / "a.jsonl") == (0, len(texts))
        new.export(tmp_path / "b.jsonl")
        again = wb.Client(new, offline=True).complete_many(ask(len(texts)))
        assert (
            [answer.text for answer in again]
            == [answer.text for answer in answers]
            == texts
        )
        third = wb.Cache(tmp_path / "third.sqlite")
        assert third.merge(tmp_path / "new.sqlite") == (len(texts), 0)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    machine, *lines = (tmp_path / "a.jsonl").read_text().splitlines(keepends=True)
    assert json.loads(machine) == {"made_on": this_machine()}
    (tmp_path / "older.jsonl").write_text("".join(lines))
    with wb.Cache(tmp_path / "fourth.sqlite") as fourth:
        assert fourth.merge(tmp_path / "older.jsonl") == (len(texts), 0)
    line = json.loads(lines[0]) | {"sample": 9}
    (tmp_path / "changed.jsonl").write_text(json.dumps(line))
    with pytest.raises(BadInputError, match="line 1"):
        cache.merge(tmp_path / "changed.jsonl")


def test_offline_answers_without_litellm_and_names_what_is_missing(cache, ask):
    wb.Client(cache, send=wb.scripted(otherwise="SELECT 1")).complete_many(ask(3))
    program = (
        "import sys, workbench as wb\n"
        f"client = wb.Client(wb.Cache({str(cache.path)!r}), offline=True)\n"
        "ask = lambda n: wb.Request('direct', 'openai/gpt-4o-mini', [{'role': 'user', 'content': f'q {n}'}])\n"
        "assert [a.text for a in client.complete_many([ask(n) for n in range(3)])] == ['SELECT 1'] * 3\n"
        "assert not {'litellm', 'pandas', 'sqlite_utils'} & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(CacheMissError, match="direct"):
        wb.Client(cache, offline=True).complete_many(ask(4))


def test_a_filtered_answer_is_a_fault_from_the_cache_too(cache, ask):
    reply = {
        "choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]
    }
    client = wb.Client(cache, send=wb.scripted([reply]))
    first, second = client.complete(ask(1)[0]), client.complete(ask(1)[0])
    assert (first.fault, second.fault, second.cached) == ("filtered", "filtered", True)


def test_a_key_in_a_reply_is_in_no_file(cache, ask):
    text = f"your key is {CANARY}"
    client = wb.Client(cache, send=wb.scripted([text], otherwise="SELECT 1"))
    assert client.complete(ask(1)[0]).text == "your key is ***"
    client.complete(ask(1, first=1)[0])
    files = [path for path in cache.path.parent.iterdir() if path.is_file()]
    assert len(files) >= 2
    assert not any(CANARY.encode() in path.read_bytes() for path in files)


def database(script):
    def make(path):
        with closing(sqlite3.connect(path)) as made:
            made.executescript(script)

    return make


def test_a_file_keeps_its_log_while_it_is_open(tmp_path):
    """A second use in this process leaves SQLite's locks alone, so another process does not take the log away."""
    path = tmp_path / "lab.sqlite"
    insert = "INSERT INTO databases (place, state, fingerprint) VALUES (?, 's', 'f')"
    program = f"import workbench as wb\nwith wb.Store({str(path)!r}) as store, store.write() as db:\n    "
    with wb.Store(path) as store:
        with store.write() as db:
            db.execute(insert, ["here"])
        wb.Store(path).close()
        wb.Cache(tmp_path / "other.sqlite").merge(path)
        subprocess.run(
            [sys.executable, "-c", f"{program}db.execute({insert!r}, ['there'])"],
            check=True,
        )
        assert path.with_name("lab.sqlite-wal").exists()
        assert store.read("SELECT count(*) FROM databases") == [(2,)]


def test_calls_of_an_older_cache_file_are_found(tmp_path, ask):
    """The file was made by version 0.1.0."""
    path = shutil.copy(
        Path(__file__).with_name("made_by_0.1.0.sqlite"), tmp_path / "lab.sqlite"
    )
    client = wb.Client(wb.Cache(path), offline=True)
    assert [answer.text for answer in client.complete_many(ask(2))] == [
        "SELECT 1",
        "SELECT 'é — 数'",
    ]
    assert wb.Cache(tmp_path / "new.sqlite").merge(path)[0] >= 2


def test_calls_stay_when_the_form_of_tables_changes(tmp_path, ask):
    path = tmp_path / "lab.sqlite"
    with wb.Cache(path) as cache:
        wb.Client(cache, send=wb.scripted(otherwise="SELECT 1")).complete_many(ask(2))
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "DROP TABLE runs; CREATE TABLE runs(id); DROP TABLE executions;"
            "ALTER TABLE calls ADD COLUMN later INT; PRAGMA user_version=9"
        )
    with wb.Cache(tmp_path / "other.sqlite") as other:
        assert other.merge(path) == (2, 0)
    with wb.Cache(path) as cache:
        assert wb.Client(cache, offline=True).complete_many(ask(2))
        assert cache.read("SELECT count(*), count(name) FROM runs") == [(0, 0)]
        assert (
            wb.Client(cache, send=wb.scripted(["new"]))
            .complete(ask(1, first=2)[0])
            .text
            == "new"
        )


def test_rows_stay_that_another_process_stores_in_tables_made_meanwhile(
    tmp_path, monkeypatch
):
    path = tmp_path / "lab.sqlite"
    wb.Cache(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.executescript("DROP TABLE runs; CREATE TABLE runs(id)")
    make = store.Store._make_tables

    def make_after_another(opened, *given):
        monkeypatch.setattr(store.Store, "_make_tables", make)
        with store.Store(path) as other, other.write() as db:
            db.execute("INSERT INTO runs VALUES ('a', '', '', '', '', 0)")
        make(opened, *given)

    monkeypatch.setattr(store.Store, "_make_tables", make_after_another)
    with store.Store(path) as opened:
        assert opened.read("SELECT id FROM runs") == [("a",)]


def test_a_file_that_lost_its_end_is_refused(cache, ask):
    wb.Client(cache, send=wb.scripted(otherwise="x" * 5000)).complete_many(ask(20))
    cache.close()
    whole = cache.path.read_bytes()
    for size in (len(whole) - 100, len(whole) - 16384, 1):
        cache.path.write_bytes(whole[:size])
        with pytest.raises(StoreError, match="damaged"):
            wb.Cache(cache.path)
        assert cache.path.read_bytes() == whole[:size]


def test_a_statement_that_is_refused_blocks_no_other(cache):
    async def put():
        wrong = ("INSERT INTO budgets VALUES (?, 0, 0, 0, 0)", (2**70,))
        right = ("INSERT INTO budgets VALUES (?, 0, 0, 0, 0)", ("right",))
        with pytest.raises(StoreError, match="could not be stored"):
            await cache.put(wrong, right)
        await cache.put(("INSERT INTO budgets VALUES (?, 0, 0, 0, 0)", ("later",)))

    asyncio.run(put())
    assert cache.read("SELECT name FROM budgets ORDER BY name") == [
        ("later",),
        ("right",),
    ]


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [("input_tokens", "abc", "a whole number, 0 or more"), ("output_tokens", -1, "a whole number, 0 or more"),
     ("input_tokens", True, "a whole number, 0 or more"), ("cached_tokens", 2**63, "a whole number, 0 or more"),
     ("cost", "1", "a number, 0 or more, or null"), ("cost", -1.0, "a number, 0 or more, or null"),
     ("cost", False, "a number, 0 or more, or null"), ("text", 5, "a text"), ("sample", 1.0, "a whole number, 0 or more"),
     ("created", None, "a number"), ("seconds", True, "a number")],
)  # fmt: skip
def test_a_pack_with_a_field_of_a_wrong_type_is_refused(
    cache, tmp_path, ask, field, value, allowed
):
    wb.Client(cache, send=wb.scripted(["SELECT 1"])).complete(ask(1)[0])
    cache.export(tmp_path / "a.jsonl")
    line = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[1]) | {
        field: value
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(line))
    with wb.Cache(tmp_path / "new.sqlite") as new:
        words = f"line 1: .*its {field} is {value!r}: it must be {allowed}\\b"
        with pytest.raises(BadInputError, match=f"{words}.*nothing was merged"):
            new.merge(tmp_path / "a.jsonl")
        if value == "abc":
            with cache.write() as db:
                db.execute("UPDATE calls SET input_tokens = 'abc'")
            with pytest.raises(BadInputError, match="wrong type"):
                new.merge(cache.path)
        assert not new.read("SELECT key FROM calls")


def test_a_full_disk_in_a_merge_is_no_fault_of_the_export(
    cache, tmp_path, ask, monkeypatch
):
    wb.Client(cache, send=wb.scripted(["SELECT 1"])).complete(ask(1)[0])
    cache.export(tmp_path / "a.jsonl")

    def full(connection, sql, *values):
        if sql.startswith("INSERT"):
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        return sqlite3.Connection.execute(connection, sql, *values)

    with wb.Cache(tmp_path / "new.sqlite") as new:
        monkeypatch.setattr(store._Connection, "execute", full, raising=False)
        with pytest.raises(StoreError, match="has no room on its disk"):
            new.merge(tmp_path / "a.jsonl")


def test_keys_are_the_same_under_every_version_of_litellm(monkeypatch):
    monkeypatch.setitem(sys.modules, "litellm", None)  # so that no import finds it
    models = {
        "openai/gpt-4": 4096,
        "gemini/gemini-2.5-pro": 14336,
        "anthropic/claude-sonnet-4-5": 14336,
        "openai/new": 6144,
    }
    for model, most in models.items():
        assert calls.call_parameters(model, 0.0, 6144, {})["max_tokens"] == most


REFUSED = {
    "a database without tables": (
        database("PRAGMA user_version=1; VACUUM"),
        "another program",
    ),
    "a text": (lambda path: path.write_text("my notes"), "no cache file"),
    "a folder": (Path.mkdir, "a folder"),
    "a FIFO": (os.mkfifo, "no file"),
    "another program's": (database("CREATE TABLE mine(a)"), "another program"),
    "half a header": (
        lambda path: path.write_bytes(b"SQLite format 3\0" + b"x" * 90),
        "damaged",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_cache_file_is_refused_and_not_touched(tmp_path, name):
    make, words = REFUSED[name]
    path = tmp_path / "file"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=words) as caught:
        wb.Store(path)
    assert str(path) in str(caught.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert before is None or path.read_bytes() == before


def test_a_damaged_page_is_one_error_with_the_command(cache, ask):
    wb.Client(cache, send=wb.scripted(otherwise="x" * 5000)).complete_many(ask(200))
    cache.close()
    with cache.path.open("r+b") as file:
        size = file.seek(0, 2)
        for page in range(16384, size, 16384):
            file.seek(page)
            file.write(b"\xff" * 16384)
    with pytest.raises(StoreError, match=r"\.recover"):
        wb.Cache(cache.path).read("SELECT * FROM calls")


def test_a_file_that_cannot_be_written_answers_and_pays_nothing(
    cache, ask, monkeypatch
):
    wb.Client(cache, send=wb.scripted(otherwise="SELECT 1")).complete_many(ask(2))
    cache.close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    send = wb.scripted(otherwise="SELECT 1")
    client = wb.Client(wb.Cache(cache.path), send=send)
    assert client.complete(ask(1)[0]).text == "SELECT 1"
    with pytest.raises(StoreError):
        client.complete_many(ask(3))
    assert not send.history


FORK = """import os, time
import workbench as wb
ask = [{{"role": "user", "content": "hello"}}]
def call(name):
    client = wb.Client(wb.Cache(name), api_base={url!r}, timeout=20)
    return client.complete(wb.Request("p", "openai/gpt-4o-mini", ask)).text
first = call("parent.sqlite")
child = os.fork()
if not child:
    assert call("child.sqlite") == first
else:
    before = time.monotonic()
    status = os.waitpid(child, 0)[1]
    print(first, os.waitstatus_to_exitcode(status), time.monotonic() - before < 15)"""


def test_a_forked_process_makes_calls_of_its_own_and_ends(tmp_path):
    with Server() as server:
        code = FORK.format(url=server.url)
        done = subprocess.run(
            [sys.executable, "-c", code],
            check=False,
            cwd=tmp_path,
            env=os.environ | {"OPENAI_API_KEY": "no"},
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.stdout.split()[-2:] == ["0", "True"], done.stderr
    assert server.calls == 2
