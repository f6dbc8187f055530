"""Divide and conquer (CHASE-SQL, section 2.3, algorithm 1, figure 17): sub-questions first, then one query.

One call decomposes the question recursively, with pseudo-SQL for what is not yet solved, assembles the
partial queries from the inside out, and simplifies the whole. Strong where queries nest. Departs in its
worked examples, which are our own.
"""

from dataclasses import dataclass

from workbench.errors import at_least
from workbench.generate.candidates import propose
from workbench.lab import Lab
from workbench.types import Candidate, Context


@dataclass(frozen=True, slots=True)
class DivideAndConquer:
    """The generator that the paper calls DC."""

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
            "generate/divide_and_conquer",
            self.model,
            self.temperature,
            self.samples,
            shuffle=self.shuffle,
        )
