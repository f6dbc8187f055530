"""A reply to a prompt, written by the module of `calls/` for its kind of call."""

from collections.abc import Callable, Mapping, Sequence

from workbench.embedded.calls import examples, generate, judge, keywords, mend, pruning
from workbench.embedded.prompt.messages import Asked, read
from workbench.types import Message

_WRITERS: Mapping[str, Callable[[Asked, float, str], str]] = {
    "keywords": keywords.keywords,
    "filter_column": pruning.filter_column,
    "filter_columns": pruning.filter_columns,
    "select_tables": pruning.select_tables,
    "select_columns": pruning.select_columns,
    "mac_selector": pruning.mac_selector,
    "generate": generate.generate,
    "examples": examples.write_examples,
    "mend": mend.mend,
    "pairwise": judge.choose,
    "ranker": judge.rank,
    "unit_tests": judge.write_tests,
    "evaluate_candidates": judge.evaluate_candidates,
    "evaluate_tests": judge.evaluate_tests,
}


def answer(messages: Sequence[Message], *, temperature: float = 1.0, seed: str = "") -> str:
    """The reply to these messages: the same for the same temperature and seed."""
    asked = read(messages)
    return _WRITERS[asked.call](asked, temperature, seed)
