"""Query plan (CHASE-SQL, section 2.3, figures 19 and 20): reason as the database engine executes.

The model writes the plan before the query: which tables to open, how to match, filter and count their
rows, and what to return. The method is strong where the relations between tables matter.

Departs from the paper in its worked plans, which are our own.
"""

from dataclasses import dataclass

from workbench.errors import one_of
from workbench.generate.prompt_generator import PromptGenerator


@dataclass(frozen=True, slots=True)
class QueryPlan(PromptGenerator):
    """The generator that the paper abbreviates as QP. `shots` is how many of its four worked plans are shown."""

    prompt = "generate/query_plan"
    shown = ("shots",)
    shuffle: bool = False
    shots: int = 4

    def __post_init__(self) -> None:
        PromptGenerator.__post_init__(self)
        one_of(range(5), shots=self.shots)
