"""The baseline of the papers' tables: one zero-shot call with question, hint and the whole schema.

BIRD's prompt with chain of thought (CHASE-SQL, table 4; CHESS, table 6) or without it (MAC-SQL, table 1).
There is no retrieval, no pruning and no fixing.
"""

from workbench.generate.direct import Direct
from workbench.retrieve.retrieval import Retrieval
from workbench.select.majority import Majority
from workbench.systems.system import System

WHOLE_SCHEMA = Retrieval(keywords=None, index=None, descriptions=None)
"""Retrieves nothing: the context is the schema with all its descriptions and example values."""


def direct(
    model: str = "embedded/parser", *, think: bool = True, temperature: float = 0.0
) -> System:
    """The baseline system; `think` asks for chain of thought."""
    return System(
        name="zero-shot, chain of thought" if think else "zero-shot",
        retrieve=WHOLE_SCHEMA,
        prune=(),
        generate=(Direct(model, temperature, think=think),),
        fix=(),
        select=Majority(),
    )
