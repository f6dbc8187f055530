"""Run a system on many questions; each question is solved by one process, and cached results are reused.

Several processes may share one run: each starts at a different question and locks the question that it solves. A
question that another process has locked is skipped until its result is cached. All systems use the same lock of a
question, since they share calls: two notebooks that start different systems at the same time make each call once.
Results with a failed call are not cached, so the next run makes the failed calls again.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from workbench.canonical import canonical, content_hash
from workbench.lab import Lab
from workbench.llm.budget import Tally
from workbench.llm.calls.locks import CallLocks
from workbench.llm.provider import is_ours
from workbench.parallel import each
from workbench.pool import record_of, trial_of
from workbench.study.result_cache import QuestionKeys, ResultKeys, keys, models, read, write
from workbench.systems.system import System, attempt, stages
from workbench.types import Comparison, Context, Execution, Question, Selection, Trial

_PAUSE = 0.2  # seconds before checking again the questions that other processes solve
_QUESTIONS = 1000  # questions that are solved at once; each needs a thread
_CONTEXTS = 2000  # prepared questions that are cached in memory
_CHOICE = ("chosen", "selector", "scores", "comparisons", "call_keys")  # fields of a selection

Record = Mapping[str, Any]
Watch = Callable[[int, int, Tally], None]


@dataclass(frozen=True, slots=True)
class QuestionRecords:
    """The records of a question: its candidates and its selection."""

    key: str  # of the selection's record; "" if it is not cached, as after a failed call
    attempt: Record
    selection: Record


ClusterSolver = Callable[
    [System, ResultKeys, Sequence[Question], Lab, Callable[[], object]],
    Iterator[dict[str, QuestionRecords]],
]


def solve_all(
    system: System,
    questions: Sequence[Question],
    lab: Lab,
    watch: Watch | None = None,
    cluster_solver: ClusterSolver | None = None,
) -> dict[str, QuestionRecords]:
    """The records of each question, by its id.

    `watch` is called with the number of questions done, the number of all, and the tally of calls.
    `cluster_solver` solves the questions that are not cached, on a cluster instead of in threads of this process.
    """
    store = lab.client.store
    result_keys = keys(system, lab)
    wanted = result_keys.of_all(questions, lab)
    found = look(store, wanted)
    open_ = [question for question in questions if question.id not in found]
    locks = CallLocks(store)
    # Models in this process only compute and never wait, so more threads would not help.
    ours = all(map(is_ours, models(system)))
    lab = replace(lab, at_once=not ours)

    def report(*_: int) -> None:
        if watch:
            watch(len(found), len(questions), lab.client.ledger.total())

    def solve(question: Question) -> None:
        if kept := solve_once(system, result_keys, lab, locks, question):
            found[question.id] = kept

    report()
    while open_:
        before = len(found)
        start = os.getpid() * 7919 % len(open_)  # far from where another process begins
        turned = open_[start:] + open_[:start]
        if cluster_solver:
            for kept in cluster_solver(system, result_keys, turned, lab, report):
                found |= kept
        else:
            each(
                solve,
                turned,
                at_once=2 if ours else _QUESTIONS,
                room=None if ours else lambda: lab.client.room,
                progress=report,
                ending=lab.client.stopped,
            )
        open_ = [question for question in open_ if question.id not in found]
        if len(found) == before:
            time.sleep(_PAUSE)
    return {question.id: found[question.id] for question in questions}


def selection_of(kept: QuestionRecords, question: Question, lab: Lab) -> Selection:
    """The selection that a question's records describe, with every execution read from the cache."""
    choice = kept.selection
    return Selection(
        question.id,
        _trials(kept.attempt, question, lab),
        choice["chosen"],
        choice["selector"],
        tuple(choice["scores"]),
        tuple(Comparison(**one) for one in choice["comparisons"]),
        tuple(choice["call_keys"]),
    )


def _trials(attempt: Record, question: Question, lab: Lab) -> tuple[Trial, ...]:
    """The trials of a record with their executions."""
    trials = [trial_of(record) for record in attempt["trials"]]
    queries = list({tried.candidate.sql for trial in trials for tried in trial.history})
    by_sql = dict(zip(queries, lab.run_many(question, queries), strict=True))

    def executed(trial: Trial) -> Trial:
        before = trial.repaired_from
        execution = by_sql[trial.candidate.sql]
        return Trial(trial.candidate, execution, executed(before) if before else None)

    return tuple(map(executed, trials))


def look(store: Any, wanted: Mapping[str, QuestionKeys]) -> dict[str, QuestionRecords]:
    """The cached records of questions; `wanted` has their keys by the question's id."""
    selections = read(store, "selections", [key.selection for key in wanted.values()])
    selected = {name: key for name, key in wanted.items() if key.selection in selections}
    attempts = read(store, "attempts", [key.attempt for key in selected.values()])
    return {
        name: QuestionRecords(key.selection, attempts[key.attempt], selections[key.selection])
        for name, key in selected.items()
        if key.attempt in attempts
    }


def solve_once(
    system: System, result_keys: ResultKeys, lab: Lab, locks: CallLocks, question: Question
) -> QuestionRecords | None:
    """The question's records; None while another process solves it."""
    store = lab.client.store
    wanted = result_keys.of(question, lab)
    lock = lock_name(question)
    if not locks.acquire(lock):
        return None
    try:
        if found := look(store, {question.id: wanted}):
            return found[question.id]
        ledger = lab.client.ledger
        faults = sum(ledger.failed.values())
        prepared = prepare_once(system, wanted, question, lab)
        context = prepared.contexts[-1]
        start = ledger.of(question.id)
        record: Record | None = read(store, "attempts", [wanted.attempt]).get(wanted.attempt)
        if record is None:
            trials = attempt(system, context, lab)
            cost = _cost(ledger.of(question.id), start, prepared.cost)
            record = _plain({"trials": [_trial_record(t) for t in trials], "cost": cost})
            if result_keys.keeps_attempts and sum(ledger.failed.values()) == faults:
                write(store, "attempts", wanted.attempt, question.id, record)
        else:
            trials = _trials(record, question, lab)
        before = ledger.of(question.id)
        selection = system.select(lab, context, trials)
        about = {name: getattr(selection, name) for name in _CHOICE}
        choice = _plain(about | {"cost": _cost(ledger.of(question.id), before)})
        if not result_keys.keeps_selections or sum(ledger.failed.values()) > faults:
            return QuestionRecords("", record, choice)
        write(store, "selections", wanted.selection, question.id, choice, wanted.attempt)
        return QuestionRecords(wanted.selection, record, choice)
    finally:
        locks.release(lock)


def lock_name(question: Question) -> str:
    """The name of a question's lock."""
    return content_hash("question", question)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question's context after retrieval and after each step of pruning, and the cost of the calls so far."""

    contexts: tuple[Context, ...]
    cost: Mapping[str, float]


_prepared: OrderedDict[str, Prepared] = OrderedDict()


def prepare_once(system: System, wanted: QuestionKeys, question: Question, lab: Lab) -> Prepared:
    """Retrieve and prune once in this process for all systems with the same steps of retrieval and pruning."""
    # The key includes the cache's path, since a worker has a cache for each driver and its calls are cached there.
    key = f"{lab.client.store.path} {wanted.context}"
    if known := _prepared.get(key):
        return known
    ledger = lab.client.ledger
    faults, before = sum(ledger.failed.values()), ledger.of(question.id)
    contexts = tuple(stages(system, question, lab))
    fresh = Prepared(contexts, _cost(ledger.of(question.id), before))
    if sum(ledger.failed.values()) == faults and not lab.watch:
        _prepared[key] = fresh
        if len(_prepared) > _CONTEXTS:
            _prepared.popitem(last=False)
    return fresh


def _plain(record: Record) -> Record:
    """The record as it is read back from the cache."""
    read_back: Record = orjson.loads(canonical(record))
    return read_back


def _trial_record(trial: Trial) -> dict[str, Any]:
    """The trial and the trials that it was repaired from, each with status and fingerprint instead of rows."""
    record = record_of(trial)
    part: dict[str, Any] | None = record
    step: Trial | None = trial
    while step and part:
        ran = step.execution or Execution("error", error="never run")
        part |= {"status": ran.status, "fingerprint": ran.fingerprint}
        step, part = step.repaired_from, part["repaired_from"]
    return record


def _cost(now: Tally, before: Tally, more: Mapping[str, float] | None = None) -> dict[str, float]:
    """The calls, tokens and dollars between two states of a question's tally, paid or cached, plus `more`."""
    end, begin = _needed(now), _needed(before)
    return {name: end[name] - begin[name] + (more or {}).get(name, 0) for name in end}


def _needed(tally: Tally) -> dict[str, float]:
    return {
        "calls": tally.calls + tally.hits,
        "input_tokens": tally.input_tokens + tally.cached_input_tokens,
        "output_tokens": tally.output_tokens + tally.cached_output_tokens,
        "dollars": tally.cost + tally.cached_cost,
        "unpriced": tally.unpriced + tally.cached_unpriced,
    }
