"""`workbench cache`: what is counted, exported and merged."""

import json

import pytest

import workbench as wb
from workbench.llm.send import scripted


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with three calls."""

    def asked(text, prompt):
        return wb.Request(
            prompt, "openai/gpt-4o-mini", ({"role": "user", "content": text},), {}
        )

    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    with wb.Cache() as store:
        client = wb.Client(store, send=scripted(otherwise="one two"))
        client.complete_many([asked("a", "p"), asked("b", "p"), asked("c", "fix")])
    return tmp_path


def test_calls_are_counted_by_prompt(run, home):
    out = run("cache", "info").out
    assert [line.split()[:3] for line in out.splitlines()[:2]] == [
        ["fix", "openai/gpt-4o-mini", "1"],
        ["p", "openai/gpt-4o-mini", "2"],
    ]


def test_an_export_is_merged_into_another_home(run, home, monkeypatch):
    file = home / "some.jsonl"
    assert run("cache", "export", file).out == f"{file}: 3 calls\n"
    _machine, *calls = map(json.loads, file.read_text().splitlines())
    keys = [call["key"] for call in calls[:2]]
    assert (
        run("cache", "export", file, "--keys", " ".join(keys)).out
        == f"{file}: 2 calls\n"
    )
    assert run("cache", "export", file, "--run", "embedded", "--keys", "a").code == 2
    monkeypatch.setenv("WORKBENCH_HOME", str(home / "other"))
    assert run("cache", "merge", file).out.startswith("2 rows added, 0 were cached")
    assert run("cache", "merge", home / "home" / "lab.sqlite").out.startswith(
        "1 rows added, 2 "
    )


def test_a_file_that_is_no_cache_is_refused_and_stays_as_it_is(run, home):
    other = home / "answers.csv"
    other.write_text("question_id,sql\n1,SELECT 1\n")
    done = run("cache", "merge", other)
    assert (done.code, "answers.csv" in done.err) == (2, True)
    assert other.read_text() == "question_id,sql\n1,SELECT 1\n"
    assert run("cache", "export", home / "nowhere" / "x.jsonl").code == 2
