"""The pool browser lists the questions where a right candidate was there and another was chosen."""

from workbench.explore.pool_browser import regrets_html


def test_a_regret_has_the_votes_and_the_generators_that_were_right(zoo, outcomes):
    page = regrets_html(outcomes, zoo)
    assert "Regrets: 1 of 3 questions" in page
    assert "<td>1</td><td>simple</td><td>1</td><td>1</td><td>b</td>" in page


def test_a_run_without_regrets_has_an_empty_list(zoo, outcomes):
    outcomes.questions, outcomes.trials = outcomes.questions[:1], outcomes.trials[:1]
    page = regrets_html(outcomes, zoo)
    assert "Regrets: 0 of 1 questions" in page
    assert "<table" not in page
