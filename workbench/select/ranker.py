"""The ranker agent (CHASE-SQL, section 3.2, table 7): one call shows all candidates, and the model ranks them.

Departs from the paper, which gives no details: one query represents each group of equal results, and the
prompt shows the groups in a seeded order, so that a model's preference for a position does not favour the candidates
that were generated first. If the reply ranks nothing, the largest group is first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.errors import one_of
from workbench.lab import Lab
from workbench.replies.ranking import read_ranking
from workbench.select.groups import groups, query_and_result, select_group
from workbench.types import SUSPECT, Context, Selection, Suspect, Trial


@dataclass(frozen=True, slots=True)
class Ranker:
    """Picks the candidate that the model ranks first; the score of rank n is 1/n."""

    model: str
    temperature: float = 0.0
    seed: int = 0
    suspect: Suspect = "nulls"

    def __post_init__(self) -> None:
        one_of(SUSPECT, suspect=self.suspect)

    def __call__(self, lab: Lab, context: Context, trials: Sequence[Trial]) -> Selection:
        found = groups(trials, f"{self.seed}{context.question.id}", suspect=self.suspect)
        ranked = sorted(range(len(found)), key=lambda index: -len(found[index].members))
        keys = []
        if len(found) > 1:
            candidates = [query_and_result(trials[group.representative]) for group in found]
            reply = lab.ask(self, "select/ranker", context, candidates=candidates)
            keys = [reply.key]
            named = [number - 1 for number in read_ranking(reply.text, len(found))]
            ranked = list(dict.fromkeys(named + ranked))
        scores = [1 / (1 + ranked.index(index)) for index in range(len(found))]
        best = ranked[0] if ranked else None
        return select_group("ranker", context, trials, found, scores, best, call_keys=keys)
