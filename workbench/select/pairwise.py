"""CHASE-SQL's selection agent (section 2.5, algorithm 3): compare candidates in pairs; most wins is selected.

Each pair is compared in both orders, so that a judge's preference for a position cancels out. Of two
candidates with equal results the first wins without a call, as in the algorithm, which gives a candidate one
point for each other candidate that agrees with it. The judge sees both queries, both results, and the
union of the schemas that the two queries use.

Departs from algorithm 3 in three ways:

- By default (`by="result"`) one query represents all candidates with its result, and each of them gets the
  points for its wins. This gives the same points as comparing all candidates, if the judge treats equal
  results alike, for a fraction of the calls. `by="candidate"` is the algorithm to the letter.
- Candidates with a suspect result (`suspect`) take part only if there are no others.
- A seeded draw breaks ties, where the paper picks one arbitrarily. A failed call, or a reply that names
  neither candidate, gives no point; the paper's judge always names one. Without any verdict the largest group wins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.errors import one_of
from workbench.lab import Lab
from workbench.replies.verdict import read_verdict
from workbench.select.groups import Group, groups, query_and_result, select_group
from workbench.select.tournament import Meeting, tournament
from workbench.sql.schema import union_schema
from workbench.types import SUSPECT, Comparison, Context, Request, Selection, Suspect, Trial


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Picks the candidate that wins most comparisons; a trial's score is its points.

    by: whether the judge compares one query for each result, or all candidates.
    seed: breaks ties.
    suspect: which results are suspect.
    """

    model: str
    temperature: float = 0.0
    by: Literal["result", "candidate"] = "result"
    seed: int = 0
    suspect: Suspect = "nulls"

    def __post_init__(self) -> None:
        one_of(("result", "candidate"), by=self.by)
        one_of(SUSPECT, suspect=self.suspect)

    def __call__(self, lab: Lab, context: Context, trials: Sequence[Trial]) -> Selection:
        players = groups(trials, f"{self.seed}{context.question.id}", suspect=self.suspect)
        if self.by == "candidate":
            players = tuple(
                Group(group.result, (index,), index) for group in players for index in group.members
            )
        if not players:
            return select_group("pairwise", context, trials, (), (), None)
        shown = [player.representative for player in players]
        keys: list[str] = []

        def judge(meetings: Sequence[Meeting]) -> list[int | None]:
            replies = lab.ask_many(
                self.request(lab, context, trials[shown[i]], trials[shown[j]]) for i, j in meetings
            )
            keys.extend(reply.key for reply in replies)
            return [
                {"A": i, "B": j}.get("" if reply.fault else read_verdict(reply.text))
                for (i, j), reply in zip(meetings, replies, strict=True)
            ]

        # A player begins with a point for each other candidate that shares its result. A win gains a point
        # for each candidate that the loser represents; players with equal results do not meet.
        points = [sum(len(q.members) for q in players if q.result == p.result) - 1 for p in players]
        gain = [[0 if q.result == p.result else len(q.members) for q in players] for p in players]
        outcome = tournament(points, gain, judge)
        comparisons = [
            Comparison(shown[i], shown[j], None if winner is None else shown[winner])
            for (i, j), winner in outcome.asked
        ]
        return select_group(
            "pairwise", context, trials, players, outcome.points, outcome.winner, comparisons, keys
        )

    def request(self, lab: Lab, context: Context, first: Trial, second: Trial) -> Request:
        """The call that compares two trials in this order; judges are fine-tuned on the same prompt."""
        a, b = query_and_result(first), query_and_result(second)
        return lab.request(
            self,
            "select/pairwise",
            replace(context, schema=union_schema(context.schema, (a["query"], b["query"]))),
            query_a=a["query"],
            result_a=a["result"],
            query_b=b["query"],
            result_b=b["result"],
        )
