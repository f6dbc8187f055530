"""Replies of a ranker, and the order that each gives."""

import pytest

from workbench.replies.ranking import read_ranking

REPLIES = [
    ("(2), (1), (3)", 3, [2, 1, 3]),
    ("**3**, **1**, **2**", 3, [3, 1, 2]),
    ("C3 > C1 > C2", 3, [3, 1, 2]),
    ("- 3\n- 1\n- 2", 3, [3, 1, 2]),
    ("Order (best to worst): 3 1 2", 3, [3, 1, 2]),
    ("3 is better than 1, which is better than 2.", 3, [3, 1, 2]),
    ("Best is 3, then 1, and 2 is worst.", 3, [3, 1, 2]),
    ("Ranking of the 3 candidates: 3, 1, 2", 3, [3, 1, 2]),
    ("Top choice: Candidate 3", 3, [3]),
    ("Candidate 1: 3/10\nCandidate 2: 8/10\nCandidate 3: 5/10", 3, [2, 3, 1]),
    ("Scores: candidate 1: 0.2, candidate 2: 0.9, candidate 3: 0.5", 3, [2, 3, 1]),
    ("| Candidate | Score |\n|---|---|\n| 1 | 3 |\n| 2 | 9 |\n| 3 | 5 |", 3, [2, 3, 1]),
    ("Candidate 1 returns 3 rows, candidate 2 returns 5 rows.", 2, []),
    ("3 > 2 > 1", 3, [3, 2, 1]),
    ("#2, #3, #1", 3, [2, 3, 1]),
    ("The best is candidate 3, then 1, then 2.", 3, [3, 1, 2]),
    ('{"1": "Candidate 2", "2": "Candidate 3", "3": "Candidate 1"}', 3, [2, 3, 1]),
    (
        '[{"rank": 1, "candidate": 3}, {"rank": 2, "candidate": 1}, {"rank": 3, "candidate": 2}]',
        3,
        [3, 1, 2],
    ),
    ('[{"candidate": 1, "rank": 2}, {"candidate": 2, "rank": 1}]', 2, [2, 1]),
    ("Candidate 2 > Candidate 3 > Candidate 1", 3, [2, 3, 1]),
    ("I would rank them as follows:\n\n- Candidate 2\n- Candidate 1\n- Candidate 3", 3, [2, 1, 3]),
    ("Ranking: 2 1 3", 3, [2, 1, 3]),
    ("['3', '1', '2']", 3, [3, 1, 2]),
    ("I am unable to rank the candidates.", 3, []),
    ("\\boxed{[2, 3, 1]}", 3, [2, 3, 1]),
    ("Best to worst: 2, 3, 1.", 3, [2, 3, 1]),
    ("Worst to best: 1, 3, 2.", 3, [2, 3, 1]),
    (
        "First place goes to candidate 1, second place to candidate 3, third to candidate 2.",
        3,
        [1, 3, 2],
    ),
    ("2 > 1 > 3", 3, [2, 1, 3]),
    ("2, 1, 3", 3, [2, 1, 3]),
    ("Best: Candidate 3\nSecond: Candidate 1\nWorst: Candidate 2", 3, [3, 1, 2]),
    ("Rank 1: Candidate 2\nRank 2: Candidate 3\nRank 3: Candidate 1", 3, [2, 3, 1]),
    ("1. 3\n2. 1\n3. 2", 3, [3, 1, 2]),
    ("```json\n[3, 1, 2]\n```", 3, [3, 1, 2]),
    ('[{"candidate": 2}, {"candidate": 1}, {"candidate": 3}]', 3, [2, 1, 3]),
    ("I can't rank these.", 3, []),
    ("Candidate 3 is the worst; candidate 1 is the best, then candidate 2.", 3, [1, 2, 3]),
    ("The ranking is: Candidate 2, Candidate 3, Candidate 1", 3, [2, 3, 1]),
    ("[2, 1, 3]\n\nCandidate 2 is right since [1, 3] lack a join.", 3, [2, 1, 3]),
    ("Candidate 2", 3, [2]),
    ("[1, 2, 3", 3, [1, 2, 3]),
    ("<think>[1,2,3]</think>\nFinal: [3,2,1]", 3, [3, 2, 1]),
    ("1st: Candidate 2\n2nd: Candidate 1\n3rd: Candidate 3", 3, [2, 1, 3]),
    ("| Rank | Candidate |\n|---|---|\n| 1 | 3 |\n| 2 | 1 |\n| 3 | 2 |", 3, [3, 1, 2]),
    # Places are named in another order than theirs.
    ("1st: candidate 3, 2nd: candidate 1", 3, [3, 1]),
    ("Best: 2\nWorst: 1\nMiddle: 3", 3, [2, 3, 1]),
    ("Second place: candidate 3\nFirst place: candidate 2\nThird place: candidate 1", 3, [2, 3, 1]),
    ("Candidate 3 ranks first. Candidate 1 ranks third. Candidate 2 ranks second.", 3, [3, 2, 1]),
    ("2nd best is candidate 1, best is candidate 3, worst is candidate 2", 3, [3, 1, 2]),
    ('{"second": 3, "best": 2, "worst": 1}', 3, [2, 3, 1]),
    ('[{"candidate": 2, "score": 0.1}, {"candidate": 1, "score": 0.7}]', 2, [1, 2]),
    ("The ranking is 3, 1 and 2.", 3, [3, 1, 2]),
    ("Candidates 1, 2 and 3 are correct.", 3, []),
]


@pytest.mark.parametrize(("reply", "count", "order"), REPLIES)
def test_a_ranking_is_read_in_its_order(reply, count, order):
    assert read_ranking(reply, count) == order


def test_numbers_of_no_candidate_are_left_out():
    assert read_ranking("[4, 2, 0, 2, 1]", 3) == [2, 1]
