"""Search for databases on which the two queries of a case differ, while the annotator reads.

A search takes up to two seconds, so it runs in a thread: first for the shown case, then for the next case.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from workbench.html.parts import line
from workbench.html.tree import Element
from workbench.lab import Lab
from workbench.label.case import Case
from workbench.report.display.counterexample import counterexample_part


@dataclass(slots=True)
class Counterexamples:
    """The result of each search, as a node to show."""

    lab: Lab
    _found: dict[tuple[str, str], Element] = field(default_factory=dict)
    _waiting: list[tuple[Case, Callable[[], object]]] = field(default_factory=list)
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(max_workers=1))

    def of(self, case: Case) -> Element | None:
        """The database and both results on it, or why none was found; None until the search ends."""
        return self._found.get(case.key)

    def search(self, cases: Sequence[Case], then: Callable[[], object]) -> None:
        """Search for these cases in order, instead of any that still wait; call `then` after each search."""
        waiting = {case.key: case for case in cases if case.key not in self._found}
        self._waiting = [(case, then) for case in waiting.values()]
        if waiting:
            self._thread.submit(self._work)

    def _work(self) -> None:
        while waiting := self._waiting:
            case, then = waiting.pop(0)
            try:
                found = self._search(case)
            except Exception as error:  # noqa: BLE001  shown in the widget, since nothing else shows a thread's error
                found = line(f"The search failed: {type(error).__name__}: {error}")
            self._found[case.key] = found
            then()

    def _search(self, case: Case) -> Element:
        database, executor = self.lab.database(case.question.db_id), self.lab.executor
        return counterexample_part(database, case.predicted, case.gold, executor, case.sense)
