"""Drawing at a temperature, seeded by the request: the same request gets the same answer."""

import math
import random
from collections.abc import Sequence


def shares(scores: Sequence[float]) -> list[float]:
    """The softmax of the scores: what part of the probability each has."""
    best = max(scores, default=0.0)  # subtracted, since exp() of a large score would overflow
    weights = [math.exp(score - best) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def draw(scores: Sequence[float], temperature: float, seed: str) -> int:
    """The index of one of the scores, drawn by its share; at temperature 0 that of the highest."""
    if temperature <= 0:
        return max(range(len(scores)), key=scores.__getitem__)
    weights = shares([score / temperature for score in scores])
    return random.Random(seed).choices(range(len(weights)), weights)[0]  # noqa: S311  no secret
