"""A model with prepared replies, for tests and demonstrations."""

from collections import deque
from collections.abc import Iterable

from workbench.llm.faults import Refusal
from workbench.llm.keys import Reply
from workbench.types import Request


class scripted:  # noqa: N801  it reads as a function: send=wb.scripted([...])
    """A `send` that gives these replies in turn, then `otherwise`; without it, a further request fails.

    A reply is a text, a whole reply as a provider sends it, or a `Refusal` to raise. `history` has
    the requests.

    >>> client = wb.Client(wb.Cache(), send=wb.scripted(["SELECT 1"]))
    >>> client.complete(wb.Request("direct", "any/model", [])).text
    'SELECT 1'
    """

    def __init__(
        self, replies: Iterable[str | Reply | Refusal] = (), otherwise: str | None = None
    ) -> None:
        self.replies, self.otherwise = deque(replies), otherwise
        self.history: list[Request] = []

    async def __call__(self, request: Request, *_: object) -> Reply:
        self.history.append(request)
        reply = self.replies.popleft() if self.replies else self.otherwise
        if reply is None:
            raise AssertionError(f"no reply is left for {request}")
        if isinstance(reply, Refusal):
            raise reply
        if isinstance(reply, dict):
            return reply
        words = sum(len(str(message["content"]).split()) for message in request.messages)
        return reply_with(reply, "stop", words, len(reply.split()))


def reply_with(text: str, reason: str, tokens_in: int, tokens_out: int) -> Reply:
    """The reply with this answer and these token counts, in the form of a provider's."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}
