"""A model with prepared replies, for tests."""

from collections import deque
from collections.abc import Iterable

from workbench.llm.provider import Refusal, Reply
from workbench.llm.remote.replies import reply_with
from workbench.types import Request


class Scripted:
    """Gives its `replies` in turn: `Client(store, send=Scripted(["SELECT 1"]))`.

    A reply is a text, a whole reply as a provider sends it, or a `Refusal` to raise. After the last one,
    every reply is `otherwise`; without it, a further request fails the test. `history` has the requests.
    """

    def __init__(
        self, replies: Iterable[str | Reply | Refusal] = (), *, otherwise: str | None = None
    ) -> None:
        self.replies = deque(replies)
        self.otherwise = otherwise
        self.history: list[Request] = []

    def __call__(self, request: Request, key: str, url: str, seconds: float) -> Reply:
        """The next reply, in the form of `provider.send`."""
        del key, url, seconds
        self.history.append(request)
        reply = self.replies.popleft() if self.replies else self.otherwise
        if reply is None:
            raise AssertionError(f"no reply is left for {request}")
        if isinstance(reply, Refusal):
            raise reply
        if isinstance(reply, str):
            words = sum(len(str(m["content"]).split()) for m in request.messages)
            return reply_with(reply, "stop", words, len(reply.split()))
        return reply
