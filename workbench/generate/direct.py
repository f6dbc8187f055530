"""One query from question, hint, schema and values: the baseline that other generators are measured by.

Follows the zero-shot prompt of BIRD, with or without chain of thought, as CHASE-SQL (table 4) and MAC-SQL
(table 1) run it. Departs from it in showing retrieved values and stating the rules of the benchmark.
"""

from dataclasses import dataclass

from workbench.errors import at_least
from workbench.generate.candidates import propose
from workbench.lab import Lab
from workbench.types import Candidate, Context


@dataclass(frozen=True, slots=True)
class Direct:
    """Asks for the query at once, or with `think` for reasoning before it."""

    model: str
    temperature: float = 0.0
    samples: int = 1
    think: bool = True
    shuffle: bool = False

    def __post_init__(self) -> None:
        at_least(1, samples=self.samples)

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        return propose(
            lab,
            context,
            "generate/direct",
            self.model,
            self.temperature,
            self.samples,
            shuffle=self.shuffle,
            think=self.think,
        )
