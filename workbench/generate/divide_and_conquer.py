"""Divide and conquer (CHASE-SQL, section 2.3, algorithm 1, figure 17): sub-questions first, then one query.

The model divides the question into sub-questions and writes pseudo-SQL for each (divide), writes the SQL of
each sub-question and assembles these partial queries (conquer), and removes what is redundant (combine).
One call does all three. The method is strong on nested queries.

Departs from the paper in its worked examples, which are our own.
"""

from dataclasses import dataclass

from workbench.generate.prompt_generator import PromptGenerator


@dataclass(frozen=True, slots=True)
class DivideAndConquer(PromptGenerator):
    """The generator that the paper abbreviates as DC."""

    prompt = "generate/divide_and_conquer"
    shuffle: bool = False
