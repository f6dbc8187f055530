"""Departures from the papers that save calls and tokens; the papers' experiments use none of them.

- columns: a call of filter_column asks about `group` columns, of a cheap model where one is given;
- results: the pairwise judge compares one query for each result: 17 calls in place of 247 for 21
  candidates in five groups;
- seeds: a shuffled order belongs to a database, so all its questions send the same beginnings,
  which providers cache;
- marks: Anthropic's models are told where that beginning ends (others find it by themselves).

The prompts themselves put what is common first: task, worked examples, schema, and then what
belongs to a question.
"""

from dataclasses import replace
from typing import Any

from workbench.errors import at_least
from workbench.systems.chase_sql import Pairwise
from workbench.systems.generate import Generate
from workbench.systems.prune import FilterColumns
from workbench.systems.system import System, rebuilt


def cheaper(system: System, filtering: str = "", *, group: int = 24) -> System:
    """Return the system with fewer calls, and with prompts of which providers cache more.

    filtering: a cheap model that selects columns, by default the system's own.
    group: how many columns a call asks it about.

    >>> wb.cheaper(wb.chase_sql()).select.by
    'result'
    """
    at_least(1, group=group)

    def changed(step: Any) -> Any:
        if isinstance(step, FilterColumns):
            return replace(step, model=filtering or step.model, group=group)
        if isinstance(step, Pairwise):
            return replace(step, by="result")
        if isinstance(step, Generate):
            return replace(step, seeds="database", marked=True)
        return step

    return rebuilt(system, changed)
