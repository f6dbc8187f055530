"""The model calls in the cache: list them by prompt, model, words and cost, open a call, ask it again."""

from collections.abc import Collection
from datetime import UTC, datetime

import pandas as pd

from workbench.canonical import canonical
from workbench.errors import BadInputError
from workbench.html.parts import Html, details, heading, line, pre, view
from workbench.llm.budget import dollars
from workbench.llm.cache import transfer
from workbench.llm.cache.rows import Call
from workbench.llm.client import Client
from workbench.llm.remote.prices import cost, most
from workbench.store import Store
from workbench.types import Completion, Request, Usage

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


def open_call(store: Store, key: str) -> Call:
    """The whole call with that key."""
    if call := next(transfer.calls(store, transfer.Select(keys=(key,))), None):
        return call
    raise BadInputError(f"{store.path} has no call {key!r}")


def request_of(call: Call) -> Request:
    """The request that the call answered."""
    return Request(call.prompt, call.model, call.messages, call.parameters, call.sample)


def call_html(call: Call) -> Html:
    """A whole call: its messages, parameters, reply, tokens, cost and time."""
    made = f"{datetime.fromtimestamp(call.created, UTC):%Y-%m-%d %H:%M}"
    usage = call.usage
    settings = "\n".join(f"{name}: {value}" for name, value in call.parameters.items())
    return view(
        f"Call of {call.prompt or 'no named prompt'}",
        line(f"{call.model}, sample {call.sample}, {made} UTC, {call.seconds:.2f} s"),
        line(
            f"{usage.input:,} tokens in ({usage.cached:,} at a discount), {usage.output:,} out, "
            f"{priced(call.cost)}; it ended with {call.finish_reason or 'no reason'}"
        ),
        line(f"Key: {call.key}"),
        heading("Reply"),
        pre(call.text),
        *(
            details(f"Message of the {message.get('role')}", pre(str(message.get("content"))))
            for message in call.messages
        ),
        details("Parameters", pre(settings or "none")),
        kind="wb-call",
    )


def cost_again(call: Call) -> str:
    """The cost of making the same call once more, as text."""
    full_price = Usage(call.usage.input, call.usage.output)  # the next call may get no discount
    tier = call.parameters.get("service_tier")
    expected, highest = cost(call.model, full_price, tier=tier), most(request_of(call))
    return f"about {priced(expected)}, at most {priced(highest)}"


def ask_again(client: Client, call: Call) -> Completion:
    """Ask for another reply, which replaces the cached one. The client must ask the same server."""
    request = request_of(call)
    if client.key(request) != call.key:
        raise BadInputError(
            f"this call was answered by {call.endpoint or 'the default endpoint'}; the client would ask another server: "
            "give the client that api_base"
        )
    return client.ask_again(request)


def priced(amount: float | None) -> str:
    return "an unknown price" if amount is None else dollars(amount)
