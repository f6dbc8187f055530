"""Asks for every case by the whole of LiteLLM's `completion` and by `posting`; prints both as JSON lines.

A process of its own: LiteLLM leaves connections open, which pytest would report in tests of other files.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from tests.llm.providers import talks
from tests.llm.providers.ask_all import respond
from tests.llm.providers.cases import CASES
from tests.llm.providers.protocols import MODELS, base, chat, error, speak
from tests.llm.server import ERRORS, Server, asked_in
from workbench.llm import provider
from workbench.llm.provider import Refusal
from workbench.llm.remote.sending import posting
from workbench.types import Request

FAULTS = (
    *ERRORS,
    "429-after",
    "reset",
    "half",
    "cut",
    "html",
    "slow",
    "empty",
    "null",
    "filter",
    "length",
)
BODIES = {
    "thought in the text": chat({"content": "<think>There is one row.</think>SELECT 1"}),
    "parts": chat({"content": [{"type": "text", "text": "SELECT 1"}]}),
    "unknown fields": chat({"content": "A", "annotations": [], "mood": "good"}) | {"extra": {"a": 1}},
    "no choices": {"error": {"message": "busy"}},
    "a list": [],
    "counts of zero": chat({"content": "A"}, prompt_tokens=0, completion_tokens=0, total_tokens=0),
    "no id": {"choices": [{"message": {"content": "A"}, "finish_reason": "eos"}]},
}  # fmt: skip
# The bodies of 429s, which repeat the question.
THROTTLED = {
    "429 in OpenAI's words": lambda asked: error(f"slow down at {asked}. Try again in 1.5s.", "rate_limit_exceeded"),
    "429 in short words": lambda asked: error(asked, "rate_limit_exceeded"),
    "429 in Mistral's words": lambda asked: {"object": "error", "message": f"too many calls: {asked}"},
    "429 with a detail": lambda asked: {"detail": f"too many calls: {asked}"},
    "429 with a text": lambda asked: {"error": f"too many calls: {asked}"},
    "429 of a list": lambda asked: [asked],
    "429 without words": lambda _: error("", ""),
    "429 of a day": lambda asked: error(f"{asked}: limit on tokens per day", "rate_limit_exceeded"),
}  # fmt: skip
SEVERAL = ("openai/gpt-4o", "hosted_vllm/qwen3", "mistral/mistral-small-latest", "deepseek/deepseek-chat",
           "openrouter/a/b", "together_ai/a", "azure/gpt-4o")  # fmt: skip

INVENTED = {"id", "created"}  # by LiteLLM, where the server sends none
SENT = {"c", "r", "m", "chatcmpl-1", 1, 1700000000}  # by the server
HEADERS = (
    "authorization", "api-key", "x-api-key", "x-goog-api-key", "content-type", "user-agent", "accept",
    "anthropic-version", "anthropic-beta",
)  # fmt: skip

Make = Callable[[str], Request]


def names() -> list[str]:
    """The names of all cases."""
    with Server() as server:
        return [name for name, *_ in cases(server)]


def cases(server: Server) -> Iterator[tuple[str, str, str, Make]]:
    """The name, the model, the address and the call of each case, for which the server is made ready."""
    root = server.url.removesuffix("/v1")
    for (name, behaviour), case in CASES.items():
        server.respond = partial(respond, case)
        yield f"{name}: {behaviour}", MODELS[name], base(name, root), plain
    for title, body in BODIES.items():
        server.respond = lambda _path, _body, body=body: (200, body, {})
        yield title, "openai/gpt-4o", server.url, plain
    for title, throttled in THROTTLED.items():
        server.respond = lambda _path, body, throttled=throttled: (
            429, throttled(asked_in(body)), {}
        )  # fmt: skip
        yield title, "openai/gpt-4o", server.url, plain
    server.respond = None
    for model in SEVERAL:
        url = root if model.startswith("azure") else server.url
        yield f"answer of {model}", model, url, plain
    yield from faults(server, "openai/gpt-4o", server.url)
    for name, model in talks.SPOKEN.items():
        server.respond = lambda path, body: (200, speak(path, talks.question(body)), {})
        for title, make in talks.CALLS.items():
            yield f"{name}, {title}", model, base(name, root), make
    for name, replies in talks.REPLIES.items():
        model, url = talks.SPOKEN[name], base(name, root)
        for title, (body, headers) in replies.items():
            server.respond = lambda _path, _body, body=body, headers=headers: (200, body, headers)
            yield f"{name}, reply: {title}", model, url, talks.PLAIN
        for title, throttled in (talks.THROTTLED[name] | talks.FATAL[name]).items():
            server.respond = lambda _path, body, throttled=throttled: (
                429, throttled(talks.question(body)), {}
            )  # fmt: skip
            yield f"{name}, {title}", model, url, plain
        server.respond = lambda path, body: (200, speak(path, talks.question(body)), {})
        yield from faults(server, model, url, f"{name}, ")


def faults(
    server: Server, model: str, url: str, name: str = ""
) -> Iterator[tuple[str, str, str, Make]]:
    """The cases of the faults that a call meets on its way."""
    for fault in FAULTS:
        server.plan.extend([fault] * 8)
        yield f"{name}{fault}", model, url, plain
        server.plan.clear()
    yield f"{name}no connection", model, "http://127.0.0.1:9/v1", plain


def plain(text: str) -> Request:
    messages = ({"role": "system", "content": "Answer."}, {"role": "user", "content": text})
    return Request("p", "", messages, {"temperature": 1.0, "max_tokens": 100})


def asked(server: Server, model: str, url: str, make: Make, text: str) -> dict[str, Any]:
    """What comes of a call, and the requests that the server was sent."""
    request = replace(make(text), model=model)
    before = len(server.bodies)
    try:
        reply = provider.send(request, "", url, 0.5)
        told: dict[str, Any] = {
            name: value for name, value in reply.items() if name not in INVENTED
        }
        told |= {name: reply[name] for name in INVENTED if reply[name] in SENT}
    except Refusal as refusal:
        told = {name: getattr(refusal, name) for name in ("fault", "fatal", "again", "wait")}
        told |= {"error": str(refusal)}
        # Only a lost connection or reply is judged by its causes.
        told |= {} if refusal.fault == "rate_limit" else {"causes": causes(refusal)}
    # Ollama is also asked what the model is, in a request without the text.
    sent = [n for n in range(before, len(server.bodies)) if text in json.dumps(server.bodies[n])]
    headers = [{n.lower(): v for n, v in server.headers[n].items()} for n in sent]
    return told | {
        "bodies": [server.bodies[n] for n in sent],
        "headers": [{name: one.get(name) for name in HEADERS} for one in headers],
    }


def causes(error: BaseException) -> list[str]:
    """The kinds of the errors on the wire behind a refusal."""
    found = []
    while cause := error.__cause__ or error.__context__:
        found += [type(cause).__name__] * type(cause).__module__.startswith("http")
        error = cause
    return found


def main() -> None:
    """Two calls for each way: the first is LiteLLM's own, or teaches the form of the reply."""
    whole, posted = [], []
    real = posting.complete

    def by_litellm(_: object, call: Callable[..., Any], messages: Any, *__: object) -> Any:
        return call(messages=list(messages)).model_dump()

    def by_posting(litellm: Any, call: Callable[..., Any], *rest: Any) -> Any:
        return real(litellm, lambda **given: (whole.append(1), call(**given))[1], *rest)

    post = posting._Calls.post
    posting._Calls.post = lambda *given: (posted.append(1), post(*given))[1]
    with Server() as server:
        for name, *case in cases(server):
            provider.complete = by_litellm
            wanted = [asked(server, *case, text) for text in ("question one", "question two")]
            provider.complete = by_posting
            first = asked(server, *case, "question one")
            whole.clear(), posted.clear()
            second = asked(server, *case, "question two")
            print(json.dumps([name, len(posted), len(whole), wanted, [first, second]]), flush=True)


if __name__ == "__main__":
    main()
