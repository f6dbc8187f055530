"""Store the results of a batch, and end the calls that wait for them."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from workbench.errors import StoreError
from workbench.llm.cache.rows import call_of
from workbench.llm.cache.table import Cache
from workbench.llm.calls.batches.joined import JoinedCalls
from workbench.llm.calls.batches.table import Batch, BatchTable
from workbench.llm.provider import Refusal
from workbench.llm.remote.batch_lines import Item
from workbench.llm.remote.prices import bill
from workbench.llm.remote.replies import Reply, answer_of, read_usage
from workbench.types import Completion, Request, Usage

SAVED = 500  # answers that share a transaction


def store_results(
    cache: Cache,
    table: BatchTable,
    joined: JoinedCalls,
    batch: Batch,
    items: Iterable[Item | None],
) -> tuple[int, bool]:
    """Store the answers that are not stored yet; returns the number of all answers, and whether all lines are whole."""
    requests = table.requests(batch)
    answers, whole = 0, True
    replies: dict[str, Reply | Refusal] = {}
    for item in items:
        if item is None:
            whole = False
            continue
        answers += not isinstance(item.reply, Refusal)
        if item.key in requests:
            replies[item.key] = item.reply
        if len(replies) >= SAVED:
            _store(cache, table, joined, batch, requests, replies)
            replies = {}
    _store(cache, table, joined, batch, requests, replies)
    return answers, whole


def _store(
    cache: Cache,
    table: BatchTable,
    joined: JoinedCalls,
    batch: Batch,
    requests: Mapping[str, Request],
    replies: Mapping[str, Reply | Refusal],
) -> None:
    """Store answers, and then end the calls that wait for them."""
    waiting = {call.key: call for call in joined.of(batch.name)}
    reports = []
    failed: StoreError | None = None
    for key, reply in replies.items():
        if isinstance(reply, Refusal):
            continue
        reply["batch"] = batch.batch
        if report := joined.finish(key, reply):
            reports.append(report)
        else:  # the run that sent the call was stopped
            _put(cache, requests[key], key, batch.endpoint, reply)
    try:
        cache.save()
        table.remove(batch, replies)
    except StoreError as error:
        failed = error
        raise
    finally:
        for report in reports:
            report(failed)
    for key, reply in replies.items():
        if isinstance(reply, Refusal) and key in waiting:
            joined.end([waiting[key]], reply)


def _put(cache: Cache, request: Request, key: str, endpoint: str, reply: Reply) -> None:
    """Store a reply for which no run waits."""
    usage, price = (
        read_usage(reply) or Usage(),
        bill(request.model, reply, request.parameters.get("service_tier")),
    )
    with suppress(Refusal):  # the reply has no answer
        text, reason = answer_of(reply)
        answer = Completion(text, request.model, reason, usage, price, key)
        cache.put(call_of(request, key, endpoint, answer, reply, 0.0), save=False)
