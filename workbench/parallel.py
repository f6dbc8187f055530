"""Apply a function to many items in threads, since questions mostly wait for models and databases.

Finished work is in the cache, so a stopped run continues where it stopped.
"""

import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache, partial, wraps
from typing import Any, ParamSpec, TypeVar

from workbench.threads import THREADS

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")
_CHECK = 0.05  # seconds between two checks of `room`
_REPORT = 0.2  # seconds between two reports of progress
_item = threading.local()  # `waits` is called when the item of this thread first waits


def each(
    do: Callable[[T], R],
    items: Sequence[T],
    *,
    at_once: int = 4,
    room: Callable[[], int] | None = None,
    progress: Callable[[int, int], None] | None = None,
    ending: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> list[R]:
    """The results of `do` in the order of the items: `each(lambda q: solve(system, q, lab), questions)`.

    `at_once` is the maximal number of threads. `room` returns how many further items may begin now; with
    `lab.client.room`, questions begin as long as their providers take more calls. With `room`, the next item begins
    when all items before it wait for a model or a database, or compute for long: items that begin together slow each
    other down, and all send their first calls late. After an error or Ctrl-C no item begins, and `each` waits inside
    the context `ending` for the items that have begun; in `lab.client.stopped`, they make no further calls.
    `progress` gets the numbers of finished items and of all.
    """
    now_waits()
    results: dict[int, R] = {}
    # "waits" says that an item waits for the first time, or has ended; "ended" or an error says that it has ended.
    events: queue.SimpleQueue[str | BaseException] = queue.SimpleQueue()
    begun = done = waited = 0
    quiet = False  # no event since the last check

    def work(index: int) -> None:
        _item.waits = partial(events.put, "waits")
        event: str | BaseException = "ended"
        try:
            results[index] = do(items[index])
        except BaseException as error:  # noqa: BLE001  `each` raises it
            event = error
        now_waits()
        events.put(event)

    try:
        while done < len(items):
            free = at_once - (begun - done)
            if room:
                wanted = min(free, max(room(), not begun))
                free = min(wanted, 1) if quiet or waited == begun else 0
            while begun < len(items) and free > 0:
                THREADS.start(partial(work, begun))
                begun, free = begun + 1, free - 1
            wait = _CHECK if room and begun < len(items) else _REPORT if progress else None
            try:
                event = events.get(timeout=wait)
            except queue.Empty:
                quiet = True
            else:
                quiet = False
                if event == "waits":
                    waited += 1
                    continue
                done += 1
                if isinstance(event, BaseException):
                    raise event
            if progress:
                progress(done, len(items))
    except BaseException:
        with ending():
            while done < begun:
                done += events.get() != "waits"
        raise
    return [results[index] for index in range(len(items))]


def now_waits() -> None:
    """Say that the item of this thread waits, for a model, a database or other threads: the next item may begin."""
    if waits := getattr(_item, "waits", None):
        _item.waits = None
        waits()


def cached_once(maxsize: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`lru_cache` for functions that many threads call with equal arguments: one computes, the others wait."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        lock = threading.Lock()
        # A lock for each call's arguments: two threads that miss `results` at once would both get a result of their own.
        locks = lru_cache(maxsize)(lambda *_, **__: threading.Lock())
        results = lru_cache(maxsize)(function)

        @wraps(function)
        def cached(*given: Any, **named: Any) -> R:
            with lock:
                own = locks(*given, **named)
            with own:
                return results(*given, **named)

        return cached

    return decorate


def cached_for_object(maxsize: int) -> Callable[[Callable[[T], R]], Callable[[T], R]]:
    """A cache by object, for arguments that differ though they are equal (1 and 1.0) or are slow to compare."""

    def decorate(function: Callable[[T], R]) -> Callable[[T], R]:
        results: OrderedDict[int, tuple[T, R]] = OrderedDict()

        @wraps(function)
        def cached(given: T) -> R:
            if entry := results.get(id(given)):  # the entry keeps the object, so its id is unique
                return entry[1]
            result = function(given)
            results[id(given)] = (given, result)
            if len(results) > maxsize:
                with suppress(KeyError):  # other threads have removed all entries
                    results.popitem(last=False)
            return result

        return cached

    return decorate
