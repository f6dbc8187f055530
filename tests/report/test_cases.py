"""A case shows a question, a part of the way to its answer, and gold beside the prediction."""

import pandas as pd
import pytest
from markupsafe import escape

import workbench as wb
from workbench.errors import BadInputError


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        with wb.open_study("bundled-dev", limit=6) as study:
            yield study


@pytest.fixture(scope="module")
def run(study):
    return study.run(study.chase_sql(samples=2), "CHASE-SQL")


def shown(run, questions, *show):
    return run.cases(questions, show=show)._repr_html_()


def test_a_case_has_the_question_its_hint_both_queries_and_both_results(study, run):
    asked = study.benchmark.questions[0]
    page = shown(run, [asked.id])
    for text in (asked.text, asked.evidence):
        assert str(escape(text)) in page
    assert "<th>gold</th><th>prediction</th>" in page
    assert page.count("rows: ") == 2


def test_parts_that_differ_are_bold_and_equal_ones_are_not(study, run):
    answers = run.questions.set_index("question_id")
    right = answers.index[answers["correct"]][0]
    wrong = answers.index[~answers["correct"] & (answers["status"] == "ok")][0]
    assert "<b>" in shown(run, [wrong])
    gold = study.run(
        wb.replayed("gold", wb.gold_candidates(study.benchmark), wb.Majority())
    )
    assert "<b>" not in shown(gold, [right])


def test_each_generator_and_each_agent_speaks_once(run):
    page = shown(run, run.questions["question_id"].head(1), "generators", "calls")
    for name in ("divide_and_conquer", "query_plan", "synthetic_examples"):
        assert page.count(f"<p>{name}, its first candidate</p>") == 1
    assert page.count("<p>retrieve/keywords, ") == 1
    assert page.count("<p>generate/query_plan, the first of 2 calls</p>") == 1


def test_the_plan_is_that_of_sqlite(run):
    assert "QUERY PLAN" in shown(run, run.questions["question_id"].head(1), "plan")


def test_a_label_says_who_gave_it_and_other_runs_cases_are_left_out(run):
    about = {
        "question_id": run.questions["question_id"].iloc[0],
        "error": "Joins",
        "note": "why",
    }
    label = about | {"detail": "Column", "automatic": True, "run": run.id}
    labels = pd.DataFrame([label, label | {"run": "another"}])
    assert len(run.cases(labels).cases) == 1
    assert "Joins: Column (by a rule). why" in shown(run, labels)
    assert "There is no such case." in shown(run, labels.iloc[1:])


def test_a_part_that_there_is_not_is_refused_with_the_ones_there_are(run):
    with pytest.raises(BadInputError, match="generators"):
        run.cases([], show=["plans"])
