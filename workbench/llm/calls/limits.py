"""The limit on the calls of one model: as many at once as its provider takes, at the pace that it allows.

Until the first 429 the number of calls under way grows by a quarter every few hundredths of a second while more calls
wait, up to the most that the user allows: a provider refuses at once, and an answer takes seconds. A 429 says either that too many calls are under way or that too many were sent. If
others under way were accepted, one call fewer is sent at once; the next answer lets a single call try. If that
one is accepted, the limit is one on calls at once: from then on each 429 takes one off, and answers slowly add
one again.

If it is refused, or nothing was accepted, or the provider says how long to wait, the limit is one on time. No
call is sent for a pause, which doubles with each further 429. The first call that is accepted again tells the
pace: the calls that were accepted since the last pause, divided by the time that they and the pause took. That
finds a limit for each second, minute or number of tokens alike, without being told which it is. From then on the
pace quickens slowly at first, then faster.

Runs that find no room wait in line, and only those are called for whom there is room.
"""

import random
import threading
import time
from collections.abc import Callable
from itertools import islice

LONGEST_WAIT = 60.0  # seconds: the most that a Retry-After or a pause of ours may take
_TRIAL = 0.3  # seconds in which a call that tries is refused, if it is
_QUIET = 0.15  # seconds after which the first calls would have met a 429
_STEP = 0.025  # seconds from there until the number of calls under way grows, and grows again
_GROWTH = 1.25
_ROW = 8  # 429s in a row that a limit on calls at once does not explain
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

    `window` is how many may be under way now. `interval` is the seconds from one call to the next, zero until a
    limit on time is found.
    """

    def __init__(self, most: int = 1024, first: int = 64) -> None:
        self.interval = 0.0
        self.window: float = min(first, most)
        self._most = most
        self._running = 0
        self._open_at = 0.0  # no call is sent before
        self._grows_at = 0.0  # when more calls may be under way, as long as there was no 429
        self._pause = 0.0  # the present one; zero while calls are accepted
        self._paused_at = 0.0
        self._since = 0.0  # when the calls below began to be counted
        self._sent = 0
        self._refused = 0
        self._refused_at = 0.0  # the first 429 since an answer let a call try
        self._held = False  # a 429 was met: nothing is sent until an answer comes
        self._tries = False  # that answer came: one call tries
        self._row = 0  # 429s in a row
        self._by_number = False  # the limit was found to be one on calls at once
        self._waiting: dict[Callable[[], None], None] = {}  # in line
        self._lock = threading.Lock()

    @property
    def room(self) -> int:
        """The number of further runs whose calls would be sent soon: as many as there is room for, and as many again."""
        return int(2 * self.window) - self._running - len(self._waiting)

    def start(self, callback: Callable[[], None]) -> bool:
        """Count one more call if it may be sent now; otherwise the callback runs when it may, in its turn."""
        with self._lock:
            now = time.monotonic()
            free = self._free(now)
            ahead = islice(self._waiting, free)
            if free > len(self._waiting) or callback in ahead:
                self._waiting.pop(callback, None)
                if now - self._open_at > LONGEST_WAIT:  # after idle time, count afresh
                    self._since, self._sent, self._refused = now, 0, 0
                self._running += 1
                self._sent += 1
                self._grows_at = self._grows_at or now + _QUIET
                self._open_at = max(self._open_at, now - self.interval) + self.interval
                if self._tries:
                    self._tries = False
                    self._open_at = now + _TRIAL
                return True
            self._waiting.setdefault(callback)
            return False

    def withdraw(self, callback: Callable[[], None]) -> None:
        """Leave the line: the run has no more calls of this model."""
        with self._lock:
            was = callback in self._waiting
            self._waiting.pop(callback, None)
            callbacks = self._next() if was else []
        for wake in callbacks:
            wake()

    def cancel(self) -> None:
        """Take back a `start`: the call was not sent."""
        with self._lock:
            self._sent -= 1
            self._open_at -= self.interval
        self.end()

    def opens_in(self) -> float:
        """Seconds until a call may be sent, if there is room, or until there is more room; zero for now."""
        now = time.monotonic()
        if self._grows():
            return max(_STEP / 10, self._grows_at - now)
        return max(0.0, self._open_at - now)

    def end(self) -> None:
        """Count one call less under way."""
        with self._lock:
            self._running -= 1
            if self._held and not self._running:  # no answer comes any more
                self._held, self._tries = False, True
            callbacks = self._next()
        for wake in callbacks:
            wake()

    def accepted(self, sent: float) -> None:
        """A call that was sent at `sent` met no 429."""
        with self._lock:
            self._row = 0
            if self._held:
                self._held, self._tries = False, True
            elif sent >= self._refused_at > 0:
                self._by_number = True
            if self._waiting and not self.interval and self._refused_at:
                self.window = min(self.window + 1 / (2 * self.window), self._most)
            if not self._pause:
                self.interval *= max(0.5, 1 - _QUICKENING * self._sent)
            elif sent >= self._paused_at:
                accepted = max(1, self._sent - self._refused - 1)
                self.interval = (sent - self._since) / accepted
                self._pause = 0.0
                self._open_at = time.monotonic() + self.interval
                self._since, self._sent, self._refused = sent, 1, 0
            callbacks = self._next()
        for wake in callbacks:
            wake()

    def throttled(self, sent: float, wait: float = 0.0) -> None:
        """A call that was sent at `sent` met a 429; its provider asked to wait so many seconds, or zero."""
        with self._lock:
            self._refused += 1
            self._row += 1
            now = time.monotonic()
            if not wait and not self.interval and not self._pause and self._is_number(sent, now):
                return
            self._held = self._tries = self._by_number = False
            if sent >= self._paused_at:  # else it was under way with the call that began the pause
                self._paused_at = now
                self._pause = min(LONGEST_WAIT, wait or 2 * self._pause or _FIRST_PAUSE)
                self.interval = max(self.interval, self._pause)  # one call at a time tries again
            self._open_at = max(self._open_at, now + pause(0, wait or self._pause))

    def _is_number(self, sent: float, now: float) -> bool:
        """Take a 429 for one of too many calls at once, unless others show that it is not."""
        if self._by_number and self._row < _ROW:
            self.window = max(1.0, self.window - 1)
            return True
        tried = 0 < self._refused_at <= sent and not self._held
        if tried or self._by_number or not self._running or self._sent <= self._refused:
            return False
        self.window = max(1.0, self.window - 1)
        if not self._held:
            self._held, self._refused_at = True, now
        return True

    def _grows(self) -> bool:
        """Whether the window grows with time: calls wait, and none has met a 429."""
        met = self._refused_at or self._paused_at
        return bool(self._waiting) and not met and self._grows_at > 0 and self.window < self._most

    def _free(self, now: float) -> int:
        """The number of calls that may be sent now."""
        if self._grows() and now >= self._grows_at:
            self.window = min(_GROWTH * self.window, self._most)
            self._grows_at = now + _STEP
        if self._held or now < self._open_at:
            return 0
        free = max(0, int(self.window) - self._running)
        return min(free, 1) if self.interval or self._tries else free

    def _next(self) -> list[Callable[[], None]]:
        """The runs in line for which there is room, or will be at `opens_in`."""
        now = time.monotonic()
        return list(islice(self._waiting, self._free(max(now, self._open_at))))
