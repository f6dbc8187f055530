"""A system with the departures from its paper that save calls and tokens.

With the order of prompts in `prompts/cacheable`, CHASE-SQL's 21 candidates then cost about a third of what its
literal prompts cost (tests/benchmarks/README.md). Nothing here is on in the papers' experiments.
"""

from dataclasses import replace
from typing import Any

from workbench.generate.synthetic_examples import SyntheticExamples
from workbench.prune.filter_columns import FilterColumns
from workbench.systems.system import System


def cheaper(system: System, filtering: str = "", *, group: int = 12) -> System:
    """The system with fewer calls, and with prompts of which providers can cache more.

    `filtering` is a cheap model that selects columns, by default the system's own; a call asks it about `group` of
    them. The samples of synthetic examples share one order: the examples are a question's own and half of the
    prompt, so a provider then reads all of it from its cache for every sample but the first.
    """
    generate: Any = [
        replace(step, shuffle=False, columns=_in_groups(step.columns, filtering, group))
        if isinstance(step, SyntheticExamples)
        else step
        for step in system.generate
    ]
    prune = tuple(_in_groups(step, filtering, group) for step in system.prune)
    return replace(system, prune=prune, generate=tuple(generate))


def _in_groups(step: Any, filtering: str, group: int) -> Any:
    if not isinstance(step, FilterColumns):
        return step
    return replace(step, model=filtering or step.model, group=group)
