"""The cache browser: the lab book's calls; open one, see what asking again costs, ask again."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

import ipywidgets as w
import pandas as pd

from workbench.errors import BadInputError
from workbench.explore.calls import (
    LISTED,
    Order,
    ask_again,
    call_html,
    calls_table,
    cost_again,
    count,
    open_call,
    priced,
    totals,
)
from workbench.explore.compare import text_diff
from workbench.explore.widgets import button, explorer, fill, labelled, row, shown, watch
from workbench.llm.budget import dollars
from workbench.llm.cache import Call
from workbench.report.markup import Html, fold, line, table, view, views

if TYPE_CHECKING:
    from workbench.study.study import Study


class CacheBrowser:
    """Show it as the last line of a cell."""

    def __init__(self, study: "Study") -> None:
        self._client = study.lab.client
        self._limit, self._filling = LISTED, False
        self.message, self.call = shown("wb-message"), shown("wb-call-view")
        self.price, self.totals = shown("wb-price-view"), shown("wb-totals-view")
        self.listed = shown("wb-listed-view")
        self.prompt = labelled(w.Dropdown(options=[("all", "")]), "Prompt", "wb-prompt-name")
        self.model = labelled(w.Dropdown(options=[("all", "")]), "Model", "wb-model")
        self.order = labelled(w.Dropdown(options=get_args(Order)), "Order", "wb-order")
        self.text = labelled(w.Text(continuous_update=False), "In the reply", "wb-search", "260px")
        self.list = labelled(w.Select(rows=10), "Call", "wb-calls", "99%")

        def act(label: str, kind: str, do: Callable[[], None]) -> Any:
            return button(label, kind, do, self.message)

        self.box = explorer(
            "wb-cache-browser",
            self.totals,
            self.listed,
            row(
                *(self.prompt, self.model, self.order, self.text),
                act("List more", "wb-more", self._list_more),
                act("Refresh", "wb-refresh", self._refresh),
            ),
            self.list,
            self.price,
            row(act("Ask again", "wb-ask-again", self._ask_again)),
            self.message,
            self.call,
        )
        watch([self.prompt, self.model, self.order, self.text], self._fill, self.message)
        watch([self.list], self._open, self.message)
        self._refresh()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    @property
    def opened(self) -> Call:
        if self.list.value is None:
            raise BadInputError("no call is picked")
        return open_call(self._client.store, self.list.value)

    def _refresh(self) -> None:
        """What the lab book holds now, with what other cells asked for since."""
        known = totals(self._client.store)
        self.totals.value = totals_html(known)
        self._filling = True
        for choice, name in ((self.prompt, "prompt"), (self.model, "model")):
            values = sorted(set(known[name])) if len(known) else []
            fill(choice, [("all", ""), *((value, value) for value in values)])
        self._filling = False
        self._fill()

    def _list_more(self) -> None:
        self._limit += LISTED
        self._fill()

    def _fill(self) -> None:
        if self._filling:
            return
        store, meant = self._client.store, (self.prompt.value, self.model.value, self.text.value)
        found = calls_table(store, *meant, self.order.value, self._limit)
        number = count(store, *meant)
        cut = len(found) < number
        told = f"The first {len(found):,} of {number:,}" if cut else f"All {number:,}"
        self.listed.value = view("Which call", line(f"{told} that fit, in this order."))
        self._filling = True
        fill(self.list, [(_option(each), each.key) for each in found.itertuples()])
        self._filling = False
        self._open()

    def _open(self) -> None:
        if self._filling:
            return
        if self.list.value is None:
            self.call.value = self.price.value = ""
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
        self._refresh()
        changed = text_diff(before.text, answer.text, "The reply before and after")
        self.call.value = views(changed, call_html(open_call(self._client.store, before.key)))


def totals_html(known: pd.DataFrame) -> Html:
    """Calls, tokens and dollars of each prompt and model, as a table."""
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
