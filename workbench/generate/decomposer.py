"""MAC-SQL's Decomposer (section 3.3, appendix A.2): sub-questions of growing difficulty, a query for each.

The last sub-question is the question itself, and its query the answer; a question that a simple query
answers is its only sub-question. The chain stands in the candidate's reasoning.
"""

from dataclasses import dataclass

from workbench.db.schema_text import mac_sql_text
from workbench.errors import BadInputError, at_least
from workbench.generate.candidates import propose
from workbench.lab import Lab
from workbench.types import Candidate, Context


@dataclass(frozen=True, slots=True)
class Decomposer:
    """The core agent of MAC-SQL; `shots` worked examples, as in its table 4."""

    model: str
    temperature: float = 0.1
    samples: int = 1
    shots: int = 2

    def __post_init__(self) -> None:
        at_least(1, samples=self.samples)
        if self.shots not in {0, 1, 2}:
            raise BadInputError(
                f"shots is {self.shots}: the Decomposer has 0, 1 or 2 worked examples"
            )

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        return propose(
            lab,
            context,
            "generate/decomposer",
            self.model,
            self.temperature,
            self.samples,
            schema_text=mac_sql_text,
            shots=self.shots,
        )
