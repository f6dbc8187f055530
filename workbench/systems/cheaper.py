"""Departures from the papers that save calls and tokens; the papers' experiments use none of them.

`parts` chooses single departures; tests/benchmarks/README.md has the savings and the accuracy of each:

- columns: a call of filter_column asks about a group of columns, of a cheap model where one is given;
- examples: the samples of synthetic examples show schema and examples in one order, where CHASE-SQL's paper
  shuffles for each. The examples are a question's own and half of the prompt, so a provider then reads all of it from
  its cache for every sample but the first;
- descriptions: none are retrieved for prompts whose schema has them all in its comments anyway. The paper of CHASE-SQL
  does not retrieve them either (section 2.2). They differ from question to question, so no provider can cache them.

The prompts in an order that providers cache are a folder: `Lab(prompts=CACHEABLE)`.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from workbench.errors import one_of
from workbench.generate.synthetic_examples import SyntheticExamples
from workbench.prune.filter_columns import FilterColumns
from workbench.retrieve.retrieval import Retrieval
from workbench.systems.system import System

PARTS = ("columns", "examples", "descriptions")


def cheaper(
    system: System, filtering: str = "", *, group: int = 12, parts: Collection[str] = PARTS
) -> System:
    """The system with fewer calls, and with prompts of which providers can cache more.

    `filtering` is a cheap model that selects columns, by default the system's own; a call asks it about `group` of
    them. `parts` are the departures to make.
    """
    for part in parts:
        one_of(PARTS, part=part)

    def changed(step: Any) -> Any:
        if isinstance(step, SyntheticExamples):
            step = replace(step, columns=changed(step.columns))
            return replace(step, shuffle=False) if "examples" in parts else step
        if isinstance(step, FilterColumns) and "columns" in parts:
            return replace(step, model=filtering or step.model, group=group)
        if isinstance(step, Retrieval) and "descriptions" in parts:
            return replace(step, descriptions=None)
        return step

    generate: Any = tuple(changed(step) for step in system.generate)
    prune = tuple(changed(step) for step in system.prune)
    return replace(system, retrieve=changed(system.retrieve), prune=prune, generate=generate)
