"""CHESS's filter_column: each column by itself, all but the keys."""

import json
import re
from dataclasses import replace

import pytest

from workbench.llm.faults import Refusal
from workbench.prune.filter_columns import FilterColumns
from workbench.replies.names import read_column_verdicts
from workbench.replies.relevance import read_relevance
from workbench.types import ValueMatch

STEP = FilterColumns("test/model")
GROUPED = FilterColumns("test/model", group=8)
YES, NO = '{"reasoning": "...", "relevant": "yes"}', '{"reasoning": "...", "relevant": "no"}'


def columns(bank):
    return [
        request.messages[1]["content"].split("\n## Column\nColumn: ")[1].splitlines()[0]
        for request in bank.asked
    ]


def test_the_model_is_asked_about_every_column_except_keys(bank):
    bank.cut(STEP, otherwise=YES)
    asked = columns(bank)
    assert {"client.sex", "client.born", "`Account Book`.`opened on`", "note.text"} <= set(asked)
    assert not [name for name in asked if name.endswith("_id")]
    assert len(asked) == 15


def test_relevant_columns_and_all_keys_stay(bank):
    left = bank.cut(STEP, YES, otherwise=NO)
    assert left == {
        "client": ["client_id", "sex", "district_id"],
        "district": ["district_id"],
        "Account Book": ["account_id", "district_id"],
    }


def test_retrieved_values_are_shown(bank):
    found = replace(bank.context, values=(ValueMatch("client", "sex", "F", "women", 0.2, 0.7),))
    bank.cut(STEP, otherwise=YES, context=found)
    assert "Column: client.sex\nExamples: 'F'\n" in bank.asked[0].messages[1]["content"]


def test_calls_that_fail_keep_their_columns(bank):
    assert bank.cut(STEP, *[Refusal("server", "no")] * 15) == bank.whole


def groups(bank):
    """The columns that each call about a group shows."""
    contents = [request.messages[1]["content"] for request in bank.asked]
    shown = [text.split("\n## Columns\n")[1].split("\n## Question\n")[0] for text in contents]
    return [re.findall("^Column: (.*)$", text, re.MULTILINE) for text in shown]


def rows(**verdicts):
    lines = {name.replace("__", "."): said for name, said in verdicts.items()}
    return "\n".join(json.dumps({"column": c, "relevant": v}) for c, v in lines.items())


def test_a_group_s_call_asks_about_that_many_columns(bank):
    bank.cut(GROUPED, *[Refusal("server", "no")] * 2)
    assert [len(group) for group in groups(bank)] == [8, 7]
    assert groups(bank)[0][:2] == ["client.sex", "client.born"]


def test_every_column_of_a_group_has_its_own_verdict(bank):
    others = {"Account Book": ["opened on"], "note": ["text", "day"]}
    verdicts = {f"{t}.{c}": "no" for t, columns in (bank.whole | others).items() for c in columns}
    left = bank.cut(
        FilterColumns("test/model", group=100), rows(**verdicts | {"client.born": "yes"})
    )
    assert left == {
        "client": ["client_id", "born", "district_id"],
        "district": ["district_id"],
        "Account Book": ["account_id", "district_id"],
    }
    assert len(bank.asked) == 1


def test_columns_that_a_reply_leaves_out_are_asked_about_once_more(bank):
    left = bank.cut(
        FilterColumns("test/model", group=100), rows(client__sex="yes"), rows(client__born="no")
    )
    first, second = groups(bank)
    assert second == [column for column in first if column != "client.sex"]
    assert "born" not in left["client"]  # and those without a verdict stay
    assert left["district"] == bank.whole["district"]


def test_columns_of_a_failed_call_are_kept_and_not_asked_about_again(bank):
    assert bank.cut(GROUPED, *[Refusal("server", "no")] * 2) == bank.whole
    assert len(bank.asked) == 2


@pytest.mark.parametrize(
    "reply",
    [
        rows(client__sex="no", client__born="yes"),
        "[" + rows(client__sex="no", client__born="yes").replace("\n", ", ") + "]",
        '{"client.sex": "no", "client.born": "yes"}',
        '{"columns": {"client.sex": false, "client.born": true}}',
        '{"client": {"sex": "No", "born": "Yes"}}',
        '{"client": {"sex": {"reasoning": "not said", "relevant": "no"}, "born": {"relevant": "yes"}}}',
        '[{"table": "client", "column": "sex", "relevant": "no"}, {"column": "born", "is_relevant": 1}]',
        "client.sex: no\nclient.born: yes",
        "1. `client`.`sex`: No, nothing speaks of it.\n2. **client.born**: Yes, it is relevant.",
        "| column | relevant |\n|---|---|\n| client.sex | no |\n| client.born | yes |",
        "<think>client.sex: yes</think>client.sex -> no\nclient.born -> yes",
        '```json\n{"column": "Client.SEX", "relevant": "no"}\n{"column": "born", "relevant": "yes"}\n```',
    ],
)
def test_the_verdicts_on_a_group_are_read_in_any_form(reply):
    tables = {"client": ["sex", "born"], "note": ["text"]}
    assert read_column_verdicts(reply, tables) == {
        ("client", "sex"): False,
        ("client", "born"): True,
    }


def test_a_broken_line_does_not_touch_the_verdicts_on_other_columns():
    reply = rows(client__sex="no") + '\n{"column": "client.born", "reasoning": "it is the'
    assert read_column_verdicts(reply, {"client": ["sex", "born"]}) == {("client", "sex"): False}


@pytest.mark.parametrize(
    "reply",
    [
        NO,
        '{"relevant": "No"}',
        '{"relevant": "NO."}',
        '{"relevant": false}',
        "{'relevant': 'no',}",
        '{"reasoning": "the "name" of it", "relevant": "no"}',
        '{"reasoning": "cut", "relevant": "no"',
        "Relevant: no, it is not.",
        "No.",
        '"irrelevant"',
        "Not relevant",
        "The column is not relevant.",
        "This column is irrelevant.",
        "It might be relevant, but it isn't really relevant.",
        "Answer: no",
        "It holds the sex.\n**Answer:** No",
        "<think>It is relevant.</think>The column is not relevant.",
        '{"relevant": 0}',
        '{"relevant": "n"}',
        '{"is_column_information_relevant": "No"}',
        '{"reasoning": "...", "is_relevant": false}',
    ],
)
def test_every_wording_of_no_drops_the_column(reply):
    assert read_relevance(reply) is False


@pytest.mark.parametrize(
    "reply",
    [
        YES,
        '{"relevant": "Yes"}',
        '{"relevant": true}',
        "Yes, no doubt.",
        '{"relevant": "maybe"}',
        '{"relevant": null}',
        '{"reasoning": "no idea"}',
        "",
        "Nothing can be said.",
        "{}",
        "[]",
        '{"relevant": 1}',
        '{"is_column_information_relevant": "Yes"}',
        "The column is not irrelevant.",
        "At first not relevant, it is relevant by the hint.",
        "It is not only relevant but necessary.",
        "Yes. The column is relevant. The other columns are not relevant.",
        "Yes\n\nThe hint is not relevant, but the column holds the name.",
        "relevant. The others are irrelevant.",
        "<think>No: not relevant.</think>Yes",
        "<think>The column is not relevant.",
        '{"reasoning": "not relevant by its name, the answer: no one kn',
    ],
)
def test_any_other_reply_keeps_the_column(reply):
    assert read_relevance(reply) is not False
