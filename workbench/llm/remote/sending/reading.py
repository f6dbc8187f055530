"""Read replies to chats as LiteLLM reads them, in a tenth of a millisecond.

LiteLLM's whole `completion` reads the first reply of each form. If LiteLLM's function for OpenAI's chat completions
gives the same result, this function reads the other replies of the form. A form is a reply without its numbers and
without the texts that a model wrote.
"""

import importlib
import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import orjson

from workbench.llm.remote.replies import tidy

_MOST = 1000  # forms that are remembered
_WRITTEN = {"content", "reasoning_content", "reasoning", "refusal", "id", "model"}
_WORD = 24  # letters: a longer text is no word of the protocol
_PARSER = "litellm.litellm_core_utils.llm_response_utils.convert_dict_to_response"

Read = Callable[[], Mapping[str, Any]]


class Reading:
    """The forms of replies to calls of one kind, and which of them are read without LiteLLM's `completion`."""

    def __init__(self) -> None:
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
        return _parsed(body) if self._forms.get(form) else whole()

    def learn(self, response: Any, reply: Mapping[str, Any]) -> None:
        """Compare the function's result with LiteLLM's reply, both in the form that the cache stores."""
        body = _body(response)
        if body is None or len(self._forms) >= _MOST:
            return
        form = form_of(body)  # before the function changes the body
        try:
            found = tidy(_parsed(body))
        except Exception:  # noqa: BLE001  `completion` reads an odd reply
            found = {}
        wanted = tidy(reply)
        for invented in {"id", "created"} - body.keys():  # by LiteLLM, for each reply anew
            found.pop(invented, None)
            wanted.pop(invented, None)
        self._forms[form] = found == wanted


def _body(response: Any) -> dict[str, Any] | None:
    """The body of a response with the status 200; None if it is not a JSON object."""
    if response.status_code != 200:
        return None
    try:
        body = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return None
    return body if isinstance(body, dict) else None


def _parsed(body: dict[str, Any]) -> dict[str, Any]:
    parser = importlib.import_module(_PARSER)
    empty = importlib.import_module("litellm").ModelResponse()
    reply: dict[str, Any] = parser.convert_to_model_response_object(
        response_object=body, model_response_object=empty
    ).model_dump()
    return reply


def form_of(value: Any, name: str = "") -> Hashable:
    """The form of a reply; numbers and texts of the model count by their type and whether they are empty."""
    if isinstance(value, Mapping):
        return frozenset((key, form_of(item, key)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(form_of(item, name) for item in value)
    if isinstance(value, str) and name not in _WRITTEN and len(value) <= _WORD:
        return value
    return type(value), bool(value)
