"""Replies that judge several things, and what each says of every thing."""

import pytest

from workbench.replies.choices import read_choices

REPLIES = [
    ("#1 PASS, #2 FAIL", "response", [1, 0]),
    ("(1) pass (2) fail", "response", [1, 0]),
    ("All candidates fail.", "candidate", [0, 0, 0]),
    ("Only candidate 1 fails.", "candidate", [0, 1, 1]),
    ("No candidate passes.", "candidate", [0, 0]),
    ("Passed: none. Failed: 1, 2.", "candidate", [0, 0]),
    ("| Candidate | Verdict |\n|---|---|\n| 1 | passed |\n| 2 | failed |", "candidate", [1, 0]),
    ('{"passed": [1, 3], "failed": [2]}', "candidate", [1, 0, 1]),
    ('{"candidate_1": "passed", "candidate_2": "failed"}', "candidate", [1, 0]),
    ('{"results": [{"test": 1, "passed": true}, {"test": 2, "passed": false}]}', "test", [1, 0]),
    ("Unit test 1 - PASSED\nUnit test 2 - FAILED", "test", [1, 0]),
    ("Candidate #1: passed\nCandidate #2: passed", "candidate", [1, 1]),
    ("Candidate 1 does not fail.\nCandidate 2 fails.", "candidate", [1, 0]),
    ("All but candidate 2 pass.", "candidate", [1, 0, 1]),
    (
        "Candidate 1: I first thought that it failed, but it passed.\nCandidate 2: failed",
        "candidate",
        [1, 0],
    ),
    (
        "Candidate 1: passed (would have failed without DISTINCT)\nCandidate 2: failed",
        "candidate",
        [1, 0],
    ),
    ("Candidate 1 is correct, candidate 2 is not.", "candidate", [1, 0]),
    ("Candidate 1: yes\nCandidate 2: no", "candidate", [1, 0]),
    ("Candidate 1: pass\nCandidate 2: fail", "candidate", [1, 0]),
    ("None of the candidates pass.", "candidate", [0, 0]),
    ("Only candidate 2 passes.", "candidate", [0, 1, 0]),
    ("All pass except 1 and 3.", "candidate", [0, 1, 0]),
    ("1. passed\n2. failed\n3. passed", "test", [1, 0, 1]),
    ("passed, failed, passed", "test", [1, 0, 1]),
    ('{"1": "passed", "2": "failed"}', "test", [1, 0]),
    ('{"Unit test 1": true, "Unit test 2": false}', "test", [1, 0]),
    ('["passed", "failed"]', "test", [1, 0]),
    (
        "Candidate 1 passes the test because it uses DISTINCT. Candidate 2 does not pass.",
        "candidate",
        [1, 0],
    ),
    ("**Candidate 1**: ❌\n**Candidate 2**: ✅", "candidate", [0, 1]),
    ("Candidate 1: passed\nCandidate 2: fai", "candidate", [1, None]),
    ("Candidate 1: passed\nCandidate 1: failed\nCandidate 2: passed", "candidate", [0, 1]),
    ("Candidates 1-3 pass, candidate 4 fails.", "candidate", [1, 1, 1, 0]),
    ("Passed: 1, 3. Failed: 2.", "test", [1, 0, 1]),
    (
        "Candidate 1 fails the first check but overall it passed.\nCandidate 2: not passed",
        "candidate",
        [1, 0],
    ),
    ("Both candidates fail.", "candidate", [0, 0]),
    ("Every candidate passes, but candidate 2 fails.", "candidate", [1, 0, 1]),
]


@pytest.mark.parametrize(("reply", "label", "judged"), REPLIES)
def test_each_thing_is_judged_by_the_last_word_on_it(reply, label, judged):
    assert read_choices(reply, label, len(judged)) == judged


def test_a_refusal_judges_nothing():
    assert read_choices("I'm sorry, I cannot run queries.", "candidate", 2) == [None, None]
