"""The run browser lists questions by what became of them in each run, and errors by their messages."""

from types import SimpleNamespace

import pandas as pd
import pytest

from workbench.explore.compare.outcomes import errors, outcomes
from workbench.explore.run_browser import RunBrowser


def a_run(zoo, name, *answers):
    """A run with an answer to each question: "right", "wrong", or a query that fails."""
    rows = []
    for question, answer in zip(zoo.questions, answers, strict=False):
        failed = answer not in {"right", "wrong"}
        rows.append(
            {
                "question_id": question.id,
                "db_id": question.db_id,
                "sql": answer if failed else "SELECT 1",
                "status": "error" if failed else "ok",
                "problem": "" if answer else "the reply was cut off",
                "correct": answer == "right",
            }
            | dict.fromkeys(("calls", "input_tokens", "output_tokens", "dollars", "unpriced"), 1)
        )
    frame = pd.DataFrame(rows)
    return SimpleNamespace(name=name, id=f"id of {name}", questions=frame, trials=frame)


@pytest.fixture
def runs(zoo):
    return [
        a_run(zoo, "one", "right", "wrong", "SELECT a", ""),
        a_run(zoo, "two", "right", "right", "SELECT b"),
    ]


@pytest.fixture
def browser(zoo, runs):
    return RunBrowser(SimpleNamespace(lab=zoo.lab, benchmark=zoo.benchmark), *runs)


def choose(browser, words):
    (browser.shown.value,) = (value for text, value in browser.shown.options if words in text)


def test_each_question_has_a_letter_for_each_run_and_disagreements_come_first(zoo, runs):
    found = outcomes(zoo, runs)
    assert found.loc["0"].tolist() == ["r", "r"]
    assert found.loc["2"].tolist() == ["f", "f"]
    assert found.loc["3"].tolist() == ["f", "-"]
    assert set(found.index[:2]) == {"1", "3"}


def test_errors_that_differ_in_a_name_are_one_kind(zoo, runs):
    found = errors(zoo, runs)
    assert found["message"].tolist() == [
        "no such column: a",
        "the reply was cut off",
        "no such column: b",
    ]
    assert found["kind"].value_counts()["no such column: …"] == 2


def test_the_heat_map_has_a_line_for_each_run(browser):
    questions = [key for key, _ in browser.map.questions]
    for line, run in zip(browser.map.verdicts, ("rwff", "rrf-"), strict=True):
        assert [line[questions.index(key)] for key in "0123"] == list(run)


def test_errors_are_listed_with_their_counts_and_open_their_questions(browser):
    choose(browser, "error of 2 candidates (one 1, two 1): no such column: …")
    assert [row[0] for row in browser.table.rows] == ["2"]
    assert "no such column: a (1)" in browser.table.rows[0][-1]


def test_runs_that_agree_open_at_a_list_that_has_questions(zoo, runs):
    study = SimpleNamespace(lab=zoo.lab, benchmark=zoo.benchmark)
    browser = RunBrowser(study, runs[0], runs[0])
    assert browser.shown.value == ("part", "all")
    assert len(browser.table.rows) == 4


def test_a_list_of_questions_has_their_texts_and_verdicts(browser):
    choose(browser, "2 · on which the runs disagree")
    assert ["1", "zoo, question 1?", "✗ wrong", "✓ right"] in browser.table.rows


def test_a_question_picked_in_the_heat_map_is_marked_in_the_table(browser):
    browser.map.chosen = "1"
    assert browser.table.chosen == "1"
