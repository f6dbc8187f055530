"""Apply a function to many items in threads, since questions mostly wait for models and databases."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache, wraps
from queue import Empty, SimpleQueue
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")


def each(
    do: Callable[[T], R],
    items: Sequence[T],
    *,
    at_once: int = 4,
    progress: Callable[[int, int], object] | None = None,
    ending: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> list[R]:
    """The results of `do` in the order of the items: `each(lambda q: solve(system, q, lab), questions)`.

    After an error or Ctrl-C no item begins, and `each` waits inside the context `ending` for those that have begun; in
    `lab.client.stopped`, they send no further calls. The threads are daemons: a second Ctrl-C leaves them.
    """
    results: dict[int, R] = {}
    ended: SimpleQueue[BaseException | None] = SimpleQueue()
    numbers = iter(range(len(items)))  # of the items that have not begun
    stopping = threading.Event()

    def work() -> None:
        for index in numbers:
            if stopping.is_set():
                return
            error: BaseException | None = None
            try:
                results[index] = do(items[index])
            except BaseException as found:  # noqa: BLE001  `each` raises it
                error = found
                stopping.set()
            ended.put(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(at_once, len(items)))]
    for thread in threads:
        thread.start()
    try:
        while len(results) < len(items):
            with suppress(Empty):
                if error := ended.get(timeout=0.2):
                    raise error
            if progress:
                progress(len(results), len(items))
    except BaseException:
        stopping.set()
        with ending():
            for thread in threads:
                thread.join()
        raise
    return [results[index] for index in range(len(items))]


def cached_once(maxsize: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`lru_cache` for functions that many threads call with equal arguments: one computes, the others wait."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        lock = threading.Lock()
        # A lock for each call's arguments: two threads that miss `results` would both get a result of their own.
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
