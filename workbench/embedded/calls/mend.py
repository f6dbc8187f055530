"""Mending a query that failed or found nothing: the likeliest one that none of the attempts rules out.

An answer with rows is left as it is. Where a query found nothing, one that reads the same tables and keeps
no more of their rows would find nothing either.
"""

from workbench.db.sql.normal_form import normal_form
from workbench.embedded.calls.generate import reply
from workbench.embedded.chance import draw
from workbench.embedded.elements import closeness, elements, failed
from workbench.embedded.memory import hypotheses
from workbench.embedded.messages import Asked

_CLOSE = 2.0  # what doing all that the failed query does is worth: its author had reasons


def mend(asked: Asked, temperature: float, seed: str) -> str:
    """A query in place of the last attempt, in the form that the prompt asks for."""
    tried, result = asked.attempts[-1]
    if not failed(result):
        return reply(asked, tried, "The query ran and gave rows; it stays as it is.")
    same = {normal_form(sql) for sql, _ in asked.attempts}
    empty = [_keeps(sql) for sql, said in asked.attempts if said.startswith("No rows")]
    fit = [
        hypothesis
        for hypothesis in hypotheses(asked.context)
        if normal_form(hypothesis.sql) not in same
        and not any(kept and kept <= elements(hypothesis.sql) for kept in empty)
    ]
    if not fit:
        return reply(asked, tried, "Nothing better fits the question and the schema.")
    worth = [h.score + _CLOSE * closeness(h.sql, tried) for h in fit]
    told = result.splitlines()[0]
    return reply(asked, fit[draw(worth, temperature, seed)].sql, f"The database said: {told}")


def _keeps(sql: str) -> set[str]:
    """Which rows a query is about: its tables and the conditions on their rows."""
    return {text for text in elements(sql) if text.startswith(("reads", "keeps only rows"))}
