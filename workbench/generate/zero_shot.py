"""BIRD's zero-shot prompt, the papers' baseline: tables, hint and question, with or without chain of thought.

CHASE-SQL (tables 4 and 8), CHESS (table 6) and MAC-SQL (table 1) measure their systems against it. As in BIRD, the
schema has neither descriptions nor example values, and no rule tells how to write the query.
"""

from dataclasses import dataclass

from workbench.generate.prompt_generator import PromptGenerator
from workbench.sql.schema_text import bare_create_table_text


@dataclass(frozen=True, slots=True)
class ZeroShot(PromptGenerator):
    """Asks for the query alone or, with `think`, for reasoning before it."""

    prompt = "generate/zero_shot"
    shown = ("think",)
    schema_text = staticmethod(bare_create_table_text)
    think: bool = True
