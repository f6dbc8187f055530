"""Which cases are drawn: by what went wrong, by share and seed; from selections and from pools."""

import json
from fractions import Fraction

import pytest

from workbench.benchmarks.load import open_benchmark
from workbench.benchmarks.predictions import candidates, read_predictions
from workbench.errors import BadInputError
from workbench.label.case import case_key
from workbench.label.cases import KEPT_ROWS, cases
from workbench.types import Candidate, Context, Schema, Selection, Trial, ValueMatch

WRONG = "SELECT 'no such answer'"


def selection(question_id, *queries, chosen=0):
    trials = tuple(Trial(Candidate(sql, "direct", n)) for n, sql in enumerate(queries))
    return Selection(question_id, trials, chosen, "majority")


@pytest.fixture
def selections(bird):
    """Question by question in turn: right; wrong beside a right one; wrong alone."""
    golds = [(question.id, bird.golds[question.id].sql) for question in bird.questions]
    return [
        selection(key, *((gold, WRONG), (WRONG, gold), (WRONG, WRONG.lower()))[number % 3])
        for number, (key, gold) in enumerate(golds)
    ]


def ids(found):
    return [case.question.id for case in found]


def test_wrong_is_what_was_chosen_wrongly(bird, lab, selections):
    assert ids(cases(bird, selections, lab)) == ["1", "2", "4", "5", "7", "8", "10", "11"]


def test_selection_failed_if_a_right_candidate_was_not_chosen(bird, lab, selections):
    assert ids(cases(bird, selections, lab, which="selection failed")) == ["1", "4", "7", "10"]


def test_no_correct_candidate_where_none_was(bird, lab, selections):
    assert ids(cases(bird, selections, lab, which="no correct candidate")) == ["2", "5", "8", "11"]


def test_a_share_is_rounded_up_and_the_same_for_a_seed(bird, lab, selections):
    draws = [
        ids(cases(bird, selections, lab, share=Fraction(1, 3), seed=seed)) for seed in range(9)
    ]
    assert {len(drawn) for drawn in draws} == {3}
    assert len({tuple(drawn) for drawn in draws}) > 1
    again = [
        ids(cases(bird, selections, lab, share=Fraction(1, 3), seed=seed)) for seed in range(9)
    ]
    assert again == draws


def test_a_case_that_goes_leaves_the_rest_of_the_sample_as_it_was(bird, lab, selections):
    before = ids(cases(bird, selections, lab, limit=4))
    right = bird.golds[before[0]].sql
    rerun = [
        selection(s.question_id, right) if s.question_id == before[0] else s for s in selections
    ]
    assert set(before[1:]) < set(ids(cases(bird, rerun, lab, limit=4)))


def test_cases_can_be_of_one_difficulty_or_database(bird, lab, selections):
    assert ids(cases(bird, selections, lab, difficulty=["challenging"], databases=["zoo"])) == ["2"]


def test_a_case_has_both_queries_their_results_and_the_number_of_agreeing_candidates(
    bird, lab, selections
):
    case = cases(bird, selections, lab, which="no correct candidate")[0]
    assert (case.gold, case.predicted) == (bird.golds["2"].sql, WRONG)
    assert case.gold_execution.rows == (("cat",), ("dog",))
    assert case.execution.rows == (("no such answer",),)
    assert (case.agreeing, case.candidates) == (2, 2)
    assert case.schema == case.database == lab.schema("zoo")


def test_what_the_generator_was_given_comes_from_the_system(bird, lab, selections):
    def contexts(question):
        found = ValueMatch("animal", "name", "cat", "cats", 0.9, 0.0)
        return Context(question, Schema(question.db_id, ()), (found,))

    case = cases(bird, selections, lab, limit=1, contexts=contexts)[0]
    assert case.schema.tables == ()
    assert case.values[0].value == "cat"
    assert case.database.tables


def test_a_prediction_file_is_as_good_as_a_run(bird, lab, tmp_path):
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps({"0": WRONG, "1": bird.golds["1"].sql}))
    found = cases(bird, candidates(read_predictions(bird, path)), lab)
    assert [(case.question.id, case.predicted, case.generator) for case in found] == [
        ("0", WRONG, "theirs")
    ]


def test_on_spider_wrong_is_what_spider_calls_wrong(tiny, lab, tmp_path):
    spider = open_benchmark("spider-dev", tiny.write_spider(tmp_path))
    doubled = "SELECT name FROM animal UNION ALL SELECT name FROM animal ORDER BY name"
    answered = [selection(spider.questions[1].id, doubled)]
    (case,) = cases(spider, answered, lab)
    assert case.gold_execution.fingerprint == case.execution.fingerprint  # which BIRD calls right


def test_of_a_pool_a_wrong_candidate_is_drawn(bird, lab):
    queries = [f"SELECT {number}" for number in range(90, 99)]
    pool = {"0": [Candidate(sql, "g") for sql in (bird.golds["0"].sql, *queries)]}
    drawn = {cases(bird, pool, lab, seed=seed)[0].predicted for seed in range(20)}
    assert len(drawn) > 3
    assert drawn <= set(queries)


def test_candidates_and_questions_are_drawn_independently(bird, lab):
    queries = [f"SELECT {number}" for number in range(90, 99)]
    pool = {q.id: [Candidate(sql, "g") for sql in queries] for q in bird.questions}
    few = [cases(bird, pool, lab, limit=1, seed=seed)[0].predicted for seed in range(25)]
    assert len(set(few)) > 5


def test_a_pool_has_no_failed_selection(bird, lab):
    with pytest.raises(BadInputError, match="give Selections"):
        cases(bird, {}, lab, which="selection failed")


@pytest.mark.parametrize("bad", [{"which": "some"}, {"share": 0}, {"share": 1.5}])
def test_a_wrong_argument_is_refused(bird, lab, bad):
    with pytest.raises(BadInputError):
        cases(bird, {}, lab, **bad)


def test_a_long_result_is_cut_and_marked_as_truncated(bird, lab):
    long = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) SELECT i FROM n"
    )
    case = cases(bird, [selection("0", long)], lab)[0]
    assert len(case.execution.rows) == KEPT_ROWS
    assert (case.execution.row_count, case.execution.truncated) == (3000, True)


def test_a_cases_key_depends_on_question_and_query_and_not_on_layout():
    key = case_key("zoo", "How many?", "SELECT  a FROM b")
    assert key == case_key("zoo", "How many?", "select A\nfrom B")
    assert key != case_key("pond", "How many?", "SELECT a FROM b")
    assert key != case_key("zoo", "How much?", "SELECT a FROM b")
    assert key != case_key("zoo", "How many?", "SELECT b FROM b")
