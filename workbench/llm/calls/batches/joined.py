"""The calls that wait for their batches."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from workbench.llm.provider import Send
from workbench.llm.remote.replies import Reply
from workbench.types import Request

MOST, BYTES = 50_000, 100_000_000  # the most requests of a batch, and the most bytes

# Takes a function that returns the reply or raises. Returns a function that reports the result to the run: it is
# called once the reply is on disk, or with the error that kept the reply from the disk.
Finish = Callable[[Send], Callable[[BaseException | None], None]]


@dataclass(eq=False, slots=True)
class Joined:
    """A call that waits for its batch. `finish` gives its run the reply; `again` has its run start it again."""

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
        """Remove a call and return it; None if no such call waits. Of several threads, one gets the call."""
        with self._lock:
            return self._calls.pop(key, None)

    def all(self) -> list[Joined]:
        with self._lock:
            return list(self._calls.values())

    def of(self, batch: str) -> list[Joined]:
        """The calls that wait for this batch; with "", the calls that are not sent yet."""
        return [call for call in self.all() if call.batch == batch]

    def finish(self, key: str, reply: Reply) -> Callable[[BaseException | None], None] | None:
        """Give a call its reply; returns the function that reports it, None if no call waits for the reply."""
        call = self.remove(key)
        return call.finish(partial(_given, reply)) if call else None

    def end(self, calls: Iterable[Joined], error: BaseException) -> None:
        """End calls without a reply."""
        for call in calls:
            if self.remove(call.key):
                call.finish(partial(_raised, error))(None)


def first(calls: Sequence[Joined], most: int) -> Sequence[Joined]:
    """The first calls that fit into a batch of at most `most` calls and about `BYTES` bytes."""
    size = BYTES
    for number, call in enumerate(calls):
        size -= sum(len(str(message)) for message in call.request.messages)
        if number == most or (number and size < 0):
            return calls[:number]
    return calls


def _given(reply: Reply, *_: object) -> Reply:
    """A `send` that returns the reply."""
    return reply


def _raised(error: BaseException, *_: object) -> Reply:
    """A `send` that raises the error."""
    raise error
