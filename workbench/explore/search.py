"""Search in the cached calls: words in a prompt or its reply, and the question that a call is about.

SQLite's LIKE reads a cache of 32,000 calls in a second or two, so there is no index on disk.
"""

from collections.abc import Iterable, Mapping, Sequence

import orjson

from workbench.llm.cache import Call
from workbench.store import Store
from workbench.types import Question


def find(store: Store, words: Sequence[str]) -> list[int]:
    """The row ids of the calls that have every word in their prompts or replies; a to z match A to Z."""
    one = "(text LIKE ? ESCAPE '\\' OR messages LIKE ? ESCAPE '\\')"
    where = " AND ".join([one] * len(words))
    patterns = [
        _pattern(form) for word in words for form in (word, orjson.dumps(word).decode()[1:-1])
    ]
    return [number for (number,) in store.read(f"SELECT rowid FROM calls WHERE {where}", patterns)]


def _pattern(word: str) -> str:
    for special in "\\%_":
        word = word.replace(special, f"\\{special}")
    return f"%{word}%"


def asked(calls: Iterable[Call], questions: Iterable[Question]) -> Mapping[str, Question]:
    """The question of each call, by the call's key: every prompt has the question's text on a line of its own."""
    known = {" ".join(question.text.split()): question for question in questions}
    return {
        call.answer.key: known[line]
        for call in calls
        for message in call.request.messages
        for line in str(message.get("content", "")).split("\n")
        if line in known
    }
