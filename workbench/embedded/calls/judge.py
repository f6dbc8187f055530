"""Which of several queries is better, by how plausible each query and its result are."""

import json

from workbench.embedded.calls.chance import draw
from workbench.embedded.calls.elements import plausibility
from workbench.embedded.prompt.messages import Asked


def _scores(asked: Asked) -> list[float]:
    return [plausibility(asked.context, sql, result) for sql, result in asked.candidates]


def choose(asked: Asked, temperature: float, seed: str) -> str:
    """The letter of one of two candidates; a tie is drawn at any temperature."""
    one, two = [*_scores(asked), 0.0, 0.0][:2]
    return "AB"[draw([one, two], temperature or float(one == two), seed)]


def rank(asked: Asked, temperature: float, seed: str) -> str:
    """The candidates' numbers, best first: drawn one after the other, without putting back."""
    left = dict(enumerate(_scores(asked), 1))
    ranked: list[int] = []
    while left:
        ranked.append(list(left)[draw(list(left.values()), temperature, f"{seed}{len(ranked)}")])
        del left[ranked[-1]]
    return json.dumps(ranked)
