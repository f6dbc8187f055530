"""Fit a request's parameters to its model: limit its output, and leave out each one that the model refuses.

A limit on the output, `max_tokens`, is the number of tokens into which the answer fits, as the prompt's file
states it, and more for a model that thinks before it answers. A user's own limit takes its place.

Models differ in the parameters they take, and in the values: gpt-5 takes no temperature but 1, and gpt-5.1
takes one only as long as it does not reason. LiteLLM knows many of these rules and applies them before it
sends anything; a server states the others in its refusals. Both kinds are remembered in the cache file, with
all parameters of the refused request, so that a request is fitted without LiteLLM before its key is made.
An output limit that is too long beside a prompt is remembered for that request (`output_room`).
"""

import re
import sqlite3
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.canonical import canonical
from workbench.errors import BadInputError
from workbench.llm import provider
from workbench.llm.budget import Ledger
from workbench.llm.cache.keys import request_key
from workbench.llm.remote.listed import listed
from workbench.llm.remote.output_room import LIMITS, with_less_room
from workbench.store import Store
from workbench.types import Request

_THOUGHT = 8_192  # tokens of thinking where no parameter limits them
_EFFORTS = {
    "none": 0,
    "disable": 0,
    "minimal": 1_024,
    "low": 4_096,
    "high": 32_768,
    "xhigh": 65_536,
}

ROLES = ("generation", "filtering", "judge", "rest")
_UNSUPPORTED = re.compile(
    r"(?i)unsupported|(?:not|n't) support|unknown|unrecognized|unexpected|deprecated"
    r"|not permitted|not allowed|cannot both|may only be"
)


class Parameters:
    """The table `refused_parameters` of a cache file. `ledger` notes what is left out of a client's requests."""

    def __init__(self, store: Store, ledger: Ledger) -> None:
        self._store = store
        self._ledger = ledger
        self._probed: set[tuple[str, str, bytes]] = set()
        self._refused: dict[tuple[str, str], dict[bytes, str]] = {}
        self._too_long: dict[tuple[str, str], dict[str, str]] = {}  # refusals by the call's key
        select = "SELECT endpoint, model, parameters, parameter, reason FROM refused_parameters"
        for endpoint, model, sent, name, reason in store.read(select):
            if sent.startswith("{"):
                self._refused.setdefault((endpoint, model), {})[sent.encode()] = name
            else:
                self._too_long.setdefault((endpoint, model), {})[sent] = reason

    def fit(self, request: Request, endpoint: str) -> Request:
        """The request as its model is known to take it; itself if nothing is refused.

        It has no parameter that the model refuses, and an output limit that fits beside the prompt.
        """
        refused = self._refused.get((endpoint, request.model), {})
        while refused and (name := refused.get(canonical(request.parameters))):
            self._ledger.leave_out(request.model, name, request.parameters[name])
            request = without(request, name)
        too_long = self._too_long.get((endpoint, request.model), {})
        while too_long and (reason := too_long.get(request_key(request, endpoint))):
            request = with_less_room(request, reason) or request
        return request

    def probe(self, request: Request, endpoint: str, url: str) -> bool:
        """Whether LiteLLM refuses parameters of the request that it was not asked about before."""
        known = request
        while (
            probe := (endpoint, request.model, canonical(request.parameters))
        ) not in self._probed:
            self._probed.add(probe)
            reason = provider.unsupported(request, url)
            if not reason or not self.learn(request, endpoint, reason):
                break
            request = self.fit(request, endpoint)
        return request is not known

    def learn(self, request: Request, endpoint: str, reason: str) -> bool:
        """Remember what a refusal says of parameters; False if it names none that the request has.

        A refused parameter is remembered with all parameters of the request. An output limit that does not fit
        beside the prompt is remembered with the request's key, since a shorter prompt leaves more room.
        """
        sent = request.parameters
        if provider.EMBEDDING in sent:
            return False
        owner = (endpoint, request.model)
        if with_less_room(request, reason):
            name = next(limit for limit in LIMITS if limit in sent)
            of = request_key(request, endpoint)
            self._too_long.setdefault(owner, {})[of] = reason
        elif name := refused_name(reason, sent):
            of = canonical(sent).decode()
            self._refused.setdefault(owner, {})[of.encode()] = name
            if line := self._ledger.leave_out(request.model, name, sent[name]):
                print(line, file=sys.stderr)
        else:
            return False
        if not self._store.read_only:
            row = (*owner, of, name, reason, time.time())
            with self._store.write() as connection:
                connection.execute(_INSERT, row)
        return True


def refused_name(reason: str, sent: Mapping[str, Any]) -> str:
    """The first of the sent parameters that a refusal names; "" if it is about something else."""
    if not _UNSUPPORTED.search(reason):
        return ""
    found = {name: re.search(rf"(?<!\w){re.escape(name)}(?!\w)", reason) for name in sent}
    named = {name: match.start() for name, match in found.items() if match}
    return min(named, key=named.__getitem__, default="")


def left_out(store: Store, model: str) -> list[str]:
    """The parameters that the model refuses, at any of its addresses, in alphabetical order."""
    select = (
        "SELECT DISTINCT parameter FROM refused_parameters WHERE model = ? AND parameters LIKE '{%' "
        "ORDER BY parameter"
    )
    return [name for (name,) in store.read(select, (model,))]


_COLUMNS = ("endpoint", "model", "parameters", "parameter", "reason", "created")
_INSERT = (
    f"INSERT OR IGNORE INTO refused_parameters({', '.join(_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?)"
)


def refusals(store: Store, where: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    """The parameters that the models of the chosen calls refuse: without them, requests have other keys."""
    rows = store.read(
        f"SELECT {', '.join(_COLUMNS)} FROM refused_parameters WHERE (endpoint, model) IN "
        f"(SELECT endpoint, model FROM calls WHERE {where}) ORDER BY endpoint, model, parameters",
        values,
    )
    return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]


def insert_refusal(connection: sqlite3.Connection, fields: Mapping[str, Any]) -> None:
    """Write one of `refusals` into an open transaction."""
    connection.execute(_INSERT, [fields[name] for name in _COLUMNS])


def without(request: Request, name: str) -> Request:
    kept = {key: value for key, value in request.parameters.items() if key != name}
    return replace(request, parameters=kept)


def role(prompt: str) -> str:
    """The role of a prompt's calls, by the names that an experiment gives to the models of roles."""
    if prompt.startswith("prune/filter_column"):
        return "filtering"
    return {"generate": "generation", "select": "judge"}.get(prompt.partition("/")[0], "rest")


def given_for(model: str, prompt: str, given: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """A user's parameters of a call: those of its model, and over them those of its role."""
    return {**given.get(model, {}), **given.get(role(prompt), {})}


def check_given(given: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise `BadInputError` for parameters of neither a model nor a role, or with a name that is no parameter."""
    allowed = f"give them by a model, like openai/gpt-4o, or by a role: {', '.join(ROLES)}"
    for owner, parameters in given.items():
        if "/" not in owner and owner not in ROLES:
            raise BadInputError(
                f"parameters of {owner!r}, which is neither PROVIDER/MODEL nor a role: {allowed}"
            )
        if not isinstance(parameters, Mapping):
            raise BadInputError(
                f"parameters of {owner!r} are {parameters!r:.60}: give values by name, as {{'temperature': 0}}"
            )
        provider.check_parameters(parameters)


def call_parameters(
    model: str, temperature: float, answer: int | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    """The parameters of a step's call: its temperature, its output limit, and a user's, which win.

    `answer` is the number of tokens into which the answer fits, None for no limit. A user's value of None
    leaves a parameter out.
    """
    own: dict[str, Any] = {"temperature": temperature}
    if answer and not limits_output(given):
        own["max_tokens"] = output_limit(model, answer, given)
    return {name: value for name, value in (own | dict(given)).items() if value is not None}


def limits_output(given: Mapping[str, Any]) -> bool:
    """Whether a user's parameters say how long a reply may be, by a number or by None for no limit."""
    return any(name in given for name in LIMITS)


def output_limit(model: str, answer: int, given: Mapping[str, Any]) -> int:
    """The tokens that a reply may have: those of the answer and of the thought before it, as the model allows."""
    return _allowed(model, answer + _thought(model, given))


def _allowed(model: str, tokens: int) -> int:
    most = listed(model).get("max_output_tokens")
    return min(tokens, most) if isinstance(most, int) else tokens


def _thought(model: str, given: Mapping[str, Any]) -> int:
    """The tokens that a model may think: as a user's parameters say, else none for a model that does not think."""
    thinking, effort = given.get("thinking"), given.get("reasoning_effort")
    if isinstance(thinking, Mapping) and isinstance(budget := thinking.get("budget_tokens"), int):
        return budget
    if effort is not None:
        return _EFFORTS.get(str(effort), _THOUGHT)
    return _THOUGHT if listed(model).get("supports_reasoning") else 0


def with_more_room(request: Request, *, thought: bool) -> Request:
    """The request with twice its output limit, and room for a thought if that is where its reply was cut off."""
    limit = 2 * request.parameters["max_tokens"] + (_THOUGHT if thought else 0)
    limit = _allowed(request.model, limit)
    return replace(request, parameters={**request.parameters, "max_tokens": limit})
