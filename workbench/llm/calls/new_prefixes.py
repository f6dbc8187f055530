"""Hold calls back while the first call with the same new prefix is under way.

A provider can read a prompt's prefix from its cache once it has answered a call with this prefix. Calls sent
together with the same new prefix would each pay for it in full.
"""

import threading
import time

from workbench.llm.remote.prefixes import prefix_hash
from workbench.types import Request

LASTS = 300.0  # seconds for which a provider is sure to keep a prefix after its last use


class NewPrefixes:
    """The prefixes of prompts that providers may have cached, each named by a hash."""

    def __init__(self) -> None:
        self._first: dict[str, Request] = {}  # the first call under way, by its prefix
        self._answered: dict[str, float] = {}  # the time of the last answer, by prefix
        self._lock = threading.Lock()

    def waits(self, request: Request) -> bool:
        """Whether the request has to wait: the first call with its prefix is under way, and the prefix is not cached."""
        name = prefix_hash(request)
        with self._lock:
            return name in self._first and not self._is_cached(name)

    def start(self, request: Request) -> None:
        """Record that a call is sent."""
        if name := prefix_hash(request):
            with self._lock:
                self._first.setdefault(name, request)

    def end(self, request: Request, *, answered: bool) -> None:
        """Record that a call has ended; if it got no answer, the next call with its prefix is sent."""
        if name := prefix_hash(request):
            with self._lock:
                if answered:
                    self._answered[name] = time.monotonic()
                if self._first.get(name) is request:
                    del self._first[name]

    def _is_cached(self, name: str) -> bool:
        return time.monotonic() - self._answered.get(name, -LASTS) < LASTS
