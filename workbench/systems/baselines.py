"""The baseline row of every table: one zero-shot call with question, hint and the whole schema.

BIRD's prompt with chain of thought (CHASE-SQL, table 4; CHESS, table 6) or without it (MAC-SQL, table 1).
Nothing is looked up, pruned or mended.
"""

from workbench.generate.direct import Direct
from workbench.retrieve.retrieval import Retrieval
from workbench.select.majority import Majority
from workbench.systems.system import System

WHOLE_SCHEMA = Retrieval(keywords=None, index=None, descriptions=None)
"""Looks nothing up: the schema with all its descriptions and example values is the context."""


def direct(
    model: str = "embedded/parser", *, think: bool = True, temperature: float = 0.0
) -> System:
    """One query, with reasoning before it or, without `think`, at once."""
    return System(
        name="zero-shot, chain of thought" if think else "zero-shot",
        retrieve=WHOLE_SCHEMA,
        prune=(),
        generate=(Direct(model, temperature, think=think),),
        fix=(),
        select=Majority(),
    )
