"""The model reads what a prompt tells, and tells the kind of a call by what it asks for."""

import pytest

from tests.embedded.cases import CASES, CONTEXT, LIFTS
from workbench.embedded.answer import writer
from workbench.embedded.calls import examples, generate, judge, keywords, mend, pruning
from workbench.embedded.prompt.messages import read
from workbench.prompts.prompt import load

WRITERS = {
    "retrieve/keywords": keywords.keywords,
    "prune/filter_column": pruning.filter_column,
    "prune/filter_column_group": pruning.filter_columns,
    "prune/select_tables": pruning.select_tables,
    "prune/select_columns": pruning.select_columns,
    "prune/mac_selector": pruning.mac_selector,
    "generate/examples_by_feature": examples.write_examples,
    "generate/examples_by_column": examples.write_examples,
    "fix/fixer": mend.mend,
    "fix/reviser": mend.mend,
    "fix/refiner": mend.mend,
    "select/pairwise": judge.choose,
    "select/ranker": judge.rank,
    "select/unit_tests": judge.write_tests,
    "select/evaluate_one_test": judge.evaluate_candidates,
    "select/evaluate_one_candidate": judge.evaluate_tests,
}
TELLING_A_SCHEMA = [case for case in CASES if "schema" in CASES[case]]


def asked(case):
    return read(load(case.split()[0]).messages(**CASES[case]))


def writes(prompt):
    """The function that writes the reply to a prompt."""
    return writer(prompt.answer, prompt.titles)


@pytest.mark.parametrize("case", CASES)
def test_it_knows_what_is_asked_for(case):
    assert writes(asked(case)) == WRITERS.get(case.split()[0], generate.generate)


@pytest.mark.parametrize("case", TELLING_A_SCHEMA)
def test_it_reads_the_schema_and_no_worked_example_s(case):
    schema = asked(case).context.schema
    told = {(t.name, c.name): c.examples for t in schema.tables for c in t.columns}
    assert set(told) == set(LIFTS.columns())
    assert ("lift", "lift_id") in {
        (k.ref_table, *k.ref_columns) for k in schema.table("visit").foreign_keys
    }
    shows_examples = not case.startswith("generate/zero_shot")
    assert ("Town hall" in told["lift", "place"]) == shows_examples


def test_it_reads_question_hint_values_descriptions_and_examples():
    context = asked("generate/synthetic_examples").context
    assert asked("generate/direct").context.descriptions[0].column == "time spent"
    assert context.question.text == CONTEXT.question.text
    assert context.question.evidence == CONTEXT.question.evidence
    assert [(v.table, v.column, v.value) for v in context.values] == [
        ("lift", "place", "Town hall"),
        ("visit", "fault", "D"),
    ]
    assert [example.question for example in context.examples] == [
        "How many lifts are there?",
        "Which makers?",
    ]
    assert context.examples[1].hint == "makers refers to maker"


def test_the_order_in_which_a_schema_is_shown_means_nothing():
    shown = load("generate/direct").messages(**CASES["generate/direct"])
    first, second = shown[1]["content"].split("CREATE TABLE ")[1:]
    fence = second.index("```")
    turned = shown[1]["content"].replace(
        f"{first}CREATE TABLE {second[:fence]}",
        f"{second[:fence]}\nCREATE TABLE {first.rstrip()}\n",
    )
    assert turned != shown[1]["content"]
    assert read([{"role": "user", "content": turned}]).context == read(shown).context


def test_it_reads_candidates_with_their_results():
    one, two = asked("select/pairwise").candidates
    assert one[0].startswith("SELECT `time spent`")
    assert one[1].startswith("2 rows:")
    assert two[1].startswith("No rows:")


def test_it_reads_what_was_tried_and_the_query_at_hand_last():
    ((_, result),) = asked("fix/fixer").attempts
    assert result.startswith("No rows:")
    ((_, error),) = asked("fix/refiner").attempts
    assert error == "Error: no such column: time"


def test_it_reads_unit_tests():
    assert len(asked("select/evaluate_one_candidate").tests) == 2


def test_a_fence_that_data_made_longer_is_read_whole():
    text = "## Query\n````sql\nSELECT '```'\n````\n\n## Result\nNo rows:\n\n## Answer\nFinal Answer: SELECT ..."
    assert read([{"role": "user", "content": text}]).attempts == (("SELECT '```'", "No rows:"),)


def test_a_prompt_by_somebody_else_is_read_for_what_it_says():
    text = """Here is my database.
    CREATE TABLE frog (name TEXT, size REAL);
    Question: How many frogs are there?
    Evidence: frogs refers to name
    Answer in SQL."""
    told = read([{"role": "user", "content": text}])
    assert writes(told) == generate.generate
    assert told.context.schema.columns() == (("frog", "name"), ("frog", "size"))
    assert told.context.question.text == "How many frogs are there?"
    assert told.context.question.evidence == "frogs refers to name"


@pytest.mark.parametrize("text", ["", "hello", "## Question", "## Answer\n", "{" * 50, "\x00"])
def test_whatever_is_said_something_is_understood(text):
    assert writes(read([{"role": "user", "content": text}]))
