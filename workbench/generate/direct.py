"""The generator with our own prompt: question, hint, schema with descriptions and values, and the benchmark's rules.

No paper has this generator. The papers' baseline is BIRD's prompt without rules, `generate.zero_shot`.
"""

from dataclasses import dataclass

from workbench.generate.prompt_generator import PromptGenerator


@dataclass(frozen=True, slots=True)
class Direct(PromptGenerator):
    """Asks for the query alone or, with `think`, for reasoning before it."""

    prompt = "generate/direct"
    shown = ("think",)
    think: bool = True
    shuffle: bool = False
