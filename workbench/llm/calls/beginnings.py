"""The first call of a beginning goes ahead of the others: providers read from their cache what has begun to answer.

Calls that are sent at the same time with one new beginning would each pay for it in full.
"""

import threading
import time

from workbench.llm.remote.prefixes import beginning
from workbench.types import Request

LASTS = 300.0  # seconds for which a provider is sure to keep a beginning in its cache after its last use


class Beginnings:
    """The beginnings of prompts that providers may have cached: which are asked for, and which were answered."""

    def __init__(self) -> None:
        self._ahead: dict[str, Request] = {}
        self._answered: dict[str, float] = {}  # when each was last answered
        self._lock = threading.Lock()

    def waits(self, request: Request) -> bool:
        """Whether another call that is under way asks for the request's beginning, which is in no cache yet."""
        name = beginning(request)
        with self._lock:
            return name in self._ahead and not self._is_cached(name)

    def start(self, request: Request) -> None:
        """Note that a call is sent."""
        if name := beginning(request):
            with self._lock:
                self._ahead.setdefault(name, request)

    def end(self, request: Request, *, answered: bool) -> None:
        """Note that a call has ended; where it had no answer, the next one goes ahead."""
        if name := beginning(request):
            with self._lock:
                if answered:
                    self._answered[name] = time.monotonic()
                if self._ahead.get(name) is request:
                    del self._ahead[name]

    def _is_cached(self, name: str) -> bool:
        return time.monotonic() - self._answered.get(name, -LASTS) < LASTS
