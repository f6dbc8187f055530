"""How many calls one model is sent: as many at once as the user allows, and at the pace that a 429 teaches.

Until the first 429 nothing is held back. After it, no call is sent for a pause, which doubles with each
further 429. The first call that is accepted again tells the pace: the calls that were accepted since the last
pause, divided by the time that they and the pause took. That finds a limit for each second, minute or number
of tokens alike, without being told which it is. From then on the pace quickens slowly at first, then faster.
"""

import random
import threading
import time
from collections.abc import Callable

LONGEST_WAIT = 60.0  # seconds: the most that a Retry-After or a pause of ours may take
_FIRST_PAUSE = 1.0  # seconds without a call after a 429 that names no time
_QUICKENING = (
    0.0002  # how much shorter the interval gets, for each call since the last 429 and each answer
)


def pause(failures: int, retry_after: float = 0.0) -> float:
    """Seconds before the next call: the provider's Retry-After, else doubling with each failure; jittered."""
    if retry_after:
        return min(retry_after, LONGEST_WAIT) * random.uniform(1.0, 1.1)  # noqa: S311
    return random.uniform(0.5, 1.0) * min(0.5 * 2.0**failures, LONGEST_WAIT)  # noqa: S311


class Limiter:
    """The calls of one model that are under way, at most `most`, and when the next may be sent.

    `interval` is the seconds from one call to the next, zero before the first 429.
    """

    def __init__(self, most: int = 64) -> None:
        self.interval = 0.0
        self._most = most
        self._running = 0
        self._open_at = 0.0  # no call is sent before
        self._pause = 0.0  # the present one; zero while calls are accepted
        self._paused_at = 0.0
        self._since = 0.0  # when the calls below began to be counted
        self._sent = 0
        self._refused = 0
        self._waiting: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def start(self, callback: Callable[[], None]) -> bool:
        """Count one more call if it may be sent now; otherwise the callback runs when a call ends."""
        with self._lock:
            now = time.monotonic()
            if self._running < self._most and now >= self._open_at:
                if now - self._open_at > LONGEST_WAIT:  # after idle time, count afresh
                    self._since, self._sent, self._refused = now, 0, 0
                self._running += 1
                self._sent += 1
                self._open_at = max(self._open_at, now - self.interval) + self.interval
                return True
            if callback not in self._waiting:
                self._waiting.append(callback)
            return False

    def cancel(self) -> None:
        """Take back a `start`: the call was not sent."""
        with self._lock:
            self._sent -= 1
            self._open_at -= self.interval
        self.end()

    def opens_in(self) -> float:
        """Seconds until a call may be sent, if there is room; zero for now."""
        return max(0.0, self._open_at - time.monotonic())

    def end(self) -> None:
        """Count one call less under way."""
        with self._lock:
            self._running -= 1
            callbacks, self._waiting = self._waiting, []
        for callback in callbacks:
            callback()

    def accepted(self, sent: float) -> None:
        """A call that was sent at `sent` met no 429."""
        with self._lock:
            if not self._pause:
                self.interval *= max(0.5, 1 - _QUICKENING * self._sent)
            elif sent >= self._paused_at:
                accepted = max(1, self._sent - self._refused - 1)
                self.interval = (sent - self._since) / accepted
                self._pause = 0.0
                self._open_at = time.monotonic() + self.interval
                self._since, self._sent, self._refused = sent, 1, 0

    def throttled(self, sent: float, wait: float = 0.0) -> None:
        """A call that was sent at `sent` met a 429; its provider asked to wait so many seconds, or zero."""
        with self._lock:
            self._refused += 1
            now = time.monotonic()
            if sent >= self._paused_at:  # else it was under way with the call that began the pause
                self._paused_at = now
                self._pause = min(LONGEST_WAIT, wait or 2 * self._pause or _FIRST_PAUSE)
                self.interval = max(self.interval, self._pause)  # one call at a time tries again
            self._open_at = max(self._open_at, now + pause(0, wait or self._pause))
