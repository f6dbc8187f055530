"""What CHESS and MAC-SQL share in mending: ask for another query, run it, in the end keep the best."""

from collections.abc import Callable
from dataclasses import replace

from workbench.db.context_text import context_data, result_text
from workbench.db.schema_text import create_table_text
from workbench.db.sql.normal_form import normal_form
from workbench.db.sql.reply import extract_sql
from workbench.lab import Lab
from workbench.types import Candidate, Context, Execution, Schema, Trial

_NOT_RUN = Execution("error", error="not run")


def mended(
    lab: Lab,
    context: Context,
    trial: Trial,
    prompt: str,
    model: str,
    temperature: float,
    tries: int,
    *,
    sound: bool = False,
    schema_text: Callable[[Schema], str] = create_table_text,
    told: Callable[[Execution], str] = result_text,
) -> Trial:
    """The trial after up to `tries`, all in its history: until a query has rows or comes back as it was.

    A query that has rows is asked about only if `sound` queries are. At temperature 0 equal queries share
    a call, whichever samples they are.
    """
    for _ in range(tries):
        execution = trial.execution or _NOT_RUN
        if execution.status == "ok" and not sound:
            break
        last = trial.candidate
        answer = lab.client.complete(
            lab.request(
                prompt,
                model,
                context.question,
                {"temperature": temperature},
                last.sample if temperature else 0,
                query=last.sql,
                result=told(execution),
                **context_data(context, schema_text),
            )
        )
        sql = extract_sql(answer.text).sql
        if not sql or normal_form(sql) == normal_form(last.sql):
            break
        keys = (*last.call_keys, answer.key)
        candidate = Candidate(sql, last.generator, last.sample, answer.text, keys)
        trial = Trial(candidate, lab.run(context.question, sql), trial)
    return _best(trial)


def _best(trial: Trial) -> Trial:
    """The trial, or where an earlier query of its history did better, one more that goes back to it.

    A query with rows is better than one without, and that than one that failed; of equals the later.
    """
    chosen = min(reversed(trial.history), key=_rank)
    if chosen is trial:
        return trial
    candidate = replace(chosen.candidate, call_keys=trial.candidate.call_keys)
    return Trial(candidate, chosen.execution, trial)


def _rank(trial: Trial) -> int:
    status = trial.execution.status if trial.execution else ""
    return {"ok": 0, "empty": 1}.get(status, 2)
