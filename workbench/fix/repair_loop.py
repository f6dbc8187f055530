"""The loop that CHESS's Reviser and MAC-SQL's Refiner share: ask for a repair, run it, keep the best query."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from workbench.lab import Lab, Step
from workbench.replies.sql import read_sql
from workbench.sql.context_text import result_text
from workbench.sql.reading import normal_form
from workbench.sql.schema_text import create_table_text
from workbench.types import Candidate, Context, Execution, Schema, Suspect, Trial

_NOT_RUN = Execution("error", error="not run")


def repair_loop(
    lab: Lab,
    context: Context,
    trial: Trial,
    step: Step,
    prompt: str,
    tries: int,
    *,
    suspect: Suspect,
    sound: bool = False,
    samples: int = 1,
    schema_text: Callable[[Schema], str] = create_table_text,
    describe: Callable[[Execution], str] = result_text,
) -> Trial:
    """The best query after up to `tries` repairs, with all of them in its history.

    The loop ends when a query's result is not suspect, or when the model returns the query unchanged. With `sound`,
    the model also reviews queries whose result is not suspect. If there are several `samples` of a repair, the first
    one with the most frequent result is taken. `describe` writes the result for the prompt.
    """
    for _ in range(tries):
        execution = trial.execution or _NOT_RUN
        if not execution.is_suspect(suspect) and not sound:
            break
        result = describe(execution)
        repairs = ask_repairs(
            lab, context, trial, step, prompt, samples, schema_text=schema_text, result=result
        )
        repair = _most_frequent(
            [Trial(c, lab.run(context.question, c.sql), trial) for c in repairs]
        )
        if not repair or normal_form(repair.candidate.sql) == normal_form(trial.candidate.sql):
            break
        trial = repair
    return _best(trial, suspect)


def ask_repairs(
    lab: Lab, context: Context, trial: Trial, step: Step, prompt: str, samples: int = 1, **data: Any
) -> list[Candidate]:
    """The candidates that the model writes in place of the trial's; replies without SQL are left out.

    Each candidate has the keys of all calls. At temperature 0 equal queries share one call: the number of their
    sample is not part of it.
    """
    last = trial.candidate
    # A call's key contains the sample's number: with separate ranges of numbers, equal queries of two samples are
    # repaired independently.
    first = last.sample * samples if step.temperature else 0
    asked = [
        lab.request(step, prompt, context, sample, query=last.sql, **data)
        for sample in range(first, first + samples)
    ]
    replies = lab.ask_many(asked)
    keys = (*last.call_keys, *(reply.key for reply in replies))
    found = [(reply.text, read_sql(reply.text).sql) for reply in replies]
    return [Candidate(sql, last.generator, last.sample, text, keys) for text, sql in found if sql]


def _most_frequent(repairs: Sequence[Trial]) -> Trial | None:
    """Self-consistency: the first repair with the most frequent result, or the first repair if all fail."""
    results = [trial.execution.fingerprint if trial.execution else "" for trial in repairs]
    votes = Counter(filter(None, results))
    if not votes:
        return repairs[0] if repairs else None
    return repairs[results.index(votes.most_common(1)[0][0])]


def _best(trial: Trial, suspect: Suspect) -> Trial:
    """The trial, or one more trial that goes back to an earlier query with a better result.

    A query whose result is not suspect is better than others, and one that ran is better than a failed one.
    Of equally good queries the later is kept.
    """

    def rank(tried: Trial) -> tuple[bool, bool]:
        execution = tried.execution or _NOT_RUN
        return execution.is_suspect(suspect), execution.is_suspect("failed")

    chosen = min(reversed(trial.history), key=rank)
    if chosen is trial:
        return trial
    candidate = replace(chosen.candidate, call_keys=trial.candidate.call_keys)
    return Trial(candidate, chosen.execution, trial)
