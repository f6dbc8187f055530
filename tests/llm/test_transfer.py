from pathlib import Path

import orjson
import pytest

from tests.llm.wire import ask
from workbench.errors import BadInputError
from workbench.llm.cache import transfer
from workbench.llm.cache.table import Cache
from workbench.llm.cache.transfer import Select
from workbench.llm.client import Client
from workbench.llm.provider import Refusal
from workbench.llm.scripted import Scripted
from workbench.store import Store
from workbench.types import Request

SCHEMA = "CREATE TABLE t (a, b)\n\n" * 200
REQUESTS = [ask(f"{SCHEMA}Question {i}\n— ü 😀 '\"", temperature=0.5) for i in range(30)]


@pytest.fixture
def filled(store: Store) -> Store:
    Client(store, send=Scripted(otherwise="SELECT 1\n-- é")).complete_many(REQUESTS)
    return store


@pytest.fixture
def other(tmp_path: Path) -> Store:
    with Store(tmp_path / "other" / "lab.sqlite") as store:
        yield store


def test_export_and_import_lose_nothing(filled: Store, other: Store, tmp_path: Path) -> None:
    assert transfer.export(filled, tmp_path / "one.jsonl") == 30
    assert transfer.load(other, tmp_path / "one.jsonl") == (30, 0)
    transfer.export(other, tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert list(transfer.calls(other)) == list(transfer.calls(filled))


def test_an_export_shows_the_request_as_sent(filled: Store, tmp_path: Path) -> None:
    transfer.export(filled, tmp_path / "one.jsonl")
    first = orjson.loads((tmp_path / "one.jsonl").read_bytes().split(b"\n")[0])
    assert first["messages"][0]["content"].startswith(SCHEMA)
    assert first["parameters"] == {"temperature": 0.5}


def test_an_exported_cache_answers_the_same_run_offline_on_another_machine(
    filled: Store, other: Store, tmp_path: Path
) -> None:
    keys = [Client(filled).key(request) for request in REQUESTS[:10]]
    assert transfer.export(filled, tmp_path / "bundle.jsonl", Select(keys=keys)) == 10
    transfer.load(other, tmp_path / "bundle.jsonl")
    answers = Client(other, offline=True).complete_many(REQUESTS[:10])
    assert {answer.text for answer in answers} == {"SELECT 1\n-- é"}


def test_importing_twice_adds_nothing(filled: Store, tmp_path: Path) -> None:
    transfer.export(filled, tmp_path / "one.jsonl")
    assert transfer.load(filled, tmp_path / "one.jsonl") == (0, 30)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda line: line.replace(b"Question", b"Frage"), "so its key is wrong"),
        (lambda line: line[:100], "not an exported call"),
        (lambda _: b"{}\n", r"not an exported call \(it has no usage\)"),
        (lambda _: b"[1]\n", r"not an exported call \(it is of another form\)"),
    ],
)
def test_a_changed_line_is_named_and_nothing_is_imported(
    filled: Store, other: Store, tmp_path: Path, change: object, said: str
) -> None:
    transfer.export(filled, tmp_path / "one.jsonl")
    lines = (tmp_path / "one.jsonl").read_bytes().splitlines(keepends=True)
    lines[4] = change(lines[4])
    (tmp_path / "bad.jsonl").write_bytes(b"".join(lines))
    with pytest.raises(BadInputError, match=rf"bad.jsonl, line 5: .*{said}"):
        transfer.load(other, tmp_path / "bad.jsonl")
    assert other.read("SELECT count(*) FROM calls") == [(0,)]


def test_an_export_that_fails_leaves_no_file(filled: Store, tmp_path: Path) -> None:
    with filled.write() as connection:
        connection.execute("DELETE FROM texts")
    with pytest.raises(KeyError):
        transfer.export(filled, tmp_path / "one.jsonl")
    assert list(tmp_path.glob("one.jsonl*")) == []


def test_merging_adds_what_is_missing_and_keeps_ours(filled: Store, other: Store) -> None:
    Client(other, send=Scripted(otherwise="other")).complete_many([*REQUESTS[:5], ask("new")])
    merged = transfer.merge(filled, other.path)
    assert (merged.new, merged.known, merged.different) == (1, 5, 5)
    assert Client(filled).complete(ask("new")).text == "other"
    assert Client(filled).complete(REQUESTS[0]).text == "SELECT 1\n-- é"


def test_a_cache_file_in_use_is_merged_with_what_its_log_holds(filled: Store, other: Store) -> None:
    assert filled.path.with_name("lab.sqlite-wal").stat().st_size > 0
    assert transfer.merge(other, filled.path).new == 30
    assert transfer.verify(other) == []


def test_a_copy_of_a_cache_file_in_use_is_complete(filled: Store, tmp_path: Path) -> None:
    filled.backup(tmp_path / "copy.sqlite")
    with Store(tmp_path / "copy.sqlite") as copy:
        assert list(transfer.calls(copy)) == list(transfer.calls(filled))


def test_stats_count_by_prompt_and_model(store: Store) -> None:
    client = Client(store, send=Scripted(otherwise="one two"))
    client.complete_many([ask("a"), ask("b"), ask("c", prompt="fix")])
    records = {record["prompt"]: record for record in transfer.stats(store)}
    assert {name: record["calls"] for name, record in records.items()} == {"p": 2, "fix": 1}
    assert records["p"]["output_tokens"] == 4


@pytest.mark.parametrize(
    ("select", "left"),
    [
        (Select(prompt="fix"), {"p"}),
        (Select(model="openai/gpt-4o-mini"), set()),
        (Select(finish_reason="length"), {"p", "fix"}),
        (Select(before=4e9), set()),
        (Select(before=0.0), {"p", "fix"}),
    ],
)
def test_pruning_deletes_what_was_chosen(store: Store, select: Select, left: set[str]) -> None:
    client = Client(store, send=Scripted(otherwise="x"))
    client.complete_many([ask(SCHEMA + "a"), ask(SCHEMA + "b", prompt="fix")])
    transfer.prune(store, select)
    assert {name for (name,) in store.read("SELECT prompt FROM calls")} == left
    assert transfer.verify(store) == []
    assert bool(store.read("SELECT * FROM texts")) == bool(left)


def test_pruning_dry_only_counts(filled: Store) -> None:
    assert transfer.prune(filled, Select(prompt="p"), dry=True) == 30
    assert filled.read("SELECT count(*) FROM calls") == [(30,)]


def test_pruning_everything_by_leaving_the_choice_out_is_refused(filled: Store) -> None:
    with pytest.raises(BadInputError, match="needs a choice"):
        transfer.prune(filled, Select())


def test_verify_names_exactly_the_answers_that_were_changed(filled: Store) -> None:
    keys = [key for (key,) in filled.read("SELECT key FROM calls ORDER BY key")][::3]
    with filled.write() as connection:
        for key in keys:
            connection.execute("UPDATE calls SET text = text || ' ' WHERE key = ?", (key,))
    assert [line.partition(": ")[0] for line in transfer.verify(filled)] == keys


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE texts SET text = text || ' '", "was changed"),
        ("DELETE FROM texts", "is missing"),
        ("UPDATE calls SET parameters = '{}'", "its request was changed"),
        ("UPDATE calls SET reply = '{'", "is not JSON"),
        ("UPDATE calls SET text = 'SELECT 2'", "its answer or another field was changed"),
        ("UPDATE calls SET cost = 0.0", "its answer or another field was changed"),
    ],
)
def test_verify_names_what_is_wrong(filled: Store, damage: str, said: str) -> None:
    assert transfer.verify(filled) == []
    with filled.write() as connection:
        connection.execute(damage)
    assert any(said in line for line in transfer.verify(filled))


def test_calls_are_read_by_the_thousand(store: Store) -> None:
    cache = Cache(store)
    Client(store, send=Scripted(["x"])).complete(ask())
    (one,) = transfer.calls(store)
    with store.write() as connection:
        for i in range(1200):
            transfer.insert(connection, type(one)(f"call:{i:04d}", *astuple(one)[1:]))
    assert cache.get("call:0007") is not None
    assert len(list(transfer.calls(store))) == 1201


def astuple(call: object) -> tuple[object, ...]:
    return tuple(getattr(call, name) for name in call.__slots__)


def test_an_export_has_the_parameters_that_its_models_refuse(store: Store, tmp_path: Path) -> None:
    told = "Unsupported value: 'temperature' does not support 0.2 with this model."
    request = Request("p", "openai/thinker", ask().messages, {"temperature": 0.2})
    Client(store, send=Scripted([Refusal("rejected", told), "x"])).complete(request)
    path = tmp_path / "calls.jsonl"
    assert transfer.export(store, path) == 1
    assert b'"refused":' in path.read_bytes()
    with Store(tmp_path / "theirs.sqlite") as theirs:
        assert transfer.load(theirs, path) == (1, 0)
        replayed = Client(theirs, offline=True).complete(request)
        transfer.export(theirs, tmp_path / "again.jsonl")
    assert replayed.text == "x"
    assert (tmp_path / "again.jsonl").read_bytes() == path.read_bytes()


def test_an_export_without_those_models_has_no_refused_parameters(
    store: Store, tmp_path: Path
) -> None:
    told = "Unsupported value: 'temperature' does not support 0.2 with this model."
    request = Request("p", "openai/thinker", ask().messages, {"temperature": 0.2})
    Client(store, send=Scripted([Refusal("rejected", told), "x", "y"])).complete_many([request])
    Client(store, send=Scripted(["y"])).complete(ask())
    path = tmp_path / "calls.jsonl"
    transfer.export(store, path, transfer.Select(model=ask().model))
    assert b'"refused":' not in path.read_bytes()
