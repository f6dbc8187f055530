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
    ("Nope", False),
    ("Useful.", True),
    ("is_relevant = True", True),
    ("Definitely not.", False),
    ("The column is essential for this question.", True),
    ("This column has nothing to do with the question.", False),
    ("There is no reason to use this column.", False),
    ("I don't think this column is needed.", False),
    ("It's unlikely to be relevant.", False),
    ("The column should be dropped.", False),
    ("This column should not be dropped.", True),
    ("It cannot be ignored.", True),
    ("I would keep this column.", True),
    ("We can skip it.", False),
    ("This column will be used in the WHERE clause.", True),
    ("The column is not needed for the SELECT but is needed for the join.", True),
    ("The column is neither mentioned in the question nor needed for a join.", False),
    ("This column is irrelevant. It is important to note the key instead.", False),
    ("The query can be answered without this column.", False),
    ("Without this column the question cannot be answered.", True),
    ("This column is used to store names.", None),
    ("It could be n/a.", None),
]


@pytest.mark.parametrize(("reply", "relevant"), REPLIES)
def test_a_column_is_called_relevant_or_not(reply, relevant):
    assert read_relevance(reply) is relevant


@pytest.mark.parametrize(
    "reply", ["", "I do not know.", '{"reasoning": "The column holds the year in', "{}"]
)
def test_a_reply_without_a_verdict_says_nothing(reply):
    assert read_relevance(reply) is None
