"""The cache browser: list the cached model calls, open one, see what another reply costs, and ask for it."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets as w
import pandas as pd

from workbench.canonical import canonical
from workbench.current_question import CURRENT, CurrentQuestion
from workbench.errors import BadInputError
from workbench.explore import calls as cached
from workbench.explore import widgets as ui
from workbench.explore.compare.texts import text_diff
from workbench.explore.search import asked, find
from workbench.html.parts import Html, details, line, table, view, views
from workbench.llm.cache import Call
from workbench.llm.money import dollars
from workbench.llm.transfer import stats
from workbench.types import Question

if TYPE_CHECKING:
    from workbench.study.study import Study


_ALL, _CURRENT = "all", "the current one"


class CacheBrowser(ui.Explorer):
    """A widget; show it as the last line of a cell. Opening a call picks its question in all views."""

    def __init__(self, study: "Study", *, current: CurrentQuestion | None = None) -> None:
        self._client, self._benchmark = study.lab.client, study.benchmark
        self._current = current or CURRENT
        self._about: Mapping[str, Question] = {}  # by the key of a listed call
        self._limit = cached.LISTED
        self.message, self.call = ui.output("wb-message"), ui.output("wb-call-view")
        self.price, self.totals = ui.output("wb-price-view"), ui.output("wb-totals-view")
        self.listed = ui.output("wb-listed-view")
        self.prompt = ui.labelled(w.Dropdown(options=[("all", "")]), "Prompt", "wb-prompt-name")
        self.model = ui.labelled(w.Dropdown(options=[("all", "")]), "Model", "wb-model")
        self.order = ui.labelled(w.Dropdown(options=list(cached.ORDERS)), "Order", "wb-order")
        self.text = ui.labelled(w.Text(continuous_update=False), "Search", "wb-search", "260px")
        self.text.placeholder = "words in prompt, reply or question"
        self.of = ui.labelled(w.Dropdown(options=[_ALL, _CURRENT]), "Questions", "wb-of")
        self.list = ui.labelled(w.Select(rows=10), "Call", "wb-calls", "99%")

        act = partial(ui.button, message=self.message)
        self.lay_out(
            "wb-cache-browser",
            self.totals,
            self.listed,
            ui.row(
                *(self.text, self.of, self.prompt, self.model, self.order),
                act("List more", "wb-more", self._list_more),
                act("Refresh", "wb-refresh", self._refresh),
            ),
            self.list,
            self.price,
            ui.row(act("Ask again", "wb-ask-again", self._ask_again)),
            self.message,
            self.call,
        )
        ui.watch(
            [self.prompt, self.model, self.order, self.text, self.of], self._fill, self.message
        )
        ui.watch([self.list], self._pick, self.message)
        self._current.observe(lambda _: ui.guarded(self._follow, self.message)(), names="picked")
        self._refresh()

    @property
    def opened(self) -> Call:
        if self.list.value is None:
            raise BadInputError("no call is chosen: choose one in the list")
        return cached.open_call(self._client.cache, self.list.value)

    def _refresh(self) -> None:
        """Read the cache again: other cells may have made calls since."""
        counted = stats(self._client.cache)
        self.totals.value = totals_html(counted)
        ui.fill(self.prompt, ui.choices(record["prompt"] for record in counted))
        ui.fill(self.model, ui.choices(record["model"] for record in counted))
        self._fill()

    def _list_more(self) -> None:
        self._limit += cached.LISTED
        self._fill()

    def _fill(self) -> None:
        words = self.text.value.split()
        if self.of.value == _CURRENT and (question := self._question()):
            words.append(" ".join(question.text.split()))
        found = find(self._client.cache, words) if words else None
        chosen = (self.prompt.value, self.model.value, found, self.order.value, self._limit)
        listed, number = cached.calls(self._client.cache, *chosen)
        shown = f"The first {len(listed):,} of" if len(listed) < number else "All"
        text = f"{shown} {number:,} matching calls." if len(listed) else "No call found."
        self.listed.value = view("Which call", line(text))
        keys = canonical(list(listed["key"])).decode()
        whole = self._client.cache.calls("key IN (SELECT value FROM json_each(?))", [keys])
        self._about = asked(whole, self._benchmark.questions)
        ui.fill(self.list, [(self._option(call), call.key) for call in listed.itertuples()])
        self._open()

    def _question(self) -> Question | None:
        name, key = self._current.picked
        known = self._benchmark.questions if name == self._benchmark.name else ()
        return next((question for question in known if question.id == key), None)

    def _follow(self) -> None:
        if self.of.value == _CURRENT:
            self._fill()

    def _pick(self) -> None:
        self._open()
        if question := self._about.get(self.list.value or ""):
            self._current.picked = (self._benchmark.name, question.id)

    def _option(self, call: Any) -> str:
        tokens = f"{call.input_tokens:,} + {call.output_tokens:,} tokens"
        paid = cached.priced(None if pd.isna(call.dollars) else call.dollars)
        about = self._about.get(call.key)
        question = [_short(f"{about.id}: {about.text}", 60)] if about else []
        when = f"{call.created:%Y-%m-%d %H:%M}"
        parts = (call.prompt, f"sample {call.sample}", *question, tokens, paid, when, call.model)
        return _short(" · ".join(parts), 150)

    def _open(self) -> None:
        if self.list.value is None:
            self.call.value = self.price.value = ""
            return
        call = self.opened
        self.call.value = cached.call_html(call)
        cost = f"would cost {cached.cost_again(call)}; the new reply replaces this one."
        self.price.value = view("Asking it again", line(cost))

    def _ask_again(self) -> None:
        before = self.opened
        answer = cached.ask_again(self._client, before)
        if answer.fault:
            raise BadInputError(f"the model did not reply: {answer.error}")
        self._refresh()
        changed = text_diff(before.answer.text, answer.text, "The reply before and after")
        self.call.value = views(
            changed, cached.call_html(cached.open_call(self._client.cache, before.answer.key))
        )


def totals_html(counted: list[dict[str, Any]]) -> Html:
    """A table of the calls, tokens and dollars of each prompt and model."""
    rows = [
        (r["prompt"], r["model"], f"{r['calls']:,}", f"{r['input_tokens']:,}",
         f"{r['output_tokens']:,}", dollars(r["cost"], r["unpriced"]))
        for r in counted
    ]  # fmt: skip
    columns = ("prompt", "model", "calls", "tokens in", "tokens out", "paid")
    number = sum(record["calls"] for record in counted)
    by_prompt = details(f"{number:,} calls by prompt and model", table(columns, rows))
    return view("Cached calls", by_prompt, kind="wb-totals")


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"
