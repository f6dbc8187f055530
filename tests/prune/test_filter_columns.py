"""CHESS's filter_column: each column by itself, all but the keys."""

from dataclasses import replace

import pytest

from workbench.llm.provider import Refusal
from workbench.prune.filter_columns import FilterColumns
from workbench.replies.relevance import read_relevance
from workbench.types import ValueMatch

STEP = FilterColumns("test/model")
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
