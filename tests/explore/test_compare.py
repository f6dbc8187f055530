"""Two texts show their lines that differ; two runs the questions that flipped."""

from types import SimpleNamespace

import pandas as pd

from workbench.explore.compare.runs import costs_html, flips_html, verdicts
from workbench.explore.compare.texts import text_diff
from workbench.explore.prompt.steps import record
from workbench.types import Completion


def run(*correct, name="system"):
    ids = [str(number) for number in range(len(correct))]
    questions = pd.DataFrame(
        {
            "question_id": ids,
            "sql": [f"SELECT {name} {key}" for key in ids],
            "correct": correct,
            "calls": 2,
            "input_tokens": 100,
            "output_tokens": 10,
            "dollars": 0.25,
            "unpriced": 0,
        }
    )
    return SimpleNamespace(name=name, id=f"id of {name}", questions=questions)


def test_lines_that_differ_have_a_sign():
    page = text_diff("one\ntwo\nthree", "one\n2\nthree")
    assert '<tr class="minus"><td>-</td><td>two</td></tr>' in page
    assert '<tr class="plus"><td>+</td><td>2</td></tr>' in page
    assert "<tr><td></td><td>one</td></tr>" in page


def test_equal_texts_are_called_equal():
    assert "The two are equal." in text_diff("one", "one")


def test_far_lines_that_are_equal_are_left_out():
    lines = [f"line {number}" for number in range(50)]
    page = text_diff("\n".join([*lines, "old"]), "\n".join([*lines, "new"]))
    assert "line 49" in page
    assert "line 20" not in page


def test_questions_that_flip_are_counted_and_the_won_ones_come_first():
    page = flips_html(run(True, True, False).questions, run(True, False, True).questions)
    assert "Of 3 questions, 2 were right before and 2 are after: 1 won, 1 lost." in page
    assert page.index("<td>2</td><td></td><td>+ won") < page.index("<td>1</td><td></td><td>- lost")


def test_only_questions_that_both_have_are_compared():
    page = flips_html(run(True, False).questions, run(False).questions)
    assert "Of 1 questions, 1 were right before and 0 are after: 0 won, 1 lost." in page


def test_runs_say_what_each_would_cost():
    page = costs_html([run(True, False, name="old"), run(True, True, name="new")])
    assert "<td>new</td><td>id of new</td><td>4</td><td>200</td><td>20</td><td>$0.5000</td>" in page
    priced = run(True, name="mixed")
    priced.questions["unpriced"] = 3
    assert "<td>$0.2500 and 3 calls of unknown price</td>" in costs_html([priced])


def test_replies_are_judged_against_gold(zoo):
    steps = [record(zoo.system, q, zoo.lab).steps[0] for q in zoo.questions[:2]]
    answers = [Completion("SELECT count(*) FROM animal", "m/x"), Completion("SELECT 1", "m/x")]
    found = verdicts(zoo.lab, zoo.benchmark, steps, answers)
    assert found["correct"].tolist() == [True, False]
