"""Everybody meets everybody: the adaptive order asks less and crowns the same."""

import random

import pytest

from workbench.select.tournament import tournament

# Three candidates a, b, c with three results. A judge that prefers a to b and c, and b to c when b comes
# first but c when c does: a wins 4 meetings of 4, b 1, c 1.
PREFERS = {(0, 1): 0, (1, 0): 0, (0, 2): 0, (2, 0): 0, (1, 2): 1, (2, 1): 2}
ONE_EACH = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def by(matrix):
    return lambda meetings: [matrix[meeting] for meeting in meetings]


def test_the_hand_made_matrix_of_algorithm_3():
    outcome = tournament([0, 0, 0], ONE_EACH, by(PREFERS), adaptive=False)
    assert outcome.points == (4, 1, 1)
    assert outcome.winner == 0
    assert len(outcome.asked) == 6


def test_a_candidate_that_agrees_with_others_starts_with_a_point_for_each():
    beaten = dict.fromkeys(PREFERS, 1) | {(0, 2): 0, (2, 0): 0}
    gain = [[0, 1, 1], [5, 0, 1], [1, 1, 0]]
    outcome = tournament([4, 0, 0], gain, by(beaten), adaptive=False)
    assert outcome.points == (6, 12, 0)


def test_of_equal_points_the_earlier_player_wins():
    circle = {(i, j): i for i, j in PREFERS}  # the first player of each meeting wins
    for adaptive in (False, True):
        assert tournament([0, 0, 0], ONE_EACH, by(circle), adaptive=adaptive).winner == 0


@pytest.mark.parametrize("adaptive", [False, True])
def test_a_meeting_without_a_winner_gives_nobody_a_point(adaptive):
    verdicts = PREFERS | {(0, 1): None, (1, 0): None}
    outcome = tournament([0, 0, 0], ONE_EACH, by(verdicts), adaptive=adaptive)
    assert (outcome.winner, outcome.points[0]) == (0, 2)
    nobody = tournament([1, 2, 0], ONE_EACH, by(dict.fromkeys(PREFERS)), adaptive=adaptive)
    assert (nobody.winner, nobody.points) == (1, (1, 2, 0))


@pytest.mark.parametrize("adaptive", [False, True])
def test_a_single_player_wins_without_a_meeting(adaptive):
    def judge(meetings):
        raise AssertionError(meetings)

    outcome = tournament([3], [[0]], judge, adaptive=adaptive)
    assert (outcome.winner, outcome.asked) == (0, ())


@pytest.fixture(scope="module")
def thousand():
    """Arbitrary judges, intransitive and contradicting themselves, over groups of any size."""
    cases = []
    for seed in range(1000):
        chance = random.Random(seed)
        sizes = [chance.randint(1, 8) for _ in range(chance.randint(1, 7))]
        players = range(len(sizes))
        matrix = {
            (i, j): chance.choice((i, i, j, j, None)) for i in players for j in players if i != j
        }
        gain = [[sizes[j] * (i != j) for j in players] for i in players]
        points = [size - 1 for size in sizes]
        cases.append((points, gain, by(matrix)))
    return cases


def test_the_adaptive_order_returns_the_full_matrix_s_winner(thousand):
    for points, gain, judge in thousand:
        full = tournament(points, gain, judge, adaptive=False)
        adaptive = tournament(points, gain, judge, adaptive=True)
        assert adaptive.winner == full.winner


def test_the_adaptive_order_plays_no_meeting_twice_and_fewer_in_all(thousand):
    asked = [0, 0]
    for points, gain, judge in thousand:
        for place, adaptive in enumerate((True, False)):
            outcome = tournament(points, gain, judge, adaptive=adaptive)
            meetings = [meeting for meeting, _ in outcome.asked]
            assert len(meetings) == len(set(meetings))
            asked[place] += len(meetings)
    assert asked[0] < 0.9 * asked[1]
