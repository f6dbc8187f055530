"""The zero-shot baseline: one prompt with question, hint, schema and values, one query.

Follows BIRD's zero-shot prompt, with or without chain of thought, as CHASE-SQL (table 4) and MAC-SQL
(table 1) run it. Departs from it in two ways: it shows retrieved values, and it states the benchmark's rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.generate.prompt_generator import PromptGenerator
from workbench.lab import Lab
from workbench.types import Context


@dataclass(frozen=True, slots=True)
class Direct(PromptGenerator):
    """Asks for the query alone or, with `think`, for reasoning before it."""

    prompt = "generate/direct"
    think: bool = True
    shuffle: bool = False

    def data(self, lab: Lab, context: Context) -> Mapping[str, Any]:
        del lab, context
        return {"think": self.think}
