"""A reply to a prompt, written by the module of `calls/` for its kind of call."""

from collections.abc import Callable, Mapping, Sequence

from workbench.embedded.calls.examples import write_examples
from workbench.embedded.calls.generate import generate
from workbench.embedded.calls.judge import choose, rank
from workbench.embedded.calls.keywords import keywords
from workbench.embedded.calls.mend import mend
from workbench.embedded.calls.pruning import (
    filter_column,
    filter_columns,
    mac_selector,
    select_columns,
    select_tables,
)
from workbench.embedded.calls.unit_tests import evaluate_candidates, evaluate_tests, write_tests
from workbench.embedded.prompt.messages import Asked, read
from workbench.types import Message

_WRITERS: Mapping[str, Callable[[Asked, float, str], str]] = {
    "keywords": keywords,
    "filter_column": filter_column,
    "filter_columns": filter_columns,
    "select_tables": select_tables,
    "select_columns": select_columns,
    "mac_selector": mac_selector,
    "generate": generate,
    "examples": write_examples,
    "mend": mend,
    "pairwise": choose,
    "ranker": rank,
    "unit_tests": write_tests,
    "evaluate_candidates": evaluate_candidates,
    "evaluate_tests": evaluate_tests,
}


def answer(messages: Sequence[Message], *, temperature: float = 1.0, seed: str = "") -> str:
    """The reply to these messages: the same for the same temperature and seed."""
    asked = read(messages)
    return _WRITERS[asked.call](asked, temperature, seed)
