"""`workbench run`: one system over a benchmark; its table and its answers can be judged and traced."""

import re
import shlex
from pathlib import Path

import orjson
import pytest

from workbench.benchmarks.load import open_benchmark
from workbench.prompts.prompt import load

CHECKOUT = Path(__file__).parents[2]


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
    commands = re.findall(r"^ +workbench (.*)$", done.out, re.MULTILINE)
    judged, traced = (workbench(*command.split()) for command in commands)
    assert judged.code == traced.code == 0, judged.err + traced.err
    (row,) = [line for line in judged.out.splitlines() if line.startswith("direct")]
    assert float(row.split()[5]) == ex
    assert traced.out.count(", chosen") == 4
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


def test_a_model_for_columns_needs_a_system_that_filters_them(workbench):
    done = workbench("run", "mac", "--limit", 1, "--filtering", "embedded/small")
    assert done.code == 2
    assert "--filtering embedded/small: mac filters no columns; leave it out" in done.err


def test_a_benchmark_that_is_not_bundled_needs_its_folder(workbench):
    done = workbench("run", "mac", "--benchmark", "bird-dev")
    assert done.code == 2
    assert "bird-dev is not bundled: give --root" in done.err


def test_it_runs_on_bird_where_it_was_unpacked(workbench, tiny, tmp_path):
    root = tiny.write_bird(tmp_path / "bird")
    done = workbench("run", "direct", "--benchmark", "bird-dev", "--root", root)
    assert done.code == 0, done.err
    assert re.search(r"\| +12 \|", done.out)
    assert "on bird-dev, N = 12, EX (BIRD)" in done.out


def test_several_folders_of_prompts_are_run_side_by_side(workbench, tmp_path):
    mine = tmp_path / "mine" / "generate"
    mine.mkdir(parents=True)
    packaged = CHECKOUT / "workbench" / "prompts" / "generate" / "direct.md"
    (mine / "direct.md").write_text(packaged.read_text().replace("{{ hint or", '{{ "" or'))
    done = workbench("run", "direct", "--limit", 8, "--prompts", "packaged", "--prompts", "mine")
    assert done.code == 0, done.err
    assert re.search(r"\| packaged prompts \| +8 \|", done.out)
    assert re.search(r"\| mine +\| +8 \|", done.out)
    judged, traced = re.findall(r"^ +workbench (.*)$", done.out, re.MULTILINE)
    assert judged.count("answers.jsonl") == 2
    assert workbench(*judged.split()).code == 0
    assert workbench(*traced.split()).code == 0
    assert done.out.splitlines()[-1].startswith("mine: 6 calls asked, 2 cached, ")
    flips = tmp_path / "runs/bundled-dev-8/direct_embedded_parser_packaged_mine_questions.csv"
    assert flips.read_text().startswith("question_id,question,flips,packaged prompts,mine\n")


def test_the_benchmark_may_be_a_file_of_ones_own(workbench, tmp_path):
    bundled = open_benchmark("bundled-dev")
    asked = bundled.questions[:2]
    items = [
        {"db_id": q.db_id, "question": q.text, "query": bundled.golds[q.id].sql} for q in asked
    ]
    file = tmp_path / "my own.json"
    file.write_bytes(orjson.dumps(items))
    done = workbench("run", "direct", "--benchmark", file, "--root", bundled.databases)
    assert "on my own, N = 2, EX (Spider)" in done.out
    judged, traced = re.findall(r"^ +workbench (.*)$", done.out, re.MULTILINE)
    assert workbench(*shlex.split(judged)).code == 0
    assert workbench(*shlex.split(traced)).code == 0
    folder = Path("runs") / "my own"
    given = ("--root", bundled.databases, folder)
    whole = workbench("evaluate", file, *given)
    assert whole.out == workbench(*shlex.split(judged)).out
    assert (folder / "direct_embedded_parser.csv").is_file()


def test_an_unknown_benchmark_is_refused_with_those_there_are(workbench):
    done = workbench("run", "direct", "--benchmark", "bundle")
    assert done.code == 2
    assert "no benchmark 'bundle'; there are bird-dev, " in done.err


@pytest.mark.usefixtures("own_prompts")
def test_a_preview_estimates_each_folder_of_prompts(workbench):
    folders = ("--prompts", "packaged", "--prompts", "mine")
    done = workbench("run", "direct", "--limit", 2, *folders, "--preview")
    assert done.code == 0, done.err
    assert "; 2 calls, 100% of them direct" in done.out  # of equal prompts


@pytest.mark.parametrize(
    ("dollars", "said"), [("0", "the budget of $0.0000 is reached"), ("nan", "nan is no number")]
)
def test_a_budget_of_nothing_is_no_lack_of_a_budget(workbench, monkeypatch, dollars, said):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
    model = ("--model", "openai/gpt-4o-mini")
    done = workbench("run", "zero-shot", "--limit", 1, *model, "--dollars", dollars)
    assert done.code == 2
    assert said in done.err


def test_the_table_says_which_gold_queries_fail_and_how_many_a_revision_has(workbench, tmp_path):
    items = [
        {"question_id": number, "db_id": "harbour", "question": "How many tugs?", "SQL": sql}
        for number, sql in enumerate(("SELEC 1", "SELECT count(*) FROM tug"))
    ]
    (tmp_path / "two.json").write_bytes(orjson.dumps(items))
    (tmp_path / "new.json").write_bytes(orjson.dumps(items[1:]))
    databases = open_benchmark("bundled-dev").databases
    own = ("--benchmark", "two.json", "--root", databases)
    done = workbench("run", "zero-shot", *own, "--gold", "new=new.json")
    assert done.code == 0, done.err
    assert "The gold query of 1 of 2 questions fails (0): no answer to them is right." in done.out
    assert "new has 1 of the 2 questions: its EX and change are of these." in done.out


def test_the_table_says_which_gold_queries_of_a_revision_fail(workbench, tmp_path):
    first = open_benchmark("bundled-dev").questions[0]
    item = {"question_id": first.id, "db_id": first.db_id, "SQL": "SELECT nothing FROM nowhere"}
    (tmp_path / "new.json").write_bytes(orjson.dumps([item]))
    done = workbench("run", "zero-shot", "--limit", 1, "--gold", "new=new.json")
    assert done.code == 0, done.err
    said = f"The gold query of 1 of 1 questions of new fails ({first.id})"
    assert said in done.out
