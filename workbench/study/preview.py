"""The cost of an experiment or a run: a stand-in answers a few questions, in a temporary cache.

A call that the user's own cache holds gets its reply from there, and counts as cached. The numbers
of calls are scaled up to all questions. They are estimates: the stand-in, the embedded parser,
fails more or less often than a model does, and calls that the questions of a database share are
counted for each question.
"""

import os
import tempfile
from array import array
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.errors import BadInputError
from workbench.llm.cache import Cache
from workbench.llm.calls import Reply, longest
from workbench.llm.client import Client
from workbench.llm.money import Budget, Preview, estimate, price
from workbench.llm.send import EMBEDDING, answer_here, reply_with
from workbench.store import Store
from workbench.study.experiment import Experiment, Session, session_of
from workbench.types import Completion, Request

_PARSER = "embedded/parser"
_TOKEN = 4  # letters, about
_NOTED = """SELECT prompt, model, parameters ->> 'service_tier',
    sum(reply ->> 'calls'), sum(reply ->> 'cached'),
    avg(input_tokens), max(reply ->> 'limit') FROM calls GROUP BY 1, 2, 3"""


def client_of(session: Session, store: Cache, budget: Budget, weight: float) -> Client:
    """Return a client that calls the experiment's models, or in a preview a stand-in.

    A call of the stand-in counts as `weight` calls.
    """
    if session.preview:
        users = Client(Cache(session.cache), offline=True) if session.cache else None
        # The address is part of a call's key, so the parser's replies do not pass for the models'.
        return Client(
            store,
            send=partial(_noted, users, weight),
            api_base="http://stand-in.invalid",
        )
    batch, offline = session.experiment.batch, session.offline
    if session.request_log:
        return LoggingClient(store, session.request_log, budget=budget, offline=offline)
    return Client(store, budget=budget, batch=batch, offline=offline)


class LoggingClient(Client):
    """Adds each request's key to a file, to compare a pack of replies with what was asked."""

    def __init__(self, store: Cache, log: Path, **settings: Any) -> None:
        super().__init__(store, **settings)
        self._log = log

    def complete_many(self, requests: Sequence[Request]) -> list[Completion]:
        keys = {self.key(request) for request in requests}
        lines = "".join(f"{key}\n" for key in sorted(keys))
        # In one write, since other processes write between two.
        with self._log.open("ab", buffering=0) as file:
            file.write(lines.encode())
        return super().complete_many(requests)


def _noted(users: Client | None, weight: float, request: Request, *_: object) -> Reply:
    """Return the reply of the user's cache, else the stand-in's, with what the estimate counts."""
    reply = stand_in(request)
    counts = {"cached": 0.0, "calls": weight}
    if users and (known := users.cached(request)):
        tokens = (known.input_tokens, known.output_tokens)
        reply = reply_with(known.text, known.finish_reason, *tokens)
        counts = {"cached": weight, "calls": 0.0}
    return {**reply, **counts, "limit": longest(request)}


def stand_in(request: Request) -> Reply:
    """Return the embedded parser's reply in place of the requested model's.

    For an embedding it is the counts of a text's letters.
    """
    if request.model == _PARSER:
        return answer_here(request)
    read = sum(len(str(message["content"])) for message in request.messages)
    if request.parameters.get(EMBEDDING):
        counts = Counter(str(request.messages[0]["content"]).lower().encode())
        vector = array("f", [counts[letter] for letter in range(256)])
        return reply_with(
            b64encode(vector.tobytes()).decode(), "stop", read // _TOKEN, 0
        )
    plain = {"temperature": request.parameters.get("temperature", 1.0)}
    reply = answer_here(replace(request, model=_PARSER, parameters=plain))
    message = reply["choices"][0]["message"]
    # The parser answers at once; a model may use all turns.
    if request.prompt == "generate/agent":
        message["content"] = message["content"].replace("**Final SQL**", "")
    written = len(message["content"])
    tokens = {"prompt_tokens": read // _TOKEN, "completion_tokens": written // _TOKEN}
    return {**reply, "usage": tokens}


@contextmanager
def previewed(experiment: Experiment | Session) -> Iterator[Session]:
    """Yield the experiment on three questions, in a temporary home; then print the estimate."""
    session = session_of(experiment)
    before = os.environ.get("WORKBENCH_HOME")
    with Cache() as users, tempfile.TemporaryDirectory(prefix="preview") as folder:
        os.environ["WORKBENCH_HOME"] = folder
        figures = Path(folder, "figures")
        try:
            yield replace(session, preview=3, cache=users.path, figures=figures)
        finally:
            os.environ.pop("WORKBENCH_HOME")
            if before is not None:
                os.environ["WORKBENCH_HOME"] = before
        with Store(Path(folder, "lab.sqlite")) as asked:
            print(estimated(asked, users))


def estimated(asked: Store, users: Store) -> str:
    """Return a table of a preview's calls, by prompt and model, and their cost in one line."""
    calls_by_prompt = asked.read(_NOTED)
    if not calls_by_prompt:
        raise BadInputError("nothing asked a model, so there is no cost to estimate")
    rows = []
    sums, worst = Preview(), 0.0
    for prompt, model, tier, calls, cached, read, limit in calls_by_prompt:
        request = Request(
            prompt, model, (), {"max_tokens": limit, "service_tier": tier}
        )
        expected = estimate(users, request, read, round(calls), round(cached))
        rows.append({"prompt": prompt, "model": model, **asdict(expected)})
        sums += expected
        if expected.calls:  # at worst, every reply is as long as it may be
            longest_reply = price(request, 1.3 * read, limit) or 0.0
            worst += max(expected.high, expected.calls * longest_reply)
    rows.sort(key=lambda row: -row["high"])
    together = {"prompt": "together", "model": "", **asdict(sums)}
    table = pd.DataFrame([*rows, together]).round(4).to_string(index=False)

    calls_of_prompts = pd.DataFrame(rows).groupby("prompt")["calls"].sum()
    most_asked = str(calls_of_prompts.idxmax()).rpartition("/")[2]
    share = calls_of_prompts.max() / max(1, sums.calls)
    cost = f"about ${(sums.low + sums.high) / 2:,.2f}, at worst ${worst:,.2f}"
    if sums.unpriced:
        cost += f" and {sums.unpriced:,} calls of unknown price"
    return f"{table}\n\n{cost}; {sums.calls:,} calls, {share:.0%} of them {most_asked}"
