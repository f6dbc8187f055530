"""Readers end soon whatever a model writes: a model that repeats itself fills its output limit."""

import time

import pytest

from tests.replies.test_properties import READERS
from workbench.replies.unit_tests import read_tests

LENGTH = 50_000
SECONDS = 10.0  # of processor time for one reply; most take a hundredth of a second
UNITS = [
    "a",
    "A ",
    "1, ",
    "\n",
    "[",
    "{",
    '["a", ',
    '{"a": [',
    '"',
    "(",
    "```\n",
    "--\n",
    "**",
    "> a\n",
    "| ",
    "the ",
    "\\boxed{",
    "<answer>",
    "<think>",
    "SELECT a FROM b\n",
    "SELECT (",
    "WITH a AS (",
    "Question: a\nSQL: b\n",
    "The query should ",
    "candidate 1 and ",
    "A is better ",
    "not relevant ",
    "all pass, ",
    "rank 1: 2\n",
    "{a: b} ",
    "_",
    "the others ",
    "Note: a\n",
    "# thinking\n",
]


@pytest.mark.slow
@pytest.mark.parametrize("lead", ["", "SELECT a FROM b WHERE "])
@pytest.mark.parametrize("unit", UNITS)
def test_a_long_reply_of_one_repeated_unit_is_read_in_bounded_time(unit, lead):
    reply = lead + unit * (LENGTH // len(unit))
    for name, read in {**READERS, "tests": read_tests}.items():
        began = time.process_time()
        read(reply)
        assert time.process_time() - began < SECONDS, name
