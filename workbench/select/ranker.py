"""The ranker agent (CHASE-SQL, section 3.2, table 7): one call sees all candidates and ranks them.

One query speaks for all with its result. They stand in an order drawn from the seed, so that a model's
liking for a place does not follow the order of arrival. A reply without a number of theirs leaves the
largest group on top.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.db.context_text import context_data, result_text
from workbench.lab import Lab
from workbench.llm.replies import read_list
from workbench.select.groups import groups
from workbench.types import Context, Selection, Trial

_BARE = re.compile(
    r"(?:\W|\d|_|\b(?:candidates?|rank(?:ing|ed)?|best|first|order)\b)*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Ranker:
    """Picks what the model ranks first; a trial's score falls with its rank."""

    model: str
    temperature: float = 0.0
    seed: int = 0

    def __call__(self, lab: Lab, context: Context, trials: Sequence[Trial]) -> Selection:
        found = groups(trials, f"{self.seed}{context.question.id}")
        by_size = sorted(range(len(found)), key=lambda place: -len(found[place].members))
        ranked, keys = by_size, []
        if len(found) > 1:
            shown = [trials[group.speaker] for group in found]
            answer = lab.client.complete(
                lab.request(
                    "select/ranker",
                    self.model,
                    context.question,
                    {"temperature": self.temperature},
                    candidates=[
                        {
                            "query": trial.candidate.sql,
                            "result": result_text(trial.execution) if trial.execution else "",
                        }
                        for trial in shown
                    ],
                    **context_data(context),
                )
            )
            keys = [answer.key]
            said = [number - 1 for number in read_ranking(answer.text) if number <= len(found)]
            ranked = list(dict.fromkeys(said + by_size))
        scores = [0.0] * len(trials)
        for rank, place in enumerate(ranked):
            for member in found[place].members:
                scores[member] = 1.0 / (1 + rank)
        chosen = found[ranked[0]].speaker if ranked else None
        return Selection(
            context.question.id, tuple(trials), chosen, "ranker", tuple(scores), (), tuple(keys)
        )


def read_ranking(reply: str) -> list[int]:
    """The candidates' numbers in a reply, in its order: of its list, or of a text that is one without brackets."""
    items = read_list(reply)
    if not items and _BARE.fullmatch(reply):
        items = re.findall(r"\d+", reply)
    heads = (next(iter(i.values()), "") if isinstance(i, dict) else i for i in items)
    found = (re.search(r"\d{1,9}", str(head)) for head in heads)
    return [int(number[0]) for number in found if number and int(number[0])]
