"""The generator with our own prompt: question, hint, schema with descriptions and values, and the benchmark's rules.

No paper has it. The papers' baseline is BIRD's prompt without rules, `generate.zero_shot`.
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
