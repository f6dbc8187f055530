"""Questions are found by words, difficulty, database and outcome."""

from workbench.explore.find import questions


def ids(*arguments, **more):
    return questions(*arguments, **more)["question_id"].tolist()


def test_words_are_looked_for_in_question_hint_and_id(zoo):
    assert ids(zoo.benchmark, "QUESTION 2") == ["2"]
    assert ids(zoo.benchmark, "hint 3") == ["3"]
    assert ids(zoo.benchmark) == ["0", "1", "2", "3"]


def test_difficulty_and_database_narrow_them_down(zoo):
    assert ids(zoo.benchmark, difficulty="challenging") == ["0", "2"]
    assert ids(zoo.benchmark, db_id="pond") == []


def test_outcomes_are_those_of_a_run(zoo, outcomes):
    def found(outcome):
        return ids(zoo.benchmark, outcome=outcome, outcomes=outcomes.questions)

    assert found("right") == ["0"]
    assert found("wrong") == ["1", "2"]
    assert found("wrong: chosen badly") == ["1"]
    assert found("wrong: none right") == ["2"]
