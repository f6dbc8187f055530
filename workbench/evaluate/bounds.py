"""The accuracy of the best and the worst possible selector: CHASE-SQL's figure 2 and table 6.

The upper bound is an oracle that picks a right candidate wherever there is one, the lower bound an adversary
that picks a wrong one wherever there is one. With k of a question's n candidates, both are expectations over
all choices of k, computed exactly and not sampled.
"""

from collections.abc import Callable, Mapping, Sequence
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


def upper_bound(verdicts: Mapping[str, Sequence[float]], k: int | None = None) -> float:
    """The oracle's accuracy in percent, over all candidates or over k of each question's."""
    return _mean_percent(verdicts, k, pass_at_k)


def lower_bound(verdicts: Mapping[str, Sequence[float]], k: int | None = None) -> float:
    """The adversary's accuracy in percent, over all candidates or over k of each question's."""
    return _mean_percent(verdicts, k, all_at_k)


def curve(verdicts: Mapping[str, Sequence[float]]) -> tuple[Bounds, ...]:
    """The bounds for every k up to the fewest candidates that a question has."""
    fewest = min(map(len, verdicts.values()), default=0)
    ks = range(1, max(fewest, 1) + 1)  # without candidates, k = 1 raises an error
    return tuple(Bounds(k, lower_bound(verdicts, k), upper_bound(verdicts, k)) for k in ks)


def _mean_percent(
    verdicts: Mapping[str, Sequence[float]],
    k: int | None,
    chance: Callable[[int, int, int], float],
) -> float:
    """The mean of a question's `chance`; a question without candidates counts as wrong."""
    if not verdicts:
        raise BadInputError("no questions: a mean needs the verdicts of at least one")
    chances = []
    for question, given in verdicts.items():
        if k is not None and len(given) < k:
            raise BadInputError(
                f"question {question} has {len(given)} candidates and k is {k}: k may be at most that"
            )
        if given:
            chances.append(chance(len(given), _right(given), len(given) if k is None else k))
    return 100 * fsum(chances) / len(verdicts)


def _right(verdicts: Sequence[float]) -> int:
    odd = [verdict for verdict in verdicts if verdict not in {0, 1}]
    if odd:
        raise BadInputError(f"a verdict is {odd[0]}: it must be true or false, or 1 or 0")
    return int(sum(verdicts))


def _check(n: int, c: int, k: int) -> None:
    if not (0 <= c <= n and 1 <= k <= n):
        raise BadInputError(
            f"n = {n}, c = {c}, k = {k}: of n candidates between 0 and n are right, and k is 1 to n"
        )
