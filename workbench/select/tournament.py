"""The winner of a round robin, in which each pair of players meets twice, once in either order.

A player starts with points and gains `gain[i][j]` more for each win against j. Of two players with the same
points the earlier one is ahead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Meeting = tuple[int, int]
# Returns the winner of each meeting, in order; None if the judge names neither player.
Judge = Callable[[Sequence[Meeting]], Sequence[int | None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The index of the winner, the points of all players, and each meeting with its winner."""

    winner: int
    points: tuple[float, ...]
    asked: tuple[tuple[Meeting, int | None], ...]


def tournament(points: Sequence[float], gain: Sequence[Sequence[float]], judge: Judge) -> Outcome:
    """Let all players meet whose gain is not 0. A meeting without a winner gives no point."""
    players = range(len(points))
    now = list(points)
    meetings = [(i, j) for i in players for j in players if i != j and gain[i][j]]
    winners = judge(meetings) if meetings else []
    for (i, j), winner in zip(meetings, winners, strict=True):
        if winner is not None:
            now[winner] += gain[winner][i + j - winner]
    asked = tuple(zip(meetings, winners, strict=True))
    return Outcome(min(players, key=lambda i: (-now[i], i)), tuple(now), asked)
