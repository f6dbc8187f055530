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
