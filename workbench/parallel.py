"""Apply a function to many items in threads, since questions mostly wait for models and databases.

Finished work is in the cache, so a stopped run continues where it stopped.
"""

import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache, partial, wraps
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")
_CHECK = 0.05  # seconds between two checks of `room`
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
    threads = ThreadPoolExecutor(at_once)
    futures: list[Future[R]] = []
    # None says that an item waits for the first time, or has ended. An empty queue costs nothing;
    # `concurrent.futures.wait` would lock every future at each check.
    events: queue.SimpleQueue[Future[R] | None] = queue.SimpleQueue()
    done = waited = 0
    quiet = False  # no event since the last check

    def work(item: T) -> R:
        _item.waits = partial(events.put, None)
        try:
            return do(item)
        finally:
            now_waits()

    try:
        while done < len(items):
            free = at_once - (len(futures) - done)
            if room:
                wanted = min(free, max(room(), not futures))
                free = min(wanted, 1) if quiet or waited == len(futures) else 0
            for item in items[len(futures) : len(futures) + max(0, free)]:
                futures.append(threads.submit(work, item))
                futures[-1].add_done_callback(events.put)
            try:
                event = events.get(timeout=_CHECK if room and len(futures) < len(items) else 0.2)
            except queue.Empty:
                quiet = True
            else:
                quiet = False
                if event:
                    event.result()
                    done += 1
                else:
                    waited += 1
                    continue
            if progress:
                progress(done, len(items))
        return [future.result() for future in futures]
    except BaseException:
        with ending():
            threads.shutdown(cancel_futures=True)
        raise
    finally:
        threads.shutdown()


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
