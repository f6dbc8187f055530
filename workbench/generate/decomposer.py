"""MAC-SQL's Decomposer (section 3.3, appendix A.2): sub-questions of growing difficulty, a query for each.

The last sub-question is the question itself, and its query is the answer. A simple question is its own only
sub-question. The candidate's reasoning keeps the whole chain.
"""

from dataclasses import dataclass

from workbench.errors import BadInputError
from workbench.generate.prompt_generator import PromptGenerator
from workbench.sql.schema_text import mac_sql_text


@dataclass(frozen=True, slots=True)
class Decomposer(PromptGenerator):
    """The second agent of MAC-SQL.

    shots: the number of worked examples (table 4): 0, 1 or 2.
    decompose: without it, one query is asked for at once, under the same constraints (table 3).
    """

    prompt = "generate/decomposer"
    shown = ("shots", "decompose")
    schema_text = staticmethod(mac_sql_text)
    temperature: float = 0.1
    shots: int = 2
    decompose: bool = True

    def __post_init__(self) -> None:
        PromptGenerator.__post_init__(self)
        if self.shots not in {0, 1, 2}:
            raise BadInputError(
                f"shots is {self.shots}: the Decomposer has 0, 1 or 2 worked examples"
            )
        if self.shots and not self.decompose:
            raise BadInputError(
                f"shots is {self.shots}: the worked examples decompose; without decompose, shots is 0"
            )
