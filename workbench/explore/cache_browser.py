"""The cache browser: the lab book's calls; open one, see what asking again costs, ask again."""

from typing import TYPE_CHECKING, Any, get_args

import ipywidgets as w
import pandas as pd

from workbench.errors import BadInputError
from workbench.explore.calls import (
    Order,
    ask_again,
    call_html,
    calls_table,
    cost_again,
    open_call,
    priced,
    totals,
)
from workbench.explore.compare import text_diff
from workbench.explore.widgets import button, explorer, fill, labelled, row, shown, title, watch
from workbench.llm.budget import dollars
from workbench.llm.cache import Call
from workbench.report.markup import Html, fold, line, table, view, views

if TYPE_CHECKING:
    from workbench.study.study import Study


class CacheBrowser:
    """Show it as the last line of a cell."""

    def __init__(self, study: "Study") -> None:
        self._client = study.lab.client
        self.message, self.call = shown("wb-message"), shown("wb-call-view")
        self.price, self.totals = shown("wb-price-view"), shown("wb-totals-view")
        known = totals(self._client.store)
        self.prompt = labelled(_choices(known, "prompt"), "Prompt", "wb-prompt-name")
        self.model = labelled(_choices(known, "model"), "Model", "wb-model")
        self.order = labelled(w.Dropdown(options=get_args(Order)), "Order", "wb-order")
        self.text = labelled(w.Text(continuous_update=False), "In the reply", "wb-search", "260px")
        self.list = labelled(w.Select(rows=10), "Call", "wb-calls", "99%")
        self.box = explorer(
            "wb-cache-browser",
            self.totals,
            title("Which call"),
            row(self.prompt, self.model, self.order, self.text),
            self.list,
            self.price,
            row(button("Ask again", "wb-ask-again", self._ask_again, self.message)),
            self.message,
            self.call,
        )
        self.totals.value = totals_html(self._client.store)
        watch([self.prompt, self.model, self.order, self.text], self._fill, self.message)
        watch([self.list], self._open, self.message)
        self._fill()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    @property
    def opened(self) -> Call:
        if self.list.value is None:
            raise BadInputError("no call is picked")
        return open_call(self._client.store, self.list.value)

    def _fill(self) -> None:
        found = calls_table(
            self._client.store,
            self.prompt.value,
            self.model.value,
            self.text.value,
            self.order.value,
        )
        fill(self.list, [(_option(each), each.key) for each in found.itertuples()])
        if self.list.value is None:
            self.call.value = self.price.value = ""

    def _open(self) -> None:
        if self.list.value is None:
            return
        call = self.opened
        self.call.value = call_html(call)
        self.price.value = view(
            "Asking it again",
            line(f"would cost {cost_again(call)}; the new reply takes the place of this one."),
        )

    def _ask_again(self) -> None:
        before = self.opened
        answer = ask_again(self._client, before)
        if answer.fault:
            raise BadInputError(f"no answer came: {answer.error}")
        changed = text_diff(before.text, answer.text, "The reply before and after")
        self.call.value = views(changed, call_html(self.opened))


def _choices(known: pd.DataFrame, name: str) -> Any:
    values = sorted(set(known[name])) if len(known) else []
    return w.Dropdown(options=[("all", ""), *((value, value) for value in values)])


def totals_html(store: Any) -> Html:
    """Calls, tokens and dollars of each prompt and model, as a table."""
    known = totals(store)
    names = ("calls", "input_tokens", "output_tokens")
    rows = [
        (
            each["prompt"],
            each["model"],
            *(f"{each[name]:,}" for name in names),
            dollars(each["cost"]),
        )
        for each in known.to_dict("records")
    ]
    columns = ("prompt", "model", "calls", "tokens in", "tokens out", "paid")
    return view(
        "The lab book's calls",
        fold("By prompt and model", table(columns, rows), shown=len(rows) < 12),
        kind="wb-totals",
    )


def _option(each: Any) -> str:
    tokens = f"{each.input_tokens:,} + {each.output_tokens:,} tokens"
    paid = priced(None if pd.isna(each.dollars) else each.dollars)
    when = f"{each.created:%Y-%m-%d %H:%M}"
    return " · ".join((when, each.prompt, each.model, f"sample {each.sample}", tokens, paid))
