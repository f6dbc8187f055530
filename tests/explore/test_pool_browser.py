"""The pool browser lists the questions where a right candidate was there and another was chosen."""

from workbench.explore.pool_browser import regrets


def test_a_regret_has_its_question_the_votes_and_the_generators_that_were_right(zoo, outcomes):
    table = regrets(outcomes, zoo)
    assert "Regrets: 1 of 3 questions" in table.caption
    assert table.rows == [["1", "simple", "zoo, question 1?", "1", "1", "b"]]


def test_a_regret_that_is_picked_is_the_question_of_all_views(zoo, outcomes):
    table = regrets(outcomes, zoo)
    table.chosen = "1"
    assert table._current.picked == (zoo.benchmark.name, "1")


def test_a_run_without_regrets_has_an_empty_list(zoo, outcomes):
    outcomes.questions, outcomes.trials = outcomes.questions[:1], outcomes.trials[:1]
    table = regrets(outcomes, zoo)
    assert "Regrets: 0 of 1 questions" in table.caption
    assert table.rows == []
