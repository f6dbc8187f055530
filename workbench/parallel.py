"""Apply a function to many items in threads, as questions wait for models and databases.

Finished work is in the cache, so a stopped run goes on where it was.
"""

import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
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
    # A queue costs nothing while it is empty; `wait` would lock every future each time it looks.
    ended: queue.SimpleQueue[Future[R]] = queue.SimpleQueue()
    for future in futures:
        future.add_done_callback(ended.put)
    done = 0
    try:
        while done < len(futures):
            with suppress(queue.Empty):
                ended.get(timeout=0.2).result()
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
