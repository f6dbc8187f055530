"""Send a chat as LiteLLM sends it, without the 7 ms of processor time that LiteLLM's `completion` takes around it.

Calls are of one kind if they have the same model, address, parameters, form of the messages, environment and settings
of LiteLLM. LiteLLM makes the first call of a kind, and its HTTP request is noted. If the request shows where the texts
of messages stand (`template`), and has no credentials except those of the environment, the other calls of the kind are
posted in the same form. LiteLLM makes all other calls itself: calls in other protocols than those of OpenAI, Anthropic
and Gemini, signed calls, calls with a token that expires, and every call while something is set to watch LiteLLM's calls.

LiteLLM reads each reply of a form that `Reading` does not know, and raises the error of a failed connection, as though
`completion` had just received it. Every refusal is therefore LiteLLM's own, or has the words of one (`Throttling`).
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

from workbench.llm.remote.sending.parsing import parser
from workbench.llm.remote.sending.reading import Reading
from workbench.llm.remote.sending.template import Template, parted, template
from workbench.llm.remote.sending.throttling import Throttling
from workbench.types import Message

_MOST = 1000  # kinds of calls that are remembered
_CALLBACKS = ("callbacks", "success_callback", "failure_callback", "input_callback")
_WATCHING = (  # other settings of LiteLLM that see its calls, or answer them
    "pre_call_rules", "post_call_rules", "cache", "client_session", "network_mock", "custom_provider_map",
)  # fmt: skip
_SETTINGS = (  # settings of LiteLLM that change its requests, or how it connects
    "api_key", "openai_key", "anthropic_key", "api_base", "organization", "headers", "drop_params", "modify_params",
    "vertex_ai_safety_settings", "enable_gemini_default_thinking_level_low", "reasoning_auto_summary",
    "ssl_verify", "ssl_certificate", "ssl_security_level", "force_ipv4", "disable_aiohttp_transport",
)  # fmt: skip
_CREDENTIALS = ("authorization", "api-key", "x-api-key", "x-goog-api-key")
_NO_KEY = "fake-api-key"  # LiteLLM sends it to servers that need none
_OF_ONE_CALL = (  # the first letters of headers that no other call has, or that httpx adds
    b"x-stainless", b"idempotency", b"x-request-id", b"cookie", b"host", b"content-length",
)  # fmt: skip

Call = Callable[..., Any]


class _Kind:
    """Calls that differ in their texts alone: the form of their requests, and the known forms of their replies."""

    def __init__(self) -> None:
        self.noted = threading.Event()
        self.url: Any = None
        self.headers: list[tuple[bytes, bytes]] = []
        self.template: Template | None = None  # without one, LiteLLM makes every call
        self.reading = Reading(parser("", ""))
        self.throttling = Throttling()

    def note(self, request: Any, messages: Sequence[Message], texts: Sequence[str]) -> None:
        """Use the request as the form of the others, if it has the messages and a key of the environment."""
        try:
            body = orjson.loads(request.content)
        except orjson.JSONDecodeError:
            return
        keys = {*os.environ.values(), _NO_KEY}
        given = [request.headers[name] for name in _CREDENTIALS if name in request.headers]
        given += request.url.params.get_list("key")
        if (
            isinstance(body, dict)
            and not body.get("stream")
            and all(value.removeprefix("Bearer ") in keys for value in given)
        ):
            headers = request.headers.raw
            self.headers = [h for h in headers if not h[0].lower().startswith(_OF_ONE_CALL)]
            self.url = request.url
            self.reading = Reading(parser(self.url.path, body.get("model", "")))
            self.template = template(body, self.url.path, messages, texts)

    def filled(self, messages: Sequence[Message], texts: Sequence[str]) -> bytes:
        """The body with these messages; empty if LiteLLM has to make the call."""
        try:
            return self.template.filled(messages, texts) if self.template else b""
        except TypeError:  # half a surrogate pair
            return b""


class _Calls:
    """The kinds of calls under some settings, and connections that no call is using."""

    def __init__(self, settings: Hashable) -> None:
        self.settings = settings
        self.kinds: dict[Hashable, _Kind] = {}
        # Clients of one connection each: httpx walks through a pool of connections for each call.
        self.idle: deque[Any] = deque()

    def post(self, litellm: Any, kind: _Kind, body: bytes, seconds: float) -> Any:
        """The response to a call of the kind, whatever its status."""
        import httpx  # noqa: PLC0415  it comes with LiteLLM, and takes as long to import as all of ours

        waits = dict.fromkeys(("connect", "read", "write", "pool"), seconds)
        request = httpx.Request(
            "POST", kind.url, headers=kind.headers, content=body, extensions={"timeout": waits}
        )
        try:
            handler = self.idle.pop()
        except IndexError:
            client = type(litellm.module_level_client)
            handler = client()  # with LiteLLM's settings of TLS and proxies
        try:
            return handler.client.send(request)
        finally:
            self.idle.append(handler)


_calls = _Calls(None)
_thread = threading.local()


def complete(
    litellm: Any, call: Call, messages: Sequence[Message], kind_key: Hashable, seconds: float
) -> Mapping[str, Any]:
    """The reply to a chat, as LiteLLM gives it. `call` makes the call by LiteLLM; calls with equal `kind_key` are of one kind."""
    global _calls  # noqa: PLW0603  changed settings start a new collection
    if (found := parted(messages)) is None or _is_watched(litellm):
        return _whole(call, messages)
    form, texts = found
    named = tuple(str(getattr(litellm, name, None)) for name in _SETTINGS)
    settings = (os.getpid(), *named, *os.environ.items())
    if (calls := _calls).settings != settings or len(calls.kinds) > _MOST:
        calls = _calls = _Calls(settings)
    fresh = _Kind()
    kind = calls.kinds.setdefault((kind_key, form), fresh)
    # `setdefault` is atomic, so of several threads one makes the first call, and the others wait for its request.
    if kind is fresh:
        return _first(kind, call, messages, texts)
    kind.noted.wait()
    if not (body := kind.filled(messages, texts)):
        return _whole(call, messages)
    try:
        response = calls.post(litellm, kind, body, seconds)
    except Exception as error:  # noqa: BLE001  LiteLLM explains the error
        with _sending(_raising(error)):
            return _whole(call, messages)

    def received(_real: Call, _client: Any, request: Any, **_options: Any) -> Any:
        response.request = request
        return response

    def read() -> Mapping[str, Any]:
        with _sending(received):
            return _whole(call, messages)

    if response.status_code == 429:
        return kind.throttling.read(response, read)
    return kind.reading.read(response, read)


def _is_watched(litellm: Any) -> bool:
    """Whether something is set to see LiteLLM's calls; its own callback "cache" serves the setting `cache` alone."""
    return any(getattr(litellm, name, None) for name in _WATCHING) or any(
        callback != "cache" for name in _CALLBACKS for callback in getattr(litellm, name, ())
    )


def _whole(call: Call, messages: Sequence[Message]) -> dict[str, Any]:
    """The reply by LiteLLM's whole `completion`, which may change the messages."""
    reply: dict[str, Any] = call(messages=[dict(message) for message in messages]).model_dump()
    return reply


def _first(
    kind: _Kind, call: Call, messages: Sequence[Message], texts: Sequence[str]
) -> Mapping[str, Any]:
    """The reply to the first call of a kind, whose request is noted before it is sent."""
    responses = []

    def send(real: Call, client: Any, request: Any, **options: Any) -> Any:
        kind.note(request, list(messages), texts)
        kind.noted.set()
        responses.append(real(client, request, **options))
        return responses[0]

    try:
        with _sending(send):
            reply = _whole(call, messages)
    finally:
        kind.noted.set()
    if responses:
        kind.reading.learn(responses[0], reply)
    return reply


@contextmanager
def _sending(act: Call) -> Iterator[None]:
    """In the block, `act` takes the place of the next request that this thread sends by httpx."""
    _thread.act = act
    try:
        yield
    finally:
        _thread.act = None


def _raising(error: Exception) -> Call:
    def act(*_: object, **__: object) -> None:
        raise error

    return act


def listening(real: Call) -> Call:
    """`httpx.Client.send`, by which LiteLLM sends every request; in `_sending`, another function takes its place."""

    def send(client: Any, request: Any, **options: Any) -> Any:
        if act := getattr(_thread, "act", None):
            _thread.act = None
            return act(real, client, request, **options)
        return real(client, request, **options)

    return send
