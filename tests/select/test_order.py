"""Whatever order candidates arrive in, each selector asks the same and chooses the same."""

import json
import random
import re
from dataclasses import replace

import pytest

from workbench.canonical import content_hash
from workbench.select.majority import Majority
from workbench.select.pairwise import Pairwise
from workbench.select.ranker import Ranker
from workbench.select.unit_tests import UnitTester
from workbench.types import Candidate, Trial

MODEL = "test/judge"
SPELLED = (
    "SELECT name FROM animal WHERE legs = 4",
    "select name from animal where legs = 4",
    "SELECT  `name`  FROM animal WHERE legs = 4;",
    "SELECT name FROM animal WHERE legs = 2 + 2",
    "select name from animal where legs = 2 + 2",
    "SELECT id FROM animal WHERE legs = 4",
    "select id from animal where legs = 4",
    "SELECT name FROM animal",
    "SELECT name FROM animal",
    "select name from animal",
)


def judge(request, url, seconds):
    """What it says hangs on every letter that it is shown."""
    del url, seconds
    text = request.messages[-1]["content"]
    chance = random.Random(content_hash("judge", text))
    count = len(re.findall(r"^Query:", text, re.MULTILINE))
    replies = {
        "select/pairwise": chance.choice("AB"),
        "select/ranker": json.dumps(chance.sample(range(1, count + 1), count)),
        "select/unit_tests": json.dumps(["The query should a", "The query should b"]),
    }
    verdicts = [
        f"Candidate {n}: {chance.choice(('passed', 'failed'))}\nUnit test {n}: passed"
        for n in range(1, count + 1)
    ]
    choice = {
        "message": {
            "role": "assistant",
            "content": replies.get(request.prompt, "\n".join(verdicts)),
        },
        "finish_reason": "stop",
    }
    return {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}


@pytest.mark.parametrize(
    "select",
    [
        Majority(),
        Pairwise(MODEL),
        Pairwise(MODEL, by="candidate"),
        Ranker(MODEL),
        UnitTester(MODEL),
        UnitTester(MODEL, by="candidate"),
    ],
    ids=lambda select: repr(select)[:60],
)
def test_the_order_of_candidates_changes_neither_the_choice_nor_the_calls(zoo, select):
    lab = zoo.lab(judge)
    trials = [
        Trial(Candidate(sql, f"g{n % 3}", n), lab.executor.execute(zoo.path, sql))
        for n, sql in enumerate(SPELLED)
    ]
    outcomes = set()
    for seed in range(12):
        asked = []
        watched = replace(lab, watch=lambda request, _, asked=asked: asked.append(str(request)))
        arrived = random.Random(seed).sample(trials, len(trials))
        selection = select(watched, zoo.context, arrived)
        scores = {t.candidate: s for t, s in zip(arrived, selection.scores, strict=True)}
        outcomes.add((selection.trial.candidate, frozenset(scores.items()), tuple(asked)))
    assert len(outcomes) == 1
