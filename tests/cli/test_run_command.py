"""`workbench run`: one system over a benchmark; its table and its answers can be judged and traced."""

import re
import shlex
from pathlib import Path

import orjson
import pytest

from workbench.benchmarks.benchmark import open_benchmark
from workbench.prompts import load


@pytest.fixture
def workbench(run, tmp_path, monkeypatch):
    """Runs a command in an empty folder, and gives its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    return run


@pytest.fixture
def own_prompts(tmp_path):
    """A folder `mine` with a prompt of the package."""
    (tmp_path / "mine" / "generate").mkdir(parents=True)
    text = load("generate/direct").source
    (tmp_path / "mine" / "generate" / "direct.md").write_text(text, encoding="utf-8")


def test_it_prints_the_table_and_where_the_answers_lie(workbench, tmp_path):
    done = workbench("run", "direct", "--limit", 4)
    assert done.code == 0, done.err
    ex, low, high = map(
        float, re.search(r"\| +4 \| +(\S+) \((\S+) to (\S+)\) \|", done.out).groups()
    )
    assert 0 <= low <= ex <= high <= 100
    assert "embedded/parser (a small statistical parser, no language model)" in done.out
    answers, trace = re.findall(
        r"^(?:answers: |table:   workbench )(.*)$", done.out, re.MULTILINE
    )
    judged = workbench("evaluate", "bundled-dev", "--limit", 4, answers)
    traced = workbench(*trace.split())
    assert judged.code == traced.code == 0, judged.err + traced.err
    heading, row, *_ = [line.split() for line in judged.out.splitlines()[2:]]
    assert float(row[heading.index("ex_bird") - len(heading)]) == ex
    assert sum(traced.out.count(f" {verdict} ") for verdict in ("right", "wrong")) == 4
    again = workbench("run", "direct", "--limit", 4)
    *shown, paid = done.out.splitlines()
    assert again.out.splitlines()[:-1] == shown
    assert paid.endswith(": 4 calls asked, 0 cached, $0.0000")
    assert again.out.splitlines()[-1].endswith(": 0 calls asked, 0 cached, $0.0000")


@pytest.mark.usefixtures("own_prompts")
def test_answers_to_the_users_own_prompts_have_their_own_file(workbench, tmp_path):
    done = workbench("run", "direct", "--limit", 1, "--prompts", "mine")
    assert done.code == 0, done.err
    assert (tmp_path / "runs/bundled-dev-1/direct_embedded_parser_mine.csv").is_file()


def test_it_runs_on_bird_where_it_was_unpacked(workbench, tiny, tmp_path):
    root = tiny.write_bird(tmp_path / "bird")
    done = workbench("run", "direct", "--benchmark", "bird-dev", "--root", root)
    assert done.code == 0, done.err
    assert re.search(r"\| +12 \|", done.out)
    assert "on bird-dev, N = 12, EX (BIRD)" in done.out


def test_the_benchmark_may_be_a_file_of_ones_own(workbench, tmp_path):
    bundled = open_benchmark("bundled-dev")
    asked = bundled.questions[:2]
    items = [
        {"db_id": q.db_id, "question": q.text, "query": bundled.golds[q.id].sql}
        for q in asked
    ]
    file = tmp_path / "my own.json"
    file.write_bytes(orjson.dumps(items))
    done = workbench("run", "direct", "--benchmark", file, "--root", bundled.databases)
    assert "on my own, N = 2, EX (Spider)" in done.out
    (traced,) = re.findall(r"^table:   workbench (.*)$", done.out, re.MULTILINE)
    assert workbench(*shlex.split(traced)).code == 0
    folder = Path("runs") / "my own"
    judged = workbench("evaluate", file, "--root", bundled.databases, folder)
    assert (judged.code, judged.out.startswith("my own: 2 questions")) == (0, True)
    assert (folder / "direct_embedded_parser.csv").is_file()


@pytest.mark.usefixtures("own_prompts")
def test_a_preview_estimates_calls_and_cost(workbench):
    done = workbench("run", "direct", "--limit", 2, "--prompts", "mine", "--preview")
    assert done.code == 0, done.err
    assert "; 2 calls, 100% of them direct" in done.out


@pytest.mark.parametrize(
    ("dollars", "said"),
    [("0", "the budget of $0.0000 is reached"), ("nan", "dollars is nan")],
)
def test_a_budget_of_nothing_is_no_lack_of_a_budget(
    workbench, monkeypatch, dollars, said
):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
    model = ("--model", "openai/gpt-4o-mini")
    done = workbench("run", "zero-shot", "--limit", 1, *model, "--dollars", dollars)
    assert done.code == 2
    assert said in done.err


def test_the_table_says_which_gold_queries_fail(workbench, tmp_path):
    items = [
        {
            "question_id": number,
            "db_id": "harbour",
            "question": "How many tugs?",
            "SQL": sql,
        }
        for number, sql in enumerate(("SELEC 1", "SELECT count(*) FROM tug"))
    ]
    (tmp_path / "two.json").write_bytes(orjson.dumps(items))
    databases = open_benchmark("bundled-dev").databases
    own = ("--benchmark", "two.json", "--root", databases)
    done = workbench("run", "zero-shot", *own)
    assert done.code == 0, done.err
    assert (
        "The gold queries of 1 of 2 questions fail, so that no answer to them is right: 0."
        in done.out
    )
