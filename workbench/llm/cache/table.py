"""The cached model calls. A call is stored before its answer is returned, and recent answers stay in memory."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.canonical import canonical
from workbench.errors import StoreError
from workbench.llm.cache.rows import Call, Packed, pack, write
from workbench.llm.provider import runs_here
from workbench.store import Store
from workbench.threads import THREADS
from workbench.types import Completion, Request, Usage

RECENT = 20_000  # answers in memory, about 40 MB

_GET = (
    "SELECT key, text, model, finish_reason, input_tokens, output_tokens, cached_tokens, cost "
    "FROM calls WHERE key"
)


def with_fault(answer: Completion) -> Completion:
    """The answer, as a failure if the provider's content filter withheld it."""
    if answer.finish_reason != "content_filter":
        return answer
    withheld = "the provider's content filter withheld the answer"
    return replace(answer, fault="filtered", error=withheld)


class _Unsaved:
    """The calls that are not on disk yet: each call, its packed rows, and whether it replaces a cached call."""

    def __init__(self) -> None:
        self.calls: list[tuple[Call, Packed, bool]] = []
        # Of the threads that wait until their calls are on disk: each gets the error, if they cannot be written.
        self.callbacks: deque[Callable[[BaseException | None], None]] = deque()
        self.refused = False  # whether the last attempt to write them failed
        self.saving = threading.Lock()


_UNSAVED: dict[Path, _Unsaved] = {}  # by cache file, for all clients of this process


class Cache:
    """The table `calls` of a cache file."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._unsaved = _UNSAVED.setdefault(store.path.resolve(), _Unsaved())
        self._recent: dict[str, Completion] = {}

    def get(self, key: str) -> Completion | None:
        return self.get_many([key]).get(key)

    def get_many(self, keys: Sequence[str]) -> dict[str, Completion]:
        """The answers that are cached, by key."""
        found = {key: answer for key in keys if (answer := self._recent.get(key))}
        missing = [key for key in keys if key not in found]
        rows = []
        if len(missing) == 1:
            rows = self.store.read(f"{_GET} = ?", missing)
        elif missing:
            rows = self.store.read_keys(f"{_GET} IN", missing)
        for key, text, model, reason, read, written, cached, cost in rows:
            usage = Usage(read, written, cached)
            answer = with_fault(Completion(text, model, reason, usage, cost, key, cached=True))
            self._remember(answer)
            found[key] = answer
        return found

    def answered(self, request: Request, endpoint: str) -> bool:
        """Whether any call of the request's prompt and parameters has a stored answer."""
        values = (endpoint, request.model, request.prompt, canonical(request.parameters).decode())
        same = "endpoint = ? AND model = ? AND prompt = ? AND parameters = ?"
        return bool(self.store.read(f"SELECT 1 FROM calls WHERE {same} LIMIT 1", values))

    def _remember(self, answer: Completion) -> None:
        if len(self._recent) >= RECENT:
            self._recent.clear()
        self._recent[answer.key] = answer

    def put(self, call: Call, *, replace: bool = False, save: bool = True) -> None:
        """Store a call; it is on disk when this returns. Threads that store at the same time share a transaction.

        Without `save`, the call stays in memory until the next `save`, so that many calls share a transaction.
        So does each call of a model in this process, which costs nothing. A call that a full disk refuses stays
        in memory, too: the next `save` by any client of this process tries again.
        """
        self._unsaved.calls.append((call, pack(call), replace))
        if runs_here(call.model):
            fields = (call.text, call.model, call.finish_reason, call.usage, call.cost, call.key)
            self._remember(Completion(*fields, cached=True))
        else:
            if save:
                self.save()
            self._recent.pop(call.key, None)

    def save_refused(self) -> None:
        """Write the calls that a full disk refused, if any; raises `StoreError` if the disk is still full."""
        if self._unsaved.refused:
            self.save()

    def save(self) -> None:
        """Write the calls that are not on disk yet."""
        try:
            with self._unsaved.saving:
                self._write()
        finally:
            if self._unsaved.callbacks:  # in another thread, since Ctrl-C may interrupt this one
                THREADS.start(self._save_for_others)

    def save_then(self, key: str, done: Callable[[BaseException | None], None]) -> None:
        """Call `done` when the call with this key, which was put, is on disk, or with the error if it is not.

        Of the threads that call this at the same time, one writes for all and calls their callbacks; no other waits.
        """

        def saved(error: BaseException | None) -> None:
            self._recent.pop(key, None)  # the call may replace one that was read meanwhile
            done(error)

        self._unsaved.callbacks.append(saved)
        self._save_for_others()

    def _save_for_others(self) -> None:
        """Save until no callback waits. A thread that is saving looks for more at its end, so none is left."""
        unsaved = self._unsaved
        while unsaved.callbacks and unsaved.saving.acquire(blocking=False):
            failed: BaseException | None = None
            callbacks = [unsaved.callbacks.popleft() for _ in range(len(unsaved.callbacks))]
            try:
                self._write()
            except BaseException as error:  # noqa: BLE001  the callbacks report it
                failed = error
            finally:
                unsaved.saving.release()
            for done in callbacks:
                done(failed)

    def _write(self) -> None:
        unsaved = self._unsaved
        if not (calls := tuple(unsaved.calls)):
            return
        durable = not all(runs_here(call.model) for call, _, _ in calls)
        unsaved.refused = True
        try:
            with self.store.write(durable=durable) as connection:
                for _, packed, replace in calls:
                    write(connection, packed, replace=replace)
        except StoreError as error:
            raise StoreError(f"{error} ({len(calls)} paid replies wait in memory)") from error
        unsaved.refused = False
        del unsaved.calls[: len(calls)]
