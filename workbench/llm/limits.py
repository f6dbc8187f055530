"""How many calls a provider is sent at once: one more while it copes, half as many when it says 429.

Additive increase and multiplicative decrease find the rate a key allows without being told it. One 429
speaks for all calls that were under way with it, so the number is halved once for them.
"""

import random
import threading
import time
from collections.abc import Callable

START = 8  # calls under way to begin with
LONGEST_WAIT = 60.0  # seconds: the most that a Retry-After or our own backing off may ask for


def pause(attempt: int, asked: float = 0.0) -> float:
    """How long to wait before asking again: what was asked for, or twice as long each time; jittered."""
    if asked:
        return min(asked, LONGEST_WAIT) * random.uniform(1.0, 1.1)  # noqa: S311
    return random.uniform(0.5, 1.0) * min(0.5 * 2.0**attempt, LONGEST_WAIT)  # noqa: S311


class Limiter:
    """The calls under way to one endpoint. Whoever finds it full leaves a bell that rings at the next end."""

    def __init__(self, start: int = START, most: int = 64) -> None:
        self.allowed = float(min(start, most))
        self._most = most
        self._running = 0
        self._halved = 0.0
        self._open_at = 0.0
        self._bells: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def start(self, bell: Callable[[], None]) -> bool:
        """Take a place if there is one."""
        with self._lock:
            if self._running < int(self.allowed) and time.monotonic() >= self._open_at:
                self._running += 1
                return True
            if bell not in self._bells:
                self._bells.append(bell)
            return False

    def opens_in(self) -> float:
        """Seconds until calls may be sent again after a Retry-After; zero when they may."""
        return max(0.0, self._open_at - time.monotonic())

    def end(self, *, answered: bool = False) -> None:
        """Give a place back."""
        with self._lock:
            self._running -= 1
            if answered:
                self.allowed = min(self._most, self.allowed + 1 / self.allowed)
            bells, self._bells = self._bells, []
        for bell in bells:
            bell()

    def throttled(self, started: float, wait: float) -> None:
        """A call that began at `started` met a 429 and is to wait."""
        with self._lock:
            if wait:
                self._open_at = max(self._open_at, time.monotonic() + wait)
            if started >= self._halved:
                self.allowed = max(1.0, self.allowed / 2)
                self._halved = time.monotonic()
