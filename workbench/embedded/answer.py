"""A reply to a prompt, written by the module of `calls/` for its kind of call.

The form of answer that a prompt asks for and the titles of its sections tell the kind, never a prompt's name.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from workbench.embedded.calls import examples, generate, judge, keywords, mend, pruning
from workbench.embedded.prompt.messages import Asked, read
from workbench.types import Message

_Writer = Callable[[Asked, float, str], str]
# Who writes the reply, by what the section "Answer" says and by other titles; the first that fits counts.
_WRITERS: tuple[tuple[_Writer, str, str], ...] = (
    (judge.evaluate_candidates, r"(?m)^Candidate Response #1:", ""),
    (judge.evaluate_tests, r"(?m)^Unit Test #1:", ""),
    (judge.write_tests, "", r"Candidate Cluster"),
    (judge.rank, "", r"Candidate 1"),
    (judge.choose, "", r"Candidate B"),
    (mend.mend, "", r"Query"),
    (pruning.filter_columns, "", r"Columns$"),
    (pruning.filter_column, "", r"Column$"),
    (pruning.select_tables, r'"table_names"', ""),
    (pruning.mac_selector, r"keep_all", ""),
    (pruning.select_columns, r'"other table"', ""),
    (examples.write_examples, r'"output"', ""),
    (keywords.keywords, r"(?i)list of strings", ""),
    (generate.generate, "", ""),
)


def answer(messages: Sequence[Message], *, temperature: float = 1.0, seed: str = "") -> str:
    """The reply to these messages: the same for the same temperature and seed."""
    asked = read(messages)
    return writer(asked.answer, asked.titles)(asked, temperature, seed)


@lru_cache(maxsize=1024)  # the calls of a prompt ask for one form of answer
def writer(form: str, titles: str) -> _Writer:
    """The function that writes the reply to a prompt with this form of answer and these titles."""
    return next(
        write
        for write, asks, title in _WRITERS
        if re.search(asks, form) and re.search(f"(?m)^{title}", titles)
    )
