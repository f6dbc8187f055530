"""The accuracy of the best and the worst possible selector: CHASE-SQL's figure 2 and table 6.

The upper bound is an oracle that picks a right candidate wherever there is one, the lower bound an adversary
that picks a wrong one wherever there is one. With k of a question's n candidates, both are expectations over
all choices of k, computed exactly and not sampled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, fsum

from workbench.errors import BadInputError


@dataclass(frozen=True, slots=True)
class Bounds:
    """Both bounds in percent with k candidates a question. At k = 1 both are the mean accuracy."""

    k: int
    lower: float
    upper: float


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that at least one of k candidates is right, drawn from n of which c are right: unbiased pass@k."""
    _check(n, c, k)
    return (comb(n, k) - comb(n - c, k)) / comb(n, k)


def all_at_k(n: int, c: int, k: int) -> float:
    """The chance that all of k candidates are right, drawn from n of which c are right."""
    _check(n, c, k)
    return comb(c, k) / comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if not (0 <= c <= n and 1 <= k <= n):
        raise BadInputError(
            f"n = {n}, c = {c}, k = {k}: of n candidates between 0 and n are right, and k is 1 to n"
        )


def curve(verdicts: Mapping[str, Sequence[float]]) -> tuple[Bounds, ...]:
    """The bounds for every k up to the fewest candidates that a question has."""
    if not verdicts:
        raise BadInputError("no questions: a mean needs the verdicts of at least one")
    counts = []
    for question, given in verdicts.items():
        if not given:
            raise BadInputError(
                f"question {question} has 0 candidates and k is 1: k may be at most that"
            )
        if odd := [verdict for verdict in given if verdict not in {0, 1}]:
            raise BadInputError(f"a verdict is {odd[0]}: it must be true or false, or 1 or 0")
        counts.append((len(given), int(sum(given))))
    fewest = min(n for n, _ in counts)
    return tuple(
        Bounds(
            k,
            100 * fsum(all_at_k(n, c, k) for n, c in counts) / len(counts),
            100 * fsum(pass_at_k(n, c, k) for n, c in counts) / len(counts),
        )
        for k in range(1, fewest + 1)
    )
