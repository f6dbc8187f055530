"""Systems under made-up revisions of the bundled benchmark, whose changes are known."""

import json

import pandas as pd
import pytest

from workbench.benchmarks.bundled import load_bundled
from workbench.benchmarks.revisions import read_revision, read_revisions
from workbench.benchmarks.spider import load_spider
from workbench.evaluate.files import evaluate_files
from workbench.evaluate.gold.report import OWN
from workbench.evaluate.stats import compare, mean_interval
from workbench.sql.executor import Executor
from workbench.store import Store

WRONG = "SELECT 'no answer'"


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "lab.sqlite") as store:
        yield store


@pytest.fixture
def executor(store, sandbox):
    return Executor(store, sandbox=sandbox)


@pytest.fixture(scope="module")
def bundled():
    return load_bundled("dev")


@pytest.fixture(scope="module")
def files(tmp_path_factory, bundled):
    """Two systems: `even` is wrong on questions 0, 2, ... and `late` on all but the first hundred."""
    folder = tmp_path_factory.mktemp("systems")
    golds = [bundled.golds[question.id].sql for question in bundled.questions]
    ids = [question.id for question in bundled.questions]
    systems = {
        "even": [WRONG if n % 2 == 0 else sql for n, sql in enumerate(golds)],
        "late": [sql if n < 100 else WRONG for n, sql in enumerate(golds)],
    }
    for name, answers in systems.items():
        (folder / f"{name}.json").write_text(json.dumps(dict(zip(ids, answers, strict=True))))
    return [folder / f"{name}.json" for name in systems]


@pytest.fixture(scope="module")
def revision(tmp_path_factory, bundled):
    """Questions 0 to 199 with another gold for every fifth: 0 takes the wrong answer for gold, 5 fails."""
    path = tmp_path_factory.mktemp("revision") / "gold.json"
    items = []
    for n, question in enumerate(bundled.questions[:200]):
        sql = bundled.golds[question.id].sql
        if n % 5 == 0:
            sql = {0: WRONG, 5: "SELECT gone FROM nowhere"}.get(n, f"SELECT {n}")
        items.append({"question_id": question.id, "SQL": sql})
    path.write_text(json.dumps(items))
    return path


@pytest.fixture
def report(bundled, files, revision, executor):
    read = read_revisions({"new": revision}, bundled)
    return evaluate_files(bundled, files, executor, revisions=read)


def row(report, gold, system):
    frame = report.golds.accuracies
    (found,) = frame[(frame["gold"] == gold) & (frame["system"] == system)].to_dict("records")
    return found


def under_both(bundled):
    """The verdicts on `even` by hand: on questions 0 to 199, under the old gold and under the new one."""
    before = {q.id: float(n % 2) for n, q in enumerate(bundled.questions[:200])}
    after = {
        q.id: float(n == 0 or (n % 2 == 1 and n % 5 > 0))
        for n, q in enumerate(bundled.questions[:200])
    }
    return before, after


def test_ex_under_each_gold_is_that_of_the_verdicts_by_hand(report, bundled):
    before, after = under_both(bundled)
    assert row(report, OWN, "even")["n"] == len(bundled.questions)
    assert row(report, OWN, "even")["ex"] == pytest.approx(50)
    found = row(report, "new", "even")
    assert (found["n"], found["ex"]) == (200, pytest.approx(100 * sum(after.values()) / 200))
    assert found["own_ex"] == pytest.approx(100 * sum(before.values()) / 200)


def test_the_intervals_are_those_of_the_paired_verdicts(report, bundled):
    before, after = under_both(bundled)
    clusters = {question.id: question.db_id for question in bundled.questions}
    paired = compare(after, before, clusters)
    found = row(report, "new", "even")
    ends = [found[key] / 100 for key in ("difference", "difference_low", "difference_high")]
    assert ends == pytest.approx([paired.difference, paired.low, paired.high])
    assert (found["became_right"], found["became_wrong"]) == (1, 20)
    alone = mean_interval(list(after.values()), [clusters[key] for key in after])
    assert [found["low"], found["high"]] == pytest.approx([100 * alone.low, 100 * alone.high])


def test_each_change_names_the_systems_whose_verdict_it_changed(report, bundled):
    rows = pd.DataFrame(report.golds.changes).set_index("question_id")
    assert len(rows) == 40
    first, fifth = (bundled.questions[n].id for n in (0, 5))
    assert rows.loc[first, ["became_right", "became_wrong"]].tolist() == [["even"], ["late"]]
    assert rows.loc[fifth, ["became_right", "became_wrong"]].tolist() == [[], ["even", "late"]]
    assert set(rows["changed"]) == {"SQL"}


def test_a_revised_gold_that_fails_is_named(report, bundled):
    assert [row["question_id"] for row in report.golds.failed] == [bundled.questions[5].id]
    assert f"question {bundled.questions[5].id} failed: no such table: nowhere" in report.as_text()


def test_the_report_is_text_and_json(report):
    assert json.dumps(report.as_json(), allow_nan=False)
    text = report.as_text()
    assert "EX (BIRD) under each gold" in text
    assert "new: 200 questions; changed: question 0, hint 0, SQL 40; verdicts changed on 30" in text


def test_an_answer_is_judged_once_for_each_different_gold(
    bundled, files, revision, store, executor
):
    def executions():
        return store.read("SELECT count(*) FROM executions")[0][0]

    evaluate_files(bundled, files, executor)
    before = executions()
    copy = {"new": revision, "the same under another name": revision}
    evaluate_files(bundled, files, executor, revisions=read_revisions(copy, bundled))
    # 40 new gold queries; one is the text of a wrong answer, which was executed on that database before.
    assert executions() - before == 39


def test_a_revision_of_other_words_alone_judges_nothing(bundled, files, tmp_path, store, executor):
    path = tmp_path / "words.json"
    items = [{"question_id": q.id, "question": f"{q.text} Please."} for q in bundled.questions]
    path.write_text(json.dumps(items))
    read = [read_revision("words", path, bundled)]
    report = evaluate_files(bundled, files, executor, revisions=read)
    assert row(report, "words", "late")["difference"] == 0
    assert {row["changed"] for row in report.golds.changes} == {"question"}


def test_thirty_systems_are_judged_under_spider_syns_gold(real_spider, real_golds, executor):
    benchmark = load_spider(real_spider)
    read = read_revisions({"syn": real_golds / "spider_syn_dev.json"}, benchmark)
    paths = sorted((real_spider / "predictions").glob("*.sql"))
    golds = evaluate_files(benchmark, paths, executor, revisions=read).golds
    assert set(golds.accuracies[golds.accuracies["gold"] == "syn"]["n"]) == {471}
