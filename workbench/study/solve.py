"""Run a system on many questions; each question is solved once, and what came of it is cached.

A question has two records: `attempts` has its candidates, `selections` which of them was chosen, so
that systems that differ only in their selector share their candidates. Their keys hash all that
they depend on: question, database, steps, endpoints, prompts, and this package's code that steps
can reach. Where a call failed, no record is cached.

Processes may share a run: each locks the question that it solves, whatever the system, so that two
notebooks make each call once. What others have locked is left until they have cached it.
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
from workbench.llm.calls import runs_here
from workbench.llm.money import Tally
from workbench.llm.turns import Locks
from workbench.store import Store
from workbench.systems.system import (
    System,
    Unsourced,
    identity,
    rebuilt,
    select,
    stages,
    trials_of,
)
from workbench.types import (
    ROLES,
    Candidate,
    Comparison,
    Context,
    Execution,
    Question,
    Selection,
    Trial,
)

if TYPE_CHECKING:
    import distributed

# Folders whose code no step can reach; the keys hash the code of all others.
_UNREACHABLE = (
    "benchmarks",
    "cluster",
    "train",
    "report",
    "study",
    "label",
    "explorer",
    "widgets",
    "cli",
    "_shipped",
)
# Before looking again for the records of questions that other processes solve.
_PAUSE_SECONDS = 0.2
_MOST_CONTEXTS = 2000  # of prepared questions, in memory
_SELECTION = ("chosen", "selector", "scores", "comparisons", "call_keys")
_CANDIDATE = tuple(field.name for field in fields(Candidate))

Record = Mapping[str, Any]


class Keys(NamedTuple):
    """The keys of a question; "" where a step has no source, which no later process knows again."""

    context: str = ""  # after pruning
    candidates: str = ""
    selection: str = ""


class QuestionRecords(NamedTuple):
    """The records of a question; a candidate is its queries before each fix, and the last one."""

    # Of the selection's record; "" if it is not cached, as after a failed call.
    key: str
    candidates: Record
    selection: Record


KeysById = Mapping[str, Keys]  # by the question's id
RecordsById = Mapping[str, QuestionRecords]


def solve_all(
    system: System,
    questions: Sequence[Question],
    lab: Lab,
    progress: Callable[[int, Tally], object] = lambda *_: None,
    cluster: "distributed.Client | None" = None,
    fresh: bool = False,
) -> dict[str, QuestionRecords]:
    """Return the records of each question, by its id, solved in threads or on a cluster.

    `progress` is called with the number of questions done and the tally of calls. `fresh` forgets
    what is cached.
    """
    store = lab.client.cache
    locks = Locks(store.path)
    keys = keys_of(system, questions, lab)
    if fresh:
        _forget(store, keys)
    records = cached_records(store, keys)
    # Models in this process compute and never wait, so more threads do not help.
    computes = all(map(runs_here, model_names(system)))
    lab = replace(lab, at_once=not computes)

    def report(*_: int) -> None:  # `lab.each` gives it how many are done
        progress(len(records), lab.client.ledger.total())

    def solve(question: Question) -> None:
        lock = lock_name(question)
        if locks.acquire(lock):
            try:
                records[question.id] = solve_one(system, keys, lab, question)
            finally:
                locks.release(lock)

    report()
    try:
        while len(records) < len(questions):
            solved_before = len(records)
            unsolved = [q for q in questions if q.id not in records]
            # Processes start at different questions: a prime spreads neighbouring process ids.
            start = os.getpid() * 7919 % len(unsolved)
            rotated = unsolved[start:] + unsolved[:start]
            if cluster:
                for chunk in _solve_on(cluster, system, keys, rotated, lab, locks):
                    records |= chunk
                    report()
            else:
                lab.each(solve, rotated, 2 if computes else lab.client.at_once, report)
            if len(records) == solved_before:  # other processes have locked all of them
                time.sleep(_PAUSE_SECONDS)
    except BudgetError as reached:
        left = len(questions) - len(records)
        raise BudgetError(
            f"{reached}. {left:,} of {len(questions):,} questions are left"
        ) from reached
    return {question.id: records[question.id] for question in questions}


def _forget(store: Store, keys: KeysById) -> None:
    _prepared.clear()
    attempts = [canonical([key.candidates for key in keys.values()])]
    listed = "IN (SELECT value FROM json_each(?))"
    with store.write() as db:
        db.execute(f"DELETE FROM attempts WHERE key {listed}", attempts)
        db.execute(f"DELETE FROM selections WHERE attempt {listed}", attempts)


def solve_one(
    system: System, keys: KeysById, lab: Lab, question: Question
) -> QuestionRecords:
    """Return the records of a question that the caller has locked."""
    store, key = lab.client.cache, keys[question.id]
    if known := cached_records(store, {question.id: key}):
        return known[question.id]
    contexts, cost_of_context = prepared(system, key.context, question, lab)
    spent = _meter(lab, question)
    known_attempts = read_records(store, "attempts", [key.candidates])
    if known_attempts:
        attempt: Record = known_attempts[key.candidates]
        trials = _trials(attempt, question, lab)
    else:
        trials = trials_of(system, contexts[-1], lab)
        cost = spent()
        for name in cost:
            cost[name] += cost_of_context[name]
        histories = [_trial_record(trial) for trial in trials]
        proposed = {"trials": histories, "cost": cost}
        attempt = _keep(store, "attempts", key.candidates, proposed, question.id)

    spent = _meter(lab, question)
    choice = select(system, contexts[-1], lab, trials)
    chosen = {name: getattr(choice, name) for name in _SELECTION}
    chosen["cost"] = spent()
    failed = attempt["cost"]["failed"] or chosen["cost"]["failed"]
    selection_key = "" if failed else key.selection  # without a key it is not cached
    selection = _keep(
        store, "selections", selection_key, chosen, question.id, key.candidates
    )
    return QuestionRecords(selection_key, attempt, selection)


def solve_chunk(
    questions: Sequence[Question], lab: Lab, system: System, keys: KeysById
) -> dict[str, QuestionRecords]:
    """Return the records of a few questions about one database; it runs on a cluster's worker."""
    records = lab.each(partial(solve_one, system, keys, lab), questions)
    return dict(zip([question.id for question in questions], records, strict=True))


def _solve_on(
    client: "distributed.Client",
    system: System,
    keys: KeysById,
    questions: Sequence[Question],
    lab: Lab,
    locks: Locks,
) -> Iterator[dict[str, QuestionRecords]]:
    """Yield the records of the questions that no other process solves, chunk after chunk."""
    from workbench.cluster import each  # noqa: PLC0415  Dask, an extra

    share = len(questions) / max(1, sum(client.nthreads().values()))
    # The calls of a chunk wait together; those that compute are in small chunks, so that all
    # workers end together.
    most_questions = min(16, share) if lab.at_once else min(4, share / 4)
    chunk_size = math.ceil(most_questions)
    locked = {q.id: q for q in questions if locks.acquire(lock_name(q))}
    try:
        by_database: dict[str, list[Question]] = {}
        for question in locked.values():
            by_database.setdefault(question.db_id, []).append(question)
        chunks: dict[str, list[Question]] = {}
        for db_id, asked in by_database.items():
            for start in range(0, len(asked), chunk_size):
                chunk = asked[start : start + chunk_size]
                ids = " ".join(question.id for question in chunk)
                chunks[f"{system.name}, {db_id} {ids}"] = chunk
        solve = partial(solve_chunk, system=system, keys=keys)
        for _, records in each(client, solve, chunks, lab):
            yield records
            for id_ in records:
                locks.release(lock_name(locked.pop(id_)))
    finally:  # after an error or Ctrl-C
        for question in locked.values():
            locks.release(lock_name(question))


def lock_name(question: Question) -> str:
    return content_hash("question", question)


Prepared = tuple[tuple[Context, ...], Mapping[str, float]]
_prepared: dict[str, Prepared] = {}


def prepared(system: System, key: str, question: Question, lab: Lab) -> Prepared:
    """Return the contexts after retrieval and after each step of pruning, and what they cost.

    They are gathered once in this process for all systems with the same steps of retrieval and
    pruning.
    """
    # A worker has a cache for each driver, and the calls of a context are cached in that one alone.
    place = f"{lab.client.cache.path} {key}"
    if key and place in _prepared:
        return _prepared[place]
    spent = _meter(lab, question)
    contexts = tuple(stages(system, question, lab))
    cost = spent()
    if len(_prepared) >= _MOST_CONTEXTS:
        _prepared.clear()
    if key and not cost["failed"]:
        _prepared[place] = contexts, cost
    return contexts, cost


def selection_of(records: QuestionRecords, question: Question, lab: Lab) -> Selection:
    """Return the selection that a question's records describe, with cached executions."""
    record = records.selection
    return Selection(
        question.id,
        _trials(records.candidates, question, lab),
        chosen=record["chosen"],
        selector=record["selector"],
        scores=tuple(record["scores"]),
        comparisons=tuple(
            Comparison(**comparison) for comparison in record["comparisons"]
        ),
        call_keys=tuple(record["call_keys"]),
    )


def keys_of(system: System, questions: Sequence[Question], lab: Lab) -> dict[str, Keys]:
    """Return the keys of each question's records, by its id."""
    preparing = (system.retrieve, system.prune)
    making = (*preparing, system.generate, system.fix)
    try:
        prepares = [identity(preparing), endpoints(preparing, lab)]
        makes = [identity(making), endpoints(making, lab)]
        selects = [identity(system.select), endpoints(system.select, lab)]
    except Unsourced as error:
        told = "its source cannot be read, so its answers are not cached"
        print(f"{error}: {told}; define it in a cell or a file", file=sys.stderr)
        return {question.id: Keys() for question in questions}
    shared = [code_hash(), lab.limits, folder_hash(lab.prompts) if lab.prompts else ""]
    paths = {question.db_id: lab.database(question.db_id) for question in questions}
    files = lab.executor.fingerprints(list(paths.values()))
    data = {}  # of a database: its file and its schema
    for db_id, path in paths.items():
        data[db_id] = [files[path], content_hash("schema", repr(lab.schema(db_id)))]
    keys = {}
    for question in questions:
        inputs = [*shared, question, *data[question.db_id]]
        prepare = content_hash("prepared", [prepares, inputs])
        candidates = content_hash("attempt", [makes, inputs])
        selection = content_hash("selection", [candidates, selects])
        keys[question.id] = Keys(prepare, candidates, selection)
    return keys


def endpoints(steps: Any, lab: Lab) -> dict[str, Any]:
    """Return each model's address or version, with the parameters set for it and for roles."""
    roles = {name: lab.parameters[name] for name in ROLES if lab.parameters.get(name)}
    models = sorted(model_names(steps))
    return {
        name: [lab.client.endpoint(name), lab.parameters.get(name), roles]
        for name in models
    }


def model_names(steps: Any) -> set[str]:
    """The names of the models that a system, a step or a tuple of steps calls."""
    names = set[str]()

    def note(step: Any) -> Any:
        names.add(getattr(step, "model", ""))
        return step

    rebuilt(steps, note)  # visits every step, and here changes none
    return names - {""}


@cache
def code_hash() -> str:
    """A hash of all code and prompts that a system's steps can reach."""
    return folder_hash(Path(__file__).parents[1], _UNREACHABLE)


def cached_records(store: Store, keys: KeysById) -> dict[str, QuestionRecords]:
    """The cached records of questions; `keys` has their keys by the question's id."""
    selections = read_records(
        store, "selections", [key.selection for key in keys.values()]
    )
    attempts = read_records(
        store, "attempts", [key.candidates for key in keys.values()]
    )
    return {
        id_: QuestionRecords(
            key.selection, attempts[key.candidates], selections[key.selection]
        )
        for id_, key in keys.items()
        if key.selection in selections and key.candidates in attempts
    }


def read_records(
    store: Store, table: str, keys: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """The cached records of a table, by key; keys without a record are left out."""
    rows = store.read_keys(f"SELECT key, record FROM {table} WHERE key IN", list(keys))
    return {key: orjson.loads(zlib.decompress(record)) for key, record in rows}


def _keep(store: Store, table: str, key: str, record: Record, *between: str) -> Record:
    """Cache a record under its key, unless a call failed; return it as it is read back.

    `between` are the row's cells between both.
    """
    text = canonical(record)
    if key and not record["cost"]["failed"]:
        row = (key, *between, zlib.compress(text, 1))
        with store.write(durable=False) as db:
            db.execute(
                f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})",
                row,
            )
    kept: Record = orjson.loads(text)
    return kept


def _trials(record: Record, question: Question, lab: Lab) -> tuple[Trial, ...]:
    """Return the trials of a record, with executions that the cache has or that are run now."""
    queries: dict[str, None] = {}  # each once
    for history in record["trials"]:
        queries |= dict.fromkeys(step["sql"] for step in history if step["sql"])
    results = dict(zip(queries, lab.run_many(question, list(queries)), strict=True))
    trials = []
    for history in record["trials"]:
        repaired_from: Any = None
        for step in history:
            fields = {name: step[name] for name in _CANDIDATE}
            fields["call_keys"] = tuple(step["call_keys"])
            execution = results.get(step["sql"])
            repaired_from = Trial(Candidate(**fields), execution, repaired_from)
        trials.append(repaired_from)
    return tuple(trials)


def _trial_record(trial: Trial) -> list[Record]:
    """Return a trial's history, oldest first, without the rows of results."""
    record: list[Record] = []
    for step in trial.history:
        execution = step.execution or Execution("error")
        ran = {"status": execution.status, "fingerprint": execution.fingerprint}
        record.append(asdict(step.candidate) | ran)
    return record


def _meter(lab: Lab, question: Question) -> Callable[[], dict[str, float]]:
    """Return a function: what a question has cost since now, paid or cached, and its failures."""
    ledger = lab.client.ledger

    def now() -> dict[str, float]:
        tally = ledger.total(question.id)
        failed = ledger.failed_by_question
        return {
            "calls": tally.calls + tally.hits,
            "input_tokens": tally.input_tokens,
            "output_tokens": tally.output_tokens,
            "dollars": tally.cost + tally.cached_cost,
            "unpriced": tally.unpriced + tally.cached_unpriced,
            # Where a call of no single question failed, as of an index, each one lacks it.
            "failed": failed[question.id] + failed[""],
        }

    before = now()
    return lambda: {name: end - before[name] for name, end in now().items()}
