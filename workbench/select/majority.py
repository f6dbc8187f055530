"""Self-consistency (Wang et al., 2023): the result that most candidates share (CHASE-SQL, table 6).

Candidates with a suspect result (`suspect`) count only if there are no others. A seeded draw breaks ties, so that the
order of the candidates does not matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.errors import one_of
from workbench.lab import Lab
from workbench.select.groups import groups, select_group
from workbench.types import SUSPECT, Context, Selection, Suspect, Trial


@dataclass(frozen=True, slots=True)
class Majority:
    """Picks the representative of the largest group; a trial's score is the size of its group."""

    seed: int = 0
    suspect: Suspect = "nulls"

    def __post_init__(self) -> None:
        one_of(SUSPECT, suspect=self.suspect)

    def __call__(self, lab: Lab, context: Context, trials: Sequence[Trial]) -> Selection:
        del lab  # no model is asked
        found = groups(trials, f"{self.seed}{context.question.id}", suspect=self.suspect)
        sizes = [len(group.members) for group in found]
        best = sizes.index(max(sizes)) if sizes else None
        return select_group("majority", context, trials, found, sizes, best)
