"""Replies that list keywords, and the keywords."""

import pytest

from workbench.replies.keywords import read_keywords

QUESTION = "How many buckwheat honey jars did Ada Lund sell at St. Anne's Market in 2020? sold refers to state = 'S'"
REPLIES = [
    ("['Ada Lund', '2020', \"St. Anne's Market\"]", ["Ada Lund", "2020", "St. Anne's Market"]),
    ("1. Ada Lund\n2. 2020", ["Ada Lund", "2020"]),
    ('["Ada Lund", "buckwheat honey", "jar', ["Ada Lund", "buckwheat honey"]),
    ('<think>["sell", "jars", "Ada"]</think>["Ada Lund"]', ["Ada Lund"]),
    ("I'm sorry, I cannot do that.", []),
    (
        '{"people": ["Ada Lund"], "places": ["St. Anne\'s Market"], "years": ["2020"]}',
        ["Ada Lund", "St. Anne's Market", "2020"],
    ),
    ("```python\n['Ada Lund', '2020']\n```", ["Ada Lund", "2020"]),
    ("Ada Lund; 2020; jars", ["Ada Lund", "2020", "jars"]),
    ("* Ada Lund\n* 2020", ["Ada Lund", "2020"]),
]


@pytest.mark.parametrize(("reply", "keywords"), REPLIES)
def test_keywords_are_read_from_any_kind_of_list(reply, keywords):
    assert read_keywords(reply, QUESTION) == keywords
