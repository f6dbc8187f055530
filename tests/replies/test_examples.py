"""Replies that write examples, and the whole examples in them."""

import pytest

from workbench.replies.examples import read_examples

REPLIES = [
    (
        "Question: How many?\nHint: None\nSQL: SELECT COUNT(*) FROM t\n\nQuestion: Which?\nSQL: SELECT a FROM t",
        [
            {"question": "How many?", "hint": "None", "sql": "SELECT COUNT(*) FROM t"},
            {"question": "Which?", "hint": "", "sql": "SELECT a FROM t"},
        ],
    ),
    ('<think>{"question": "q", "sql": "SELECT 1"}</think>', []),
    (
        '<think>{"question": "q", "sql": "SELECT 1"}</think>{"question": "r", "sql": "SELECT 2"}',
        [{"question": "r", "hint": "", "sql": "SELECT 2"}],
    ),
    (
        '1. {"question": "r", "sql": "SELECT 2"}\n2. {"question": "s", "sql": "SELECT 3"}',
        [
            {"question": "r", "hint": "", "sql": "SELECT 2"},
            {"question": "s", "hint": "", "sql": "SELECT 3"},
        ],
    ),
    (
        '{"question": "r", "sql": "SELECT 2"},\n{"question": "s", "sql": "SELECT 3 FROM',
        [{"question": "r", "hint": "", "sql": "SELECT 2"}],
    ),
]


@pytest.mark.parametrize(("reply", "examples"), REPLIES)
def test_whole_examples_are_read_in_their_order(reply, examples):
    assert read_examples(reply) == examples
