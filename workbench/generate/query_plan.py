"""Query plan (CHASE-SQL, section 2.3, figures 19 and 20): reason as the database engine would.

The model first tells the plan of the query that it is going to write: which tables to find, how to match,
filter and count their rows, what to deliver. Strong where the relations between tables matter. The plans
that it is shown are made from EXPLAIN's output by `db.plan`, where the paper wrote them by hand.
"""

from dataclasses import dataclass

from workbench.errors import at_least
from workbench.generate.candidates import propose
from workbench.lab import Lab
from workbench.types import Candidate, Context


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The generator that the paper calls QP."""

    model: str
    temperature: float = 0.0
    samples: int = 1
    shuffle: bool = False

    def __post_init__(self) -> None:
        at_least(1, samples=self.samples)

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        return propose(
            lab,
            context,
            "generate/query_plan",
            self.model,
            self.temperature,
            self.samples,
            shuffle=self.shuffle,
        )
