"""An edited call shows its price before it is run, and its answer beside gold's afterwards."""

from workbench.explore.prompt.running import (
    answer_html,
    everywhere,
    missing_html,
    price_html,
    run_html,
    steps_diff,
)
from workbench.explore.prompt.steps import Edit, record


def test_a_cached_answer_costs_nothing_and_a_new_one_is_estimated(zoo):
    step = record(zoo.system, zoo.questions[0], zoo.lab).steps[0]
    assert "1 call to make" in price_html(zoo.lab.client, step.request)
    zoo.lab.client.complete(step.request)
    assert "running it costs nothing" in price_html(zoo.lab.client, step.request)


def test_missing_calls_have_their_price(zoo):
    found = record(zoo.system, zoo.questions[0], zoo.lab)
    assert "1 call to make" in missing_html(zoo.lab.client, found)


def test_a_reply_is_shown_with_its_query_beside_gold(zoo):
    step = record(zoo.system, zoo.questions[0], zoo.lab, pay=True).steps[0]
    new = Edit(data={"hint": "count all"})(step)
    page = run_html(
        zoo.lab, zoo.benchmark, zoo.questions[0], step, new, zoo.lab.client.complete(new.request)
    )
    assert "asked now" in page
    assert "EX (BIRD): right" in page
    assert "<td>+</td><td>count all</td>" in page
    assert "The reply before and after" in page


def test_a_reply_without_sql_says_why(zoo):
    zoo.model.otherwise = "I cannot say."
    step = record(zoo.system, zoo.questions[0], zoo.lab).steps[0]
    answer = zoo.lab.client.complete(step.request)
    page = run_html(zoo.lab, zoo.benchmark, zoo.questions[0], step, step, answer)
    assert "No SQL in the reply" in page


def test_the_call_is_found_for_all_questions_that_are_cached(zoo):
    for question in zoo.questions[:3]:
        record(zoo.system, question, zoo.lab, pay=True)
    seen = []
    steps = everywhere(
        zoo.system, zoo.benchmark, zoo.lab, "generate/direct", lambda *done: seen.append(done)
    )
    assert [step.request.question for step in steps] == ["0", "1", "2"]
    assert seen[-1] == (4, 4)
    assert len(zoo.model.history) == 3


def test_two_calls_show_what_differs(zoo):
    one, other = (record(zoo.system, q, zoo.lab, pay=True).steps[0] for q in zoo.questions[:2])
    page = steps_diff(zoo.lab.client, one, other)
    assert "<td>-</td><td>zoo, question 0?</td>" in page
    assert "From this reply to the other" in page


def test_a_wrong_answer_is_shown_beside_gold_with_both_plans(zoo):
    page = answer_html(
        zoo.lab, zoo.benchmark, zoo.questions[0], "SELECT count(*) FROM animal WHERE legs = 4"
    )
    assert "EX (BIRD): wrong" in page
    assert "legs is 4" in page
    assert "Why do these differ?" in page
    assert page.count("Open the table animal.") == 2


def test_a_right_answer_is_called_right(zoo):
    page = answer_html(zoo.lab, zoo.benchmark, zoo.questions[0], "SELECT 4")
    assert "EX (BIRD): right. EX (Spider): right." in page
