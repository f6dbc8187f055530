from pathlib import Path

import pytest
from click.testing import CliRunner

from workbench.cli.cache import cache
from workbench.errors import BadInputError, StoreError, WorkbenchError
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.scripted import scripted
from workbench.types import Request


def ask(text: str, prompt: str = "p") -> Request:
    return Request(prompt, "openai/gpt-4o-mini", [{"role": "user", "content": text}], {})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Cache(tmp_path / "lab.sqlite") as store:
        client = Client(store, send=scripted(otherwise="one two"))
        client.complete_many([ask("a"), ask("b"), ask("c", prompt="fix")])
    return tmp_path / "lab.sqlite"


def run(*arguments: object) -> str:
    done = CliRunner().invoke(cache, [str(a) for a in arguments], catch_exceptions=False)
    return done.output


def test_stats(path: Path) -> None:
    output = run("stats", "--cache", path)
    assert "openai/gpt-4o-mini" in output
    assert "2 calls" in output


def test_an_export_of_an_unknown_form_is_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"x\.xyz: name a file that ends in \.jsonl"):
        run("export", tmp_path / "x.xyz", "--cache", path)
    assert not (tmp_path / "x.xyz").exists()


def test_export_and_import(path: Path, tmp_path: Path) -> None:
    assert "2 calls" in run("export", tmp_path / "x.jsonl", "--prompt", "p", "--cache", path)
    other = tmp_path / "other.sqlite"
    assert "2 rows added, 0 were cached" in run("merge", tmp_path / "x.jsonl", "--cache", other)


def test_a_file_that_cannot_be_read_leaves_no_new_cache(tmp_path: Path) -> None:
    bad, new = tmp_path / "bad.jsonl", tmp_path / "new.sqlite"
    bad.write_text("not a call")
    with pytest.raises(WorkbenchError, match=r"bad\.jsonl"):
        run("merge", bad, "--cache", new)
    assert list(tmp_path.iterdir()) == [bad]


@pytest.mark.parametrize("name", ["x.jsonl", "x.sqlite"])
def test_export_names_a_file_that_cannot_be_made(path: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "nowhere" / name
    with pytest.raises(BadInputError, match=f"nowhere/{name}: No such file or directory"):
        run("export", target, "--cache", path)


def test_export_of_one_call_or_of_those_that_a_file_lists(path: Path, tmp_path: Path) -> None:
    with Cache(path) as store:
        keys = [str(key) for (key,) in store.read("SELECT key FROM calls ORDER BY key")]
    assert "1 calls" in run("export", tmp_path / "x.jsonl", "--keys", keys[0], "--cache", path)
    (tmp_path / "keys").write_text("\n".join(keys[1:]))
    printed = run("export", tmp_path / "y.jsonl", "--keys", tmp_path / "keys", "--cache", path)
    assert "2 calls" in printed
    with pytest.raises(
        BadInputError, match="nowhere: no such file; give one, or a key as call:KEY"
    ):
        run("export", tmp_path / "z.jsonl", "--keys", tmp_path / "nowhere", "--cache", path)


def test_export_to_sqlite_is_a_copy(path: Path, tmp_path: Path) -> None:
    run("export", tmp_path / "copy.sqlite", "--cache", path)
    assert "2 calls" in run("stats", "--cache", tmp_path / "copy.sqlite")


def test_merge(path: Path, tmp_path: Path) -> None:
    assert "3 rows added" in run("merge", path, "--cache", tmp_path / "other.sqlite")


def test_prune_deletes_only_with_yes(path: Path) -> None:
    assert "1 calls would be deleted: add --yes" in run("prune", "--prompt", "fix", "--cache", path)
    assert "1 calls deleted" in run("prune", "--prompt", "fix", "--yes", "--cache", path)
    assert "0 calls deleted" in run("prune", "--prompt", "fix", "--yes", "--cache", path)


def test_answers_from_pruned_calls_are_computed_again(path: Path) -> None:
    with Cache(path) as store, store.write() as connection:
        connection.execute("INSERT INTO attempts VALUES ('a', 'q', x'00')")
    run("prune", "--prompt", "nobody", "--yes", "--cache", path)
    with Cache(path) as store:
        assert store.read("SELECT count(*) FROM attempts") == [(1,)]
    run("prune", "--prompt", "fix", "--yes", "--cache", path)
    with Cache(path) as store:
        assert store.read("SELECT count(*) FROM attempts") == [(0,)]


@pytest.mark.parametrize("command", ["stats", "prune --prompt p", "export new.jsonl", "merge {}"])
def test_a_file_that_is_no_cache_is_refused_and_stays_as_it_is(
    path: Path, tmp_path: Path, command: str
) -> None:
    other = tmp_path / "answers.csv"
    other.write_text("question_id,sql\n1,SELECT 1\n")
    with pytest.raises(StoreError, match=r"answers\.csv is no cache file"):
        run(*command.format(path).split(), "--cache", other)
    assert other.read_text() == "question_id,sql\n1,SELECT 1\n"
    assert sorted(file.name for file in tmp_path.glob("answers*")) == ["answers.csv"]


def test_export_says_how_many_of_the_keys_are_not_in_the_cache(path: Path, tmp_path: Path) -> None:
    with Cache(path) as store:
        ((key,), *_) = store.read("SELECT key FROM calls ORDER BY key")
    (tmp_path / "keys").write_text(f"{key} call:none call:none call:nor")
    printed = run("export", tmp_path / "x.jsonl", "--keys", tmp_path / "keys", "--cache", path)
    assert printed.endswith("2 of the keys are not in the cache, such as call:none\n")


def test_stats_names_the_batches_whose_answers_are_unread(path: Path) -> None:
    with Cache(path) as store, store.write() as db:
        batch = ("one", "openai/m", "", 60.0, "batch_7", 60.0)
        db.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)", batch)
        db.execute("INSERT INTO batch_items VALUES ('call:1', 'one', '{}')")
    assert "unread: 1 calls of openai/m, batch batch_7" in run("stats", "--cache", path)
