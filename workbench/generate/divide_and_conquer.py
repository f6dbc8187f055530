"""Divide and conquer (CHASE-SQL, section 2.3, algorithm 1, figure 17): sub-questions first, then one query.

The model divides the question into sub-questions and writes pseudo-SQL for each (divide), writes the SQL of
each sub-question and assembles these partial queries (conquer), and removes what is redundant (combine).
One call does all three. The method is strong on nested queries.

Departs from the paper in its worked examples, which are our own.
"""

from dataclasses import dataclass

from workbench.errors import one_of
from workbench.generate.prompt_generator import PromptGenerator


@dataclass(frozen=True, slots=True)
class DivideAndConquer(PromptGenerator):
    """The generator that the paper abbreviates as DC. `shots` is how many of its four worked examples are shown."""

    prompt = "generate/divide_and_conquer"
    shown = ("shots",)
    shuffle: bool = False
    shots: int = 4

    def __post_init__(self) -> None:
        PromptGenerator.__post_init__(self)
        one_of(range(5), shots=self.shots)
