"""`workbench train pairs`, `generator` and `instructions`."""

import json

import pytest

from tests.train.pools import write_answers
from workbench.benchmarks.benchmark import open_benchmark


@pytest.fixture(scope="module")
def files(tmp_path_factory, tiny):
    """The arguments that name the benchmark and three files of predictions."""
    root = tiny.write_bird(tmp_path_factory.mktemp("bird"))
    folder = write_answers(
        tmp_path_factory.mktemp("answers"), open_benchmark("bird-dev", root)
    )
    return ("bird-dev", "--root", root, folder)


def test_pairs_are_written_in_the_chosen_format(run, files, tmp_path):
    out = tmp_path / "pairs.jsonl"
    code, printed, _ = run("train", "pairs", *files, "--out", out, "--format", "gemini")
    assert code == 0
    assert printed.startswith(f"{out}: 12 pairs\n")
    keys = {"systemInstruction", "contents"}
    assert all(json.loads(line).keys() == keys for line in out.read_text().splitlines())


def test_where_no_candidate_is_right_generators_are_asked_with_a_hint(
    run, files, tmp_path, monkeypatch
):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    *given, folder = files
    command = (
        "train",
        "pairs",
        *given,
        folder / "poor.json",
        "--out",
        tmp_path / "pairs.jsonl",
    )
    command += ("--system", "direct")  # which asks nothing for a context
    for number, more in enumerate(((), ("--gold",))):
        code, printed, _ = run(*command, *more)
        assert code == 0
        assert ("\n0 calls" in printed) == (number > 0)  # cached
        assert (": 12 pairs" in printed) == ("--gold" in more)


def test_instructions_are_written_and_a_second_run_makes_no_calls(run, tmp_path):
    written = []
    for _ in range(2):
        out = tmp_path / "instructions.jsonl"
        code, printed, err = run(
            "train", "instructions", "bundled-train", "--limit", 6, "--out", out
        )
        assert (code, err) == (0, "")
        written.append(out.read_bytes())
    assert written[0] == written[1]
    lines = [json.loads(line) for line in written[0].splitlines()]
    assert lines
    assert all(
        line.keys() == {"question_id", "db_id", "agent", "messages"} for line in lines
    )
    right = len({line["question_id"] for line in lines})
    assert printed.startswith(
        f"{out}: {len(lines)} calls behind {right} right answers to 6 questions\n"
    )
    assert "\n0 calls" in printed


def test_a_missing_folder_is_an_error_before_any_call(
    run, files, tmp_path, monkeypatch
):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    benchmark = files[:3]
    out = tmp_path / "nowhere" / "instructions.jsonl"
    code, printed, err = run("train", "instructions", *benchmark, "--out", out)
    assert (code, printed) == (2, "")
    assert err.startswith(f"workbench: {out}: ")
    root, out = tmp_path / "none", tmp_path / "instructions.jsonl"
    code, printed, err = run(
        "train", "instructions", "bird-train", "--root", root, "--out", out
    )
    assert (code, printed) == (2, "")
    assert err.startswith(f"workbench: {root}: no such folder; give the one where")
    assert list(tmp_path.iterdir()) == []


def test_instructions_keep_to_the_dollars(run, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    command = ("train", "instructions", "bundled-train", "--limit", 1, "--dollars", 0)
    out = tmp_path / "instructions.jsonl"
    code, printed, err = run(*command, "--model", "openai/gpt-4o-mini", "--out", out)
    assert (code, printed) == (2, "")
    assert "the budget of $0.0000 is reached" in err


def test_rollouts_are_written_and_a_second_run_makes_no_calls(
    run, tmp_path, monkeypatch
):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    out = tmp_path / "rollouts.jsonl"
    command = (
        "train",
        "rollouts",
        "direct",
        "--samples",
        2,
        "--limit",
        3,
        "--out",
        out,
    )
    code, printed, err = run(*command)
    assert (code, err) == (0, "")
    assert printed.startswith(f"{out}: 6 rollouts, ")
    written = [json.loads(line) for line in out.read_text().splitlines()]
    assert set(written[0]) == {
        "question_id",
        "db_id",
        "prompt",
        "completion",
        "correct",
        "key",
    }
    assert "\n0 calls" in run(*command).out
    assert [json.loads(line) for line in out.read_text().splitlines()] == written


def test_gold_queries_under_partly_wrong_schemas_are_written_for_a_generator(
    run, files, tmp_path
):
    benchmark, *root = files[:3]
    out = tmp_path / "generator.jsonl"
    code, printed, _ = run(
        "train", "generator", benchmark, *root, "--limit", 3, "--out", out
    )
    assert code == 0
    assert printed.startswith(f"{out}: 3 questions\n")
    talk = json.loads(out.read_text().splitlines()[0])
    assert talk["agent"] == "generate/chess_candidate"
