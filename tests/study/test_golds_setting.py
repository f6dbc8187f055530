"""Golds in an experiment's YAML: runs are judged by them, too."""

import json

import pytest

from workbench.benchmarks.load import open_benchmark
from workbench.evaluate.stats import compare
from workbench.study.experiment import load_experiment
from workbench.study.run import costs
from workbench.study.study import open_study
from workbench.systems.baselines import direct

WRONG = "SELECT 'no answer'"


@pytest.fixture(scope="module")
def revised():
    """Of the first and every third bundled question after it, the gold query is none that is right."""
    questions = open_benchmark("bundled-dev").questions
    return [
        {"question_id": question.id, "SQL": WRONG} if n % 3 == 0 else {"question_id": question.id}
        for n, question in enumerate(questions)
    ]


@pytest.fixture
def write(tmp_path):
    """An experiment beside a file of golds, by its YAML."""
    (tmp_path / "experiments").mkdir()

    def write(text, golds=()):
        (tmp_path / "experiments" / "new.json").write_text(json.dumps(golds))
        path = tmp_path / "experiments" / "mine.yaml"
        path.write_text(text)
        return str(path)

    return write


def test_a_run_has_a_verdict_by_each_gold_and_its_row_the_paired_change(write, revised, tmp_path):
    experiment = load_experiment(write("golds: {new: new.json}", revised[:200]))
    with open_study(experiment, limit=12, figures=tmp_path / "figures") as study:
        run = study.run(direct("embedded/parser"))
        asked = run.questions.set_index("question_id")
        row = costs(run.questions, run.name)
    known = {item["question_id"]: item.get("SQL") != WRONG for item in revised[:200]}
    expected = {
        key: float(known[key] and asked["correct"][key]) for key in asked.index if key in known
    }
    column = asked["correct by new"].dropna()
    assert column.to_dict() == expected
    before = {key: float(asked["correct"][key]) for key in expected}
    paired = compare(expected, before, asked["db_id"].to_dict())
    assert row["EX, new"] == pytest.approx(100 * sum(expected.values()) / len(expected))
    assert [row["change, new"], row["change, new low"], row["change, new high"]] == pytest.approx(
        [100 * paired.difference, 100 * paired.low, 100 * paired.high]
    )
