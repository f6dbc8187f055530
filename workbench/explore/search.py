"""Search in the cached calls: words in a prompt or its reply, and the question that a call is about.

A long prompt is stored in parts, which calls share (`llm/cache/rows.py`). A search looks for a word in the replies, in
each call's own part of the prompt, and in the shared parts; the calls of each part are read once and kept in memory.
SQLite's LIKE reads a cache of 32,000 calls in a tenth of a second, so there is no index on disk.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt
import orjson

from workbench.errors import StoreError
from workbench.llm.cache.rows import Call, part_ids
from workbench.store import Store
from workbench.types import Question

Rows = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]


class Search:
    """Finds cached calls by words, including calls made since the last search."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._newest = 0  # the row id of the last call that was read
        self._calls: Rows = np.empty(0, np.int64)  # row ids of the calls that were read
        self._parts: Rows = np.empty((0, 2), np.int64)  # row id of a call, id of a part
        self._ids: Rows = np.empty(0, np.int64)  # the distinct ids of parts, sorted
        self._positions: Rows = np.empty(0, np.int64)  # of each part's id among the distinct ones
        self._updating = threading.Lock()

    def prepare(self) -> threading.Thread:
        """Read the cached calls in a thread, before the first search needs them."""
        thread = threading.Thread(target=self._prepare, daemon=True)
        thread.start()
        return thread

    def _prepare(self) -> None:
        with suppress(StoreError):  # the next search reads again and raises the error
            self._update()

    def _update(self) -> None:
        """Read the parts of new calls."""
        with self._updating:
            new = self._store.read(
                "SELECT rowid, messages FROM calls WHERE rowid > ? ORDER BY rowid", (self._newest,)
            )
            if not new:
                return
            texts = {messages for _, messages in new}  # the samples of a prompt share theirs
            distinct = {messages: part_ids(orjson.loads(messages)) for messages in texts}
            found = [distinct[messages] for _, messages in new]
            counts, parts = [len(one) for one in found], [part for one in found for part in one]
            numbers = np.array([number for number, _ in new], np.int64)
            more = np.column_stack([np.repeat(numbers, counts), np.array(parts, np.int64)])
            self._parts = np.concatenate([self._parts, more])
            self._ids, self._positions = np.unique(self._parts[:, 1], return_inverse=True)
            self._calls, self._newest = np.concatenate([self._calls, numbers]), new[-1][0]

    def find(self, words: Sequence[str]) -> list[int]:
        """The row ids of the calls that have every word in their prompts or replies; a to z match A to Z."""
        self._update()
        known = self._marked(self._calls)
        found = known
        for word in words:
            have = self._shared(word)
            if not np.array_equal(have, known):  # else every prompt has it
                have[self._own(word)] = True
            found = found & have
        return np.flatnonzero(found).tolist()

    def _own(self, word: str) -> Rows:
        """The calls that have the word in their reply or in their own part of the prompt, which is stored as JSON."""
        like = "SELECT rowid FROM calls WHERE rowid <= ? AND (text LIKE ? ESCAPE '\\' OR messages LIKE ? ESCAPE '\\')"
        written = orjson.dumps(word).decode()[1:-1]
        return _numbers(self._store, like, self._newest, _pattern(word), _pattern(written))

    def _shared(self, word: str) -> Marks:
        """A mark at the row id of each call whose prompt has a stored part with the word."""
        like = "SELECT id FROM texts WHERE text LIKE ? ESCAPE '\\'"
        have = np.isin(self._ids, _numbers(self._store, like, _pattern(word)))
        return self._marked(self._parts[have[self._positions], 0])

    def _marked(self, numbers: Rows) -> Marks:
        """Marks for all row ids up to the newest: marks are combined much faster than sorted row ids."""
        marks = np.zeros(self._newest + 1, bool)
        marks[numbers] = True
        return marks


def _numbers(store: Store, query: str, *values: str | int) -> Rows:
    return np.array([number for (number,) in store.read(query, values)], np.int64)


def _pattern(word: str) -> str:
    for special in "\\%_":
        word = word.replace(special, f"\\{special}")
    return f"%{word}%"


def asked(calls: Iterable[Call], questions: Iterable[Question]) -> Mapping[str, Question]:
    """The question of each call, by the call's key: every prompt has the question's text on a line of its own."""
    known = {" ".join(question.text.split()): question for question in questions}
    return {
        call.key: known[line]
        for call in calls
        for message in call.messages
        for line in str(message.get("content", "")).split("\n")
        if line in known
    }
