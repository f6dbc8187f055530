"""Spider2-lite's questions on SQLite, as its repository lays them out, and the published files."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.benchmarks.benchmark import open_benchmark
from workbench.benchmarks.spider2 import read_spider2
from workbench.errors import BadInputError
from workbench.evaluate.ex import ex_verdicts
from workbench.evaluate.stored import as_execution, meets
from workbench.sql.executor import Executor
from workbench.types import StoredResult


def lines(path, *items):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, items)))


@pytest.fixture
def root(tmp_path, tiny):
    """Two questions on SQLite and one on another system, in the folders of the repository."""
    ids = {"local001": None, "local002": "legs.md", "bq003": None}
    items = [
        {
            "instance_id": key,
            "db": "zoo",
            "question": f"{key}?",
            "external_knowledge": document,
        }
        for key, document in ids.items()
    ]
    lines(tmp_path / "spider2-lite.jsonl", *items)
    gold = tmp_path / "evaluation_suite/gold"
    lines(
        gold / "spider2lite_eval.jsonl",
        {
            "instance_id": "local001",
            "condition_cols": [1],
            "ignore_order": True,
            "toks": "9",
        },
        {"instance_id": "local002", "condition_cols": [[0], []], "ignore_order": True},
    )
    for name, text in {
        "local001": "id,n\n7,4\n",
        "local002_a": "n\n6\n",
        "local002_b": "a,b\n1,2\n",
    }.items():
        file = gold / "exec_result" / f"{name}.csv"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    (gold / "sql").mkdir()
    (gold / "sql/local001.sql").write_text("SELECT count(*) AS n FROM animal\n")
    (tmp_path / "resource/documents").mkdir(parents=True)
    (tmp_path / "resource/documents/legs.md").write_text("An insect has six.\n")
    tiny.write_databases(tmp_path / "all")
    folder = tmp_path / "resource/databases/spider2-localdb"
    folder.mkdir(parents=True)
    (tmp_path / "all/zoo/zoo.sqlite").rename(folder / "zoo.sqlite")
    return tmp_path


def test_questions_hints_and_stored_results_are_read(root):
    benchmark = open_benchmark("spider2", root)
    assert (benchmark.name, [q.id for q in benchmark.questions]) == (
        "spider2-lite",
        ["local001", "local002"],
    )
    assert benchmark.questions[1].evidence == "An insect has six."
    assert benchmark.database("zoo").name == "zoo.sqlite"
    first, second = benchmark.golds.values()
    assert first.sql == "SELECT count(*) AS n FROM animal"
    assert first.results == (StoredResult("id,n\n7,4\n", (1,)),)
    assert [result.columns for result in second.results] == [(0,), ()]


def rule(root, columns):
    """Writes the rules, with these columns of local002, which has two results."""
    items = [
        {"instance_id": key, "condition_cols": value, "ignore_order": True}
        for key, value in {"local001": [], "local002": columns}.items()
    ]
    lines(root / "evaluation_suite/gold/spider2lite_eval.jsonl", *items)


@pytest.mark.parametrize(
    ("columns", "of_files"),
    [
        ([0, 1], [(0, 1), (0, 1)]),
        ([], [(), ()]),
        ([[0, 1]], [(0, 1), ()]),  # a further result counts by all its columns
        ([[0], [1], [2]], [(0,), (1,)]),
    ],
)
def test_columns_are_those_of_all_results_or_of_each(root, columns, of_files):
    rule(root, columns)
    stored = open_benchmark("spider2", root).golds["local002"].results
    assert [result.columns for result in stored] == of_files


@pytest.mark.parametrize("columns", [[1, [2, 3]], [[2, 3], 1], ["x"], None])
def test_columns_of_another_form_are_refused_in_one_line(root, columns):
    rule(root, columns)
    place = r"spider2lite_eval\.jsonl, line 2: condition_cols.*: Input should be a "
    with pytest.raises(BadInputError, match=place) as caught:
        open_benchmark("spider2", root)
    assert "\n" not in str(caught.value)


def test_a_folder_is_the_repository_only_if_it_has_the_questions(root):
    (root / "spider2-lite").mkdir()
    assert len(open_benchmark("spider2", root).questions) == 2


def test_an_answer_is_right_if_it_meets_one_stored_result(root, sandbox):
    benchmark = open_benchmark("spider2", root)
    answers = {
        ("local001", "SELECT count(*) FROM animal"): True,
        ("local001", "SELECT 7"): False,  # that column does not count
        ("local002", "SELECT max(legs), 'and more' FROM animal"): True,
        ("local002", "SELECT 2, 1"): True,
        ("local002", "SELECT 2"): False,
        ("local002", "SELECT broken"): False,
        ("local002", ""): False,
    }
    found = ex_verdicts(benchmark, list(answers), Executor(sandbox=sandbox))
    assert dict(zip(answers, found, strict=True)) == answers


def test_a_question_without_a_rule_or_a_result_is_refused(root):
    (root / "evaluation_suite/gold/exec_result/local001.csv").unlink()
    with pytest.raises(BadInputError, match=r"no local001\.csv and no local001_a\.csv"):
        open_benchmark("spider2-lite", root)
    lines(
        root / "evaluation_suite/gold/spider2lite_eval.jsonl",
        {"instance_id": "local002", "condition_cols": [], "ignore_order": True},
    )
    with pytest.raises(BadInputError, match="it has no local001"):
        open_benchmark("spider2-lite", root)


# The published files


@pytest.fixture
def published():
    folder = os.environ.get("WORKBENCH_SPIDER2")
    if not folder:
        pytest.skip(
            "needs WORKBENCH_SPIDER2: a folder with Spider2-lite's questions and gold results"
        )
    return Path(folder)


def changed(execution, **fields):
    return replace(execution, **{name: tuple(value) for name, value in fields.items()})


@pytest.mark.spider
def test_each_published_result_meets_itself_and_nothing_less(published):
    _, _, golds = read_spider2(published)
    results = [result for gold in golds.values() for result in gold.results]
    assert (len(golds), len(results)) == (135, 328)
    for result in results:
        itself = as_execution(result)
        rows, names = itself.rows, itself.columns
        assert meets(itself, result)
        assert meets(
            changed(itself, columns=[f"c{n}" for n in range(len(names))]), result
        )
        assert meets(
            changed(itself, columns=names[::-1], rows=[row[::-1] for row in rows]),
            result,
        )
        assert meets(
            changed(
                itself,
                columns=["more", *names],
                rows=[(n, *row) for n, row in enumerate(rows)],
            ),
            result,
        )
        if not rows:
            continue
        assert not meets(changed(itself, rows=rows[:-1]), result)
        counted = result.columns[0] if result.columns else 0
        column = [row[counted] for row in rows]
        others = [[row[n] for row in rows] for n in range(len(names)) if n != counted]
        if (
            not all(isinstance(cell, int | float | None) for cell in column)
            or column in others
        ):
            continue  # a text, or a column that stands twice
        # Of values close to each other another one could take its place, but not that of the last in the order of texts.
        last = max(range(len(rows)), key=lambda n: str(float(column[n] or 0)))
        value = (column[last] or 0) + 0.02
        row = (*rows[last][:counted], value, *rows[last][counted + 1 :])
        off = (*rows[:last], row, *rows[last + 1 :])
        assert not meets(changed(itself, rows=off), result)


@pytest.mark.spider
@pytest.mark.filterwarnings("ignore:spider2-lite. 132 of 135 questions are left out")
def test_a_question_on_chinook_is_judged_end_to_end(published, sandbox):
    benchmark = open_benchmark("spider2-lite", published)
    median = """WITH big AS (SELECT Country FROM customers GROUP BY Country HAVING count(*) > 4),
        sold AS (SELECT sum(Total) AS total FROM invoices JOIN customers USING (CustomerId)
                 WHERE Country IN big GROUP BY Country),
        ranked AS (SELECT total, row_number() OVER (ORDER BY total) AS place, count(*) OVER () AS n FROM sold)
        SELECT avg(total) AS median FROM ranked WHERE place IN ((n + 1) / 2, (n + 2) / 2)"""
    pairs = [
        ("local198", median),
        ("local198", "SELECT 249.55"),
        ("local198", "SELECT 249.535, 'x'"),
    ]
    assert ex_verdicts(benchmark, pairs, Executor(sandbox=sandbox)) == [
        True,
        False,
        True,
    ]
