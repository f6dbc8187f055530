"""How many calls of one model are under way: as many as its provider takes, at most the user's limit."""

import asyncio
import time
from collections import deque

LONGEST = 60.0  # seconds: the longest pause


class Limiter:
    """Additive increase, multiplicative decrease. A 429 pauses the model for as long as its server asks."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.limit = float(most)
        self.running = 0
        self._opens_at = self._cut_at = 0.0
        self._pause = 0.25
        self._line: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> float:
        """Wait for a place; returns the time, which `leave` needs."""
        while self.running >= int(self.limit) or (wait := self._opens_at - time.monotonic()) > 0:
            if self.running >= int(self.limit):
                turn = asyncio.get_running_loop().create_future()
                self._line.append(turn)
                try:
                    await turn
                except asyncio.CancelledError:
                    self._next()  # the place goes to another
                    raise
            else:
                await asyncio.sleep(wait)
        self.running += 1
        return time.monotonic()

    def leave(self, entered: float, *, throttled: bool = False, wait: float = 0.0) -> None:
        """Give the place back; `throttled` by a 429, whose server asked for so many seconds."""
        self.running -= 1
        now = time.monotonic()
        if not throttled:
            self.limit = min(self._most, self.limit + 1 / self.limit)
            self._pause = 0.25
        elif entered > self._cut_at:  # one cut for all 429s of calls that were sent before the cut
            self._cut_at = now
            self.limit = max(1.0, 0.95 * self.running)
            self._pause = min(LONGEST, wait or 2 * self._pause)
            if wait or not self.running:  # nothing was accepted: a limit on time, not on number
                self._opens_at = now + self._pause
        else:  # sent before the cut: as many as are still under way were accepted
            self.limit = min(self.limit, max(1.0, self.running))
            self._opens_at = max(self._opens_at, now + min(LONGEST, wait))
        self._next()

    def _next(self) -> None:
        free = int(self.limit) - self.running
        while free > 0 and self._line:
            if not (turn := self._line.popleft()).done():
                turn.set_result(None)
                free -= 1
