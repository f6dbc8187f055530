"""The picker finds questions by words, difficulty, database and outcome."""

from workbench.explore.picker import questions


def ids(*arguments, **more):
    return questions(*arguments, **more)["question_id"].tolist()


def test_words_are_searched_for_in_question_hint_and_id(zoo):
    assert ids(zoo.benchmark, "QUESTION 2") == ["2"]
    assert ids(zoo.benchmark, "hint 3") == ["3"]
    assert ids(zoo.benchmark) == ["0", "1", "2", "3"]


def test_difficulty_and_database_narrow_the_list(zoo):
    assert ids(zoo.benchmark, difficulty="challenging") == ["0", "2"]
    assert ids(zoo.benchmark, db_id="pond") == []


def test_a_runs_outcomes_narrow_the_list(zoo, outcomes):
    def matching(outcome):
        return ids(zoo.benchmark, outcome=outcome, outcomes=outcomes.questions)

    assert matching("right") == ["0"]
    assert matching("wrong") == ["1", "2"]
    assert matching("wrong: chosen badly") == ["1"]
    assert matching("wrong: none right") == ["2"]
