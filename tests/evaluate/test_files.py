"""Prediction files judged as a whole: names, tables, and the numbers that others published."""

import csv
import json
from collections import Counter
from dataclasses import replace

import pytest

from workbench.benchmarks.bird import load_bird
from workbench.benchmarks.spider import load_spider
from workbench.errors import BadInputError
from workbench.evaluate.files import evaluate_files
from workbench.pool import pool_of
from workbench.sql.executor import Executor
from workbench.store import Store
from workbench.types import Limits


@pytest.fixture(scope="module")
def executor(tmp_path_factory):
    with (
        Store(tmp_path_factory.mktemp("book") / "lab.sqlite") as store,
        Executor(store) as executor,
    ):
        yield executor


@pytest.fixture(scope="module")
def bird(tmp_path_factory, tiny):
    return load_bird(tiny.write_bird(tmp_path_factory.mktemp("bird")))


@pytest.fixture(scope="module")
def files(tmp_path_factory, tiny):
    """Gold itself; the same with four wrong answers; the same with four left out."""
    folder = tmp_path_factory.mktemp("files")
    right = {str(n): sql for n, sql in enumerate(tiny.gold)}
    wrong = {key: "SELECT 99" if int(key) % 3 == 0 else sql for key, sql in right.items()}
    part = {key: sql for key, sql in right.items() if int(key) % 3}
    for name, content in (("right", right), ("wrong", wrong), ("part", part)):
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def test_the_summary_has_a_row_a_file_in_the_order_given(bird, files, executor):
    paths = [files / f"{name}.json" for name in ("wrong", "right", "part")]
    summary = evaluate_files(bird, paths, executor).summary
    assert list(summary["generator"]) == ["wrong", "right", "part"]
    assert list(summary["ex_bird"]) == pytest.approx([66.667, 100, 66.667], abs=0.01)
    assert list(summary["missing"]) == [0, 0, 4]
    assert list(summary["n"]) == [12, 12, 12]


def test_the_order_holds_where_the_first_file_answers_less(bird, files, executor):
    report = evaluate_files(bird, [files / "part.json", files / "right.json"], executor)
    assert [file["file"] for file in report.as_json()["files"]] == [
        str(files / "part.json"),
        str(files / "right.json"),
    ]


def test_files_of_one_name_are_distinguished_by_their_folders(bird, files, executor, tmp_path):
    other = tmp_path / "right.json"
    other.write_text((files / "wrong.json").read_text())
    paths = [files / "right.json", other, files / "part.json"]
    summary = evaluate_files(bird, paths, executor).summary
    assert list(summary["generator"]) == [str(files / "right.json"), str(other), "part"]
    assert list(summary["ex_bird"])[:2] == pytest.approx([100, 66.667], abs=0.01)


def test_the_same_file_twice_is_refused_however_it_is_spelt(bird, files, executor):
    again = files / ".." / files.name / "right.json"
    for paths in ([files / "right.json"] * 2, [files / "right.json", again]):
        with pytest.raises(BadInputError, match=r"right\.json: given twice"):
            evaluate_files(bird, paths, executor)


def test_json_is_percent_per_file_with_em_null_outside_spider(bird, files, executor):
    report = evaluate_files(bird, [files / "right.json"], executor).as_json()
    (file,) = json.loads(json.dumps(report, allow_nan=False))["files"]
    assert (file["n"], file["ex_bird"], file["ex_spider"], file["em"]) == (12, 100, 100, None)
    assert "by" not in file
    assert report["fingerprint"] == bird.fingerprint()


def test_slices_on_request_partition_the_questions(bird, files, executor):
    by = ("difficulty", "database", "feature")
    paths = [files / "right.json", files / "wrong.json"]
    report = evaluate_files(bird, paths, executor, by=by).as_json()
    for file in json.loads(json.dumps(report, allow_nan=False))["files"]:
        assert set(file["by"]) == set(by)
        assert {row["db_id"]: row["n"] for row in file["by"]["database"]} == {
            "zoo": 4,
            "shop": 4,
            "pond": 4,
        }
        assert sum(row["n"] for row in file["by"]["difficulty"]) == 12


def test_a_comparison_is_with_the_first_file(bird, files, executor):
    paths = [files / "right.json", files / "wrong.json"]
    report = evaluate_files(bird, paths, executor, compare=True)
    found = report.comparisons["wrong"]
    assert (found.won, found.lost) == ((), ("0", "3", "6", "9"))
    assert "wrong against right, EX (BIRD): -33.33" in report.as_text()
    assert json.dumps(report.as_json(), allow_nan=False)


def test_a_comparison_in_json_is_in_percent_as_in_the_text(bird, files, executor):
    paths = [files / "right.json", files / "wrong.json"]
    report = evaluate_files(bird, paths, executor, compare=True)
    row = report.as_json()["comparisons"]["wrong"]
    shown = f"{row['difference']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}]"
    assert shown.startswith("-33.33 [")
    assert shown in report.as_text()


def test_a_comparison_of_several_answers_a_question_says_that_it_takes_the_first(
    bird, files, executor, tmp_path
):
    given = [("one", 0, "right"), ("two", 0, "wrong"), ("two", 1, "right")]
    lines = [
        {"question_id": key, "generator": generator, "sample": sample, "sql": sql}
        for generator, sample, name in given
        for key, sql in json.loads((files / f"{name}.json").read_text()).items()
    ]
    (tmp_path / "pool.jsonl").write_text("\n".join(map(json.dumps, lines)))
    report = evaluate_files(bird, [tmp_path / "pool.jsonl"], executor, compare=True)
    assert [file["generator"] for file in report.as_json()["files"]] == ["one", "two"]
    assert "two against one, EX (BIRD), first answer of each question: -33.33" in report.as_text()


def test_bounds_on_request(bird, files, executor):
    paths = [files / "right.json", files / "wrong.json"]
    report = evaluate_files(bird, paths, executor, pool=True)
    assert report.bounds.iloc[-1].tolist() == pytest.approx([2, 66.667, 100], abs=0.01)
    assert "bounds of selection among k candidates" in report.as_text()
    assert json.dumps(report.as_json(), allow_nan=False)


def test_a_selectors_picks_have_their_own_row_and_do_not_enter_the_bounds(bird, files, executor):
    def first(pool):
        return pool_of(
            (key, replace(trials[0], candidate=replace(trials[0].candidate, generator="first")))
            for key, trials in pool.trials.items()
        )

    paths = [files / "wrong.json", files / "right.json"]
    report = evaluate_files(bird, paths, executor, pool=True, selectors={"first": first})
    assert list(report.summary["generator"]) == ["wrong", "right", "first"]
    assert list(report.summary["ex_bird"]) == pytest.approx([66.667, 100, 66.667], abs=0.01)
    assert report.bounds["k"].tolist() == [1, 2]
    assert report.as_json()["files"][2]["file"] == "first"


def test_efficiency_times_right_answers_only(bird, files, executor):
    paths = [files / "right.json", files / "wrong.json"]
    summary = evaluate_files(bird, paths, executor, efficiency=3).summary.set_index("generator")
    assert summary.loc["right", ["ves_opcodes", "r_ves_opcodes"]].tolist() == [100, 100]
    assert summary.loc["wrong", "ves_opcodes"] == pytest.approx(66.667, abs=0.01)
    assert min(summary["ves"]) > 0  # how large depends on how busy the computer is


def test_the_text_shows_only_counts_above_0(bird, files, executor):
    text = evaluate_files(bird, [files / "right.json"], executor).as_text()
    assert text.startswith("bird-dev: 12 questions, 3 databases (questions:")
    assert "missing" not in text
    assert "missing" in evaluate_files(bird, [files / "part.json"], executor).as_text()


def test_progress_is_of_all_files_together(bird, files, executor):
    reports = []
    paths = [files / "right.json", files / "wrong.json"]
    new = Limits(seconds=29)  # under which no verdict is cached
    evaluate_files(
        bird,
        paths,
        executor,
        limits=new,
        progress=lambda done, total: reports.append((done, total)),
    )
    # Twelve queries, one of them without its DISTINCT too, and SELECT 99 in three databases.
    assert reports[-1] == (16, 16)


# The real files

PUBLISHED = {
    "codes_7b": 83.23,
    "codes_15b": 83.01,
    "dail_sql_gpt_4": 80.04,
    "din_gpt_4": 78.56,
    "mac_sql_dea_repo": 77.92,
    "c3_chatgpt": 77.49,
    "gpt_4_zero_shot_din": 66.67,
    "spider_repo_pred_example": 37.58,
}


def test_birds_ex_of_published_predictions(real_spider, executor):
    benchmark = load_spider(real_spider)
    paths = [real_spider / "predictions" / f"{name}.sql" for name in PUBLISHED]
    summary = evaluate_files(benchmark, paths, executor).summary
    found = dict(zip(summary["generator"], summary["ex_bird"], strict=True))
    assert found == pytest.approx(PUBLISHED, abs=0.01)


@pytest.fixture(scope="module")
def labelled(real_spider, executor):
    """C3's predictions by question id: our verdict and the published labels."""
    path = real_spider / "c3sql_labels.csv"
    verdicts = evaluate_files(load_spider(real_spider), [path], executor).verdicts
    with path.open(newline="") as file:
        labels = {row["index"]: row for row in csv.DictReader(file)}
    return {
        row["question_id"]: (row, labels[row["question_id"]]) for row in verdicts.to_dict("records")
    }


def disagreements(labelled, metric, label):
    return {
        int(key) for key, (ours, theirs) in labelled.items() if ours[metric] != int(theirs[label])
    }


def test_published_execution_labels_are_birds_ex(labelled):
    assert len(labelled) == 471
    assert disagreements(labelled, "ex_bird", "execution_correct") == set()


def test_published_exact_match_labels_are_ours(labelled):
    assert disagreements(labelled, "em", "exact_match") == set()


# Each question on which Spider's EX and the published label (BIRD's sense) differ, and what makes them.
COLUMNS = "same rows, columns in another order: right for Spider only"
ORDER = "same rows in another order, gold says ORDER BY: right for BIRD only"
DISTINCT = "the queries differ in a DISTINCT that Spider drops"
REASONS = (
    dict.fromkeys([7, 22, 23, 40, 62, 208, 229, 238, 242, 243, 287, 330, 340, 341], COLUMNS)
    | dict.fromkeys([326], ORDER)
    | dict.fromkeys([67, 74, 75, 233, 246, 400], DISTINCT)
)


def test_spiders_ex_differs_from_the_labels_where_the_two_senses_do(
    labelled, real_spider, executor
):
    assert disagreements(labelled, "ex_spider", "execution_correct") == set(REASONS)
    benchmark = load_spider(real_spider)
    found = {}
    for number in REASONS:
        ours, _ = labelled[str(number)]
        database = benchmark.database(ours["db_id"])
        gold = benchmark.golds[str(number)].sql
        answers = executor.execute_many([(database, ours["sql"]), (database, gold)])
        found[number] = reason(*(answer.rows for answer in answers), ours["sql"], gold)
    assert found == REASONS


def test_with_distinct_kept_a_query_with_duplicates_is_wrong_for_spider(real_spider, executor):
    benchmark = load_spider(real_spider)
    path = real_spider / "c3sql_labels.csv"
    verdicts = [
        evaluate_files(benchmark, [path], executor, keep_distinct=keep).verdicts["ex_spider"].sum()
        for keep in (False, True)
    ]
    assert verdicts == [382, 371]


def reason(predicted, gold, sql, gold_sql):
    if "distinct" in (sql + gold_sql).lower():
        return DISTINCT
    if Counter(predicted) == Counter(gold):
        return ORDER if "ORDER BY" in gold_sql.upper() else "none"
    columns = [Counter(map(frozenset, map(Counter, rows))) for rows in (predicted, gold)]
    return COLUMNS if columns[0] == columns[1] else "none"


def test_the_labels_file_and_its_sql_file_are_the_same_predictions(labelled, real_spider, executor):
    path = real_spider / "predictions" / "nl2sql360_c3_sql.sql"
    verdicts = evaluate_files(load_spider(real_spider), [path], executor).verdicts
    assert {
        row["question_id"]
        for row in verdicts.to_dict("records")
        if row["sql"] != labelled[row["question_id"]][0]["sql"]
    } == set()


def test_the_real_files_are_judged_from_the_cache_without_running_a_query(
    real_spider, executor, monkeypatch
):
    benchmark = load_spider(real_spider)
    path = real_spider / "predictions" / "codes_7b.sql"
    first = evaluate_files(benchmark, [path], executor).verdicts
    monkeypatch.setattr(executor, "sandbox", replace_with_refusal(executor.sandbox))
    assert evaluate_files(benchmark, [path], executor).verdicts.equals(first)


def replace_with_refusal(sandbox):
    class Refusal:
        def run(self, requests, seconds, **more):
            assert requests == [], "a query ran although its result is cached"
            return sandbox.run(requests, seconds, **more)

    return Refusal()
