"""Everybody meets everybody, in both orders."""

from workbench.select.tournament import tournament

# Three candidates a, b, c with three results. A judge that prefers a to b and c, and b to c when b comes
# first but c when c does: a wins 4 meetings of 4, b 1, c 1.
PREFERS = {(0, 1): 0, (1, 0): 0, (0, 2): 0, (2, 0): 0, (1, 2): 1, (2, 1): 2}
ONE_EACH = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def by(matrix):
    return lambda meetings: [matrix[meeting] for meeting in meetings]


def test_the_hand_made_matrix_of_algorithm_3():
    outcome = tournament([0, 0, 0], ONE_EACH, by(PREFERS))
    assert outcome.points == (4, 1, 1)
    assert outcome.winner == 0
    assert len(outcome.asked) == 6


def test_a_candidate_that_agrees_with_others_starts_with_a_point_for_each():
    beaten = dict.fromkeys(PREFERS, 1) | {(0, 2): 0, (2, 0): 0}
    gain = [[0, 1, 1], [5, 0, 1], [1, 1, 0]]
    outcome = tournament([4, 0, 0], gain, by(beaten))
    assert outcome.points == (6, 12, 0)


def test_of_equal_points_the_earlier_player_wins():
    circle = {(i, j): i for i, j in PREFERS}  # the first player of each meeting wins
    assert tournament([0, 0, 0], ONE_EACH, by(circle)).winner == 0


def test_a_meeting_without_a_winner_gives_nobody_a_point():
    verdicts = PREFERS | {(0, 1): None, (1, 0): None}
    outcome = tournament([0, 0, 0], ONE_EACH, by(verdicts))
    assert (outcome.winner, outcome.points[0]) == (0, 2)
    nobody = tournament([1, 2, 0], ONE_EACH, by(dict.fromkeys(PREFERS)))
    assert (nobody.winner, nobody.points) == (1, (1, 2, 0))


def test_a_single_player_wins_without_a_meeting():
    def judge(meetings):
        raise AssertionError(meetings)

    outcome = tournament([3], [[0]], judge)
    assert (outcome.winner, outcome.asked) == (0, ())
