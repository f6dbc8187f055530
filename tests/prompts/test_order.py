"""The order of sections that a folder of prompts says, and what calls share in it."""

import pytest

from tests.prompts.cases import CASES
from workbench.errors import BadInputError
from workbench.prompts.order import CACHEABLE, arranged, read_order, shared_ends, warn_without_order
from workbench.prompts.prompt import load, split_sections

ABOUT_A_SCHEMA = [case for case in CASES if "schema" in CASES[case]]


def messages(case):
    return load(case.split()[0]).messages(**CASES[case])


def cacheable(case, *, whole=True):
    return arranged(messages(case), read_order(CACHEABLE), whole=whole)


def titles(sent):
    return [title for title, _ in split_sections(sent[1]["content"])]


def test_a_folder_without_an_order_keeps_that_of_the_prompts(tmp_path):
    assert read_order(tmp_path) is None
    assert read_order(None) is None
    assert arranged(messages("generate/query_plan"), None, whole=True) == messages(
        "generate/query_plan"
    )


@pytest.mark.parametrize("case", ABOUT_A_SCHEMA)
def test_all_prompts_about_a_database_begin_alike(case):
    if "Task" not in titles(messages(case)):
        pytest.skip("another author's prompt, which has no task")
    sent = cacheable(case)
    assert sent[0] == cacheable("generate/query_plan")[0]
    assert titles(sent)[0] == "Database schema"
    assert sorted(titles(sent)) == sorted(titles(messages(case)))
    assert titles(sent)[-1] == "Answer"


def test_the_generators_of_chase_sql_share_the_schema_to_the_byte():
    names = ("divide_and_conquer", "query_plan", "synthetic_examples")
    sent = [cacheable(f"generate/{name}") for name in names]
    (schema,) = {s[1]["content"][: shared_ends(s)[0]] for s in sent}
    assert schema.startswith("## Database schema\n```sql\nCREATE TABLE")


def test_a_prompt_s_own_system_message_opens_its_task():
    own = messages("generate/query_plan")[0]["content"]
    assert f"## Task\n{own}\n\n" in cacheable("generate/query_plan")[1]["content"]


def test_a_schema_that_is_particular_to_a_question_stands_behind_the_instructions():
    sent = cacheable("select/pairwise", whole=False)
    assert titles(sent)[:2] == ["Task", "Database schema"]
    (end,) = shared_ends(sent)
    assert sent[1]["content"][end:].startswith("## Database schema")


def test_calls_share_the_schema_and_then_the_instructions():
    sent = cacheable("generate/query_plan")
    schema, instructions = shared_ends(sent)
    assert sent[1]["content"][schema:].startswith("## Task")
    assert sent[1]["content"][instructions:].startswith("## Values found")


def test_in_the_papers_order_calls_share_the_instructions():
    sent = messages("generate/query_plan")
    (end,) = shared_ends(sent)
    assert sent[1]["content"][end:].startswith("## Database schema")


def test_a_file_that_says_no_order_is_refused(tmp_path):
    (tmp_path / "order.txt").write_text("## Task\n")
    with pytest.raises(BadInputError, match="# System"):
        read_order(tmp_path)


def test_a_folder_without_an_order_is_named_once_where_an_order_is_wanted(tmp_path, capsys):
    for folder in (tmp_path, tmp_path, CACHEABLE):
        warn_without_order(folder)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"workbench: {tmp_path} has no order.txt")
