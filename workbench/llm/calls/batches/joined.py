"""The calls that wait for their batches."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from workbench.llm.provider import Send
from workbench.llm.remote.replies import Reply
from workbench.types import Request

MOST, BYTES = 50_000, 100_000_000  # requests of a batch, and their size

# Takes a function that gives the reply; returns what tells the run, once the reply is on disk or with the error.
Finish = Callable[[Send], Callable[[BaseException | None], None]]


@dataclass(eq=False, slots=True)
class Joined:
    """A call that waits for its batch. `again` has its run look at it anew."""

    key: str
    request: Request
    endpoint: str
    url: str
    finish: Finish
    again: Callable[[], None]
    batch: str = ""


class JoinedCalls:
    """Calls by their keys. Runs add and remove them, and the thread of the batches ends them."""

    def __init__(self) -> None:
        self._calls: dict[str, Joined] = {}
        self._lock = threading.Lock()

    def add(self, call: Joined) -> None:
        with self._lock:
            self._calls[call.key] = call

    def remove(self, key: str) -> Joined | None:
        """The call, which waits no longer; None if it does not wait. Only one thread gets it."""
        with self._lock:
            return self._calls.pop(key, None)

    def all(self) -> list[Joined]:
        with self._lock:
            return list(self._calls.values())

    def of(self, batch: str) -> list[Joined]:
        """The calls that wait for a batch, or with "" for being sent."""
        return [call for call in self.all() if call.batch == batch]

    def finish(self, key: str, reply: Reply) -> Callable[[BaseException | None], None] | None:
        """Give a call its reply; returns what reports it, None if no call waits for it."""
        call = self.remove(key)
        return call.finish(partial(_given, reply)) if call else None

    def end(self, calls: Iterable[Joined], error: BaseException) -> None:
        """End calls without a reply."""
        for call in calls:
            if self.remove(call.key):
                call.finish(partial(_raised, error))(None)


def first(calls: Sequence[Joined], most: int) -> Sequence[Joined]:
    """The first of the calls, at most so many and about `BYTES` of them, as a batch takes them."""
    size = BYTES
    for number, call in enumerate(calls):
        size -= sum(len(str(message)) for message in call.request.messages)
        if number == most or (number and size < 0):
            return calls[:number]
    return calls


def _given(reply: Reply, *_: object) -> Reply:
    """The reply, in the form of `send`."""
    return reply


def _raised(error: BaseException, *_: object) -> Reply:
    """The error, in the form of `send`."""
    raise error
