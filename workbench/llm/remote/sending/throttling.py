"""Read 429s as LiteLLM reads them, in a tenth of a millisecond.

A run that looks for its provider's limit meets dozens of 429s at once. LiteLLM takes 7 ms of processor time for each,
so the limiter would learn of the last ones a second late, and take their calls for accepted ones.

LiteLLM reads the first 429 of each form (`reading`). If its error repeats the body of the 429, or the message in it, the
other 429s of the form are refusals with the same words around their own body or message.
"""

import threading
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import orjson

from workbench.llm.remote.refusals import refusal, text_of, throttled
from workbench.llm.remote.sending.reading import Read, form_of

_MOST = 100  # forms that are remembered


class Throttling:
    """The 429s to calls of one kind."""

    def __init__(self) -> None:
        # By form: which text of `_texts` LiteLLM repeats, and its words before and after; None if it repeats none.
        self._words: dict[Hashable, tuple[int, str, str] | None] = {}
        self._lock = threading.Lock()

    def read(self, response: Any, whole: Read) -> Mapping[str, Any]:
        """Raise the refusal of a 429; `whole` raises LiteLLM's own error."""
        form, texts = _texts(response)
        if form not in self._words:
            # 429s that arrive together are read one by one until the form is known.
            with self._lock:
                if form not in self._words:
                    return self._learn(form, texts, whole)
        if words := self._words.get(form):
            number, before, after = words
            if found := throttled(f"{before}{texts[number]}{after}", [response.headers]):
                raise found
        return whole()

    def _learn(self, form: Hashable, texts: Sequence[str], whole: Read) -> Mapping[str, Any]:
        try:
            return whole()
        except Exception as error:
            if len(self._words) < _MOST:
                waits = refusal(error).fault == "rate_limit"  # a code in the body may end the run
                self._words[form] = _around(text_of(error), texts) if waits else None
            raise


def _around(text: str, texts: Sequence[str]) -> tuple[int, str, str] | None:
    """The number of the first text that the error's text has once, and what stands before and after it."""
    for number, repeated in enumerate(texts):
        if repeated and text.count(repeated) == 1:
            before, _, after = text.partition(repeated)
            return number, before, after
    return None


def _texts(response: Any) -> tuple[Hashable, tuple[str, str]]:
    """The form of a 429's body; the body and the message in it, each in one line without the full stop."""
    try:
        body = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        body = response.text
    error = body.get("error", body) if isinstance(body, dict) else body
    message = (error.get("message") or error.get("detail")) if isinstance(error, dict) else error
    return form_of(body), (
        _in_a_line(response.text),
        _in_a_line(message) if isinstance(message, str) else "",
    )


def _in_a_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")
