"""CHESS's generate_candidate_query (section 3.1, figure 11): reason in steps, then write one query.

The prompt shows the pruned schema: tables and columns that the Schema Selector removed are absent.
"""

from dataclasses import dataclass

from workbench.generate.prompt_generator import PromptGenerator


@dataclass(frozen=True, slots=True)
class ChessCandidate(PromptGenerator):
    """The first tool of CHESS's Candidate Generator; its second, `revise`, is `fix.reviser`."""

    prompt = "generate/chess_candidate"
    shuffle: bool = False
