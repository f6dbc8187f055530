"""Run a system on many questions; each question is solved once, and what came of it is cached.

A question has two records: `attempts` has its candidates, `selections` which of them was chosen, so that systems that
differ only in their selector share their candidates. Their keys hash all that they depend on: question, database,
steps, endpoints, prompts, and this package's code that steps can reach. Where a call failed, no record is cached.

Processes may share a run: each locks the question that it solves, whatever the system, so that two notebooks make each
call once. What others have locked is left until they have cached it.
"""

import math
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from workbench.canonical import canonical, content_hash, folder_hash
from workbench.errors import BudgetError
from workbench.lab import Lab
from workbench.llm.calls import ROLES, runs_here
from workbench.llm.money import Tally
from workbench.llm.turns import Locks
from workbench.store import Store
from workbench.systems.system import System, Unsourced, identity, rebuilt, select, stages, trials_of
from workbench.types import Candidate, Comparison, Context, Execution, Question, Selection, Trial

if TYPE_CHECKING:
    import distributed

# Folders whose code no step can reach; the keys hash the code of all others.
_UNREACHABLE = ("benchmarks", "cluster", "train", "report", "study", "label", "explorer", "widgets", "cli")  # fmt: skip
_PAUSE_SECONDS = 0.2  # before looking again for the records of questions that other processes solve
_MOST_CONTEXTS = 2000  # of prepared questions, in memory
_SELECTION = ("chosen", "selector", "scores", "comparisons", "call_keys")
_CANDIDATE = tuple(field.name for field in fields(Candidate))

Record = Mapping[str, Any]


class Keys(NamedTuple):
    """The keys of a question; "" where a step has no source, so that no later process knows it again."""

    context: str = ""  # after pruning
    candidates: str = ""
    selection: str = ""


class QuestionRecords(NamedTuple):
    """The records of a question. A candidate is a list: its queries before each fix, and the last one."""

    key: str  # of the selection's record; "" if it is not cached, as after a failed call
    candidates: Record
    selection: Record


def solve_all(system: System, questions: Sequence[Question], lab: Lab,
              progress: Callable[[int, Tally], object] = lambda *_: None,
              cluster: "distributed.Client | None" = None, fresh: bool = False) -> dict[str, QuestionRecords]:  # fmt: skip
    """The records of each question, by its id, solved in threads of this process or on a cluster.

    `progress` is called with the number of questions done and the tally of calls. `fresh` forgets what is cached.
    """
    keys, locks = keys_of(system, questions, lab), Locks(lab.client.cache.path)
    if fresh:
        _prepared.clear()
        made = canonical([key.candidates for key in keys.values()])
        with lab.client.cache.write() as db:
            for column in ("attempts WHERE key", "selections WHERE attempt"):
                db.execute(f"DELETE FROM {column} IN (SELECT value FROM json_each(?))", [made])
    records = cached_records(lab.client.cache, keys)
    # Models in this process compute and never wait, so more threads do not help.
    computes = all(map(runs_here, model_names(system)))
    lab = replace(lab, at_once=not computes)

    def report(*_: int) -> None:
        progress(len(records), lab.client.ledger.total())

    def solve(question: Question) -> None:
        if locks.acquire(lock := lock_name(question)):
            try:
                records[question.id] = solve_one(system, keys, lab, question)
            finally:
                locks.release(lock)

    report()
    try:
        while unsolved := [question for question in questions if question.id not in records]:
            before = len(records)
            start = os.getpid() * 7919 % len(unsolved)  # where no other process starts
            rotated = unsolved[start:] + unsolved[:start]
            if cluster:
                for found in _solve_on(cluster, system, keys, rotated, lab, locks):
                    records |= found
                    report()
            else:
                lab.each(solve, rotated, 2 if computes else lab.client.at_once, report)
            if len(records) == before:
                time.sleep(_PAUSE_SECONDS)
    except BudgetError as reached:
        left = f"{len(questions) - len(records):,} of {len(questions):,} questions are left"
        raise BudgetError(f"{reached}. {left}") from reached
    return {question.id: records[question.id] for question in questions}


def solve_one(system: System, keys: Mapping[str, Keys], lab: Lab, question: Question) -> QuestionRecords:  # fmt: skip
    """The records of a question that the caller has locked."""
    store, key = lab.client.cache, keys[question.id]
    if known := cached_records(store, {question.id: key}):
        return known[question.id]
    contexts, cost = prepared(system, key.context, question, lab)
    spent = _meter(lab, question)
    made: Record = read_records(store, "attempts", [key.candidates]).get(key.candidates, {})
    trials = _trials(made, question, lab) if made else trials_of(system, contexts[-1], lab)
    if not made:
        whole = {name: more + cost[name] for name, more in spent().items()}
        new: Record = {"trials": [*map(_trial_record, trials)], "cost": whole}
        made = _keep(store, "attempts", key.candidates, new, question.id)
    spent = _meter(lab, question)
    choice = select(system, contexts[-1], lab, trials)
    new = {name: getattr(choice, name) for name in _SELECTION} | {"cost": spent()}
    named = "" if made["cost"]["failed"] or new["cost"]["failed"] else key.selection
    chosen = _keep(store, "selections", named, new, question.id, key.candidates)
    return QuestionRecords(named, made, chosen)


def solve_chunk(questions: Sequence[Question], lab: Lab, system: System,
                keys: Mapping[str, Keys]) -> dict[str, QuestionRecords]:  # fmt: skip
    """The records of a few questions about one database; it runs on a cluster's worker."""
    found = lab.each(partial(solve_one, system, keys, lab), questions)
    return {question.id: records for question, records in zip(questions, found, strict=True)}


def _solve_on(client: "distributed.Client", system: System, keys: Mapping[str, Keys], questions: Sequence[Question],
              lab: Lab, locks: Locks) -> Iterator[dict[str, QuestionRecords]]:  # fmt: skip
    """The records of the questions that no other process solves, chunk after chunk."""
    from workbench.cluster import each  # noqa: PLC0415  Dask, an extra

    share = len(questions) / max(1, sum(client.nthreads().values()))
    # Chunks that compute are small, so that all workers end at about the same time; others wait for models together.
    size = math.ceil(min(16, share) if lab.at_once else min(4, share / 4))
    mine = {q.id: q for q in questions if locks.acquire(lock_name(q))}
    try:
        chunks: dict[str, list[Question]] = {}
        for db_id in dict.fromkeys(question.db_id for question in mine.values()):
            about = [question for question in mine.values() if question.db_id == db_id]
            for part in (about[n : n + size] for n in range(0, len(about), size)):
                chunks[f"{system.name}, {db_id} {' '.join(q.id for q in part)}"] = part
        for _, found in each(client, partial(solve_chunk, system=system, keys=keys), chunks, lab):
            yield found
            for id_ in found:
                locks.release(lock_name(mine.pop(id_)))
    finally:
        for question in mine.values():
            locks.release(lock_name(question))


def lock_name(question: Question) -> str:
    return content_hash("question", question)


_prepared: dict[str, tuple[tuple[Context, ...], Mapping[str, float]]] = {}


def prepared(system: System, key: str, question: Question,
             lab: Lab) -> tuple[tuple[Context, ...], Mapping[str, float]]:  # fmt: skip
    """The contexts after retrieval and after each step of pruning, and what they cost.

    They are gathered once in this process for all systems with the same steps of retrieval and pruning.
    """
    # The key includes the cache's path, since a worker has a cache for each driver, where its calls are cached.
    own, spent = f"{lab.client.cache.path} {key}", _meter(lab, question)
    if key and (known := _prepared.get(own)):
        return known
    made = tuple(stages(system, question, lab)), spent()
    if len(_prepared) >= _MOST_CONTEXTS:
        _prepared.clear()
    if key and not made[1]["failed"]:
        _prepared[own] = made
    return made


def selection_of(records: QuestionRecords, question: Question, lab: Lab) -> Selection:
    """The selection that a question's records describe, with every execution read from the cache."""
    made = {name: records.selection[name] for name in _SELECTION}
    made["comparisons"] = tuple(Comparison(**one) for one in made["comparisons"])
    made |= {name: tuple(made[name]) for name in ("scores", "call_keys")}
    return Selection(question.id, _trials(records.candidates, question, lab), **made)


def keys_of(system: System, questions: Sequence[Question], lab: Lab) -> dict[str, Keys]:
    """The keys of each question's records, by its id."""
    context = system.retrieve, system.prune
    parts = context, (*context, system.generate, system.fix), system.select
    try:
        prepares, makes, selects = ([identity(part), endpoints(part, lab)] for part in parts)
    except Unsourced as error:
        told = "its source cannot be read, so its answers are not cached; define it in a cell or a file"
        print(f"{error}: {told}", file=sys.stderr)
        return {question.id: Keys() for question in questions}
    shared = [code_hash(), lab.limits, folder_hash(lab.prompts) if lab.prompts else ""]
    paths = {question.db_id: lab.database(question.db_id) for question in questions}
    files = lab.executor.fingerprints(list(paths.values()))
    schemas = {db_id: content_hash("schema", repr(lab.schema(db_id))) for db_id in paths}
    found = {}
    for question in questions:
        db_id = question.db_id
        asked = [*shared, question, files[paths[db_id]], schemas[db_id]]
        candidates = content_hash("attempt", [makes, asked])
        selection = content_hash("selection", [candidates, selects])
        found[question.id] = Keys(content_hash("prepared", [prepares, asked]), candidates, selection)  # fmt: skip
    return found


def endpoints(steps: Any, lab: Lab) -> dict[str, Any]:
    """The address or version of each model, with the parameters that the experiment sets for it and for roles."""
    roles = {name: lab.parameters[name] for name in ROLES if lab.parameters.get(name)}
    models = sorted(model_names(steps))
    return {name: [lab.client.endpoint(name), lab.parameters.get(name), roles] for name in models}


def model_names(steps: Any) -> set[str]:
    """The names of the models that a system, a step or a tuple of steps calls."""
    found = set[str]()

    def note(step: Any) -> Any:
        found.add(getattr(step, "model", ""))
        return step

    rebuilt(steps, note)
    return found - {""}


@cache
def code_hash() -> str:
    """A hash of all code and prompts that a system's steps can reach."""
    return folder_hash(Path(__file__).parents[1], _UNREACHABLE)


def cached_records(store: Store, keys: Mapping[str, Keys]) -> dict[str, QuestionRecords]:
    """The cached records of questions; `keys` has their keys by the question's id."""
    selections = read_records(store, "selections", [key.selection for key in keys.values()])
    attempts = read_records(store, "attempts", [key.candidates for key in keys.values()])
    return {
        id_: QuestionRecords(key.selection, attempts[key.candidates], selections[key.selection])
        for id_, key in keys.items()
        if key.selection in selections and key.candidates in attempts
    }


def read_records(store: Store, table: str, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The cached records of a table, by key; keys without a record are left out."""
    rows = store.read_keys(f"SELECT key, record FROM {table} WHERE key IN", list(keys))
    return {key: orjson.loads(zlib.decompress(record)) for key, record in rows}


def _keep(store: Store, table: str, key: str, record: Record, *about: str) -> Record:
    """The record as it is read back, cached under its key unless a call failed or a step has no source."""
    text = canonical(record)
    if key and not record["cost"]["failed"]:
        row = (key, *about, zlib.compress(text, 1))
        with store.write(durable=False) as db:
            db.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    kept: Record = orjson.loads(text)
    return kept


def _trials(record: Record, question: Question, lab: Lab) -> tuple[Trial, ...]:
    """The trials of a record, with executions that the cache has or that are run now."""
    queries = list({one["sql"] for fixes in record["trials"] for one in fixes} - {""})
    results = dict(zip(queries, lab.run_many(question, queries), strict=True))

    def made(fixes: Sequence[Record]) -> Trial:
        *earlier, last = fixes
        own = {name: last[name] for name in _CANDIDATE} | {"call_keys": tuple(last["call_keys"])}
        return Trial(Candidate(**own), results.get(last["sql"]), made(earlier) if earlier else None)

    return tuple(map(made, record["trials"]))


def _trial_record(trial: Trial) -> list[Record]:
    """The trials from which one was repaired and itself, the oldest first, without the rows of their results."""
    ran = [(one.candidate, one.execution or Execution("error")) for one in trial.history]
    return [asdict(one) | {"status": r.status, "fingerprint": r.fingerprint} for one, r in ran]


def _meter(lab: Lab, question: Question) -> Callable[[], dict[str, float]]:
    """Tells the calls, tokens and dollars of a question since now, paid or cached, and the calls that failed."""

    def now() -> dict[str, float]:
        own = lab.client.ledger.total(question.id)
        return {"calls": own.calls + own.hits, "input_tokens": own.input_tokens, "output_tokens": own.output_tokens,
                "dollars": own.cost + own.cached_cost, "unpriced": own.unpriced + own.cached_unpriced,
                "failed": sum(lab.client.ledger.failed.values())}  # fmt: skip

    before = now()
    return lambda: {name: end - before[name] for name, end in now().items()}
