"""The benchmark of costs, small: recorded calls are billed as a provider bills them."""

import pytest

from tests.benchmarks.bills import asked, bills, total
from workbench.types import Request

SHARED, OWN, REPLY = 2000, 10, 50  # tokens


def calls(prompt="generate/direct"):
    """Two calls that begin alike."""
    for own in ("one ", "two "):
        content = "word " * SHARED + own * OWN
        messages = ({"role": "user", "content": content},)
        yield asked(Request(prompt, "embedded/parser", messages, shared=(5 * SHARED,)), REPLY)


@pytest.mark.parametrize(
    ("way", "dollars"),
    [
        ({"caches": False}, 2 * (2010 * 2.0 + 50 * 8.0)),
        ({}, 2 * (2010 * 2.0 + 50 * 8.0) - 1920 * 1.5),
        (
            {"batch": True},
            2010 * 2.0 + 50 * 8.0,
        ),  # in a batch no price of its own for what is cached
    ],
)
def test_the_second_of_two_prompts_that_begin_alike_is_read_from_the_cache(way, dollars):
    found = bills(list(calls()), "openai/gpt-4.1", **way)
    assert total(found) == pytest.approx(dollars / 1e6)


def test_claude_reads_what_is_marked_and_is_paid_for_writing_it():
    model = "anthropic/claude-sonnet-4-5"
    plain = bills(list(calls()), model)["generate/direct"]
    marked = bills(list(calls()), model, marks=True)["generate/direct"]
    assert (plain.read, marked.read) == (0, SHARED)
    written_and_read = SHARED * (3.75 + 0.3) + 2 * OWN * 3.0
    assert marked.input_dollars == pytest.approx(written_and_read / 1e6)


def test_columns_are_asked_of_the_cheap_model_where_one_is_given():
    main, cheap = (
        total(bills(list(calls("prune/filter_column_group")), "openai/gpt-4.1", model))
        for model in ("", "openai/gpt-4.1-mini")
    )
    assert cheap == pytest.approx(main / 5)
