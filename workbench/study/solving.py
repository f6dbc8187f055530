"""Take a system through many questions; what is kept already is not done again, here or elsewhere.

Processes that want the same run share it: each begins at another question and looks, before each one,
whether somebody has it by now. What ended with a fault of a model's server is not kept, so that running
again asks for it once more.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import orjson

from workbench.canonical import canonical
from workbench.lab import Lab
from workbench.llm.budget import Tally
from workbench.llm.client import Client
from workbench.llm.provider import is_ours
from workbench.parallel import each
from workbench.pool import record_of, trial_of
from workbench.study.kept import Keys, keys, models, read, write
from workbench.systems.system import System, attempt, prepare
from workbench.types import Comparison, Execution, Question, Selection, Trial

Record = Mapping[str, Any]
Watch = Callable[[int, int, Tally], None]


@dataclass(frozen=True, slots=True)
class Kept:
    """A question's two records and the key of the second."""

    key: str
    attempt: Record
    selection: Record


def solve_all(
    system: System, questions: Sequence[Question], lab: Lab, watch: Watch | None = None
) -> dict[str, Kept]:
    """What the system did with each question, by the question's id.

    `watch` is told how many are done, of how many, and what was asked and paid on the way.
    """
    store = lab.client.store
    made = keys(system, lab)
    wanted = {question.id: made.of(question, lab) for question in questions}
    found = _look(store, wanted)
    open_ = [question for question in questions if question.id not in found]
    if watch:
        watch(len(found), len(questions), lab.client.ledger.total())
    if open_:
        start = os.getpid() * 7919 % len(open_)  # far from where a neighbour begins
        local = all(map(is_ours, models(system)))
        fresh = each(
            partial(_solve, system, made, lab),
            open_[start:] + open_[:start],
            at_once=2 if local else 8,
            progress=partial(_told, watch, len(found), lab.client) if watch else None,
            ending=lab.client.stopped,
        )
        found |= dict(fresh)
    return {question.id: found[question.id] for question in questions}


def selection_of(kept: Kept, question: Question, lab: Lab) -> Selection:
    """The record as the selection that it tells of, with every execution from the lab book."""
    trials = [trial_of(record) for record in kept.attempt["trials"]]
    queries = {tried.candidate.sql for trial in trials for tried in trial.history}
    path = lab.database(question.db_id)
    ran = dict(
        zip(queries, lab.executor.execute_many([(path, sql) for sql in queries]), strict=True)
    )
    return Selection(
        question.id,
        tuple(_with(trial, ran) for trial in trials),
        **_choice(kept.selection),
    )


def _look(store: Any, wanted: Mapping[str, tuple[str, str]]) -> dict[str, Kept]:
    selections = read(store, "selections", [second for _, second in wanted.values()])
    here = {name: pair for name, pair in wanted.items() if pair[1] in selections}
    attempts = read(store, "attempts", [first for first, _ in here.values()])
    return {
        name: Kept(second, attempts[first], selections[second])
        for name, (first, second) in here.items()
        if first in attempts
    }


def _told(watch: Watch, before: int, client: Client, done: int, total: int) -> None:
    watch(before + done, before + total, client.ledger.total())


def _solve(system: System, made: Keys, lab: Lab, question: Question) -> tuple[str, Kept]:
    store = lab.client.store
    first, second = made.of(question, lab)
    if found := _look(store, {question.id: (first, second)}):
        return question.id, found[question.id]
    ledger = lab.client.ledger
    faults = sum(ledger.failed.values())
    context = prepare(system, question, lab)
    record: Record | None = read(store, "attempts", [first]).get(first)
    if record is None:
        trials = attempt(system, context, lab)
        record = _plain(
            {"trials": [_told_trial(t) for t in trials], "cost": _cost(ledger.of(question.id))}
        )
        if sum(ledger.failed.values()) == faults:
            write(store, "attempts", first, question.id, record)
    else:
        trials = selection_of(Kept("", record, _NOBODY), question, lab).trials
    before = ledger.of(question.id)
    selection = system.select(lab, context, trials)
    choice = _plain(_told_choice(selection) | {"cost": _cost(ledger.of(question.id), before)})
    if sum(ledger.failed.values()) == faults:
        write(store, "selections", second, question.id, choice, first)
    return question.id, Kept(second, record, choice)


def _plain(record: Record) -> Record:
    """The record as it comes back from the lab book."""
    read_back: Record = orjson.loads(canonical(record))
    return read_back


def _told_trial(trial: Trial) -> dict[str, Any]:
    """The trial with what became of it, and of what it was repaired from; rows stay in the lab book."""
    record = record_of(trial)
    place: dict[str, Any] | None = record
    step: Trial | None = trial
    while step and place:
        ran = step.execution or Execution("error", error="never run")
        place |= {"status": ran.status, "fingerprint": ran.fingerprint}
        step, place = step.repaired_from, place["repaired_from"]
    return record


def _told_choice(selection: Selection) -> dict[str, Any]:
    return {
        "chosen": selection.chosen,
        "selector": selection.selector,
        "scores": selection.scores,
        "comparisons": selection.comparisons,
        "call_keys": selection.call_keys,
    }


def _choice(record: Record) -> dict[str, Any]:
    return {
        "chosen": record["chosen"],
        "selector": record["selector"],
        "scores": tuple(record["scores"]),
        "comparisons": tuple(Comparison(**one) for one in record["comparisons"]),
        "call_keys": tuple(record["call_keys"]),
    }


_NOBODY: Record = {
    "chosen": None, "selector": "", "scores": (), "comparisons": (), "call_keys": (),
}  # fmt: skip


def _cost(now: Tally, before: Tally | None = None) -> dict[str, Any]:
    """What was needed between two states of a question's tally, whether paid or held."""

    def needed(tally: Tally | None) -> tuple[float, ...]:
        t = tally or Tally()
        return (
            t.calls + t.hits,
            t.input_tokens + t.held_input_tokens,
            t.output_tokens + t.held_output_tokens,
            t.cost + t.held_cost,
            t.unpriced + t.held_unpriced,
        )

    names = ("calls", "input_tokens", "output_tokens", "dollars", "unpriced")
    return {
        name: end - begin
        for name, end, begin in zip(names, needed(now), needed(before), strict=True)
    }


def _with(trial: Trial, ran: Mapping[str, Execution]) -> Trial:
    before = trial.repaired_from
    return replace(
        trial,
        execution=ran[trial.candidate.sql],
        repaired_from=_with(before, ran) if before else None,
    )
