"""The lab book's model calls: listed by prompt, model and cost; one opened; one asked again."""

from datetime import UTC, datetime
from typing import Literal

import pandas as pd

from workbench.errors import BadInputError
from workbench.llm import transfer
from workbench.llm.budget import cost, dollars, most
from workbench.llm.cache import Call
from workbench.llm.client import Client
from workbench.report.markup import Html, fold, heading, line, pre, view
from workbench.store import Store
from workbench.types import Completion, Request, Usage

LISTED = 200
Order = Literal["newest", "dearest", "longest", "slowest"]
_ORDERS = {
    "newest": "created DESC",
    "dearest": "cost DESC",
    "longest": "input_tokens + output_tokens DESC",
    "slowest": "seconds DESC",
}
_MEANT = "(? = '' OR prompt = ?) AND (? = '' OR model = ?) AND instr(lower(text), lower(?))"
_COLUMNS = (
    "created", "prompt", "model", "sample", "input_tokens", "output_tokens", "dollars", "seconds",
    "finish_reason", "reply", "key",
)  # fmt: skip


def totals(store: Store) -> pd.DataFrame:
    """Calls, tokens and dollars of each prompt and model."""
    return pd.DataFrame(transfer.stats(store))


def calls_table(
    store: Store,
    prompt: str = "",
    model: str = "",
    text: str = "",
    order: Order = "newest",
    limit: int = LISTED,
) -> pd.DataFrame:
    """One row a call, in that order and no more than the limit. `text` is looked for in replies."""
    if order not in _ORDERS:
        raise BadInputError(f"no order {order!r}; there are {', '.join(_ORDERS)}")
    rows = store.read(
        "SELECT created, prompt, model, sample, input_tokens, output_tokens, cost, seconds, "
        f"finish_reason, substr(text, 1, 120), key FROM calls WHERE {_MEANT} "
        f"ORDER BY {_ORDERS[order]}, key LIMIT ?",
        [prompt, prompt, model, model, text, limit],
    )
    found = pd.DataFrame(rows, columns=list(_COLUMNS))
    found["created"] = pd.to_datetime(found["created"], unit="s", utc=True).dt.floor("s")
    return found


def count(store: Store, prompt: str = "", model: str = "", text: str = "") -> int:
    """How many calls `calls_table` would list if it had no limit."""
    query = f"SELECT count(*) FROM calls WHERE {_MEANT}"
    ((number,),) = store.read(query, [prompt, prompt, model, model, text])
    return int(number)


def open_call(store: Store, key: str) -> Call:
    """All that is kept of the call of that key."""
    if found := next(transfer.calls(store, transfer.Select(keys=(key,))), None):
        return found
    raise BadInputError(f"{store.path} has no call {key!r}")


def request_of(call: Call) -> Request:
    """The request that the call answered."""
    return Request(call.prompt, call.model, call.messages, call.parameters, call.sample)


def call_html(call: Call) -> Html:
    """A call in full: what was asked, what came back, what it took."""
    made = datetime.fromtimestamp(call.created, UTC)
    usage = call.usage
    parts = [
        line(
            f"{call.model}, sample {call.sample}, {made:%Y-%m-%d %H:%M} UTC, {call.seconds:.2f} s"
        ),
        line(
            f"{usage.input:,} tokens in ({usage.cached:,} at a discount), {usage.output:,} out, "
            f"{priced(call.cost)}; it ended with {call.finish_reason or 'no reason'}"
        ),
        line(f"Key: {call.key}"),
        heading("Reply"),
        pre(call.text),
    ]
    parts += [
        fold(f"Message of the {message.get('role')}", pre(str(message.get("content"))))
        for message in call.messages
    ]
    settings = "\n".join(f"{name}: {value}" for name, value in call.parameters.items())
    parts.append(fold("Parameters", pre(settings or "none")))
    return view(f"Call of {call.prompt or 'no named prompt'}", *parts, kind="wb-call")


def cost_again(call: Call) -> str:
    """What asking the same once more would cost, in words."""
    alike = Usage(call.usage.input, call.usage.output)  # a discount cannot be counted on
    expected, highest = cost(call.model, alike), most(request_of(call))
    return f"about {priced(expected)}, at most {priced(highest)}"


def ask_again(client: Client, call: Call) -> Completion:
    """A fresh reply, in place of the stored one. It must come from the server that gave that one."""
    request = request_of(call)
    if client.key(request) != call.key:
        raise BadInputError(
            f"this call was answered by {call.endpoint or 'the default endpoint'}; the client would ask another server: "
            "give it that api_base"
        )
    return client.ask_again(request)


def priced(amount: float | None) -> str:
    """Dollars; or that nobody knows them."""
    return "an unknown price" if amount is None else dollars(amount)
