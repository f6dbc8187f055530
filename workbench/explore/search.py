"""Search in the cached calls: words in a prompt or its reply, and the question that a call is about.

A long prompt is stored in parts, which calls share (`llm/cache/rows.py`), so a word is looked for in the replies, in
what a call has for itself, and in the parts. SQLite's LIKE reads a cache of 32,000 calls in a tenth of a second, so
there is no index to keep.
"""

from collections.abc import Iterable, Mapping, Sequence

import orjson

from workbench.llm.cache.rows import Call
from workbench.store import Store
from workbench.types import Question


def found(store: Store, words: Sequence[str]) -> list[int]:
    """The row ids of the calls that have every word in their prompts or replies, A to Z in either case."""
    left: set[int] | None = None
    for word in words:
        have = _own(store, word) | _shared(store, word)
        left = have if left is None else left & have
    return sorted(left or ())


def _own(store: Store, word: str) -> set[int]:
    """The calls that have the word in their reply or in their own part of the prompt, which is stored as JSON."""
    rows = store.read(
        "SELECT rowid FROM calls WHERE text LIKE ? ESCAPE '\\' OR messages LIKE ? ESCAPE '\\'",
        (_like(word), _like(orjson.dumps(word).decode()[1:-1])),
    )
    return {number for (number,) in rows}


def _shared(store: Store, word: str) -> set[int]:
    """The calls whose prompts have a stored part with the word."""
    rows = store.read("SELECT id FROM texts WHERE text LIKE ? ESCAPE '\\'", (_like(word),))
    parts = {part for (part,) in rows}
    if not parts:
        return set()
    return {
        number
        for number, messages in store.read("SELECT rowid, messages FROM calls")
        if not parts.isdisjoint(_parts(messages))
    }


def _parts(messages: str) -> Iterable[int]:
    """The ids of the stored parts of a call's messages."""
    contents = [message.get("content") for message in orjson.loads(messages)]
    return (part for one in contents if isinstance(one, list) for part in one if type(part) is int)


def _like(word: str) -> str:
    for special in "\\%_":
        word = word.replace(special, f"\\{special}")
    return f"%{word}%"


def asked(calls: Iterable[Call], questions: Iterable[Question]) -> Mapping[str, Question]:
    """By the key of a call the question that it is about: its text is on a line of its own in every prompt."""
    known = {_one_line(question.text): question for question in questions}
    return {
        call.key: known[line]
        for call in calls
        for message in call.messages
        for line in map(_one_line, str(message.get("content", "")).split("\n"))
        if line in known
    }


def _one_line(text: str) -> str:
    return " ".join(text.split())
