"""Which of several queries is better: how plausible each is, by the model's own hypotheses and its result."""

import json

from workbench.embedded.chance import draw
from workbench.embedded.elements import plausibility
from workbench.embedded.messages import Asked


def scores(asked: Asked) -> list[float]:
    """How plausible each candidate is."""
    return [plausibility(asked.context, sql, result) for sql, result in asked.candidates]


def choose(asked: Asked, temperature: float, seed: str) -> str:
    """The letter of one of two candidates; between equals, chance decides at any temperature."""
    one, two = ([*scores(asked), 0.0, 0.0])[:2]
    return "AB"[draw([one, two], temperature or float(one == two), seed)]


def rank(asked: Asked, temperature: float, seed: str) -> str:
    """The candidates' numbers, best first: drawn one after the other, without putting back."""
    open_ = dict(enumerate(scores(asked), 1))
    ranked: list[int] = []
    while open_:
        places = list(open_)
        place = places[draw(list(open_.values()), temperature, f"{seed}{len(ranked)}")]
        ranked.append(place)
        del open_[place]
    return json.dumps(ranked)
