"""Drawing at a temperature: seeded by the call's key, so that the same call says the same again."""

import math
import random
from collections.abc import Sequence


def shares(scores: Sequence[float], temperature: float = 1.0) -> list[float]:
    """What part of the probability each score has; at temperature 0 the first of the best has all."""
    if not scores:
        return []
    best = max(scores)
    if temperature <= 0:
        first = list(scores).index(best)
        return [float(place == first) for place in range(len(scores))]
    weights = [math.exp((score - best) / temperature) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def draw(scores: Sequence[float], temperature: float, seed: str) -> int:
    """The place of one of the scores, drawn by its share."""
    parts = shares(scores, temperature)
    return random.Random(seed).choices(range(len(parts)), parts)[0]  # noqa: S311  no secret
