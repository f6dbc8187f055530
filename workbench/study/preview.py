"""The cost of an experiment or a run: a stand-in answers a few questions, in a cache that is thrown away.

A call that the user's own cache holds gets its reply from there, and counts as cached. The numbers of calls are scaled
up to all questions. They are estimates: the stand-in, the embedded parser, fails more or less often than a model does,
and calls that the questions of a database share are counted for each question.
"""

import os
import tempfile
from array import array
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import pandas as pd

from workbench.errors import BadInputError
from workbench.llm.cache import Cache
from workbench.llm.calls import Reply, longest
from workbench.llm.client import Client
from workbench.llm.money import Budget, Preview, estimate, price
from workbench.llm.send import EMBEDDING, answer_here, reply_with
from workbench.store import Store, home
from workbench.study.experiment import Experiment
from workbench.types import Request

_PARSER = "embedded/parser"
_TOKEN = 4  # letters, about
_NOTED = """SELECT prompt, model, parameters ->> 'service_tier', sum(reply ->> 'calls'), sum(reply ->> 'cached'),
    avg(input_tokens), max(reply ->> 'limit') FROM calls GROUP BY 1, 2, 3"""


def client_of(experiment: Experiment, store: Cache, budget: Budget, weight: float) -> Client:
    """A client that calls the experiment's models, or in a preview a stand-in, whose calls count so many times."""
    if not experiment.preview:
        return Client(store, budget=budget, batch=experiment.batch, offline=experiment.offline)
    users = Client(Cache(experiment.cache), offline=True) if experiment.cache else None
    # The address is part of a call's key, so the parser's replies do not pass for the models'.
    return Client(store, send=partial(_noted, users, weight), api_base="http://stand-in.invalid")


def _noted(users: Client | None, weight: float, request: Request, *_: object) -> Reply:
    """The reply from the user's cache, else the stand-in's, with what the estimate counts."""
    reply, known = stand_in(request), users and users.cached(request)
    if known:
        tokens = (known.input_tokens, known.output_tokens)
        reply = reply_with(known.text, known.finish_reason, *tokens)
    counts = {"cached": weight, "calls": 0} if known else {"cached": 0, "calls": weight}
    return {**reply, **counts, "limit": longest(request)}


def stand_in(request: Request) -> Reply:
    """The embedded parser's reply in place of the requested model's; for an embedding, a text's counts of letters."""
    if request.model == _PARSER:
        return answer_here(request)
    read = sum(len(str(message["content"])) for message in request.messages)
    if request.parameters.get(EMBEDDING):
        counts = Counter(str(request.messages[0]["content"]).lower().encode())
        vector = array("f", [counts[letter] for letter in range(256)])
        return reply_with(b64encode(vector.tobytes()).decode(), "stop", read // _TOKEN, 0)
    plain = {"temperature": request.parameters.get("temperature", 1.0)}
    reply = answer_here(replace(request, model=_PARSER, parameters=plain))
    message = reply["choices"][0]["message"]
    if request.prompt == "generate/agent":  # the parser answers at once; a model may use all turns
        message["content"] = message["content"].replace("**Final SQL**", "")
    written = len(message["content"])
    tokens = {"prompt_tokens": read // _TOKEN, "completion_tokens": written // _TOKEN}
    return {**reply, "usage": tokens}


@contextmanager
def previewed(experiment: Experiment) -> Iterator[Experiment]:
    """The experiment on three questions, in a home that is deleted at the end, when the estimate is printed."""
    before = home()
    with Cache() as store, tempfile.TemporaryDirectory(prefix="preview") as folder:
        os.environ["WORKBENCH_HOME"] = folder
        try:
            yield replace(experiment, preview=3, cache=store.path, figures=Path(folder, "figures"))
        finally:
            os.environ["WORKBENCH_HOME"] = str(before)
        with Store(Path(folder, "lab.sqlite")) as made:
            print(estimated(made, store))


def estimated(made: Store, store: Store) -> str:
    """A table of the calls in a preview's cache, by prompt and model, and their cost in one line."""
    if not (noted := made.read(_NOTED)):
        raise BadInputError("nothing asked a model, so there is no cost to estimate")
    rows, sums, worst = [], Preview(), 0.0
    for prompt, model, tier, calls, cached, read, limit in noted:
        request = Request(prompt, model, (), {"max_tokens": limit, "service_tier": tier})
        found = estimate(store, request, read, round(calls), round(cached))
        rows.append({"prompt": prompt, "model": model, **asdict(found)})
        sums += found
        if found.calls:  # whose every reply is as long as it may be
            worst += max(found.high, found.calls * (price(request, 1.3 * read, limit) or 0.0))
    rows.sort(key=lambda row: -row["high"])
    table = pd.DataFrame([*rows, {"prompt": "together", "model": "", **asdict(sums)}]).round(4)
    by_prompt = table[:-1].groupby("prompt")["calls"].sum()
    unpriced = f" and {sums.unpriced:,} calls of unknown price" if sums.unpriced else ""
    cost = f"about ${(sums.low + sums.high) / 2:,.2f}, at worst ${worst:,.2f}{unpriced}"
    share = by_prompt.max() / max(1, sums.calls)
    most = f"{share:.0%} of them {str(by_prompt.idxmax()).rpartition('/')[2]}"
    return f"{table.to_string(index=False)}\n\n{cost}; {sums.calls:,} calls, {most}"
