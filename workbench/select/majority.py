"""Self-consistency (Wang et al., 2023): the result that most candidates share (CHASE-SQL, table 6).

Candidates without rows, and failed ones, count only if there are no others. A seeded draw breaks ties, so that
the order of the candidates does not matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.lab import Lab
from workbench.select.groups import groups, select_group
from workbench.types import Context, Selection, Trial


@dataclass(frozen=True, slots=True)
class Majority:
    """Picks the representative of the largest group; a trial's score is the size of its group."""

    seed: int = 0

    def __call__(self, lab: Lab, context: Context, trials: Sequence[Trial]) -> Selection:
        del lab  # no model is asked
        found = groups(trials, f"{self.seed}{context.question.id}")
        sizes = [len(group.members) for group in found]
        best = sizes.index(max(sizes)) if sizes else None
        return select_group("majority", context, trials, found, sizes, best)
