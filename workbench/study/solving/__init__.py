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
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson

from workbench.canonical import canonical, content_hash
from workbench.lab import Lab
from workbench.llm.keys import runs_here
from workbench.llm.locks import Locks
from workbench.llm.money import Tally
from workbench.study import result_cache
from workbench.study.result_cache import QuestionKeys, ResultKeys, model_names, system_keys
from workbench.systems.system import System, select, stages, trials_of
from workbench.types import Candidate, Comparison, Context, Execution, Question, Selection, Trial

_PAUSE_SECONDS = 0.2  # before checking again the questions that other processes solve
_MOST_CONTEXTS = 2000  # of prepared questions, cached in memory
_SELECTION_FIELDS = ("chosen", "selector", "scores", "comparisons", "call_keys")

Record = Mapping[str, Any]
ProgressReport = Callable[[int, int, Tally], None]


@dataclass(frozen=True, slots=True)
class QuestionRecords:
    """The records of a question: its candidates and its selection."""

    key: str  # the key of the selection's record; "" if it is not cached, as after a failed call
    candidates: Record
    selection: Record


ClusterSolver = Callable[
    [System, ResultKeys, Sequence[Question], Lab], Iterator[tuple[str, QuestionRecords]]
]


def solve_all(
    system: System,
    questions: Sequence[Question],
    lab: Lab,
    progress: ProgressReport | None = None,
    cluster_solver: ClusterSolver | None = None,
) -> dict[str, QuestionRecords]:
    """The records of each question, by its id.

    `progress` is called with the number of questions done, the number of all, and the tally of calls.
    `cluster_solver` solves the questions that are not cached, on a cluster instead of in threads of this process.
    """
    store = lab.client.cache
    result_keys = system_keys(system, lab)
    keys = result_keys.of_questions(questions, lab)
    records = cached_records(store, keys)
    unsolved = [question for question in questions if question.id not in records]
    locks = Locks(store.path)
    # Models in this process only compute and never wait, so more threads would not help.
    in_process = all(map(runs_here, model_names(system)))
    lab = replace(lab, at_once=not in_process)

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
        if cluster_solver:
            for id_, solved in cluster_solver(system, result_keys, rotated, lab):
                records[id_] = solved
                report()
        else:
            lab.each(solve, rotated, 2 if in_process else lab.client.at_once, report)
        unsolved = [question for question in unsolved if question.id not in records]
        if len(records) == solved_before:
            time.sleep(_PAUSE_SECONDS)
    return {question.id: records[question.id] for question in questions}


def selection_of(records: QuestionRecords, question: Question, lab: Lab) -> Selection:
    """The selection that a question's records describe, with every execution read from the cache."""
    selection = records.selection
    trials = _executed_trials(records.candidates, question, lab)
    comparisons = tuple(Comparison(**one) for one in selection["comparisons"])
    chosen, selector = selection["chosen"], selection["selector"]
    scores, keys = tuple(selection["scores"]), tuple(selection["call_keys"])
    return Selection(question.id, trials, chosen, selector, scores, comparisons, keys)


def _executed_trials(record: Record, question: Question, lab: Lab) -> tuple[Trial, ...]:
    """The trials of a record, with executions that the cache has or that are run now."""
    trials = [_trial_of(one) for one in record["trials"]]
    queries = list({one.candidate.sql for trial in trials for one in trial.history} - {""})
    by_sql = dict(zip(queries, lab.run_many(question, queries), strict=True))

    def executed(trial: Trial) -> Trial:
        earlier = trial.repaired_from
        execution = by_sql.get(trial.candidate.sql)
        return Trial(trial.candidate, execution, executed(earlier) if earlier else None)

    return tuple(map(executed, trials))


def cached_records(store: Any, keys: Mapping[str, QuestionKeys]) -> dict[str, QuestionRecords]:
    """The cached records of questions; `keys` has their keys by the question's id."""
    selections = result_cache.read(store, "selections", [key.selection for key in keys.values()])
    selected = {id_: key for id_, key in keys.items() if key.selection in selections}
    attempts = result_cache.read(store, "attempts", [key.candidates for key in selected.values()])
    return {
        id_: QuestionRecords(key.selection, attempts[key.candidates], selections[key.selection])
        for id_, key in selected.items()
        if key.candidates in attempts
    }


def solve_once(
    system: System, result_keys: ResultKeys, lab: Lab, locks: Locks, question: Question
) -> QuestionRecords | None:
    """The question's records; None while another process solves it."""
    store = lab.client.cache
    keys = result_keys.of_question(question, lab)
    lock = lock_name(question)
    if not locks.acquire(lock):
        return None
    try:
        if cached := cached_records(store, {question.id: keys}):
            return cached[question.id]
        ledger = lab.client.ledger
        failed_before = sum(ledger.failed.values())
        prepared = prepare_once(system, keys, question, lab)
        context = prepared.contexts[-1]
        tally_before = ledger.of(question.id)
        attempts = result_cache.read(store, "attempts", [keys.candidates])
        if (record := attempts.get(keys.candidates)) is None:
            trials = trials_of(system, context, lab)
            cost = _cost(ledger.of(question.id), tally_before, prepared.cost)
            record = _as_read_back({"trials": [_trial_record(t) for t in trials], "cost": cost})
            if result_keys.caches_candidates and sum(ledger.failed.values()) == failed_before:
                result_cache.write(store, "attempts", keys.candidates, question.id, record)
        else:
            trials = _executed_trials(record, question, lab)
        tally_before = ledger.of(question.id)
        selection = select(system, context, lab, trials)
        fields = {name: getattr(selection, name) for name in _SELECTION_FIELDS}
        fields["cost"] = _cost(ledger.of(question.id), tally_before)
        selected = _as_read_back(fields)
        if not result_keys.caches_selections or sum(ledger.failed.values()) > failed_before:
            return QuestionRecords("", record, selected)
        result_cache.write(
            store, "selections", keys.selection, question.id, selected, keys.candidates
        )
        return QuestionRecords(keys.selection, record, selected)
    finally:
        locks.release(lock)


def lock_name(question: Question) -> str:
    return content_hash("question", question)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question's context after retrieval and after each step of pruning, and the cost of the calls so far."""

    contexts: tuple[Context, ...]
    cost: Mapping[str, float]


_prepared: OrderedDict[str, Prepared] = OrderedDict()


def prepare_once(system: System, keys: QuestionKeys, question: Question, lab: Lab) -> Prepared:
    """Retrieve and prune once in this process for all systems with the same steps of retrieval and pruning."""
    # The key includes the cache's path, since a worker has a cache for each driver, where its calls are cached.
    key = f"{lab.client.cache.path} {keys.context}"
    if prepared := _prepared.get(key):
        return prepared
    ledger = lab.client.ledger
    failed_before, tally_before = sum(ledger.failed.values()), ledger.of(question.id)
    contexts = tuple(stages(system, question, lab))
    prepared = Prepared(contexts, _cost(ledger.of(question.id), tally_before))
    if sum(ledger.failed.values()) == failed_before and not lab.watch:
        _prepared[key] = prepared
        if len(_prepared) > _MOST_CONTEXTS:
            _prepared.popitem(last=False)
    return prepared


def _as_read_back(record: Record) -> Any:
    """The record as it is read back from the cache."""
    return orjson.loads(canonical(record))


def _trial_record(trial: Trial) -> dict[str, Any]:
    """The trial and the trials that it was repaired from, each with status and fingerprint instead of rows."""
    execution = trial.execution or Execution("error", error="never run")
    result = {"status": execution.status, "fingerprint": execution.fingerprint}
    earlier = trial.repaired_from and _trial_record(trial.repaired_from)
    return asdict(trial.candidate) | result | {"repaired_from": earlier}


def _trial_of(record: Record) -> Trial:
    """The trial of a record, without its execution."""
    fields = {name: record[name] for name in ("sql", "generator", "sample", "reasoning", "problem")}
    earlier = record["repaired_from"]
    candidate = Candidate(**fields, call_keys=tuple(record["call_keys"]))
    return Trial(candidate, repaired_from=_trial_of(earlier) if earlier else None)


def _cost(now: Tally, before: Tally, more: Mapping[str, float] | None = None) -> dict[str, float]:
    """The calls, tokens and dollars between two states of a question's tally, paid or cached, plus `more`."""
    end, start = _paid_and_cached(now), _paid_and_cached(before)
    return {name: end[name] - start[name] + (more or {}).get(name, 0) for name in end}


def _paid_and_cached(tally: Tally) -> dict[str, float]:
    return {
        "calls": tally.calls + tally.hits,
        "input_tokens": tally.input_tokens + tally.cached_input_tokens,
        "output_tokens": tally.output_tokens + tally.cached_output_tokens,
        "dollars": tally.cost + tally.cached_cost,
        "unpriced": tally.unpriced + tally.cached_unpriced,
    }
