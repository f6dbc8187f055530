"""Systems of one call, without retrieval, pruning and fixing.

`zero_shot` is the baseline of the papers' tables: BIRD's prompt with chain of thought (CHASE-SQL, table 4; CHESS,
table 6) or without it (MAC-SQL, table 1). `direct` is our own prompt in its place, with rules, descriptions and
example values: the difference in accuracy between both is the effect of the prompt alone.
"""

from workbench.generate.direct import Direct
from workbench.generate.zero_shot import ZeroShot
from workbench.retrieve.retrieval import Retrieval
from workbench.select.majority import Majority
from workbench.systems.system import System

WHOLE_SCHEMA = Retrieval(keywords=None, index=None, descriptions=None)
"""Retrieves nothing: the context is the schema with all its descriptions and example values."""


def zero_shot(
    model: str = "embedded/parser", *, think: bool = True, temperature: float = 0.0
) -> System:
    """The papers' baseline, BIRD's zero-shot prompt; `think` asks for chain of thought."""
    return _one_call("zero-shot", ZeroShot(model, temperature, think=think))


def direct(
    model: str = "embedded/parser", *, think: bool = True, temperature: float = 0.0
) -> System:
    """One call with our own prompt; `think` asks for chain of thought."""
    return _one_call("direct", Direct(model, temperature, think=think))


def _one_call(prompt: str, generator: Direct | ZeroShot) -> System:
    name = f"{prompt}, chain of thought" if generator.think else prompt
    return System(name, WHOLE_SCHEMA, (), (generator,), (), Majority())
