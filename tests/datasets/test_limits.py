"""How many questions a limit takes: a number spread evenly, or a share of each database's."""

from collections import Counter

from workbench.benchmarks.benchmark import size, some
from workbench.benchmarks.named import open_benchmark
from workbench.types import Question

BIRD_DEV = {
    "california_schools": 89,
    "card_games": 191,
    "codebase_community": 186,
    "debit_card_specializing": 64,
    "european_football_2": 129,
    "financial": 106,
    "formula_1": 174,
    "student_club": 158,
    "superhero": 129,
    "thrombosis_prediction": 163,
    "toxicology": 145,
}
QUESTIONS = [Question(f"{db}{n}", db, "") for db, count in BIRD_DEV.items() for n in range(count)]


def test_a_tenth_of_each_database_of_bird_dev_is_as_large_as_chess_s_sample():
    drawn = some(QUESTIONS, 0.1)
    assert len(drawn) == 147
    assert Counter(q.db_id for q in drawn) == {db: n // 10 for db, n in BIRD_DEV.items()}


def test_the_sample_keeps_the_order_and_is_the_same_each_time():
    drawn = some(QUESTIONS, 0.1)
    assert drawn == sorted(drawn, key=QUESTIONS.index) == some(QUESTIONS, 0.1)


def test_every_database_has_a_question_in_the_smallest_sample():
    questions = open_benchmark("bundled-dev").questions
    assert {q.db_id for q in some(questions, 0.001)} == {q.db_id for q in questions}


def test_the_number_of_questions_is_known_before():
    assert [size(1534, limit) for limit in (None, 20, 5000, 0.1)] == [1534, 20, 1534, 153]
