"""Cases that are still being found: a sequence of those found so far, which a thread makes longer."""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import overload

from workbench.label.case import Case
from workbench.label.queue.find import find_cases
from workbench.label.taxonomy import Taxonomy
from workbench.study.study import Study
from workbench.systems.system import System

Progress = Callable[[int, int], object]


class Arriving(Sequence[Case]):
    """`listen` says whom to tell of more cases, `wait` waits for the last one."""

    def __init__(
        self, find: Callable[[Progress], Iterator[Case]], limit: int | None = None
    ) -> None:
        self._find, self._limit = find, limit
        self._cases: list[Case] = []
        self._read = self._every = 0
        self._error: Exception | None = None
        self._ended = False
        self._tell: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @overload
    def __getitem__(self, at: int) -> Case: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Case]: ...
    def __getitem__(self, at: int | slice) -> Case | Sequence[Case]:
        return self._cases[at]

    def __len__(self) -> int:
        return len(self._cases)

    def __repr__(self) -> str:
        return f"{len(self)} cases; {self.told()}"

    @property
    def done(self) -> bool:
        """Whether no further case will come."""
        return self._ended

    def told(self) -> str:
        """How far the search is, and its limit, in words."""
        if self._error:
            return f"the search ended early: {type(self._error).__name__}: {self._error}"
        limit = f"limit {self._limit} cases" if self._limit is not None else "no limit"
        return f"{self._read} of {self._every} questions read, {limit}"

    def listen(self, tell: Callable[[], object]) -> None:
        """Call `tell` when there are more cases, and at the end."""
        self._tell = tell
        tell()

    def wait(self) -> "Arriving":
        """Wait until all cases are found; raises what ended the search early."""
        self._thread.join()
        if self._error:
            raise self._error
        return self

    def _work(self) -> None:
        def progress(read: int, every: int) -> None:
            self._read, self._every = read, every

        try:
            for case in self._find(progress):
                self._cases.append(case)
                self._tell()
        except Exception as error:  # noqa: BLE001  told in the labeller, and raised by `wait`
            self._error = error
        self._ended = True
        self._tell()


def find(
    study: Study,
    system: System,
    taxonomy: Taxonomy,
    *,
    limit: int | None = None,
    seed: int = 0,
) -> Arriving:
    """The cases that the taxonomy is for, as they are found: of cached answers first. At most `limit`."""
    return Arriving(
        lambda progress: find_cases(
            study, system, taxonomy, limit=limit, seed=seed, progress=progress
        ),
        limit,
    )
