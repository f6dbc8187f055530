"""The cost of an experiment or a run: a stand-in answers a few questions, in a temporary cache.

With each reply stands for how many calls it counts, so that a SELECT over that cache sums them up.
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
from collections.abc import Iterator
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
from workbench.types import Request

_PARSER = "embedded/parser"
_TOKEN = 4  # letters, about
_LONGER = (
    1.3  # at worst, so many times the tokens of a prompt as the count of letters says
)
_CALLS_BY_PROMPT = """SELECT prompt, model, parameters ->> 'service_tier',
    sum(reply ->> 'calls'), sum(reply ->> 'cached'),
    avg(input_tokens), max(reply ->> 'limit') FROM calls GROUP BY 1, 2, 3"""


def client_of(
    session: Session,
    store: Cache,
    budget: Budget,
    weight: float,
    users: Cache | None,
) -> Client:
    """Return a client that calls the experiment's models, or in a preview a stand-in.

    A call of the stand-in counts as `weight` calls, or as a cached one if the cache `users` has it.
    """
    if session.preview:
        known = Client(users, offline=True) if users else None
        # The address is part of a call's key, so the parser's replies do not pass for the models'.
        return Client(
            store,
            send=partial(_counted, known, weight),
            api_base="http://stand-in.invalid",
        )
    return Client(
        store,
        budget=budget,
        batch=session.experiment.batch,
        offline=session.offline,
        request_log=session.request_log,
    )


def _counted(
    known: Client | None, weight: float, request: Request, *_: object
) -> Reply:
    """Return the reply of the user's cache, else the stand-in's, with what the estimate counts.

    With its first two arguments it is what `Client` takes as `send`.
    """
    reply = stand_in(request)
    counts = {"cached": 0.0, "calls": weight}
    if known and (cached := known.cached(request)):
        tokens = (cached.input_tokens, cached.output_tokens)
        reply = reply_with(cached.text, cached.finish_reason, *tokens)
        counts = {"cached": weight, "calls": 0.0}
    return {**reply, **counts, "limit": longest(request)}


def stand_in(request: Request) -> Reply:
    """Return the embedded parser's reply in place of the requested model's.

    For an embedding it is the counts of a text's letters.
    """
    if request.model == _PARSER:
        return answer_here(request)
    letters = sum(len(str(message["content"])) for message in request.messages)
    if request.parameters.get(EMBEDDING):
        text = str(request.messages[0]["content"]).lower()
        counts = Counter(text.encode())
        vector = array("f", [counts[letter] for letter in range(256)])
        encoded = b64encode(vector.tobytes()).decode()
        return reply_with(encoded, "stop", letters // _TOKEN, 0)
    plain = {"temperature": request.parameters.get("temperature", 1.0)}
    reply = answer_here(replace(request, model=_PARSER, parameters=plain))
    message = reply["choices"][0]["message"]
    if request.prompt == "generate/agent":
        # The parser ends an agent's first turn with its answer. A model may use all turns, so here
        # no turn but the last one ends with one.
        message["content"] = message["content"].replace("**Final SQL**", "")
    written = len(message["content"])
    tokens = {
        "prompt_tokens": letters // _TOKEN,
        "completion_tokens": written // _TOKEN,
    }
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
        # Nothing is estimated of a block that has failed.
        with Store(Path(folder, "lab.sqlite")) as asked:
            print(estimated(asked, users))


def estimated(asked: Store, users: Store) -> str:
    """Return a table of a preview's calls, by prompt and model, and their cost in one line."""
    calls_by_prompt = asked.read(_CALLS_BY_PROMPT)
    if not calls_by_prompt:
        raise BadInputError("nothing asked a model, so there is no cost to estimate")
    rows = []
    sums, worst = Preview(), 0.0
    for prompt, model, tier, calls, cached, read, most_written in calls_by_prompt:
        parameters = {"max_tokens": most_written, "service_tier": tier}
        request = Request(prompt, model, (), parameters)
        expected = estimate(users, request, read, round(calls), round(cached))
        rows.append({"prompt": prompt, "model": model, **asdict(expected)})
        sums += expected
        if expected.calls:  # at worst, every reply is as long as it may be
            # Nothing where the price is unknown, which the last line says.
            longest_reply = price(request, _LONGER * read, most_written) or 0.0
            worst += max(expected.high, expected.calls * longest_reply)
    rows.sort(key=lambda row: -row["high"])
    together = {"prompt": "together", "model": "", **asdict(sums)}
    table = pd.DataFrame([*rows, together]).round(4).to_string(index=False)
    cost = f"about ${(sums.low + sums.high) / 2:,.2f}, at worst ${worst:,.2f}"
    if sums.unpriced:
        cost += f" and {sums.unpriced:,} calls of unknown price"
    return f"{table}\n\n{cost}; {sums.calls:,} calls, {_most_asked(rows, sums.calls)}"


def _most_asked(rows: list[dict[str, Any]], calls: int) -> str:
    """Return the share of the prompt that most calls are of, and its name."""
    by_prompt = pd.DataFrame(rows).groupby("prompt")["calls"].sum()
    *_, name = str(by_prompt.idxmax()).split("/")
    share = by_prompt.max() / max(1, calls)
    return f"{share:.0%} of them {name}"
