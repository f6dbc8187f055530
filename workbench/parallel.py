"""Apply a function to many items in threads, as questions wait for models and databases.

Finished work is in the cache, so a stopped run goes on where it was.
"""

import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache, partial, wraps
from typing import Any, Generic, ParamSpec, TypeVar

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")
_LOOK = 0.05  # seconds between two looks at the room for further items


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

    `at_once` is the most threads. With `room`, as many items more are begun as it says: `lab.client.room` begins
    questions as long as their providers take more calls. After an error or Ctrl-C no item begins, and `each`
    waits for those that have inside the context `ending`: with `lab.client.stopped`, they make no further calls.
    `progress` is called with the number of done items and of all.
    """
    threads = ThreadPoolExecutor(at_once)
    futures: list[Future[R]] = []
    # A queue costs nothing while it is empty; `wait` would lock every future each time it looks.
    ended: queue.SimpleQueue[Future[R]] = queue.SimpleQueue()
    done = 0
    try:
        while done < len(items):
            free = at_once - (len(futures) - done)
            more = min(free, max(room(), not futures)) if room else free
            for item in items[len(futures) : len(futures) + max(0, more)]:
                futures.append(threads.submit(do, item))
                futures[-1].add_done_callback(ended.put)
            with suppress(queue.Empty):
                ended.get(timeout=_LOOK if room and len(futures) < len(items) else 0.2).result()
                done += 1
            if progress:
                progress(done, len(items))
        return [future.result() for future in futures]
    except BaseException:
        with ending():
            threads.shutdown(cancel_futures=True)
        raise
    finally:
        threads.shutdown()


def cached_once(maxsize: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`lru_cache` for functions that many threads call with the same arguments: one computes, and the others wait."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        # Two threads that miss `lru_cache` at once would both get a result of their own.
        lock = threading.Lock()

        @lru_cache(maxsize)
        def result(*given: Any, **named: Any) -> _Result[R]:
            return _Result(partial(function, *given, **named))

        @wraps(function)
        def cached(*given: Any, **named: Any) -> R:
            with lock:
                found = result(*given, **named)
            return found.get()

        return cached

    return decorate


def cached_for_object(maxsize: int) -> Callable[[Callable[[T], R]], Callable[[T], R]]:
    """A cache of results for the same object, where equal ones may differ (1 and 1.0) or are slow to compare."""

    def decorate(function: Callable[[T], R]) -> Callable[[T], R]:
        results: OrderedDict[int, tuple[T, R]] = OrderedDict()

        @wraps(function)
        def cached(given: T) -> R:
            if found := results.get(id(given)):  # the object is held, so no other has its id
                return found[1]
            result = function(given)
            results[id(given)] = (given, result)
            if len(results) > maxsize:
                with suppress(KeyError):  # another thread was first
                    results.popitem(last=False)
            return result

        return cached

    return decorate


class _Result(Generic[R]):
    """The result of a function, computed when it is first asked for."""

    def __init__(self, compute: Callable[[], R]) -> None:
        self._compute = compute
        self._computing = threading.Lock()
        self._values: list[R] = []

    def get(self) -> R:
        if not self._values:
            with self._computing:
                if not self._values:
                    self._values.append(self._compute())
        return self._values[0]
