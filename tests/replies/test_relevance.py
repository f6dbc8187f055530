"""Replies about one column, and whether each calls it relevant."""

import pytest

from workbench.replies.relevance import read_relevance

REPLIES = [
    ("{'relevant': 'Yes'}", True),
    ('{"relevant": 0}', False),
    ('{"relevant": "ja"}', True),
    ("I would say no.", False),
    ("**No**, the column holds the fare.", False),
    ("The answer: no, because it is a date.", False),
    ('{"relevant": "not relevant"}', False),
    ("Not needed.", False),
    ("yes\n\nno wait, the hint excludes it: no", False),
    ("yes", True),
    ("No.", False),
    ("The column is not relevant to the question.", False),
    ("The column is irrelevant.", False),
    ('{"relevant": false}', False),
    ('{"relevant": "No"}', False),
    ('"relevant": "no"', False),
    ("relevant: yes", True),
    ("<think>no</think>yes", True),
    ('{"reasoning": "It says "no".", "relevant": "yes"}', True),
    ("This column isn't relevant.", False),
    ("Is it relevant? Yes, since the hint names it.", True),
    ("It is likely relevant.", True),
    ("\\boxed{no}", False),
]


@pytest.mark.parametrize(("reply", "relevant"), REPLIES)
def test_a_column_is_called_relevant_or_not(reply, relevant):
    assert read_relevance(reply) is relevant


@pytest.mark.parametrize(
    "reply", ["", "I do not know.", '{"reasoning": "The column holds the year in', "{}"]
)
def test_a_reply_without_a_verdict_says_nothing(reply):
    assert read_relevance(reply) is None
