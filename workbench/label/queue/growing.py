"""A sequence of cases that grows while a thread searches for them."""

import threading
from collections.abc import Callable, Iterator
from functools import partial

from workbench.label.case import Case
from workbench.label.queue.find import find_cases
from workbench.label.taxonomy import Taxonomy
from workbench.study.study import Study
from workbench.systems.system import System

Progress = Callable[[int, int], object]


class GrowingCases(list[Case]):
    """The cases found so far. `listen` sets a callback for further cases; `wait` waits until the search ends."""

    def __init__(
        self, find: Callable[[Progress], Iterator[Case]], limit: int | None = None
    ) -> None:
        super().__init__()
        self._find, self._limit = find, limit
        self._read = self._total = 0  # questions
        self._error: Exception | None = None
        self.done = False  # whether the search has ended
        self._callback: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"{len(self)} cases; {self.status()}"

    def status(self) -> str:
        """How far the search is, and its limit, as text."""
        if self._error:
            return f"the search ended early: {type(self._error).__name__}: {self._error}"
        limit = f"limit {self._limit} cases" if self._limit is not None else "no limit"
        return f"{self._read} of {self._total} questions read, {limit}"

    def listen(self, callback: Callable[[], object]) -> None:
        """Call `callback` now, after each further case, and at the end."""
        self._callback = callback
        callback()

    def wait(self) -> "GrowingCases":
        """Wait until all cases are found; raise the error that ended the search early, if any."""
        self._thread.join()
        if self._error:
            raise self._error
        return self

    def _work(self) -> None:
        def progress(read: int, total: int) -> None:
            self._read, self._total = read, total

        try:
            for case in self._find(progress):
                self.append(case)
                self._callback()
        except Exception as error:  # noqa: BLE001  shown in the labeller, and raised by `wait`
            self._error = error
        self.done = True
        self._callback()


def find(
    study: Study, system: System, taxonomy: Taxonomy, *, limit: int | None = None, seed: int = 0
) -> GrowingCases:
    """Search in a thread for at most `limit` cases that the taxonomy sorts, among cached answers first."""
    search = partial(find_cases, study, system, taxonomy, limit=limit, seed=seed)
    return GrowingCases(search, limit)
