"""Self-consistency: the result on which most candidates agree, after Wang et al. (CHASE-SQL, table 6).

Candidates without rows or with an error have a say only where there are no others. A tie goes to the
result that a seeded draw puts first, so that the order of arrival means nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.lab import Lab
from workbench.select.groups import groups
from workbench.types import Context, Selection, Trial


@dataclass(frozen=True, slots=True)
class Majority:
    """Picks the speaker of the largest group; a trial's score is the size of its group."""

    seed: int = 0

    def __call__(self, lab: Lab, context: Context, trials: Sequence[Trial]) -> Selection:
        del lab  # it asks nobody
        found = groups(trials, f"{self.seed}{context.question.id}")
        scores = [0.0] * len(trials)
        for group in found:
            for place in group.members:
                scores[place] = float(len(group.members))
        best = max(found, key=lambda group: len(group.members), default=None)
        return Selection(
            context.question.id,
            tuple(trials),
            best.speaker if best else None,
            "majority",
            tuple(scores),
        )
