import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from workbench.parallel import cached_for_object, cached_once, each


def test_what_many_threads_ask_for_at_once_is_computed_once() -> None:
    computed = []
    together = threading.Barrier(8)

    @cached_once(maxsize=4)
    def double(number: int) -> int:
        computed.append(number)
        threading.Event().wait(0.05)
        return 2 * number

    def ask(number: int) -> int:
        together.wait()
        return double(number)

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, [1, 2] * 4)) == [2, 4] * 4
    assert sorted(computed) == [1, 2]


def test_what_failed_is_computed_again() -> None:
    tries = []

    @cached_once(maxsize=4)
    def second_time() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("not yet")
        return "done"

    with pytest.raises(ValueError, match="not yet"):
        second_time()
    assert second_time() == "done"


def test_equal_objects_have_results_of_their_own() -> None:
    kind = cached_for_object(maxsize=2)(lambda values: [type(value) for value in values])
    assert kind((1,)) == [int]
    assert kind((1.0,)) == [float]


def test_an_object_has_its_result_computed_once() -> None:
    computed = []
    listed = cached_for_object(maxsize=2)(lambda value: computed.append(value) or len(computed))
    word = "word"
    assert listed(word) == listed(word) == 1
    assert computed == [word]


def test_a_forked_process_has_threads_of_its_own() -> None:
    assert each(abs, [-1, -2]) == [1, 2]
    threading.Event().wait(0.1)  # their threads are idle now
    if not (child := os.fork()):
        signal.alarm(5)
        os._exit(each(abs, [-3]) != [3])
    assert os.waitpid(child, 0)[1] == 0


def test_the_first_error_is_raised_after_the_items_that_have_begun() -> None:
    ended = []

    def work(item: int) -> None:
        if item == 0:
            raise ValueError("the first")
        threading.Event().wait(0.05)
        ended.append(item)

    with pytest.raises(ValueError, match="the first"):
        each(work, range(9), at_once=3)
    assert set(ended) <= {1, 2}
