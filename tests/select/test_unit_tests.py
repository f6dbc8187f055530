"""CHESS's Unit Tester: what it asks in both settings, how it scores, and the replies that models give."""

import itertools
import json
import re

import pytest

from workbench.llm.provider import Refusal
from workbench.llm.scripted import Scripted
from workbench.select.unit_tests import UnitTester, read_tests, read_verdicts

MODEL = "test/judge"
TESTS = ["The query should restrict legs to 4.", "The query should return names."]
NAMES = ("wrong", "right", "wrong, too")
RIGHT = "SELECT name FROM animal WHERE legs = 4"


def said(text):
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}


class Judge:
    """Writes TESTS, and lets one query pass them all and no other pass any."""

    def __init__(self, right, tests=TESTS, distracted=0):
        self.right = right
        self.tests = tests
        self.distracted = distracted  # which of its calls gets no readable reply
        self.asked = []

    def __call__(self, request, key, url, seconds):
        del key, url, seconds
        self.asked.append(request)
        if len(self.asked) == self.distracted:
            return said("Hm.")
        if request.prompt == "select/unit_tests":
            return said(json.dumps(self.tests))
        text = request.messages[-1]["content"]
        verdicts = ["passed" if sql == self.right else "failed" for sql in shown(request)]
        label = "Candidate"
        if request.prompt.endswith("candidate"):
            label, verdicts = "Unit test", verdicts * text.count("## Unit test")
        return said("\n".join(f"{label} {n}: {v}" for n, v in enumerate(verdicts, 1)))


def shown(request):
    return tuple(re.findall(r"Query:\n```sql\n(.*?)\n```", request.messages[-1]["content"]))


@pytest.mark.parametrize(("by", "calls"), [("test", 1 + 2), ("candidate", 1 + 3)])
def test_both_settings_of_the_paper(zoo, by, calls):
    judge = Judge(RIGHT)
    selection = UnitTester(MODEL, by=by)(zoo.lab(judge), zoo.context, zoo.trials(*NAMES))
    assert [r.prompt for r in judge.asked[1:]] == [f"select/evaluate_one_{by}"] * (calls - 1)
    assert len(selection.call_keys) == calls


@pytest.mark.parametrize("by", ["test", "candidate"])
@pytest.mark.parametrize("names", list(itertools.permutations(NAMES)))
def test_the_query_that_passes_most_tests_is_picked_whatever_the_order_of_arrival(zoo, by, names):
    selection = UnitTester(MODEL, by=by)(zoo.lab(Judge(RIGHT)), zoo.context, zoo.trials(*names))
    assert selection.sql == RIGHT
    assert selection.scores == tuple(2.0 * (name == "right") for name in names)


def test_as_many_tests_are_asked_for_and_used_as_were_wanted(zoo):
    judge = Judge(RIGHT)
    UnitTester(MODEL, tests=1)(zoo.lab(judge), zoo.context, zoo.trials(*NAMES))
    assert "Write 1 unit tests" in judge.asked[0].messages[1]["content"]
    assert len(judge.asked) == 2


def test_temperatures_asked_for_are_those_sent(zoo):
    judge = Judge(RIGHT)
    step = UnitTester(MODEL, temperature=0.0, judge_temperature=0.3)
    step(zoo.lab(judge), zoo.context, zoo.trials(*NAMES))
    assert [r.parameters["temperature"] for r in judge.asked] == [0.0, 0.3, 0.3]


def test_candidates_stand_in_an_order_drawn_from_the_seed(zoo):
    def orders(seed):
        judge = Judge(RIGHT, [f"The query should {n}." for n in range(8)])
        UnitTester(MODEL, seed=seed)(zoo.lab(judge), zoo.context, zoo.trials(*NAMES))
        by_test = {r.messages[1]["content"].split("## Unit test 1\n")[-1]: r for r in judge.asked}
        return [shown(by_test[test]) for test in sorted(by_test)]

    first = orders(0)
    assert len(set(first)) > 2
    assert first != orders(1)


def test_where_all_agree_nobody_is_asked(zoo):
    trials = zoo.trials("right", "right, spelled otherwise", "broken")
    selection = UnitTester(MODEL)(zoo.lab(Scripted()), zoo.context, trials)
    assert selection.chosen in {0, 1}
    assert UnitTester(MODEL)(zoo.lab(Scripted()), zoo.context, []).chosen is None


@pytest.mark.parametrize("by", ["test", "candidate"])
@pytest.mark.parametrize("distracted", [2, 3])
def test_one_reply_that_cannot_be_read_does_not_lose_the_selection(zoo, by, distracted):
    judge = Judge(RIGHT, distracted=distracted)
    selection = UnitTester(MODEL, by=by)(zoo.lab(judge), zoo.context, zoo.trials(*NAMES))
    assert selection.sql == RIGHT


@pytest.mark.parametrize(
    "replies",
    [[""], ["no tests"], ["[]"], [Refusal("rejected", "no")], [json.dumps(TESTS), "?", "?"]],
)
def test_without_a_readable_reply_the_majority_decides(zoo, replies):
    trials = zoo.trials("wrong", "right", "right, spelled otherwise")
    script = Scripted([reply or Refusal("rejected", "no") for reply in replies])
    selection = UnitTester(MODEL)(zoo.lab(script), zoo.context, trials)
    assert selection.trial.execution.rows == (("cat",), ("dog",))


TWO = ["The query should a", "The query should b"]


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(TWO),
        f"They differ in two ways.\n```json\n{json.dumps(TWO)}\n```",
        "['The query should a', 'The query should b']",
        json.dumps({"tests": TWO}),
        json.dumps([{"n": 1, "test": TWO[0]}, {"n": 2, "test": TWO[1]}]),
        "1. The query should a\n2. The query should b",
        "- The query should a\n- The query should b\nThat is all.",
        json.dumps([*TWO, TWO[0]]),
    ],
)
def test_tests_in_any_dress(reply):
    assert read_tests(reply) == TWO


@pytest.mark.parametrize(
    "reply",
    [
        "Candidate 1: passed\nCandidate 2: failed",
        "It is so.\n\n**Candidate 1**: **Passed**\n**Candidate 2:** *FAILED*.",
        "Candidate Response #1: Passed\nCandidate Response #2: Failed",
        '{"Candidate 1": "passed", "Candidate 2": "failed"}',
        '["passed", "failed"]',
        "passed\nfailed",
        "1. Passed\n2. Failed",
        "| Candidate 1 | passed |\n| Candidate 2 | failed |",
        "Candidate 1 passes. Candidate 2 does not pass.",
        "Candidate 1: failed? No.\nCandidate 2 I would fail.\nCandidate 1: passed",
        "Candidate 1 joins the tables and so: passed\nCandidate 2: it doesn't pass",
        "Candidate 1: passed\nCandidate 2: failed\nCandidate 3: passed",
    ],
)
def test_verdicts_in_any_dress(reply):
    assert read_verdicts(reply, "candidate", 2) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("reply", "verdicts"),
    [
        ("", [0.5, 0.5]),
        ("Both are fine.", [0.5, 0.5]),
        ("Candidate 2: failed", [0.5, 0.0]),
        ("passed", [0.5, 0.5]),
        ("Candidate 9: passed", [0.5, 0.5]),
    ],
)
def test_a_verdict_that_is_not_given_counts_half(reply, verdicts):
    assert read_verdicts(reply, "candidate", 2) == verdicts
