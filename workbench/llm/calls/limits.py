"""How many calls one endpoint is sent at once: one more while it answers, half as many after a 429.

Additive increase and multiplicative decrease find the rate that a key allows. Calls that were under way
together meet their 429s together, so the number is halved once for all of them.
"""

import random
import threading
import time
from collections.abc import Callable

START = 8  # calls under way to begin with
LONGEST_WAIT = 60.0  # seconds: the most that a Retry-After or a pause of ours may take


def pause(attempt: int, retry_after: float = 0.0) -> float:
    """Seconds before the next attempt: the provider's Retry-After, or twice as long each time; jittered."""
    if retry_after:
        return min(retry_after, LONGEST_WAIT) * random.uniform(1.0, 1.1)  # noqa: S311
    return random.uniform(0.5, 1.0) * min(0.5 * 2.0**attempt, LONGEST_WAIT)  # noqa: S311


class Limiter:
    """The calls under way to one endpoint. `allowed` is how many may be, and moves between 1 and `most`."""

    def __init__(self, start: int = START, most: int = 64) -> None:
        self.allowed = float(min(start, most))
        self._most = most
        self._running = 0
        self._halved_at = 0.0
        self._open_at = 0.0  # when a Retry-After is over
        self._waiting: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def start(self, callback: Callable[[], None]) -> bool:
        """Count one more call if there is room; otherwise the callback runs when a call ends."""
        with self._lock:
            if self._running < int(self.allowed) and time.monotonic() >= self._open_at:
                self._running += 1
                return True
            if callback not in self._waiting:
                self._waiting.append(callback)
            return False

    def opens_in(self) -> float:
        """Seconds until a Retry-After is over; zero without one."""
        return max(0.0, self._open_at - time.monotonic())

    def end(self, *, answered: bool = False) -> None:
        """Count one call less. After `allowed` answers, one more call may be under way."""
        with self._lock:
            self._running -= 1
            if answered:
                self.allowed = min(self._most, self.allowed + 1 / self.allowed)
            callbacks, self._waiting = self._waiting, []
        for callback in callbacks:
            callback()

    def throttled(self, started: float, wait: float) -> None:
        """A call that was sent at `started` met a 429 and its endpoint asked to wait."""
        with self._lock:
            if wait:
                self._open_at = max(self._open_at, time.monotonic() + wait)
            if started >= self._halved_at:  # calls sent before share the 429 that halved it
                self.allowed = max(1.0, self.allowed / 2)
                self._halved_at = time.monotonic()
