"""Who wins when everybody meets everybody, asked in full or only until the winner can no longer change.

A player starts with points and gets `gain[i][j]` more whenever it beats j. Of two players with the same
points the earlier one is ahead. The adaptive order asks for the next meeting of the leader and the rival
that can still pass it; it stops when none can, so its winner is the full tournament's, whatever the
judge answers: no cycle and no contradiction of the judge's can change that.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Meeting = tuple[int, int]
# The winner of each meeting, in order; None where the judge did not say.
Judge = Callable[[Sequence[Meeting]], Sequence[int | None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The winner, the points that were given, and every meeting with its winner."""

    winner: int
    points: tuple[float, ...]
    asked: tuple[tuple[Meeting, int | None], ...]


def tournament(
    points: Sequence[float],
    gain: Sequence[Sequence[float]],
    judge: Judge,
    *,
    adaptive: bool,
) -> Outcome:
    """Let the players meet, twice each pair, once in either order. A gain of 0 is no meeting.

    A meeting without a winner gives nobody a point.
    """
    players = range(len(points))
    now = list(points)
    open_ = dict.fromkeys((i, j) for i in players for j in players if i != j and gain[i][j])
    reach = [p + 2 * sum(gain[i]) for i, p in enumerate(now)]  # what a player can still get to
    asked: list[tuple[Meeting, int | None]] = []

    def settle(meetings: Sequence[Meeting]) -> None:
        for meeting, winner in zip(meetings, judge(meetings), strict=True):
            for player, other in (meeting, meeting[::-1]):
                if player == winner:
                    now[player] += gain[player][other]
                else:
                    reach[player] -= gain[player][other]
            del open_[meeting]
            asked.append((meeting, winner))

    while open_ and adaptive:
        leader = min(players, key=lambda i: (-now[i], -reach[i], i))
        rivals = [i for i in players if i != leader and (reach[i], leader) > (now[leader], i)]
        if not rivals:
            break
        rival = min(rivals, key=lambda i: (-reach[i], i))
        settle([_next(open_, leader, rival, gain)])
    if open_ and not adaptive:
        settle(list(open_))
    return Outcome(min(players, key=lambda i: (-now[i], i)), tuple(now), tuple(asked))


def _next(
    open_: dict[Meeting, None], leader: int, rival: int, gain: Sequence[Sequence[float]]
) -> Meeting:
    """The open meeting that decides most between the two: theirs, else the heaviest of either."""

    def weight(meeting: Meeting) -> tuple[bool, float]:
        i, j = meeting
        own = sum(gain[p][i + j - p] for p in (leader, rival) if p in meeting)
        return {i, j} == {leader, rival}, own

    return max(open_, key=lambda meeting: (*weight(meeting), meeting[::-1]))
