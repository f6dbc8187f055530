"""Fit a request's parameters to its model: leave out each one that the model refuses.

Models differ in the parameters they take, and in the values: gpt-5 takes no temperature but 1, and gpt-5.1
takes one only as long as it does not reason. LiteLLM knows many of these rules and applies them before it
sends anything; a server states the others in its refusals. Both kinds are remembered in the cache file, with
all parameters of the refused request, so that a request is fitted without LiteLLM before its key is made.
"""

import re
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.canonical import canonical
from workbench.llm import provider
from workbench.llm.budget import Ledger
from workbench.store import Store
from workbench.types import Request

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
        select = "SELECT endpoint, model, parameters, parameter FROM refused_parameters"
        for endpoint, model, sent, name in store.read(select):
            self._refused.setdefault((endpoint, model), {})[sent.encode()] = name

    def fit(self, request: Request, endpoint: str) -> Request:
        """The request without the parameters that its model is known to refuse; itself if there are none."""
        refused = self._refused.get((endpoint, request.model), {})
        while refused and (name := refused.get(canonical(request.parameters))):
            self._ledger.leave_out(request.model, name, request.parameters[name])
            request = without(request, name)
        return request

    def probe(self, request: Request, endpoint: str, url: str) -> bool:
        """Whether LiteLLM refuses parameters of the request that it was not asked about before."""
        known = request
        while True:
            probe = (endpoint, request.model, canonical(request.parameters))
            if probe in self._probed:
                break
            self._probed.add(probe)
            reason = provider.unsupported(request, url)
            if not reason or not self.learn(request, endpoint, reason):
                break
            request = self.fit(request, endpoint)
        return request is not known

    def learn(self, request: Request, endpoint: str, reason: str) -> bool:
        """Remember which parameter a refusal names; False if it names none that the request has."""
        sent = request.parameters
        if provider.EMBEDDING in sent or not (name := refused_name(reason, sent)):
            return False
        packed = canonical(sent)
        self._refused.setdefault((endpoint, request.model), {})[packed] = name
        if line := self._ledger.leave_out(request.model, name, sent[name]):
            print(line, file=sys.stderr)
        if not self._store.read_only:
            row = (endpoint, request.model, packed.decode(), name, reason, time.time())
            with self._store.write() as connection:
                connection.execute(
                    "INSERT OR IGNORE INTO refused_parameters VALUES (?, ?, ?, ?, ?, ?)", row
                )
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
    select = "SELECT DISTINCT parameter FROM refused_parameters WHERE model = ? ORDER BY parameter"
    return [name for (name,) in store.read(select, (model,))]


def without(request: Request, name: str) -> Request:
    """The request without a parameter."""
    kept = {key: value for key, value in request.parameters.items() if key != name}
    return replace(request, parameters=kept)
