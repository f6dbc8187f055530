"""CHESS's generate_candidate_query (section 3.1, figure 11): reason in steps, then write one query.

The schema that it shows is the one that is left: what the Schema Selector pruned is not in the prompt.
"""

from dataclasses import dataclass

from workbench.errors import at_least
from workbench.generate.candidates import propose
from workbench.lab import Lab
from workbench.types import Candidate, Context


@dataclass(frozen=True, slots=True)
class ChessCandidate:
    """The first tool of CHESS's Candidate Generator."""

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
            "generate/chess_candidate",
            self.model,
            self.temperature,
            self.samples,
            shuffle=self.shuffle,
        )
