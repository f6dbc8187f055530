"""An edited call shows its price before it is run, and its answer beside gold's afterwards."""

from workbench.explore.prompt.running import (
    answer_html,
    cached_html,
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


def test_a_cached_reply_is_shown_beside_gold_and_its_result(zoo):
    question = zoo.questions[0]
    step = record(zoo.system, question, zoo.lab, pay=True).steps[0]
    reply = zoo.lab.client.cached(step.request)
    page = cached_html(zoo.lab, zoo.benchmark, question, reply, "SELECT count(*) FROM animal")
    for shown in ("EX (BIRD): right", "Gold&#x27;s result", "The query in the reply", "```sql"):
        assert shown in page


def test_where_nothing_is_cached_gold_and_its_result_are_shown_alone(zoo):
    page = cached_html(zoo.lab, zoo.benchmark, zoo.questions[0], None, "")
    assert "No reply is cached." in page
    assert zoo.benchmark.golds["0"].sql in page
    assert "Its result" in page


def test_a_reply_without_sql_says_why(zoo):
    zoo.model.otherwise = "I cannot say."
    step = record(zoo.system, zoo.questions[0], zoo.lab).steps[0]
    answer = zoo.lab.client.complete(step.request)
    page = run_html(zoo.lab, zoo.benchmark, zoo.questions[0], step, step, answer)
    assert "No SQL was read in the reply" in page


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
    assert page.count("SCAN animal") == 2


def test_a_right_answer_is_called_right(zoo):
    page = answer_html(zoo.lab, zoo.benchmark, zoo.questions[0], "SELECT 4")
    assert "EX (BIRD): right. EX (Spider): right." in page
