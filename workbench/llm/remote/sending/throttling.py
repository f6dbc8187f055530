"""Read 429s as LiteLLM reads them, in a tenth of a millisecond.

A run that looks for its provider's limit meets dozens of 429s at once. LiteLLM takes 7 ms of processor time for each,
so the limiter would learn of the last ones a second late, and take their calls for accepted ones.

LiteLLM reads the first 429 of each form (`reading`). If its error repeats the provider's message, the other 429s of the
form are refusals with the same words around their own message.
"""

import threading
from collections.abc import Hashable, Mapping
from typing import Any

import orjson

from workbench.llm.remote.refusals import text_of, throttled
from workbench.llm.remote.sending.reading import Read, form_of

_MOST = 100  # forms that are remembered


class Throttling:
    """The 429s to calls of one kind."""

    def __init__(self) -> None:
        # LiteLLM's words before and after the provider's message, by form; None if it does not repeat the message.
        self._words: dict[Hashable, tuple[str, str] | None] = {}
        self._lock = threading.Lock()

    def read(self, response: Any, whole: Read) -> Mapping[str, Any]:
        """Raise the refusal of a 429; `whole` raises LiteLLM's own error."""
        form, message = _parts(response)
        if form not in self._words:
            # 429s that arrive together are read one by one until the form is known.
            with self._lock:
                if form not in self._words:
                    return self._learn(form, message, whole)
        if (words := self._words.get(form)) and (
            found := throttled(f"{words[0]}{message}{words[1]}", response.headers)
        ):
            raise found
        return whole()

    def _learn(self, form: Hashable, message: str, whole: Read) -> Mapping[str, Any]:
        try:
            return whole()
        except Exception as error:
            words = text_of(error).split(message) if message else []
            if len(self._words) < _MOST:
                self._words[form] = (words[0], words[1]) if len(words) == 2 else None
            raise


def _parts(response: Any) -> tuple[Hashable, str]:
    """The form of a 429's body, and the message in it, in one line without the full stop."""
    try:
        body = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        body = response.text
    error = body.get("error", body) if isinstance(body, dict) else body
    message = (error.get("message") or error.get("detail")) if isinstance(error, dict) else error
    return form_of(body), " ".join(message.split()).rstrip(".") if isinstance(message, str) else ""
