"""The command line: tables for good input, one line and exit code 2 for any other, and a signal loses nothing."""

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

import workbench as wb
from workbench.cli import COMMANDS


@pytest.fixture(scope="module")
def bird(tmp_path_factory, tiny):
    return tiny.write_bird(tmp_path_factory.mktemp("bird"))


@pytest.fixture(scope="module")
def spider(tmp_path_factory, tiny):
    return tiny.write_spider(tmp_path_factory.mktemp("spider"))


@pytest.fixture(scope="module")
def right(tmp_path_factory, tiny):
    """Gold as a prediction file, in BIRD's form."""
    path = tmp_path_factory.mktemp("files") / "right.json"
    path.write_text(json.dumps({str(n): sql for n, sql in enumerate(tiny.gold)}))
    return path


@pytest.fixture(scope="module")
def wrong(right, tiny):
    """Every third answer is wrong; in Spider's form."""
    path = right.with_name("wrong.sql")
    path.write_text(
        "\n".join(s if n % 3 else "SELECT 99" for n, s in enumerate(tiny.gold))
    )
    return path


def test_files_are_judged_and_compared_with_the_best_first(run, spider, right, wrong):
    given = ("evaluate", "spider", "--root", spider, wrong, right)
    code, out, err = run(
        *given, "--by", "difficulty", "--by", "feature", "--efficiency", 1
    )
    assert (code, err) == (0, "")
    title, _, heading, first, second, *_ = out.splitlines()
    assert title.startswith("spider-dev: 12 questions")
    for name in ("ex_bird", "ex_spider", "em", "soft_f1", "ves", "r_ves"):
        assert name in heading.split()
    assert first.split()[:3] == ["right", "12", "100.00"]
    assert second.split()[:3] == ["wrong", "12", "66.67"]
    assert {"by difficulty", "by feature"} <= {*out.splitlines()}
    comparison = out.partition("against right, EX (BIRD)")[2].splitlines()
    assert comparison[1].split()[:6] == [
        "generator",
        "change",
        "low",
        "high",
        "won",
        "lost",
    ]
    assert comparison[2].split()[:2] == ["wrong", "-33.33"]
    assert "only right is right: 0 3 6 9" in comparison
    against = run(*given, "--against", "wrong").out
    assert "\n    right  +33.33" in against.partition("against wrong, EX (BIRD)")[2]
    code, _, err = run(*given, "--against", "none")
    assert (code, "it must be 'wrong' or 'right'" in err) == (2, True)


def test_thirty_files_are_a_table_and_a_comparison_adjusted_for_all(
    run, bird, tiny, tmp_path
):
    for n in range(30):
        rows = {
            str(k): sql if k >= n % 12 else "SELECT 99"
            for k, sql in enumerate(tiny.gold)
        }
        (tmp_path / f"system_{n:02}.json").write_text(json.dumps(rows))
    code, out, _ = run("evaluate", "bird", "--root", bird, tmp_path)
    lines = out.splitlines()
    assert (code, len(lines) <= 70) == (0, True)
    shares = [float(line.split()[2]) for line in lines[3:33]]
    assert shares == sorted(shares, reverse=True)
    rows = [
        line.split()
        for line in out.partition("against system_00, ")[2].splitlines()[2:]
    ]
    assert len(rows) == 29
    p, adjusted = ([float(row[place]) for row in rows] for place in (-2, -1))
    assert adjusted == pytest.approx(wb.holm(p), rel=0.01)


METRIC = """def extra_rows(gold, predicted):
    return len(predicted.rows) - len(gold.rows)
"""


def test_a_metric_of_ones_own_stands_in_every_table(
    run, bird, wrong, tmp_path, monkeypatch
):
    (tmp_path / "my_metrics.py").write_text(METRIC)
    monkeypatch.chdir(tmp_path)
    command = (
        "evaluate",
        "bird",
        "--root",
        bird,
        wrong,
        "--by",
        "difficulty",
        "--metric",
    )
    code, out, _ = run(*command, "my_metrics:extra_rows")
    assert code == 0
    assert out.count("extra_rows  extra_rows_low  extra_rows_high") == 2
    for metric in ("my_metrics:nothing", "no_such_module:f", "my_metrics"):
        code, _, err = run(*command, metric)
        assert (code, "give MODULE:FUNCTION" in err) == (2, True)


@pytest.mark.parametrize("name", ["correct", "system"])
def test_a_metric_may_be_called_as_a_column_of_a_comparison(
    run, bird, right, wrong, tmp_path, monkeypatch, name
):
    (tmp_path / f"of_{name}.py").write_text(METRIC.replace("extra_rows", name))
    monkeypatch.chdir(tmp_path)
    metric = f"of_{name}:{name}"
    out = run("evaluate", "bird", "--root", bird, right, wrong, "--metric", metric).out
    assert f"{name}_low" in out
    assert "against" in out


def test_answers_are_split_by_whether_the_data_decides_gold(run, bird, right):
    out = run("evaluate", "bird", "--root", bird, right, "--by", "determined").out
    rows = [
        line.split()[:3]
        for line in out.partition("by determined\n")[2].splitlines()[1:]
    ]
    assert rows == [["right", "determined", "11"], ["right", "empty", "1"]]


@pytest.mark.filterwarnings("default")
def test_a_damaged_database_ends_with_1_and_its_questions_are_left_out(
    run, tiny, right, tmp_path
):
    root = tiny.write_bird(tmp_path)
    (root / "dev_databases/shop/shop.sqlite").write_bytes(b"not a database " * 400)
    code, out, err = run("evaluate", "bird", "--root", root, right)
    assert (code, "8 questions" in out.splitlines()[0]) == (1, True)
    assert "4 questions on damaged databases are left out (shop: " in err
    assert err.rstrip().endswith("4, 5, 6, 7")


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_verdicts_are_saved_and_a_spreadsheet_runs_no_cell(
    run, bird, tiny, tmp_path, form
):
    answers, saved = tmp_path / "answers.jsonl", tmp_path / f"verdicts.{form}"
    rows = [{"question_id": n, "sql": sql} for n, sql in enumerate(tiny.gold)]
    rows[0]["sql"] = "=cmd()"
    answers.write_text("\n".join(map(json.dumps, rows)))
    command = ("evaluate", "bird-dev", "--root", bird, answers)
    assert run(*command, "--save", saved).code == 0
    if form == "csv":
        found = [*csv.DictReader(saved.read_text().splitlines())]
    else:
        found = [json.loads(line) for line in saved.read_text().splitlines()]
    assert [row["sql"] for row in found[:2]] == [
        "'=cmd()" if form == "csv" else "=cmd()",
        tiny.gold[1],
    ]
    assert [float(row["ex_bird"]) for row in found[:2]] == [0, 1]


def test_answers_are_judged_under_other_golds_too(run, bird, right, tmp_path):
    revised = tmp_path / "revised.json"
    revised.write_text(
        json.dumps([{"question_id": 0, "SQL": "SELECT 99"}, {"question_id": 1}])
    )
    command = ("evaluate", "bird", "--root", bird, right, "--gold")
    out = run(*command, f"new={revised}").out
    row = out.partition("under the golds new\n")[2].splitlines()[1].split()
    assert row[:3] == ["right", "2", "50.00"]


def test_a_limit_takes_some_answers_of_files_for_all_questions(run, bird, right, wrong):
    command = ("evaluate", "bird-dev", "--root", bird, "--limit", 5, right, wrong)
    code, out, err = run(*command)
    assert (code, err) == (0, "")
    assert [line.split()[1] for line in out.splitlines()[3:5]] == ["5", "5"]


def test_data_lists_checks_and_names_what_is_missing(run, bird, spider, tmp_path):
    assert "bundled-train" in run("data").out
    code, out, err = run("data", "check", "bundled-train")
    assert (code, err, out) == (0, "", "260 questions, 4 databases\n")
    code, out, _ = run("data", "check", "bird-dev", "--root", bird)
    few, bare = "12 of 1,534 questions", "no database_description of pond, shop"
    assert (code, out.splitlines()[1:3]) == (1, [few, f"{bare}, zoo"])
    assert "question 11: it finds nothing" in out
    assert f"bird-dev       {few}; {bare}" in run("data", "check", bird).out
    assert "spider-dev     12 of 1,034 questions" in run("data", "check", spider).out
    code, out, _ = run("data", "check", tmp_path)
    assert (code, "bird-dev       bird-dev: no dev.json" in out) == (1, True)


def test_golds_that_find_nothing_or_cut_a_tie_are_told_and_are_no_fault(
    run, tiny, tmp_path
):
    tiny.write_databases(tmp_path / "databases")
    tie = "SELECT name FROM animal ORDER BY legs LIMIT 2"
    items = [
        {"db_id": "zoo", "question": "?", "SQL": sql} for sql in (tie, tiny.gold[11])
    ]
    items[1]["db_id"] = "pond"
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(items))
    code, out, _ = run("data", "check", path, "--root", tmp_path)
    assert code == 0
    cut = "LIMIT keeps some of the rows that are equal in the order: cat | dog"
    assert out.splitlines()[1:] == [
        f"question 0: {cut}",
        "question 1: it finds nothing",
    ]
    items[0]["SQL"] = "SELECT nothing_of_it FROM animal"
    path.write_text(json.dumps(items))
    assert run("data", "check", path, "--root", tmp_path).code == 1


def test_a_folder_with_a_benchmarks_name_does_not_hide_it(
    run, tiny, spider, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spider").mkdir()
    out = run("data", "check", "spider", "--root", spider).out
    assert out.startswith("12 questions, 3 databases\n")
    code, out, _ = run("data", "check", "./spider")
    assert (code, "spider-dev     spider-dev: no " in out) == (1, True)


def test_init_copies_the_notebooks_and_experiments_once(run, tmp_path):
    assert run("init", tmp_path / "mine").code == 0
    assert (tmp_path / "mine/experiments/embedded.yaml").is_file()
    assert list((tmp_path / "mine/notebooks").rglob("*.ipynb"))
    again = run("init", tmp_path / "mine")
    assert (again.code, again.err.count("\n")) == (2, 1)


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_the_help_of_a_command_stands_on_one_screen(run, command):
    code, out, _ = run(*filter(None, [command]), "--help")
    assert code == 0
    assert len(out.splitlines()) <= 50
    assert command or all(f"\n  {name}" in out for name in COMMANDS)


@pytest.mark.parametrize("command", [[], ["train"], ["cache"]])
def test_a_group_without_a_command_prints_its_help(run, command):
    assert run(*command) == run(*command, "--help")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["evaluate"], "'BENCHMARK'"),
        (["evaluate", "bird-dev"], "'FILE...'"),
        (["evaluat"], "'evaluat'"),
        (["evaluate", "birds", "x"], "'birds'"),
        (["evaluate", "bird-dev", "x"], "--root"),
        (["evaluate", "bird-dev", "--root", "/no", "x"], "/no: no such folder"),
        (["evaluate", "bundled", "/no.json"], "/no.json: No such file"),
        (["evaluate", "bundled", "x", "--efficiency", "0"], "--efficiency"),
        (["evaluate", "bundled", "x", "--save", "/no/x"], "/no/x: cannot be written"),
        (["evaluate", "bundled", "x", "--gold", "new"], "NAME=FILE"),
        (["evaluate", "bundled", "x", "--gold", "n=a", "--gold", "n=b"], "once"),
        (
            ["run", "direct", "--benchmark", "bundle"],
            "no benchmark 'bundle'; there are bird-dev, ",
        ),
        (
            ["run", "mac", "--benchmark", "bird-dev"],
            "bird-dev is not bundled: give --root",
        ),
        (["run", "direct", "--save", "/no/x.json"], "/no/x.json: cannot be written"),
        (["run", "tug"], "'tug'"),
        (["ask", "nowhere", "How many?"], "nowhere: no such file"),
        (["ask", "harbour", " "], "empty"),
        (["ask", "harbour", "How many?", "--dollars", "-1"], "--dollars"),
        (["ask", "harbour", "How many?", "--model", "gpt-4o"], "PROVIDER/MODEL"),
        (["ask", "harbour", "How many?", "--system", "mac", "--judge", "a/b"], "mac"),
    ],
    ids=" ".join,
)
def test_bad_arguments_are_told_in_one_line(run, arguments, line):
    code, _, err = run(*arguments)
    assert code == 2
    assert err.startswith("workbench: ")
    assert (err.count("\n"), line in err) == (1, True), err


def test_a_home_that_cannot_be_used_is_told_in_one_line(run, monkeypatch, right):
    monkeypatch.setenv("WORKBENCH_HOME", str(right))
    code, _, err = run("evaluate", "bundled", right)
    assert (code, err.count("\n"), "WORKBENCH_HOME" in err) == (2, 1, True)


def start(tmp_path, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "workbench", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, cwd=Path(__file__).parents[2], env=os.environ | {"WORKBENCH_HOME": str(tmp_path / "home")},
    )  # fmt: skip


def executions(path):
    """The number of cached executions."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as database, suppress(sqlite3.OperationalError):
        return database.execute("SELECT count(*) FROM executions").fetchone()[0]
    return 0  # the table is not there yet


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_running_query_and_keeps_what_was_finished(
    tmp_path, bird, tiny, sent
):
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c"
    path, cache = tmp_path / "system.json", tmp_path / "home/lab.sqlite"
    path.write_text(
        json.dumps({str(n): sql for n, sql in enumerate(tiny.gold)} | {"0": endless})
    )
    with start(tmp_path, "evaluate", "bird-dev", "--root", bird, path) as process:
        while executions(cache) < 13 and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(sent)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (128 + sent, "")
    assert (
        err.strip()
        == "workbench: stopped; finished work is saved, run the command again to go on"
    )
    # 12 gold queries and one without its DISTINCT; 11 of the 12 answers are the same queries.
    assert executions(cache) == 13


def test_a_closed_pipe_causes_no_traceback(tmp_path):
    with start(tmp_path, "evaluate", "--help") as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


PROGRAM = """
import sys
from contextlib import suppress
from workbench.cli import cli
with suppress(SystemExit):
    cli.main(sys.argv[1:], standalone_mode=False)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize(
    ("command", "slow"),
    [
        (
            ["ask", "harbour", "How many tugs are there?", "--system", "direct"],
            {"pandas", "scipy"},
        ),
        (["data", "check", "bundled-dev"], set()),
        (["cache", "merge", "{empty}"], {"pandas", "numpy"}),
    ],
)
def test_a_command_imports_no_package_that_it_does_not_need(tmp_path, command, slow):
    (tmp_path / "empty.jsonl").touch()
    words = [word.format(empty=tmp_path / "empty.jsonl") for word in command]
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        env=os.environ | {"WORKBENCH_HOME": str(tmp_path / "home")}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    slow |= {"litellm", "openai", "httpx", "matplotlib", "IPython", "papermill", "tqdm"}
    assert not slow & {*process.stdout.splitlines()[-1].split()}
