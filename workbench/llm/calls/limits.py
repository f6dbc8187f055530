"""The limit on the calls of one model: as many at once as its provider takes, at the pace that it allows.

Until a limit is met the number of calls under way grows by a quarter every few hundredths of a second while more
calls wait, up to the most that the user allows: a provider refuses at once, and an answer takes seconds.

After a 429 a single call is sent, as a trial, and no other until the trial has been silent for longer than 429s
take. If the trial is not refused, the 429 came by chance and changes nothing. If it is refused, too many calls are
under way or too many were sent. While calls that were accepted are under way, the first is assumed: their number is
taken for the limit, and the next answer lets a call try. If that one is not refused, the limit is one on calls at
once: from then on answers slowly add one call, and a 429 brings the number down to the calls that were accepted.

If it is refused, or nothing was accepted, or the provider says how long to wait, the limit is one on time. No call
is sent for a pause, which doubles with each trial that is refused. The first trial that is not refused tells the
pace: the calls that were accepted since the last pause, divided by the time that they and the pause took. That
finds a limit for each second, minute or number of tokens alike, without being told which it is. From then on the
pace quickens slowly at first, then faster. A provider that refuses more by chance than by a limit gets pauses and no
pace.

Runs that find no room wait in line, and only those are called for whom there is room.
"""

import math
import random
import threading
import time
from collections.abc import Callable
from itertools import islice

LONGEST_WAIT = 60.0  # seconds: the most that a Retry-After, a pause or an interval of ours may take
_QUIET = 0.15  # seconds after which the first calls would have met a 429
_STEP = 0.025  # seconds from there until the number of calls under way grows, and grows again
_GROWTH = 1.25
_SILENCE = 0.05  # seconds without a 429 after which a trial counts as accepted, or twice as long as a 429 took
_ROW = 4  # limits met in a row, without an accepted call, that a limit on calls at once does not explain
_FIRST_PAUSE = 1.0  # seconds without a call after a 429 that names no time
# The interval shrinks by this share with each answer, for each call since the last pause.
_QUICKENING = 0.0005


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
        self._grows_at = 0.0  # when more calls may be under way, as long as no limit was met
        self._limited = False  # a limit was met
        self._by_number = False  # it was found to be one on calls at once
        self._by_chance = 0  # 429s whose trial was accepted, less those whose trial was refused
        self._row = 0  # limits met since a call was accepted
        self._refused_at = 0.0  # when a 429 began the last trial; calls sent before belong to it
        self._silence = _SILENCE
        self._trial = ""  # "answer": waits for one; "due": the next call is the trial; "sent"
        self._after_answer = False  # the trial is the one that an answer allowed
        self._pause = 0.0  # the present one; zero while calls are accepted
        self._in_minute = 0.0  # the most calls that were accepted in a minute
        self._since = 0.0  # when the calls below began to be counted
        self._sent = 0
        self._refused = 0
        self._waiting: dict[Callable[[], None], None] = {}  # in line
        self._lock = threading.Lock()

    @property
    def room(self) -> int:
        """The number of further runs whose calls would be sent soon: as many as there is room for, and as many again."""
        return int(2 * self.window) - self._running - len(self._waiting)

    def start(self, callback: Callable[[], None]) -> float:
        """Count one more call and return the time, if it may be sent now; otherwise the callback runs when it may."""
        with self._lock:
            now = time.monotonic()
            self._look(now)
            free = self._free(now)
            ahead = islice(self._waiting, free)
            if free > len(self._waiting) or callback in ahead:
                self._waiting.pop(callback, None)
                now = max(now, math.nextafter(self._refused_at, math.inf))  # later than the 429
                if now - self._open_at > LONGEST_WAIT:  # after idle time, count afresh
                    self._since, self._sent, self._refused = now, 0, 0
                self._running += 1
                self._sent += 1
                self._grows_at = self._grows_at or now + _QUIET
                self._open_at = max(self._open_at, now - self.interval) + self.interval
                if self._trial:
                    self._trial = "sent"
                    self._open_at = now + self._silence
                return now
            self._waiting.setdefault(callback)
            return 0.0

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
            if self._trial == "sent":
                self._trial, self._open_at = "due", 0.0
            else:
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
            if self._trial == "answer" and not self._running:  # no answer comes any more
                self._trial = "due"
            callbacks = self._next()
        for wake in callbacks:
            wake()

    def accepted(self, sent: float) -> None:
        """A call that was sent at `sent` met no 429."""
        with self._lock:
            if sent > self._refused_at:
                self._row = 0
                self._end_trial(time.monotonic())
            elif self._trial == "answer":
                self._trial = "due"
            if self._waiting and self._by_number and not self.interval:
                self.window = min(self.window + 1 / (2 * self.window), self._most)
            self.interval *= max(0.5, 1 - _QUICKENING * self._sent)
            callbacks = self._next()
        for wake in callbacks:
            wake()

    def throttled(self, sent: float, wait: float = 0.0) -> None:
        """A call that was sent at `sent` met a 429; its provider asked to wait so many seconds, or zero."""
        with self._lock:
            now = time.monotonic()
            self._refused += 1
            self._silence = max(_SILENCE, 0.9 * self._silence, min(2 * (now - sent), LONGEST_WAIT))
            if wait:
                self._begin_pause(now, wait)
            elif (
                sent <= self._refused_at
            ):  # it was under way with the call whose 429 began the trial
                if self._limited and not self.interval:
                    self.window = max(1.0, min(self.window, self._running))
            elif self._by_number and self._running and self._row < _ROW:
                self.window = max(1.0, min(self.window, self._running))
                self._refused_at = now
                self._row += 1
            elif self._trial == "sent":
                self._meet_limit(now)
            elif self.interval and self._by_chance <= 0:
                self._begin_pause(now)
            else:
                self._trial, self._refused_at = "due", now

    def _meet_limit(self, now: float) -> None:
        """Act on a trial that was refused."""
        self._limited = True
        self._refused_at = now
        if not self._pause and not self._after_answer:
            self._by_chance = max(-_ROW, self._by_chance - 1)
        new = not (self._after_answer or self._by_number or self.interval or self._pause)
        if new and self._running:
            self.window = max(1.0, min(self.window, self._running))
            self._trial, self._after_answer = "answer", True
        else:
            self._begin_pause(now)

    def _begin_pause(self, now: float, wait: float = 0.0) -> None:
        """Send nothing for a while: for the time that the provider names, or longer than before."""
        self._limited, self._by_number, self._after_answer = True, False, False
        self._trial, self._refused_at = "due", now
        self._pause = min(
            LONGEST_WAIT, wait or 2 * self._pause or 2 * self.interval or _FIRST_PAUSE
        )
        self._open_at = max(self._open_at, now + pause(0, self._pause))

    def _end_trial(self, now: float) -> None:
        """Go on after a trial that was not refused."""
        if self._trial and not self._pause and not self._after_answer:
            self._by_chance = min(_ROW, self._by_chance + 1)
        if self._after_answer:
            self._by_number = True
        if self._pause and self._by_chance <= 0:
            span, accepted = now - self._since, max(1, self._sent - self._refused - 1)
            self._in_minute = max(self._in_minute, accepted * min(1.0, 60 / span))
            self.interval = min(span / accepted, 2 * 60 / self._in_minute, LONGEST_WAIT)
            self._open_at = now + self.interval
            self._since, self._sent, self._refused = now, 1, 0
        if self._by_chance > 0:
            self.interval = 0.0
        self._trial, self._after_answer, self._pause = "", False, 0.0

    def _grows(self) -> bool:
        """Whether the window grows with time: calls wait, and no limit was met."""
        grows = self._grows_at > 0 and self.window < self._most
        return bool(self._waiting) and grows and not self._limited and not self._trial

    def _look(self, now: float) -> None:
        """Widen the window, and end a trial that was silent for long enough."""
        if self._grows() and now >= self._grows_at:
            self.window = min(_GROWTH * self.window, self._most)
            self._grows_at = now + _STEP
        if self._trial == "sent" and now >= self._open_at:
            self._end_trial(now)

    def _free(self, now: float) -> int:
        """The number of calls that may be sent now."""
        if self._trial == "answer" or now < self._open_at:
            return 0
        free = max(0, int(self.window) - self._running)
        return min(free, 1) if self.interval or self._trial == "due" or self._pause else free

    def _next(self) -> list[Callable[[], None]]:
        """The runs in line for which there is room, or will be at `opens_in`."""
        now = time.monotonic()
        self._look(now)
        return list(islice(self._waiting, self._free(max(now, self._open_at))))
