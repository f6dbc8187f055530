"""A model that says what it is told to: for tests of whatever asks models."""

from collections import deque
from collections.abc import Iterable

from workbench.llm.provider import Refusal, Reply
from workbench.types import Request


class Scripted:
    """Gives its replies in turn and keeps what it was asked: `Client(store, send=Scripted(["SELECT 1"]))`.

    A reply is a text, a whole reply as a provider sends it, or a `Refusal` to raise. With `otherwise`,
    that text follows when all are given; without, being asked once more is an error of the test.
    """

    def __init__(
        self, replies: Iterable[str | Reply | Refusal] = (), *, otherwise: str | None = None
    ) -> None:
        self.replies = deque(replies)
        self.otherwise = otherwise
        self.history: list[Request] = []

    def __call__(self, request: Request, key: str, url: str, seconds: float) -> Reply:
        """The next reply, as `provider.send` would give it."""
        del key, url, seconds
        self.history.append(request)
        reply = self.replies.popleft() if self.replies else self.otherwise
        if reply is None:
            raise AssertionError(f"no reply is left for {request}")
        if isinstance(reply, Refusal):
            raise reply
        if isinstance(reply, str):
            choice = {"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
            return {
                "choices": [choice],
                "usage": {
                    "prompt_tokens": sum(len(str(m["content"]).split()) for m in request.messages),
                    "completion_tokens": len(reply.split()),
                },
            }
        return reply
