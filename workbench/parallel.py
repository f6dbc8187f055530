"""Apply a function to many items in threads, as questions wait for models and databases.

Finished work is in the cache, so a stopped run goes on where it was.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def each(
    do: Callable[[T], R],
    items: Sequence[T],
    *,
    at_once: int = 4,
    progress: Callable[[int, int], None] | None = None,
    ending: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> list[R]:
    """The results of `do` in the order of the items: `each(lambda q: solve(system, q, lab), questions)`.

    `at_once` is the number of threads. An error or Ctrl-C cancels items that have not begun, and waits for
    those that have inside the context `ending`: with `lab.client.stopped`, they make no further calls.
    `progress` is called with the number of done items and of all.
    """
    threads = ThreadPoolExecutor(at_once)
    futures = [threads.submit(do, item) for item in items]
    try:
        open_ = set(futures)
        while open_:
            done, open_ = wait(open_, timeout=0.2, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
            if progress:
                progress(len(items) - len(open_), len(items))
        return [future.result() for future in futures]
    except BaseException:
        with ending():
            threads.shutdown(cancel_futures=True)
        raise
    finally:
        threads.shutdown()
