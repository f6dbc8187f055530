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

import orjson
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
_ASKED = "asked.jsonl"  # in the home of a preview: a line for each call
_TOKEN = 4  # letters, about


def client_of(experiment: Experiment, store: Cache, budget: Budget, weight: float) -> Client:
    """A client that calls the experiment's models, or in a preview a stand-in, whose calls count so many times."""
    if not experiment.preview:
        return Client(store, budget=budget, batch=experiment.batch, offline=experiment.offline)
    users = Client(Cache(experiment.cache), offline=True) if experiment.cache else None
    # The address is part of a call's key, so the parser's replies do not pass for the models'.
    return Client(store, send=partial(_noted, users, weight), api_base="http://stand-in.invalid")


def _noted(users: Client | None, weight: float, request: Request, *_: object) -> Reply:
    """The reply from the user's cache, else the stand-in's; the call is noted."""
    reply, known = stand_in(request), users and users.cached(request)
    if known:
        tokens = (known.input_tokens, known.output_tokens)
        reply = reply_with(known.text, known.finish_reason, *tokens)
    line = {"prompt": request.prompt, "model": request.model, "tier": request.parameters.get("service_tier") or "",
            "cached": weight if known else 0, "calls": 0 if known else weight,
            "input": reply["usage"]["prompt_tokens"], "limit": longest(request)}  # fmt: skip
    with (home() / _ASKED).open("ab") as file:
        file.write(orjson.dumps(line) + b"\n")
    return reply


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
    written = len(reply["choices"][0]["message"]["content"])
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
        print(estimated(Path(folder), store))


def estimated(folder: Path, store: Store) -> str:
    """A table of the calls that a stand-in has noted in its home, by prompt and model, and their cost in one line."""
    if not (asked := folder / _ASKED).is_file():
        raise BadInputError("nothing asked a model, so there is no cost to estimate")
    how = {"calls": "sum", "cached": "sum", "input": "mean", "limit": "max"}
    kinds = ["prompt", "model", "tier"]
    noted = pd.read_json(asked, lines=True).groupby(kinds, as_index=False).agg(how)
    rows, sums, worst = [], Preview(), 0.0
    for each in noted.to_dict("records"):
        parameters = {"max_tokens": int(each["limit"]), "service_tier": each["tier"] or None}
        request = Request(each["prompt"], each["model"], (), parameters)
        calls = round(each["calls"])
        found = estimate(store, request, each["input"], calls, round(each["cached"]))
        rows.append({name: each[name] for name in ("prompt", "model")} | asdict(found))
        sums += found
        if calls:  # whose every reply is as long as it may be
            dearest = price(request, 1.3 * each["input"], each["limit"])
            worst += max(found.high, calls * (dearest or 0.0))
    rows.sort(key=lambda row: -row["high"])
    table = pd.DataFrame([*rows, {"prompt": "together", "model": "", **asdict(sums)}]).round(4)
    by_prompt = noted.groupby("prompt")["calls"].sum()
    share = by_prompt.max() / max(1.0, by_prompt.sum())
    unpriced = f" and {sums.unpriced:,} calls of unknown price" if sums.unpriced else ""
    cost = f"about ${(sums.low + sums.high) / 2:,.2f}, at worst ${worst:,.2f}{unpriced}"
    most = f"{share:.0%} of them {str(by_prompt.idxmax()).rpartition('/')[2]}"
    return f"{table.to_string(index=False)}\n\n{cost}; {sums.calls:,} calls, {most}"
