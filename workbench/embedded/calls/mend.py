"""Mending a query that failed or found nothing: the likeliest query that no attempt rules out.

An answer with rows stays, unless they hold nothing but NULL. A query that reads the tables of one that found
nothing, and keeps no more of their rows, would find nothing either.
"""

from workbench.embedded.calls.chance import draw
from workbench.embedded.calls.elements import ALL_NULL, FAILED, closeness, elements
from workbench.embedded.calls.generate import reply
from workbench.embedded.parser import Hypothesis, hypotheses
from workbench.embedded.prompt.messages import Asked
from workbench.sql.reading import normal_form

_CLOSE = 2.0  # the bonus for doing all that the failed query does: most of it may be right
_UNLIKELY = 5.0  # so far below the likeliest, a query is hardly ever drawn at temperature 1


def mend(asked: Asked, temperature: float, seed: str) -> str:
    """A query in place of the last attempt, in the form that the prompt asks for."""
    tried, result = asked.attempts[-1]
    if not FAILED.match(result) and not ALL_NULL.fullmatch(result):
        return reply(asked, tried, "The query ran and gave rows; it stays as it is.")
    fit = _fit(asked, temperature)
    if not fit:
        return reply(asked, tried, "Nothing better fits the question and the schema.")
    worth = [h.score + _CLOSE * closeness(h.sql, tried) for h in fit]
    chosen = fit[draw(worth, temperature, seed)]
    return reply(asked, chosen.sql, f"The database said: {result.splitlines()[0]}")


def _fit(asked: Asked, temperature: float) -> list[Hypothesis]:
    """The hypotheses that no attempt rules out, without those that are too unlikely to be drawn."""
    same = {normal_form(sql) for sql, _ in asked.attempts}
    empty = [_rows_kept(sql) for sql, result in asked.attempts if result.startswith("No rows")]
    fit: list[Hypothesis] = []
    for hypothesis in hypotheses(asked.context):
        if fit and hypothesis.score < fit[0].score - _CLOSE - _UNLIKELY * temperature:
            break  # even as close to the failed query as can be
        if normal_form(hypothesis.sql) not in same and not any(
            kept and kept <= elements(hypothesis.sql) for kept in empty
        ):
            fit.append(hypothesis)
    return fit


def _rows_kept(sql: str) -> set[str]:
    """The elements that decide which rows a query is about: its tables and its conditions."""
    return {text for text in elements(sql) if text.startswith(("reads", "keeps only rows"))}
