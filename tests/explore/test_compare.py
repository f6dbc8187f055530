"""Two texts show their lines that differ; runs what they cost."""

from types import SimpleNamespace

import pandas as pd

from workbench.explore.compare.runs import costs_html
from workbench.explore.compare.texts import text_diff


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


def test_runs_say_what_each_would_cost():
    page = costs_html([run(True, False, name="old"), run(True, True, name="new")])
    assert "<td>new</td><td>id of new</td><td>4</td><td>200</td><td>20</td><td>$0.5000</td>" in page
    priced = run(True, name="mixed")
    priced.questions["unpriced"] = 3
    assert "<td>$0.2500 and 3 calls of unknown price</td>" in costs_html([priced])
