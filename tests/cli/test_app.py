"""The command line: tables and JSON for good input, one line and exit code 2 for any other."""

import csv
import errno
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from workbench.benchmarks.bundled import load_bundled
from workbench.sql.executor import Executor


@pytest.fixture
def complaint(run):
    """The one line on standard error with which a command is refused."""

    def complaint(*arguments):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("workbench: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        return err

    return complaint


@pytest.fixture(scope="module")
def bird(tmp_path_factory, tiny):
    return tiny.write_bird(tmp_path_factory.mktemp("bird"))


@pytest.fixture(scope="module")
def spider(tmp_path_factory, tiny):
    return tiny.write_spider(tmp_path_factory.mktemp("spider"))


@pytest.fixture(scope="module")
def right(tmp_path_factory, tiny):
    """Gold as a prediction file, in a folder of its own."""
    path = tmp_path_factory.mktemp("right") / "system.json"
    path.write_text(json.dumps({str(n): sql for n, sql in enumerate(tiny.gold)}))
    return path


@pytest.fixture(scope="module")
def wrong(tmp_path_factory, tiny):
    """Another file of the same name: every third answer is wrong."""
    path = tmp_path_factory.mktemp("wrong") / "system.json"
    answers = {str(n): sql if n % 3 else "SELECT 99" for n, sql in enumerate(tiny.gold)}
    path.write_text(json.dumps(answers))
    return path


# What is printed


def test_a_table_has_a_row_a_file(run, bird, right):
    code, out, err = run("evaluate", "bird-dev", "--root", bird, "--predictions", right)
    assert (code, err) == (0, "")
    title, _, heading, row = out.splitlines()
    assert title.startswith("bird-dev: 12 questions, 3 databases")
    assert heading.split()[:4] == ["file", "n", "EX", "(BIRD)"]
    assert row.split()[:3] == ["system", "12", "100.00"]


def test_json_is_one_object_with_files_in_percent(run, spider, right, wrong):
    command = ["evaluate", "spider", "--root", spider, "--json", "--predictions"]
    code, out, err = run(*command, wrong, right)
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert report["benchmark"] == "spider-dev"
    assert [file["n"] for file in report["files"]] == [12, 12]
    first, second = report["files"]
    assert first["ex_bird"] == first["ex_spider"] == pytest.approx(66.667, abs=0.001)
    assert second["ex_bird"] == second["ex_spider"] == second["em"] == 100.0


def test_files_may_follow_one_option_or_each_its_own(run, bird, right, wrong):
    command = ["evaluate", "bird-dev", "--root", bird]
    one = run(*command, "--predictions", right, wrong, "--json")
    each = run(*command, "--json", "--predictions", right, "--predictions", wrong)
    assert one == each
    assert len(json.loads(one[1])["files"]) == 2


def test_a_folder_means_all_prediction_files_in_it(run, right, bird, tmp_path):
    for name in ("b.json", "a.jsonl.json", "README.md", ".hidden"):
        (tmp_path / name).write_text(right.read_text())
    out = run("evaluate", "bird-dev", "--root", bird, "--predictions", tmp_path, "--json")[1]
    names = [file["generator"] for file in json.loads(out)["files"]]
    assert names == ["a.jsonl", "b"]


def test_several_slices_at_once(run, bird, right):
    command = ["evaluate", "bird-dev", "--root", bird, "--predictions", right]
    slices = ["--by", "difficulty", "--by", "database", "--by", "feature"]
    out = run(*command, *slices)[1]
    assert [line for line in out.splitlines() if line.startswith("by ")] == [
        "by difficulty",
        "by database",
        "by feature",
    ]
    report = json.loads(run(*command, *slices, "--json")[1])
    assert {"by difficulty", "by database", "by feature"} <= set(report)


def test_verdicts_are_json_lines(run, bird, right, wrong, tmp_path):
    path = tmp_path / "verdicts.jsonl"
    path.write_text("what stood there before")
    command = ["evaluate", "bird-dev", "--root", bird, "--predictions", right, wrong]
    code, out, _ = run(*command, "--verdicts", path)
    assert (code, "EX (BIRD)" in out) == (0, True)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(rows) == 24
    assert {row["generator"] for row in rows} == {f"{right}: system", f"{wrong}: system"}
    assert rows[0]["sql"] == "SELECT count(*) FROM animal"
    assert rows[0]["ex_bird"] == 1.0


def test_verdicts_in_a_file_that_ends_in_csv_are_csv(run, bird, right, tmp_path):
    path = tmp_path / "verdicts.csv"
    command = ["evaluate", "bird-dev", "--root", bird, "--predictions", right]
    assert run(*command, "--verdicts", path)[0] == 0
    with path.open(newline="") as file:
        rows = [*csv.DictReader(file)]
    assert (len(rows), rows[0]["sql"]) == (12, "SELECT count(*) FROM animal")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("name", ["red\x1b[31m", "half\udcff"], ids=ascii)
def test_a_file_of_any_name_is_judged(run, bird, right, tmp_path, name, ending):
    file = tmp_path / f"{name}.json"
    file.write_bytes(right.read_bytes())
    command = ["evaluate", "bird-dev", "--root", bird, "--predictions", file]
    code, out, err = run(*command, "--verdicts", tmp_path / f"verdicts.{ending}")
    assert (code, err) == (0, "")
    assert ascii(name)[1:-1].replace("\\x", "\\u00") in out


def test_gold_as_a_prediction_on_the_bundled_questions_with_efficiency(run, tmp_path):
    benchmark = load_bundled("train")
    lines = [
        json.dumps({"question_id": question.id, "sql": benchmark.golds[question.id].sql})
        for question in benchmark.questions
    ]
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(lines))
    command = ["evaluate", "bundled-train", "--predictions", path, "--efficiency", 2, "--json"]
    code, out, err = run(*command)
    assert (code, err) == (0, "")
    (file,) = json.loads(out)["files"]
    assert file["n"] == len(lines)
    assert file["ex_bird"] == 100
    assert file["ves"] > 0
    assert file["r_ves_opcodes"] > 0


def test_reproduce_names_the_model_and_ends_with_the_gallery(run, tmp_path):
    notebook = {
        "cells": [
            {
                "cell_type": "code", "id": "a", "metadata": {"tags": ["parameters"]}, "outputs": [],
                "execution_count": None, "source": "experiment = 'x'\nlimit = None",
            },
            {
                "cell_type": "code", "id": "b", "metadata": {}, "outputs": [],
                "execution_count": None, "source": DRAWS,
            },
        ],
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "one.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "experiments").mkdir()
    experiment = tmp_path / "experiments" / "mine.yaml"
    experiment.write_text("limit: 2\nnotebooks:\n  one:\n")
    code, out, err = run("reproduce", experiment)
    last = err.splitlines()[-1]  # a slow machine shows its progress before
    assert (code, last) == (0, "one: done")
    assert out.startswith("machinery check: a parser answers, no language model")
    assert f"gallery: {tmp_path / 'figures' / 'README.md'}" in out
    data = tmp_path / "figures" / "mine" / "a_table.csv"

    code, out, _ = run("trace", data, 0)
    assert code == 0
    assert "2 candidates for 2 questions, 2 calls" in out
    assert "call:" in out


DRAWS = """import pandas as pd
from workbench.report.tables import alone
from workbench.study import open_study
from workbench.systems.baselines import direct
study = open_study(experiment, limit=limit)
run = study.run(direct())
study.save("a_table", alone(pd.DataFrame([run.row()]), study.stamp, "A table"))"""


def test_ask_answers_a_question_about_any_file(run, bird):
    database = bird / "dev_databases/zoo/zoo.sqlite"
    code, out, err = run("ask", database, "How many animals are there?", "--system", "direct")
    assert code == 0, err
    assert out.startswith("1 row:\n`COUNT(*)`\n4\n")
    assert "Chosen by majority: 1 of 1 candidates" in out


def test_data_counts_the_parts_of_a_benchmark(run, bird):
    code, out, err = run("data", "bundled-train")
    assert (code, err) == (0, "")
    assert "260 questions, 4 databases" in out
    code, out, _ = run("data", "bird-dev", "--root", bird)
    assert "the gold query gives no rows" in out
    assert code == 1


def test_data_and_evaluate_agree_on_the_difficulty_of_spiders_questions(run, spider, right):
    out = run("data", "spider", "--root", spider)[1]
    listed = re.search(r"^difficulty: (.*)$", out, re.MULTILINE)[1]
    told = {name: int(share.rstrip("%")) for name, share in map(str.split, listed.split(", "))}
    command = ["evaluate", "spider", "--root", spider, "--predictions", right]
    rows = json.loads(run(*command, "--by", "difficulty", "--json")[1])["by difficulty"]
    judged = {row["difficulty"]: round(100 * row["n"] / 12) for row in rows}
    assert told == judged
    assert set(told) >= {"easy", "medium"}


@pytest.fixture
def partial(tiny, tmp_path):
    """BIRD's dev without one of its three databases."""
    root = tiny.write_bird(tmp_path)
    shutil.rmtree(root / "dev_databases" / "shop")
    return root


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("form", ["json", "sql"])
def test_a_file_for_all_questions_is_judged_where_a_database_is_missing(
    run, partial, right, tiny, tmp_path, form
):
    path = right
    if form == "sql":
        path = tmp_path / "lines.sql"
        path.write_text("\n".join(tiny.gold))
    code, out, err = run("evaluate", "bird-dev", "--root", partial, "--predictions", path)
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("workbench: bird-dev: 4 of 12 questions are left out: in ")
    assert out.splitlines()[3].split()[1:3] == ["8", "100.00"]
    code, out, err = run("data", "bird-dev", "--root", partial)
    assert (code, "no database shop" in err) == (1, True)
    assert out.startswith("8 questions")


@pytest.mark.parametrize("form", ["json", "sql"])
def test_a_limit_takes_some_answers_of_a_file_for_all_questions(
    run, bird, right, tiny, tmp_path, form
):
    path = right
    if form == "sql":
        path = tmp_path / "lines.sql"
        path.write_text("\n".join(tiny.gold))
    command = ["evaluate", "bird-dev", "--root", bird, "--limit", 5, "--predictions", path]
    code, out, err = run(*command)
    assert (code, err) == (0, "")
    assert out.splitlines()[3].split()[1:3] == ["5", "100.00"]


def test_a_pool_has_a_row_of_the_majority(run, bird, right, wrong):
    command = ["evaluate", "bird-dev", "--root", bird, "--pool", "--predictions", right, wrong]
    code, out, err = run(*command)
    assert (code, err) == (0, "")
    assert "picked by majority" in out


def test_without_a_command_the_help_is_shown(run):
    code, out, err = run()
    assert (code, err) == (2, "workbench: give one of these commands\n")
    assert out.startswith("Usage: workbench")
    assert run("--help") == (0, out, "")
    assert run("-h") == (0, out, "")


def test_every_command_has_one_line_of_help(run):
    commands = run("--help")[1].partition("Commands:\n")[2].splitlines()
    assert len(commands) >= 2
    assert [line for line in commands if not line.endswith(".") or "..." in line] == []


def test_the_help_of_evaluate_lists_its_options(run):
    code, out, _ = run("evaluate", "--help")
    assert code == 0
    for word in ("workbench data", "--root", "--json", "EX is given in two senses"):
        assert word in out


# What is refused


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["evaluate"], "Missing argument 'BENCHMARK'"),
        (["evaluate", "bird-dev"], "Missing option '--predictions'"),
        (["evaluate", "bird-dev", "--predictions"], "'--predictions' requires an argument"),
        (["evaluat"], "No such command 'evaluat'"),
        (["--frob"], "No such option"),
        (["evaluate", "bundled", "--frob", "--predictions", "x"], "No such option"),
        (["evaluate", "birds", "--predictions", "x"], "no benchmark 'birds'; there are bird-dev,"),
        (["evaluate", "bird-dev", "--predictions", "x"], "give --root, the folder where it was"),
        (["evaluate", "bird-dev", "--root", "/no", "--predictions", "x"], "/no: no such folder"),
        (["evaluate", "bundled", "--predictions", "/no.json"], "/no.json: No such file"),
        (["evaluate", "bundled", "--predictions", "x", "--by", "x"], "'x' is not one of"),
        (["evaluate", "bundled", "--predictions", "x", "--efficiency", "0"], "0 is not in"),
        (["evaluate", "bundled", "--predictions", "x", "--efficiency", "x"], "not a valid integer"),
        (["evaluate", "bundled", "--predictions", "x", "--seconds", "x"], "not a valid float"),
        (["evaluate", "bundled", "--predictions", "x", "--seconds", "0"], "must be above 0 and at"),
        (
            ["evaluate", "bundled", "--predictions", "x", "--seconds", "-1"],
            "must be above 0 and at",
        ),
        (
            ["evaluate", "bundled", "--predictions", "x", "--seconds", "nan"],
            "must be above 0 and at",
        ),
        (["evaluate", "bundled", "--predictions", "x", "--seconds", "1e9"], "at most 86400"),
        (["evaluate", "bundled", "--predictions", "x", "--verdicts", "/no/x"], "/no/x: No such"),
        (["evaluate", "bundled", "--predictions", "x", "--verdicts", "/"], "is a directory"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_arguments_are_one_line(complaint, arguments, line):
    assert line in complaint(*arguments)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "empty; expected predictions"),
        (b"SELECT 1\n", "1 entries for the 12 questions"),
        (b'{"0": "SELECT', "not JSON"),
        (b'{"77": "SELECT 1"}', "bird-dev has no question '77'"),
        (b'{"0": "SELECT 1\\t----- bird -----\\tpond"}', "entry 1: database 'pond'"),
        (b"\xff\x81", "not UTF-8 text"),
        (b"\xff\xfe", "empty; expected predictions"),  # UTF-16 without text
    ],
)
def test_bad_prediction_files_are_one_line(complaint, bird, tmp_path, content, line):
    path = tmp_path / "system.txt"
    path.write_bytes(content)
    message = complaint("evaluate", "bird-dev", "--root", bird, "--predictions", path)
    assert str(path) in message
    assert line in message


def test_a_file_given_twice_and_a_folder_without_files_are_one_line(
    complaint, bird, right, tmp_path
):
    command = ["evaluate", "bird-dev", "--root", bird, "--predictions"]
    assert "given twice" in complaint(*command, right, right)
    assert "given twice" in complaint(*command, right.parent, right)
    assert "no prediction file" in complaint(*command, tmp_path)


def test_a_benchmark_whose_databases_are_gone_is_one_line(complaint, tmp_path, tiny, right):
    root = tiny.write_bird(tmp_path / "dev")
    for path in (root / "dev_databases").glob("*/*.sqlite"):
        path.rename(path.with_name("other.sqlite"))
    message = complaint("evaluate", "bird-dev", "--root", root, "--predictions", right)
    assert "bird-dev: none of its databases is in" in message


def test_a_damaged_database_shows_as_gold_that_failed(run, tmp_path, tiny, right):
    root = tiny.write_bird(tmp_path / "dev")
    (root / "dev_databases/pond/pond.sqlite").write_bytes(b"no database")
    out = run("evaluate", "bird-dev", "--root", root, "--predictions", right, "--json")[1]
    (file,) = json.loads(out)["files"]
    assert (file["n"], file["failed"], file["gold_failed"]) == (12, 4, 4)
    assert file["ex_bird"] == pytest.approx(66.667, abs=0.001)


def test_a_home_that_cannot_be_used_is_one_line(complaint, monkeypatch, right):
    monkeypatch.setenv("WORKBENCH_HOME", str(right))
    message = complaint("evaluate", "bundled", "--predictions", right)
    assert "set WORKBENCH_HOME to another folder" in message


def test_a_folder_that_cannot_be_written_is_one_line(complaint, monkeypatch, right):
    def refuse(*_arguments):
        raise OSError(errno.EROFS, "Read-only file system", "home/values")

    monkeypatch.setattr(Executor, "fingerprints", refuse)
    message = complaint("evaluate", "bundled", "--predictions", right)
    assert "home/values: Read-only file system; make space, or set WORKBENCH_HOME" in message


def test_a_file_of_verdicts_is_unchanged_after_an_error(complaint, tmp_path):
    path = tmp_path / "verdicts.jsonl"
    path.write_text("kept")
    complaint("evaluate", "bundled", "--predictions", "/no.json", "--verdicts", path)
    assert path.read_text() == "kept"


def test_an_interrupted_command_says_that_finished_work_is_saved(run, monkeypatch, bird, right):
    def interrupt(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(Executor, "fingerprints", interrupt)
    code, out, err = run("evaluate", "bird-dev", "--root", bird, "--predictions", right)
    assert (code, out) == (130, "")
    assert err.strip() == (
        "workbench: stopped; finished work is saved, run the command again to go on"
    )


# As a process


def start(tmp_path, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "workbench", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
        env=os.environ | {"WORKBENCH_HOME": str(tmp_path / "home")},
    )


def executions(path):
    """The number of cached executions."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as database, suppress(sqlite3.OperationalError):
        return database.execute("SELECT count(*) FROM executions").fetchone()[0]
    return 0  # the table is not there yet


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_running_query_and_keeps_what_was_finished(tmp_path, bird, tiny, sent):
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c"
    path = tmp_path / "system.json"
    path.write_text(json.dumps({str(n): sql for n, sql in enumerate(tiny.gold)} | {"0": endless}))
    cache = tmp_path / "home/lab.sqlite"
    with start(tmp_path, "evaluate", "bird-dev", "--root", bird, "--predictions", path) as process:
        while executions(cache) < 13 and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(sent)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (128 + sent, "")
    assert err.strip().splitlines() == [
        "workbench: stopped; finished work is saved, run the command again to go on"
    ]
    # 12 gold queries and one without its DISTINCT; 11 of the 12 answers are the same queries.
    assert executions(cache) == 13


def test_a_closed_pipe_causes_no_traceback(tmp_path):
    with start(tmp_path, "evaluate", "--help") as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


def test_an_error_of_the_caller_is_no_traceback(tmp_path):
    with start(tmp_path, "evaluate", "bundled", "--predictions", "/no.json") as process:
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (2, "")
    assert err == "workbench: /no.json: No such file or directory\n"
