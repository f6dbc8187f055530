"""What all generators share, and the two that CHESS and MAC-SQL add."""

import pytest

from tests.generate.conftest import CONTEXT, SCHEMA, SQL
from workbench.generate.chess_candidate import ChessCandidate
from workbench.generate.decomposer import Decomposer
from workbench.generate.divide_and_conquer import DivideAndConquer
from workbench.generate.prompt_generator import shuffled
from workbench.generate.query_plan import QueryPlan
from workbench.llm.faults import Refusal
from workbench.sql.schema_text import mac_sql_text
from workbench.types import Context

CHESS_REPLIES = [
    '{"reasoning": "count the legs", "sql": "SELECT name FROM animal WHERE legs = 4"}',
    '```json\n{"reasoning": "...", "sql": "SELECT name FROM animal WHERE legs = 4"}\n```',
    '{"SQL": "SELECT name FROM animal WHERE legs = 4;",}',
    "{'reasoning': 'x', 'sql': 'SELECT name FROM animal WHERE legs = 4'}",
    '{"reasoning": "the "legs"", "sql": "SELECT name\\nFROM animal\\nWHERE legs = 4"}',
    "I would say:\n```sql\nSELECT name FROM animal WHERE legs = 4\n```",
    "SELECT name FROM animal WHERE legs = 4",
    '{"reasoning": "...", "sql": "SELECT name FROM animal WHERE legs = 4"',
]


@pytest.mark.parametrize("reply", CHESS_REPLIES)
def test_chess_queries_are_read_from_every_form_of_reply(ask, reply):
    (candidate,), _ = ask(ChessCandidate("test/model"), reply)
    assert candidate.sql.split() == SQL.split()
    assert candidate.reasoning == reply
    assert (candidate.generator, candidate.sample) == ("chess_candidate", 0)


def test_the_query_of_the_last_sub_question_is_the_answer(ask):
    reply = (
        "Sub question 1: How many legs has a cat?\nSQL\n```sql\nSELECT legs FROM animal\n```\n"
        f"Sub question 2: Which animals have four legs?\nSQL\n```sql\n{SQL}\n```\nQuestion Solved."
    )
    (candidate,), asked = ask(Decomposer("test/model"), reply)
    assert candidate.sql == SQL
    assert "Sub question 1" in candidate.reasoning
    assert mac_sql_text(SCHEMA) in asked[0].messages[1]["content"]


SETS = [(Decomposer, 2), (DivideAndConquer, 4), (QueryPlan, 4)]


@pytest.mark.parametrize(("kind", "most"), SETS)
def test_the_prompt_shows_the_requested_number_of_worked_examples(ask, kind, most):
    for shots in range(most + 1):
        _, asked = ask(kind("test/model", shots=shots), otherwise="")
        assert asked[0].messages[1]["content"].count("## Worked example\n") == shots


@pytest.mark.parametrize("reply", ["", "I cannot.", "{}", '{"sql": ""}', '{"sql": null}', "[]"])
@pytest.mark.parametrize("step", [ChessCandidate("test/model"), Decomposer("test/model")])
def test_a_reply_without_a_query_is_a_candidate_without_one(ask, step, reply):
    (candidate,), _ = ask(step, reply or Refusal("empty", "nothing"))
    assert candidate.sql == ""


def test_a_failed_call_gives_a_candidate_with_the_error(ask):
    (candidate,), _ = ask(ChessCandidate("test/model"), Refusal("rejected", "too long a prompt"))
    assert (candidate.sql, candidate.reasoning) == ("", "too long a prompt")


@pytest.mark.parametrize("step", [ChessCandidate, Decomposer])
@pytest.mark.parametrize("temperature", [0.0, 0.5])
def test_temperature_and_samples_asked_for_are_those_sent(ask, step, temperature):
    found, asked = ask(step("test/model", temperature, 3), otherwise=SQL)
    assert [request.parameters["temperature"] for request in asked] == [temperature] * 3
    assert sorted(request.sample for request in asked) == [0, 1, 2]
    assert [candidate.sample for candidate in found] == [0, 1, 2]


def test_pruned_columns_are_not_in_the_prompt(ask):
    narrow = Context(CONTEXT.question, SCHEMA.only([("animal", "name")]))
    _, asked = ask(ChessCandidate("test/model"), SQL, context=narrow)
    text = asked[0].messages[1]["content"].split("## Database schema")[1]
    assert "name" in text
    assert "legs" not in text.split("## Question")[0]
    assert "keeper" not in text


def test_shuffling_changes_the_order_and_nothing_else():
    other = shuffled(SCHEMA, "seed")
    assert other != SCHEMA
    assert set(other.columns()) == set(SCHEMA.columns())
    assert other == shuffled(SCHEMA, "seed")
    assert other != shuffled(SCHEMA, "another seed")


def test_shuffle_gives_each_sample_its_own_order(ask):
    _, asked = ask(ChessCandidate("test/model", samples=4, shuffle=True), otherwise=SQL)
    assert len({request.messages[1]["content"] for request in asked}) == 4
