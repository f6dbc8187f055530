"""The limit on the calls of one model: how many are under way at once, and at which pace they are sent.

Before the first 429, the number of calls under way grows by a quarter every few hundredths of a second while more
calls wait, up to the user's limit: a 429 arrives at once, and an answer takes seconds.

After a 429, one call is sent as a trial, and no other until the trial has had no 429 for longer than 429s take. If
the trial is accepted, the 429 came by chance and changes nothing. If it is refused, too many calls are under way, or
too many were sent.

A limit on calls at once is assumed first, if accepted calls are under way: their number is taken for the limit, and
after the next answer another trial is sent. If that trial is accepted, the assumption holds: answers slowly add one
call, and a 429 lowers the limit to the number of accepted calls.

A limit on time is assumed if that trial is refused, if no call was accepted, or if the provider says how long to
wait. No call is sent for a pause, which doubles with each refused trial. The first accepted trial gives the pace: the
calls that were accepted since the last pause, divided by the time that they and the pause took. This finds limits per
second, per minute and on tokens alike. The pace then quickens, slowly at first, faster later. A provider that refuses
more often by chance than by a limit gets pauses and no pace.

A process that computes much sends its calls late, and would take a late 429 for none, so at most 32 calls are allowed
and not sent yet. Runs that find no room wait in line; only runs for which there is room are woken.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice

from workbench.llm.calls.pauses import LONGEST_WAIT, pause

_QUIET = 0.15  # seconds after which the first calls would have met a 429
_STEP = 0.025  # seconds from one growth of the number of calls under way to the next
_GROWTH = 1.25
_SILENCE = 0.05  # seconds without a 429 after which a trial counts as accepted, or twice as long as a 429 took
_ROW = 4  # 429s in a row, without an accepted call, that a limit on calls at once does not explain
_UNSENT = 32  # calls that are allowed and not sent yet
_FIRST_PAUSE = 1.0  # seconds without a call after a 429 that names no time
# The interval shrinks by this share with each answer, for each call since the last pause.
_QUICKENING = 0.0005


class Limiter:
    """The calls of one model that are under way, at most `most`, and when the next may be sent.

    `window` is how many may be under way now. `interval` is the seconds from one call to the next, zero until a
    limit on time is found.
    """

    def __init__(self, most: int = 1024, first: int = 64) -> None:
        self.interval = 0.0
        self.window: float = min(first, most)
        self._most = most
        self._running = self._unsent = 0  # calls under way, and those of them that are not sent yet
        self._open_at = 0.0  # no call is sent before this time
        self._grows_at = 0.0  # when the window grows, before the first limit
        self._limited = False  # whether a limit was met
        self._by_number = False  # whether the limit is one on calls at once
        self._by_chance = 0  # 429s whose trial was accepted, less those whose trial was refused
        self._row = 0  # 429s since a call was accepted
        self._refused_at = 0.0  # when a 429 began the last trial; calls sent before belong to it
        self._silence = _SILENCE
        self._trial = ""  # "answer": an answer is awaited; "due": the next call is it; "sent"
        self._after_answer = False  # whether the trial is the one after an answer
        self._pause = 0.0  # seconds of the present pause; 0 while calls are accepted
        self._in_minute = 0.0  # the most calls that were accepted in a minute
        self._since = 0.0  # when `_sent` and `_refused` began to count
        self._sent = 0
        self._refused = 0
        # The line, as an ordered set of wake-ups.
        self._waiting: dict[Callable[[], None], None] = {}
        self._lock = threading.Lock()

    @property
    def room(self) -> int:
        """The number of further runs whose calls would be sent soon: twice the window, less the present calls."""
        return int(2 * self.window) - self._running - len(self._waiting)

    def start(self, callback: Callable[[], None]) -> float:
        """Count one more call and return the time; if no call may be sent now, return 0 and call back later."""
        with self._lock:
            now = time.monotonic()
            self._look(now)
            free = self._free(now)
            ahead = list(islice(self._waiting, free))
            if len(ahead) < free or callback in ahead:
                self._waiting.pop(callback, None)
                now = max(now, math.nextafter(self._refused_at, math.inf))  # later than the 429
                if now - self._open_at > LONGEST_WAIT:  # after idle time, count afresh
                    self._since, self._sent, self._refused = now, 0, 0
                self._running += 1
                self._unsent += 1
                self._sent += 1
                self._grows_at = self._grows_at or now + _QUIET
                self._open_at = max(self._open_at, now - self.interval) + self.interval
                if self._trial:
                    self._trial = "sent"
                    self._open_at = now + self._silence
                ahead = self._next()
            else:
                self._waiting.setdefault(callback)
                now = 0.0
        for wake in ahead:
            wake()
        return now

    def sends(self) -> None:
        """Record that an allowed call is sent now."""
        with self._change():
            self._unsent -= 1

    def withdraw(self, callback: Callable[[], None]) -> None:
        """Leave the line: the run has no more calls of this model."""
        if callback in self._waiting:
            with self._change():
                self._waiting.pop(callback, None)

    def cancel(self) -> None:
        """Undo a `start` whose call was not sent."""
        with self._lock:
            self._sent -= 1
            self._unsent -= 1
            if self._trial == "sent":
                self._trial, self._open_at = "due", 0.0
            else:
                self._open_at -= self.interval
        self.end()

    def opens_in(self) -> float:
        """Seconds until a call may be sent or the window grows; 0 if a call may be sent now."""
        now = time.monotonic()
        if self._grows():
            return max(_STEP / 10, self._grows_at - now)
        return max(0.0, self._open_at - now)

    def end(self) -> None:
        """Count one call less under way."""
        with self._change():
            self._running -= 1
            if self._trial == "answer" and not self._running:  # no answer will come
                self._trial = "due"

    def accepted(self, sent: float) -> None:
        """Record that a call sent at `sent` met no 429."""
        with self._change():
            # An answer to a call sent before the last 429 says nothing about the trial that the 429 began.
            if sent > self._refused_at:
                self._row = 0
                self._end_trial(time.monotonic())
            elif self._trial == "answer":
                self._trial = "due"
            if self._waiting and self._by_number and not self.interval:
                self.window = min(self.window + 1 / (2 * self.window), self._most)
            self.interval *= max(0.5, 1 - _QUICKENING * self._sent)

    def throttled(self, sent: float, wait: float = 0.0) -> None:
        """Record that a call sent at `sent` met a 429; `wait` is the seconds that the provider named, or 0."""
        with self._lock:
            now = time.monotonic()
            self._refused += 1
            self._silence = max(_SILENCE, 0.9 * self._silence, min(2 * (now - sent), LONGEST_WAIT))
            if wait:
                self._begin_pause(now, wait)
            elif sent <= self._refused_at:  # the call was under way when a 429 began the trial
                # The window was set to the calls then under way, and accepted ones may have ended since.
                if self._limited and not self.interval:
                    self.window = max(1.0, self.window - 1)
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

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Hold the lock, then wake the runs for which there is room."""
        with self._lock:
            yield
            callbacks = self._next()
        for wake in callbacks:
            wake()

    def _meet_limit(self, now: float) -> None:
        """Assume a limit after a trial that was refused."""
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
        """Send nothing for the time that the provider names, or else for longer than the last pause."""
        self._limited, self._by_number, self._after_answer = True, False, False
        self._trial, self._refused_at = "due", now
        self._pause = min(LONGEST_WAIT, wait or 2 * (self._pause or self.interval) or _FIRST_PAUSE)
        self._open_at = max(self._open_at, now + pause(0, self._pause))

    def _end_trial(self, now: float) -> None:
        """Continue after a trial that was accepted."""
        if self._trial and not self._pause and not self._after_answer:
            self._by_chance = min(_ROW, self._by_chance + 1)
        if self._after_answer:
            self._by_number = True
        if self._pause and self._by_chance <= 0:
            # The calls accepted since the last pause, over their time with the pause; the trial counts for the next pace.
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
        free = max(0, min(int(self.window) - self._running, _UNSENT - self._unsent))
        return min(free, 1) if self.interval or self._trial == "due" or self._pause else free

    def _next(self) -> list[Callable[[], None]]:
        """The runs in line for which there is room, or will be at `opens_in`."""
        now = time.monotonic()
        self._look(now)
        return list(islice(self._waiting, self._free(max(now, self._open_at))))
