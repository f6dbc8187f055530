"""The loop that CHESS's Reviser and MAC-SQL's Refiner share: ask for a repair, run it, keep the best query."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workbench.db.sql.normal_form import normal_form
from workbench.db.text.context_text import result_text
from workbench.db.text.schema_text import create_table_text
from workbench.lab import Lab, Step
from workbench.replies.sql import read_sql
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
    schema_text: Callable[[Schema], str] = create_table_text,
    describe: Callable[[Execution], str] = result_text,
) -> Trial:
    """The best query after up to `tries` repairs, with all of them in its history.

    The loop ends when a query's result is not suspect, or when the model returns the query unchanged. With
    `sound`, the model is also asked about queries whose result is not. `describe` writes the result for the
    prompt.
    """
    for _ in range(tries):
        execution = trial.execution or _NOT_RUN
        if not execution.is_suspect(suspect) and not sound:
            break
        result = describe(execution)
        candidate = ask_repair(
            lab, context, trial, step, prompt, schema_text=schema_text, result=result
        )
        if not candidate or normal_form(candidate.sql) == normal_form(trial.candidate.sql):
            break
        trial = Trial(candidate, lab.run(context.question, candidate.sql), trial)
    return _best(trial, suspect)


def ask_repair(
    lab: Lab, context: Context, trial: Trial, step: Step, prompt: str, **data: Any
) -> Candidate | None:
    """The candidate that the model writes in place of the trial's; None if the reply holds no SQL.

    At temperature 0 equal queries share one call: the number of their sample is not part of it.
    """
    last = trial.candidate
    sample = last.sample if step.temperature else 0
    reply = lab.ask(step, prompt, context, sample, query=last.sql, **data)
    sql = read_sql(reply.text).sql
    keys = (*last.call_keys, reply.key)
    return Candidate(sql, last.generator, last.sample, reply.text, keys) if sql else None


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
