"""CHASE-SQL's generators and the baseline: the replies that models give, and what is asked."""

import pytest

from tests.generate.conftest import SQL
from workbench.generate.direct import Direct
from workbench.generate.divide_and_conquer import DivideAndConquer
from workbench.generate.query_plan import QueryPlan
from workbench.generate.synthetic_examples import SyntheticExamples
from workbench.llm.faults import Refusal

NO_EXAMPLES = {"by_feature": 0, "by_column": 0}
STEPS = [
    Direct("test/model"),
    Direct("test/model", think=False),
    DivideAndConquer("test/model"),
    QueryPlan("test/model"),
    SyntheticExamples("test/model", **NO_EXAMPLES),
]
NAMES = ["direct", "direct", "divide_and_conquer", "query_plan", "synthetic_examples"]

PARTS = f"""**1. Divide and conquer**
* Sub-question: which rows have four legs? `SELECT id FROM animal WHERE legs = 4`
```sql
SELECT id FROM animal WHERE legs = 4
```
**2. Assemble**
SELECT name FROM animal WHERE id IN (SELECT id FROM animal WHERE legs = 4)
**3. Simplify**
**Final SQL**
```sql
{SQL};
```"""
REPLIES = [
    SQL,
    f"{SQL};",
    f"```sql\n{SQL}\n```",
    f"Let me think. The table animal has legs.\n\n```SQL\n{SQL};\n```\nThis selects the names.",
    PARTS,
    f"**Final SQL**\n{SQL}",
    f"**final sql:** {SQL}",
    f"```sql\n{SQL}",
    f'{{"reasoning": "legs", "sql": "{SQL}"}}',
    f"<think>SELECT id FROM animal</think>\n```sql\n{SQL}\n```",
]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("reply", REPLIES)
def test_the_query_is_read_from_every_form_of_reply(ask, step, reply):
    (candidate,), _ = ask(step, reply)
    assert candidate.sql == SQL
    assert candidate.reasoning == reply


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("reply", ["", "I cannot.", "{}", "[]", '{"sql": null}', "```sql\n```"])
def test_a_reply_without_a_query_is_a_candidate_without_one(ask, step, reply):
    (candidate,), _ = ask(step, reply or Refusal("empty", "nothing"))
    assert candidate.sql == ""


@pytest.mark.parametrize(("step", "name"), list(zip(STEPS, NAMES, strict=True)))
def test_a_candidate_names_its_generator_and_call(ask, step, name):
    (candidate,), asked = ask(step, SQL)
    assert (candidate.generator, candidate.sample, len(candidate.call_keys)) == (name, 0, 1)
    assert [request.prompt for request in asked] == [f"generate/{name}"]


@pytest.mark.parametrize("kind", [Direct, DivideAndConquer, QueryPlan])
def test_seven_samples_are_seven_calls_and_shuffled_each_sees_an_order_of_its_own(ask, kind):
    found, asked = ask(kind("test/model", 0.8, 7, shuffle=True), otherwise=SQL)
    assert [candidate.sample for candidate in found] == list(range(7))
    assert sorted(request.sample for request in asked) == list(range(7))
    assert len({request.messages[1]["content"] for request in asked}) > 3


def test_with_chain_of_thought_the_baseline_is_asked_for_reasoning(ask):
    _, (thinking,) = ask(Direct("test/model"), SQL)
    _, (at_once,) = ask(Direct("test/model", think=False), SQL)
    answers = [r.messages[1]["content"].split("\n## Answer\n")[1] for r in (thinking, at_once)]
    assert "step by step" in answers[0]
    assert "step by step" not in answers[1]
