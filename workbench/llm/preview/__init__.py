"""Estimate before a run how many calls it makes, what they cost and how long they take.

The numbers of requests and cached answers are exact. Tokens and seconds are estimated (`estimates.py`). The prompt
of a call that depends on an earlier reply is not known yet: the planner of such calls gives an `Estimate` of them.
"""

from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path

import orjson

from workbench.errors import BadInputError, content_of, fault
from workbench.llm.client import Client
from workbench.llm.preview.estimates import Estimate, measured, row_of
from workbench.llm.preview.rows import Preview, Range, Row, added
from workbench.types import Request

__all__ = ["Estimate", "Preview", "Range", "preview", "preview_file"]


def preview(
    client: Client, requests: Iterable[Request], estimates: Iterable[Estimate] = ()
) -> Preview:
    """Preview `client.complete_many(requests)` and the calls that are estimated to follow it."""
    keys: set[str] = set()
    total = cached = expected = 0
    rows: list[Row] = []
    rates_of = cache(partial(measured, client.store))
    for request in requests:
        total += 1
        key = client.key(request)
        if key in keys or client.cached(request):
            cached += 1
            continue
        keys.add(key)
        rows.append(row_of(request, rates_of(request.prompt, request.model)))
    for estimate in estimates:
        expected += estimate.calls
        rows.append(estimate.row(rates_of(estimate.prompt, estimate.model)))
    return Preview(added(rows), total, cached, len(keys), expected, client.at_once)


def preview_file(client: Client, path: Path) -> Preview:
    """Preview a file of JSON lines, each a call as it will be sent or an estimate."""
    requests: list[Request] = []
    estimates: list[Estimate] = []
    lines = content_of(path).splitlines()
    for number, line in enumerate(lines, 1):
        try:
            fields = orjson.loads(line)
            if not isinstance(fields, dict):
                raise ValueError(f"it is {fields!r:.60}")  # noqa: TRY004  a file's, not a caller's
            if "calls" in fields:
                estimates.append(Estimate(**fields))
            else:
                requests.append(Request(**fields))
        except (ValueError, TypeError) as error:
            raise BadInputError(
                f"{path}, line {number}: {fault(error)}; expected a call (prompt, model, messages, parameters,"
                " sample) or an estimate (prompt, model, calls, input_tokens)"
            ) from error
    return preview(client, requests, estimates)
