"""The pool browser lists the questions where a right candidate was there and another was chosen."""

from workbench.explore.pool_browser import regrets_html


def test_a_regret_says_how_many_were_for_each_and_who_was_right(zoo, outcomes):
    page = regrets_html(outcomes, zoo)
    assert "Regrets: 1 of 3 questions" in page
    assert "<td>1</td><td>simple</td><td>1</td><td>1</td><td>b</td>" in page


def test_without_regrets_the_page_says_so(zoo, outcomes):
    outcomes.questions, outcomes.trials = outcomes.questions[:1], outcomes.trials[:1]
    page = regrets_html(outcomes, zoo)
    assert "Regrets: 0 of 1 questions" in page
    assert "<table" not in page
