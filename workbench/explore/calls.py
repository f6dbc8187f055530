"""The model calls in the cache: list them by prompt, model, words and cost, open a call, ask it again."""

import copy
from collections.abc import Collection
from datetime import UTC, datetime

import pandas as pd

from workbench.canonical import canonical
from workbench.errors import BadInputError
from workbench.html.parts import Html, details, heading, line, pre, view
from workbench.llm.cache import Cache, Call
from workbench.llm.client import Client
from workbench.llm.money import dollars, most, price
from workbench.llm.send import litellm
from workbench.store import Store
from workbench.types import Completion

LISTED = 200
ORDERS = {
    "newest": "created DESC",
    "dearest": "cost DESC",
    "longest": "input_tokens + output_tokens DESC",
    "slowest": "seconds DESC",
}
_COLUMNS = (
    "created", "prompt", "model", "sample", "input_tokens", "output_tokens", "dollars", "seconds",
    "finish_reason", "reply", "key",
)  # fmt: skip


def calls(
    store: Store,
    prompt: str = "",
    model: str = "",
    found: Collection[int] | None = None,
    order: str = "newest",
    limit: int = LISTED,
) -> tuple[pd.DataFrame, int]:
    """A row for each of the first calls of a prompt and a model ("" for all), and the number of all such calls.

    With `found`, only calls whose row ids a `Search` found are taken.
    """
    named = {"prompt = ?": prompt, "model = ?": model}
    terms = {term: value for term, value in named.items() if value}
    if found is not None:
        terms["rowid IN (SELECT value FROM json_each(?))"] = canonical(found).decode()
    where, values = " AND ".join(terms) or "1", tuple(terms.values())
    if found is not None and len(terms) == 1:
        number = len(found)
    else:
        ((number,),) = store.read(f"SELECT count(*) FROM calls WHERE {where}", values)
    rows = store.read(
        "SELECT created, prompt, model, sample, input_tokens, output_tokens, cost, seconds, "
        "finish_reason, substr(text, 1, 120), key FROM calls WHERE rowid IN "
        f"(SELECT rowid FROM calls WHERE {where} ORDER BY {ORDERS[order]}, key LIMIT ?) "
        f"ORDER BY {ORDERS[order]}, key",
        [*values, limit],
    )
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    frame["created"] = pd.to_datetime(frame["created"], unit="s", utc=True).dt.floor("s")
    return frame, number


def open_call(store: Cache, key: str) -> Call:
    """The whole call with that key."""
    if call := next(store.calls("key = ?", [key]), None):
        return call
    raise BadInputError(f"{store.path} has no call {key!r}")


def call_html(call: Call) -> Html:
    """A whole call: its messages, parameters, reply, tokens, cost and time."""
    request, answer = call.request, call.answer
    made = f"{datetime.fromtimestamp(call.created, UTC):%Y-%m-%d %H:%M}"
    settings = "\n".join(f"{name}: {value}" for name, value in request.parameters.items())
    return view(
        f"Call of {request.prompt or 'no named prompt'}",
        line(f"{request.model}, sample {request.sample}, {made} UTC, {call.seconds:.2f} s"),
        line(
            f"{answer.input_tokens:,} tokens in ({answer.cached_tokens:,} at a discount), "
            f"{answer.output_tokens:,} out, {priced(answer.cost)}; it ended with "
            f"{answer.finish_reason or 'no reason'}"
        ),
        line(f"Key: {answer.key}"),
        heading("Reply"),
        pre(answer.text),
        *(
            details(f"Message of the {message.get('role')}", pre(str(message.get("content"))))
            for message in request.messages
        ),
        details("Parameters", pre(settings or "none")),
        kind="wb-call",
    )


def cost_again(call: Call) -> str:
    """The cost of making the same call once more, as text."""
    answer = call.answer
    expected = price(call.request, answer.input_tokens, answer.output_tokens, litellm())
    return f"about {priced(expected)}, at most {priced(most(call.request, litellm()))}"


def ask_again(client: Client, call: Call) -> Completion:
    """Ask for another reply, which replaces the cached one. The client must ask the same server."""
    if client.key(call.request) != call.answer.key:
        raise BadInputError(
            f"this call was answered by {call.endpoint or 'the default endpoint'}; the client would ask another server: "
            "give the client that api_base"
        )
    again = copy.copy(client)
    again.refresh, again._refreshed = True, set()  # noqa: SLF001  a Client
    return again.complete(call.request)


def priced(amount: float | None) -> str:
    return "an unknown price" if amount is None else dollars(amount)
