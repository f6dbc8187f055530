"""The order in which the calls of a run are sent: calls that are due, by model, and calls that pause."""

import heapq
import math
import time
from collections import deque
from collections.abc import Iterable
from itertools import count

from workbench.llm.calls.call_state import PendingCall
from workbench.llm.calls.limits import Limiter


class Schedule:
    """Calls that are not under way. `due` has the calls that may be sent, by the limiter of their model."""

    def __init__(self, calls: Iterable[PendingCall]) -> None:
        self.due: dict[Limiter, deque[PendingCall]] = {}
        self._later: list[tuple[float, int, PendingCall]] = []  # a heap by time
        self._number = count()  # orders calls that are due at the same time
        for call in calls:
            self.add(call)

    def add(self, call: PendingCall, pause: float = 0.0, *, first: bool = False) -> None:
        """Add a call that is due in `pause` seconds, behind the others or as the first."""
        if pause:
            due = time.monotonic() + pause
            heapq.heappush(self._later, (due, next(self._number), call))
            return
        calls = self.due.setdefault(call.limiter, deque())
        if first:
            calls.appendleft(call)
        else:
            calls.append(call)

    def end_pauses(self) -> None:
        """Move calls whose pause is over to `due`."""
        while self.pause_left() <= 0:
            self.add(heapq.heappop(self._later)[2])

    def pause_left(self) -> float:
        """The seconds until the next pause ends; inf without one."""
        return self._later[0][0] - time.monotonic() if self._later else math.inf
