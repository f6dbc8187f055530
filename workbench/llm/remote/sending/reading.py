"""Read replies to chats as LiteLLM reads them, in a tenth of a millisecond.

LiteLLM's whole `completion` reads the first reply of each form. If LiteLLM's function for the protocol (`parsing`) gives
the same result, this function reads the other replies of the form. A form is a reply without its numbers and without
the texts that a model wrote.
"""

import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import orjson

from workbench.llm.remote.replies import tidy
from workbench.llm.remote.sending.parsing import Parse

_MOST = 1000  # forms that are remembered
_WRITTEN = {
    "content", "reasoning_content", "reasoning", "refusal", "id", "model",
    "text", "thinking", "signature", "responseId", "thoughtSignature",
}  # fmt: skip
_WORD = 24  # letters: a longer text is no word of the protocol

Read = Callable[[], Mapping[str, Any]]


class Reading:
    """The forms of replies to calls of one kind, and which of them are read without LiteLLM's `completion`."""

    def __init__(self, parse: Parse) -> None:
        self._parse = parse
        self._forms: dict[Hashable, bool] = {}  # whether the function gives the same result
        self._lock = threading.Lock()

    def read(self, response: Any, whole: Read) -> Mapping[str, Any]:
        """The reply as LiteLLM gives it; `whole` reads the response by LiteLLM's whole `completion`."""
        body = _body(response)
        if body is None:
            return whole()
        form = form_of(body)
        if form not in self._forms:
            # Replies that arrive together are read one by one until the form is known.
            with self._lock:
                if form not in self._forms:
                    reply = whole()
                    self.learn(response, reply)
                    return reply
        return self._parsed(body, response) if self._forms.get(form) else whole()

    def learn(self, response: Any, reply: Mapping[str, Any]) -> None:
        """Compare the function's result with LiteLLM's reply, both in the form that the cache stores."""
        body = _body(response)
        if body is None or len(self._forms) >= _MOST:
            return
        form = form_of(body)  # before the function changes the body
        told = {value for value in body.values() if isinstance(value, Hashable)}
        try:
            found = tidy(self._parsed(body, response))
        except Exception:  # noqa: BLE001  `completion` reads an odd reply
            found = {}
        wanted = tidy(reply)
        for name in ("id", "created"):
            if not {found.get(name), wanted.get(name)} & told:  # LiteLLM invents one for each reply
                found.pop(name, None)
                wanted.pop(name, None)
        self._forms[form] = found == wanted

    def _parsed(self, body: dict[str, Any], response: Any) -> dict[str, Any]:
        reply: dict[str, Any] = self._parse(body, response).model_dump()
        return reply


def _body(response: Any) -> dict[str, Any] | None:
    """The body of a response with the status 200; None if it is not a JSON object."""
    if response.status_code != 200:
        return None
    try:
        body = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return None
    return body if isinstance(body, dict) else None


def form_of(value: Any, name: str = "") -> Hashable:
    """The form of a reply; numbers and texts of the model count by their type and whether they are empty."""
    if isinstance(value, Mapping):
        return frozenset((key, form_of(item, key)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(form_of(item, name) for item in value)
    if isinstance(value, str) and name not in _WRITTEN and len(value) <= _WORD:
        return value
    return type(value), bool(value)
