"""CHASE-SQL's selection agent (section 2.5, algorithm 3): candidates meet in pairs, most wins is picked.

Each pair meets in both orders, so that a judge's liking for a place cancels out. Equal results need no
judge: the first of the ordered pair wins, as written, which gives a candidate a point for each other one
that agrees with it. A judge sees the schema that the two queries use (the union) and both results.

Departures. `by="candidate"` is the algorithm to the letter; `by="result"`, the default, lets one query
speak for all with its result and counts its wins for each of them: the same points where a judge treats
equal results alike, for a fraction of the calls. `adaptive` stops once the winner cannot change. Candidates
without rows or with an error stay out while there are others. A tie, which the paper breaks arbitrarily,
goes to the result that a seeded draw puts first, so that the order of arrival means nothing. The
paper's judge always names one of the two; a call that failed, was filtered or names neither gives nobody a
point, so that without any verdict the largest group wins by its members' agreement.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from workbench.db.context_text import context_data, result_text
from workbench.db.schema import union_schema
from workbench.errors import one_of
from workbench.lab import Lab
from workbench.select.groups import Group, groups
from workbench.select.tournament import Meeting, tournament
from workbench.types import Comparison, Completion, Context, Execution, Request, Selection, Trial


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Asks a model which of two queries is right, until one has won most."""

    model: str
    temperature: float = 0.0
    by: Literal["result", "candidate"] = "result"
    adaptive: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        one_of(("result", "candidate"), by=self.by)

    def __call__(self, lab: Lab, context: Context, trials: Sequence[Trial]) -> Selection:
        players = groups(trials, f"{self.seed}{context.question.id}")
        if self.by == "candidate":
            players = tuple(
                Group(g.result, (place,), place) for g in players for place in g.members
            )
        keys: list[str] = []

        def judge(meetings: Sequence[Meeting]) -> list[int | None]:
            requests = [
                self.request(lab, context, trials[players[i].speaker], trials[players[j].speaker])
                for i, j in meetings
            ]
            answers = lab.client.complete_many(requests)
            keys.extend(answer.key for answer in answers)
            return [
                dict(zip("AB", meeting, strict=True)).get(verdict(answer))
                for meeting, answer in zip(meetings, answers, strict=True)
            ]

        alike = {p: sum(len(q.members) for q in players if q.result == p.result) for p in players}
        gain = [[len(q.members) if p.result != q.result else 0 for q in players] for p in players]
        points = [alike[p] - 1 for p in players]
        outcome = tournament(points, gain, judge, adaptive=self.adaptive) if players else None
        scores = dict.fromkeys(range(len(trials)), 0.0)
        for player, got in zip(players, outcome.points if outcome else (), strict=True):
            scores |= dict.fromkeys(player.members, float(got))
        return Selection(
            context.question.id,
            tuple(trials),
            players[outcome.winner].speaker if outcome else None,
            "pairwise",
            tuple(scores.values()),
            tuple(
                Comparison(
                    players[i].speaker,
                    players[j].speaker,
                    None if winner is None else players[winner].speaker,
                )
                for (i, j), winner in (outcome.asked if outcome else ())
            ),
            tuple(keys),
        )

    def request(self, lab: Lab, context: Context, first: Trial, second: Trial) -> Request:
        """The call that compares two trials in this order; also what a judge is tuned on."""
        queries = (first.candidate.sql, second.candidate.sql)
        data: dict[str, Any] = context_data(_narrowed(context, queries))
        return lab.request(
            "select/pairwise",
            self.model,
            context.question,
            {"temperature": self.temperature},
            query_a=queries[0],
            result_a=result_text(first.execution or _NOTHING),
            query_b=queries[1],
            result_b=result_text(second.execution or _NOTHING),
            **data,
        )


_NOTHING = Execution("error", error="never run")


def _narrowed(context: Context, queries: Sequence[str]) -> Context:
    """The context with the union of the schemas that the queries use."""
    return replace(context, schema=union_schema(context.schema, queries))


def verdict(answer: Completion) -> Literal["A", "B", ""]:
    """The letter of a reply: the last that stands alone; "" where there is none, or no answer.

    A small letter, which may be a word, counts only where the reply ends on it as an answer does.
    """
    found = re.findall(r"\b([AB])\b", answer.text) or _SMALL.findall(answer.text)
    if answer.fault or not found:
        return ""
    return "B" if found[-1] in "Bb" else "A"


_SMALL = re.compile(
    r"(?:^|[:=]|\b(?:candidate|response|query|answer)\b)[\W_]*([ab])[\W_]*$", re.IGNORECASE
)
