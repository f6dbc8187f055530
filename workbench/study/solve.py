"""Run a system on many questions; each question is solved once, and its records are cached.

A question has two records: `attempts` has its candidates, `selections` which of them was chosen. Their keys hash all
that they depend on: the question, the database and its catalog, the steps (`systems.system.identity`), the endpoints of
their models, the prompts, and this package's code that steps can reach. Systems that differ only in their selector
share their candidates.

Processes may share a run: each locks the question that it solves, and skips those that others have locked until they
are cached. All systems use the same lock of a question, so that two notebooks make each call once. Records with a
failed call are not cached, so the next run makes the failed calls again.
"""

import os
import secrets
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from workbench.canonical import canonical, content_hash, folder_hash
from workbench.lab import Lab
from workbench.llm.keys import runs_here
from workbench.llm.locks import Locks
from workbench.llm.money import Tally
from workbench.llm.parameters import ROLES
from workbench.store import Store
from workbench.systems.system import System, Unsourced, identity, select, stages, trials_of
from workbench.types import Candidate, Comparison, Context, Execution, Question, Selection, Trial

# Folders whose code no step can reach; the keys hash the code of all others.
_UNREACHABLE = ("benchmarks", "cluster", "train", "report", "study", "label", "explorer", "widgets", "cli")  # fmt: skip
_PAUSE_SECONDS = 0.2  # before looking again for the records of questions that other processes solve
_MOST_CONTEXTS = 2000  # of prepared questions, in memory
_SELECTION_FIELDS = ("chosen", "selector", "scores", "comparisons", "call_keys")

Record = Mapping[str, Any]
ProgressReport = Callable[[int, int, Tally], object]


class QuestionRecords(NamedTuple):
    key: str  # the key of the selection's record; "" if it is not cached, as after a failed call
    candidates: Record
    selection: Record


class QuestionKeys(NamedTuple):
    context: str  # after pruning
    candidates: str
    selection: str


class Prepared(NamedTuple):
    contexts: tuple[Context, ...]  # after retrieval, and after each step of pruning
    cost: Mapping[str, float]  # of the calls for it


@dataclass(frozen=True, slots=True)
class ResultKeys:
    """The parts of keys that all questions share.

    `kept` is false if a step has no source: no later process could tell that it is the same, so nothing is cached.
    """

    context: str
    candidates: str
    selector: str
    kept: bool

    def of_question(self, question: Question, lab: Lab) -> QuestionKeys:
        path = lab.database(question.db_id)
        database = lab.executor.fingerprints([path])[path]
        inputs = [question, database, _schema_hash(lab.schema(question.db_id))]
        context = content_hash("prepared", [self.context, *inputs])
        candidates = content_hash("attempt", [self.candidates, *inputs])
        selection = content_hash("selection", [candidates, self.selector])
        return QuestionKeys(context, candidates, selection)

    def of_questions(self, questions: Sequence[Question], lab: Lab) -> dict[str, QuestionKeys]:
        """The keys by the question's id; the databases are hashed at the same time."""
        names = dict.fromkeys(question.db_id for question in questions)
        lab.executor.fingerprints(list(map(lab.database, names)))
        return {question.id: self.of_question(question, lab) for question in questions}


ClusterSolver = Callable[
    [System, ResultKeys, Sequence[Question], Lab], Iterator[tuple[str, QuestionRecords]]
]


def solve_all(system: System, questions: Sequence[Question], lab: Lab, progress: ProgressReport | None = None,
              solver: ClusterSolver | None = None) -> dict[str, QuestionRecords]:  # fmt: skip
    """The records of each question, by its id.

    `progress` is called with the number of questions done, the number of all, and the tally of calls. `solver` solves
    the questions that are not cached, on a cluster instead of in threads of this process.
    """
    store = lab.client.cache
    result_keys = system_keys(system, lab)
    records = cached_records(store, result_keys.of_questions(questions, lab))
    unsolved = [question for question in questions if question.id not in records]
    locks = Locks(store.path)
    # Models in this process only compute and never wait, so more threads would not help.
    computes = all(map(runs_here, model_names(system)))
    lab = replace(lab, at_once=not computes)

    def report(*_: int) -> None:
        if progress:
            progress(len(records), len(questions), lab.client.ledger.total())

    def solve(question: Question) -> None:
        if solved := solve_once(system, result_keys, lab, locks, question):
            records[question.id] = solved

    report()
    while unsolved:
        solved_before = len(records)
        start = os.getpid() * 7919 % len(unsolved)  # far from where another process begins
        rotated = unsolved[start:] + unsolved[:start]
        if solver:
            for id_, solved in solver(system, result_keys, rotated, lab):
                records[id_] = solved
                report()
        else:
            at_once = 2 if computes else lab.client.at_once
            lab.each(solve, rotated, threads=at_once, progress=report)
        unsolved = [question for question in unsolved if question.id not in records]
        if len(records) == solved_before:
            time.sleep(_PAUSE_SECONDS)
    return {question.id: records[question.id] for question in questions}


def solve_once(system: System, result_keys: ResultKeys, lab: Lab, locks: Locks,
               question: Question) -> QuestionRecords | None:  # fmt: skip
    """The question's records; None while another process solves it."""
    store, ledger = lab.client.cache, lab.client.ledger
    keys = result_keys.of_question(question, lab)
    if not locks.acquire(lock := lock_name(question)):
        return None
    try:
        if cached := cached_records(store, {question.id: keys}):
            return cached[question.id]
        failed_before = sum(ledger.failed.values())
        prepared = prepare_once(system, keys, question, lab)
        context, before = prepared.contexts[-1], ledger.of(question.id)
        if record := read_records(store, "attempts", [keys.candidates]).get(keys.candidates):
            trials = _executed_trials(record, question, lab)
        else:
            trials = trials_of(system, context, lab)
            cost = _cost(ledger.of(question.id), before, prepared.cost)
            made = {"trials": [_trial_record(trial) for trial in trials], "cost": cost}
            record = orjson.loads(canonical(made))  # as it is read back
            if result_keys.kept and sum(ledger.failed.values()) == failed_before:
                write_record(store, "attempts", keys.candidates, question.id, record)
        before = ledger.of(question.id)
        selection = select(system, context, lab, trials)
        chosen = {name: getattr(selection, name) for name in _SELECTION_FIELDS}
        selected = orjson.loads(canonical(chosen | {"cost": _cost(ledger.of(question.id), before)}))
        if not result_keys.kept or sum(ledger.failed.values()) > failed_before:
            return QuestionRecords("", record, selected)
        write_record(store, "selections", keys.selection, question.id, selected, keys.candidates)
        return QuestionRecords(keys.selection, record, selected)
    finally:
        locks.release(lock)


def lock_name(question: Question) -> str:
    return content_hash("question", question)


_prepared: dict[str, Prepared] = {}


def prepare_once(system: System, keys: QuestionKeys, question: Question, lab: Lab) -> Prepared:
    """Retrieve and prune once in this process for all systems with the same steps of retrieval and pruning."""
    # The key includes the cache's path, since a worker has a cache for each driver, where its calls are cached.
    key = f"{lab.client.cache.path} {keys.context}"
    if prepared := _prepared.get(key):
        return prepared
    ledger = lab.client.ledger
    failed_before, before = sum(ledger.failed.values()), ledger.of(question.id)
    contexts = tuple(stages(system, question, lab))
    prepared = Prepared(contexts, _cost(ledger.of(question.id), before))
    if sum(ledger.failed.values()) == failed_before and not lab.watch:
        _prepared[key] = prepared
        if len(_prepared) > _MOST_CONTEXTS:
            _prepared.pop(next(iter(_prepared)), None)
    return prepared


def selection_of(records: QuestionRecords, question: Question, lab: Lab) -> Selection:
    """The selection that a question's records describe, with every execution read from the cache."""
    made = dict(records.selection)
    del made["cost"]
    made["comparisons"] = tuple(Comparison(**one) for one in made["comparisons"])
    made |= {name: tuple(made[name]) for name in ("scores", "call_keys")}
    return Selection(question.id, _executed_trials(records.candidates, question, lab), **made)


def system_keys(system: System, lab: Lab) -> ResultKeys:
    context = [system.retrieve, system.prune]
    parts = [context, [*context, system.generate, system.fix], system.select]
    prepared, steps, selector = map(identity_of, parts)
    shared = [code_hash(), prompts_hash(lab.prompts)]
    return ResultKeys(
        content_hash("context", [*shared, endpoints(context, lab), prepared]),
        content_hash("steps", [*shared, endpoints(system, lab), lab.limits, steps]),
        content_hash("select", selector),
        kept=_UNSOURCED not in (steps, selector),
    )


_UNSOURCED = secrets.token_hex(16)  # no other process has it


def identity_of(steps: Any) -> Any:
    """The identity of steps; where one has no source, a text that no other process has."""
    try:
        return identity(steps)
    except Unsourced as error:
        _warn_unsourced(str(error))
        return _UNSOURCED


@cache
def _warn_unsourced(step: str) -> None:
    told = "its source cannot be read, so its answers are not cached; define it in a cell or a file"
    print(f"{step}: {told}", file=sys.stderr)


def endpoints(steps: Any, lab: Lab) -> dict[str, Any]:
    """The address or version of each model, with the parameters that the experiment sets for it and for roles."""
    found: dict[str, Any] = {}
    roles = {name: lab.parameters[name] for name in ROLES if lab.parameters.get(name)}
    for model in sorted(model_names(steps)):
        parameters = [part for part in (lab.parameters.get(model), roles) if part]
        endpoint = lab.client.endpoint(model)
        found[model] = [endpoint, *parameters] if parameters else endpoint
    return found


def model_names(value: Any) -> set[str]:
    """The names of the models that a system or a step calls."""
    if isinstance(value, (list, tuple)):
        return {model for part in value for model in model_names(part)}
    if isinstance(value, partial):
        named = value.keywords
    elif is_dataclass(value) and not isinstance(value, type):
        named = {f.name: getattr(value, f.name) for f in fields(value)}
    else:
        return set()
    model = named.get("model")
    return model_names(list(named.values())) | ({model} if isinstance(model, str) else set())


@cache
def code_hash() -> str:
    """A hash of all code and prompts that a system's steps can reach."""
    return folder_hash(Path(__file__).parents[1], _UNREACHABLE)


def prompts_hash(folder: Path | None) -> str:
    """A hash of the texts in a folder of prompts; "" without one."""
    return folder_hash(folder) if folder else ""


@cache
def _schema_hash(schema: Any) -> str:
    return content_hash("schema", repr(schema))


def cached_records(store: Store, keys: Mapping[str, QuestionKeys]) -> dict[str, QuestionRecords]:
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


def write_record(store: Store, table: str, key: str, question: str, record: Record, *more: str) -> None:  # fmt: skip
    """Cache a record, unless its key has one already."""
    row = (key, question, *more, zlib.compress(canonical(record), 1))
    with store.write(durable=False) as database:
        database.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def _executed_trials(record: Record, question: Question, lab: Lab) -> tuple[Trial, ...]:
    """The trials of a record, with executions that the cache has or that are run now."""
    every = list(record["trials"])
    for one in every:  # and what each was repaired from, which is added meanwhile
        every += filter(None, [one["repaired_from"]])
    queries = list({one["sql"] for one in every} - {""})
    results = dict(zip(queries, lab.run_many(question, queries), strict=True))

    def made(one: Record) -> Trial:
        own = {name: one[name] for name in ("sql", "generator", "sample", "reasoning", "problem")}
        candidate, earlier = Candidate(**own, call_keys=tuple(one["call_keys"])), one["repaired_from"]  # fmt: skip
        return Trial(candidate, results.get(one["sql"]), earlier and made(earlier))

    return tuple(map(made, record["trials"]))


def _trial_record(trial: Trial) -> dict[str, Any]:
    """The trial and the trials that it was repaired from, each with status and fingerprint instead of rows."""
    execution = trial.execution or Execution("error", error="never run")
    result = {"status": execution.status, "fingerprint": execution.fingerprint}
    earlier = trial.repaired_from and _trial_record(trial.repaired_from)
    return asdict(trial.candidate) | result | {"repaired_from": earlier}


def _cost(now: Tally, before: Tally, more: Mapping[str, float] | None = None) -> dict[str, float]:
    """The calls, tokens and dollars between two states of a question's tally, paid or cached, plus `more`."""
    end, start = _paid_and_cached(now), _paid_and_cached(before)
    return {name: end[name] - start[name] + (more or {}).get(name, 0) for name in end}


def _paid_and_cached(tally: Tally) -> dict[str, float]:
    return {
        "calls": tally.calls + tally.hits,
        "input_tokens": tally.input_tokens,
        "output_tokens": tally.output_tokens,
        "dollars": tally.cost + tally.cached_cost,
        "unpriced": tally.unpriced + tally.cached_unpriced,
    }
