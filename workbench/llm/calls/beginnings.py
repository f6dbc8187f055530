"""Hold calls back while another call with the same new beginning is under way.

A provider can read a prompt's beginning from its cache once it has answered one call that begins so. Calls sent
together with the same new beginning would each pay for it in full.
"""

import threading
import time

from workbench.llm.remote.prefixes import beginning
from workbench.types import Request

LASTS = 300.0  # seconds for which a provider is sure to keep a beginning in its cache after its last use


class Beginnings:
    """The beginnings of prompts that providers may have cached, each named by a hash."""

    def __init__(self) -> None:
        self._ahead: dict[str, Request] = {}  # the first call under way, by its beginning
        self._answered: dict[str, float] = {}  # the time of the last answer, by beginning
        self._lock = threading.Lock()

    def waits(self, request: Request) -> bool:
        """Whether the request has to wait: a call with its beginning is under way, and no provider has cached it."""
        name = beginning(request)
        with self._lock:
            return name in self._ahead and not self._is_cached(name)

    def start(self, request: Request) -> None:
        """Record that a call is sent."""
        if name := beginning(request):
            with self._lock:
                self._ahead.setdefault(name, request)

    def end(self, request: Request, *, answered: bool) -> None:
        """Record that a call has ended; if it got no answer, the next call with its beginning is sent."""
        if name := beginning(request):
            with self._lock:
                if answered:
                    self._answered[name] = time.monotonic()
                if self._ahead.get(name) is request:
                    del self._ahead[name]

    def _is_cached(self, name: str) -> bool:
        return time.monotonic() - self._answered.get(name, -LASTS) < LASTS
