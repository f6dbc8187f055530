"""The papers' baseline is BIRD's prompt, which has no rules of ours; our own prompt has a name of its own."""

import re

import pytest

from tests.prompts.cases import CONTEXT, LIFTS
from workbench.report.papers import published
from workbench.sql.schema_text import bare_create_table_text
from workbench.systems.baselines import WHOLE_SCHEMA, direct, zero_shot
from workbench.types import Context

ASKED = Context(CONTEXT.question, LIFTS)


def prompt(lab, system):
    (generator,) = system.generate
    return generator.request(lab, ASKED).messages[1]["content"]


@pytest.mark.parametrize("think", [True, False])
def test_the_baseline_states_no_rule(zoo, think):
    asked = prompt(zoo.lab, zero_shot("m/x", think=think))
    assert not re.search(r"(?m)^- ", asked)
    assert not re.search("DISTINCT|CAST|NULL|backtick|strftime", asked)
    assert re.search(r"(?m)^- .*DISTINCT", prompt(zoo.lab, direct("m/x", think=think)))


def test_the_baseline_shows_tables_hint_and_question_alone(zoo):
    asked = prompt(zoo.lab, zero_shot("m/x"))
    assert bare_create_table_text(LIFTS) in asked
    assert CONTEXT.question.text in asked
    assert CONTEXT.question.evidence in asked
    assert "minutes" not in asked, "a description"
    assert "Orlo" not in asked, "an example value"
    assert zero_shot("m/x").retrieve == WHOLE_SCHEMA


def test_chain_of_thought_is_all_that_tells_the_two_baselines_apart(zoo):
    thinking, at_once = (prompt(zoo.lab, zero_shot("m/x", think=think)) for think in (True, False))
    assert "step by step" in thinking
    assert (
        thinking.replace("Think step by step, then give the query in", "Give only the query, in")
        == at_once
    )


def test_the_papers_rows_are_the_baselines_and_not_our_prompt():
    rows = {
        label
        for paper, source in [
            ("CHASE-SQL", "table 4"),
            ("CHASE-SQL", "table 8"),
            ("CHESS", "table 6"),
            ("MAC-SQL", "table 1"),
        ]
        for label in published(paper, source).frame()["label"]
    }
    baselines = {zero_shot(think=think).name for think in (True, False)}
    assert baselines <= rows
    assert not {direct(think=think).name for think in (True, False)} & (rows | baselines)
