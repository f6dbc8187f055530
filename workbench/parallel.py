"""The same for many, several at a time: threads, since a question waits for models and databases.

What was finished is in the lab book, so that a run that was stopped goes on where it was.
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
    """What `do` gives for each item, in their order: `each(lambda q: solve(system, q, lab), questions)`.

    An error or Ctrl-C ends it at once; what has not begun by then never does, and what has is waited for
    within `ending`: `lab.client.stopped`, so that nothing more is asked for it. `progress` is told how
    many are done, of how many.
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
