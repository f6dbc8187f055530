"""Whether a reply says of each numbered item, a candidate or a unit test, that it passed or failed.

A reply judges in JSON (`from_json.py`), line by line, in a table, in lists of those that pass, of all at once with
exceptions (`from_text.py`), or in words without numbers (`from_words.py`); `judgement.py` reads what one phrase says.
The last statement on each item counts, because models reason first.
"""

import re

from workbench.replies.choices.from_json import read_json
from workbench.replies.choices.from_text import read_text
from workbench.replies.choices.from_words import read_words
from workbench.replies.choices.judgement import Judgement
from workbench.replies.text import answer_text

__all__ = ["Judgement", "read_choices"]

_MARKS = str.maketrans(
    dict.fromkeys("\u2705\u2714\u2713\u2611", " passed ")
    | dict.fromkeys("\u274c\u2717\u2718\u2716\u2715", " failed ")
    | {"\ufe0f": ""}  # which only says that a mark is a picture
)
_TICKED = re.compile(r"^(\s*[-*]\s*)\[[xX]\]", re.MULTILINE)
_UNTICKED = re.compile(r"^(\s*[-*]\s*)\[ \]", re.MULTILINE)


def read_choices(reply: str, label: str, count: int) -> list[Judgement]:
    """The judgement, 1, 0 or None, of each of `count` items that the reply calls by `label` and number."""
    text = _TICKED.sub(r"\1 passed ", answer_text(reply).translate(_MARKS))
    text = _UNTICKED.sub(r"\1 failed ", text)
    judged = (
        read_json(text, label, count) or read_text(text, label, count) or read_words(text, count)
    )
    return judged or [None] * count
