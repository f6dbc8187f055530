"""CHESS's Unit Tester: what it asks in both settings, how it scores, and the replies that models give."""

import itertools
import json
import re

import pytest

from workbench.llm.faults import Refusal
from workbench.llm.scripted import scripted
from workbench.replies.choices import read_choices
from workbench.replies.unit_tests import read_tests
from workbench.select.unit_tests import UnitTester

MODEL = "test/judge"
TESTS = ["The query should restrict legs to 4.", "The query should return names."]
NAMES = ("wrong", "right", "wrong, too")
RIGHT = "SELECT name FROM animal WHERE legs = 4"


def read_verdicts(reply, label, count):
    """What each judgement counts: half where the reply says nothing."""
    return [0.5 if one is None else float(one) for one in read_choices(reply, label, count)]


def reply_of(text):
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}


class Judge:
    """Writes TESTS, and lets one query pass them all and no other pass any."""

    def __init__(self, right, tests=TESTS, distracted=0):
        self.right = right
        self.tests = tests
        self.distracted = distracted  # which of its calls gets no readable reply
        self.asked = []

    def __call__(self, request, url, seconds):
        del url, seconds
        self.asked.append(request)
        if len(self.asked) == self.distracted:
            return reply_of("Hm.")
        if request.prompt == "select/unit_tests":
            return reply_of(json.dumps(self.tests))
        text = request.messages[-1]["content"]
        verdicts = ["passed" if sql == self.right else "failed" for sql in shown(request)]
        label = "Candidate"
        if request.prompt.endswith("candidate"):
            label, verdicts = "Unit test", verdicts * text.count("## Unit test")
        return reply_of("\n".join(f"{label} {n}: {v}" for n, v in enumerate(verdicts, 1)))


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
def test_the_query_that_passes_most_tests_is_picked_in_any_order_of_candidates(zoo, by, names):
    selection = UnitTester(MODEL, by=by)(zoo.lab(Judge(RIGHT)), zoo.context, zoo.trials(*names))
    assert selection.sql == RIGHT
    assert selection.scores == tuple(2.0 * (name == "right") for name in names)


def test_the_requested_number_of_tests_is_written_and_used(zoo):
    judge = Judge(RIGHT)
    UnitTester(MODEL, tests=1)(zoo.lab(judge), zoo.context, zoo.trials(*NAMES))
    assert "Write 1 unit tests" in judge.asked[0].messages[1]["content"]
    assert len(judge.asked) == 2


def test_temperatures_asked_for_are_those_sent(zoo):
    judge = Judge(RIGHT)
    step = UnitTester(MODEL, temperature=0.0, judge_temperature=0.3)
    step(zoo.lab(judge), zoo.context, zoo.trials(*NAMES))
    assert [r.parameters["temperature"] for r in judge.asked] == [0.0, 0.3, 0.3]


def test_the_order_of_candidates_is_drawn_from_the_seed(zoo):
    def orders(seed):
        judge = Judge(RIGHT, [f"The query should {n}." for n in range(8)])
        UnitTester(MODEL, seed=seed)(zoo.lab(judge), zoo.context, zoo.trials(*NAMES))
        by_test = {r.messages[1]["content"].split("## Unit test 1\n")[-1]: r for r in judge.asked}
        return [shown(by_test[test]) for test in sorted(by_test)]

    first = orders(0)
    assert len(set(first)) > 2
    assert first != orders(1)


def test_if_all_candidates_agree_no_call_is_made(zoo):
    trials = zoo.trials("right", "right, spelled otherwise", "broken")
    selection = UnitTester(MODEL)(zoo.lab(scripted()), zoo.context, trials)
    assert selection.chosen in {0, 1}
    assert UnitTester(MODEL)(zoo.lab(scripted()), zoo.context, []).chosen is None


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
    script = scripted([reply or Refusal("rejected", "no") for reply in replies])
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
        "Test 1: The query should a\nTest 2: The query should b",
        "**Unit Test 1:** The query should a\n**Unit Test 2:** The query should b",
        "| 1 | The query should a |\n| 2 | The query should b |",
        json.dumps({"test_1": TWO[0], "test_2": TWO[1]}),
        json.dumps({"1": TWO[0], "2": TWO[1]}),
        json.dumps({"reasoning": "It should be so.", "tests": TWO}),
        json.dumps({"reasoning": "It should be so.", "test_1": TWO[0], "test_2": TWO[1]}),
        json.dumps([[TWO[0]], [TWO[1]]]),
        json.dumps([{"name": "a title that is longer than its test", "test": t} for t in TWO]),
        json.dumps([{"test_id": 7, "description": t} for t in TWO]),
        "\n".join(json.dumps({"test": t}) for t in TWO),
        json.dumps(TWO)[:-1] + ', "The query should c',
        json.dumps([{"test": t} for t in TWO])[:-1] + ', {"test": "The query should c',
        f'{{"test_1": "{TWO[0]}", "test_2": "{TWO[1]}", "test_3": "The query should c',
        f"They have {list(range(40))} rows and the columns {['legs', 'home', 'name']}: {json.dumps(TWO)}",
        f"By {list(range(40))}:\n1. The query should a\n2. The query should b",
        f'<think>["The query should c", "d", "e"]</think>{json.dumps(TWO)}',
        '["The query should a", "The query should b", "The query should "c',
    ],
)
def test_tests_in_any_dress(reply):
    assert read_tests(reply) == TWO


QUOTING = ["The query should return the owner's name.", 'The query should use state = "CA"']


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(QUOTING),
        '["{}", "{}"]'.format(*QUOTING),
        '["{}",\n"{}"]'.format(*QUOTING),
        "['{}', '{}']".format(*QUOTING),
        '```json\n["{}", "{}"]\n```\nThat is all.'.format(*QUOTING),
        '{{"test_1": "{}", "test_2": "{}"}}'.format(*QUOTING),
        "1. {}\n2. {}".format(*QUOTING),
    ],
)
def test_unescaped_quotes_stay_in_their_tests(reply):
    assert read_tests(reply) == QUOTING


@pytest.mark.parametrize("reply", ["", "[1, 2, 3]", "[]", '["", " "]', "{}", "<think>Test 1: The query should a", '["The query should a'])  # fmt: skip
def test_a_reply_without_a_whole_test_has_none(reply):
    assert read_tests(reply) == []


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
        "Candidate 1 does not fail.\nCandidate 2 cannot pass.",
        "Candidate 1 passes.\nCandidate 2 clearly fails to pass.",
        "Candidate 1: it doesn't really fail\nCandidate 2: it can\u2019t possibly pass",
        "<think>Candidate 1: failed\nCandidate 2: passed</think>Candidate 1: passed\nCandidate 2: failed",
        "Candidate 1: passed\nCandidate 2: failed\n<think>Candidate 1: failed",
        "Candidate 1: yes\nCandidate 2: no",
        "Candidate 1: Yes, it does.\nCandidate 2: No - it counts twice.",
        "Candidate 1 has the legs: true\nCandidate 2 has no legs: false",
        "Candidate 1: \u2705\nCandidate 2: \u274c",
        "\u2714\ufe0f\n\u2718",
        "1) Passed - it joins\n2) Failed - it does not pass on names",
        "2. Failed\n1. Passed",
        "#1: passed\n#2: failed",
        '{"1": "passed", "2": "failed"}',
        '{"2": false, "1": true}',
        '{"Candidate 1": true, "Candidate 2": false}',
        '{"candidate_1": "passed", "candidate_2": "failed"}',
        '[{"candidate": 1, "passed": true}, {"candidate": 2, "passed": false}]',
        '[{"passed": true}, {"passed": false}]',
        '{"verdicts": ["passed", "failed"]}',
        '{"reasoning": "It failed, failed, passed.", "verdicts": [true, false]}',
        '["yes", "no"]',
        "Response 1: Passed\nResponse 2: Failed",
        "1) Passed 2) Failed",
        "Query 1 passed; Query 2 failed",
        "**Query 1**: Passed\n**Query 2**: Failed",
        "Candidate 1:\nIt joins.\nVerdict: passed\nCandidate 2:\nIt does not.\nVerdict: failed",
        "Candidate 1: no rows are lost: passed\nCandidate 2: names IS NOT NULL is missing: failed",
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
        ("<think>Candidate 1: failed", [0.5, 0.5]),
        ("Candidate 1: there is no join", [0.5, 0.5]),
        ("Candidate 1: No join is there", [0.5, 0.5]),
        ("1. Passing needs legs.\n2. The first would fail there.", [0.5, 0.5]),
        ("[1, 2]", [0.5, 0.5]),
    ],
)
def test_a_verdict_that_is_not_given_counts_half(reply, verdicts):
    assert read_verdicts(reply, "candidate", 2) == verdicts


@pytest.mark.parametrize(
    "reply",
    [
        "Unit test 1: passed\nUnit test 2: passed",
        "Test 1: yes\nTest 2: yes",
        '{"unit_test_1": true, "unit_test_2": true}',
    ],
)
def test_verdicts_of_one_candidate_by_all_tests(zoo, reply):
    trials = zoo.trials("wrong", "right")
    script = scripted([json.dumps(TWO), reply, "?"], otherwise="?")
    selection = UnitTester(MODEL, by="candidate")(zoo.lab(script), zoo.context, trials)
    assert sorted(selection.scores) == [1.0, 2.0]
    assert [r.prompt for r in script.history][1:] == ["select/evaluate_one_candidate"] * 2


def test_candidates_without_rows_stay_out_while_others_have_some(zoo):
    judge = Judge(RIGHT)
    UnitTester(MODEL)(zoo.lab(judge), zoo.context, zoo.trials("wrong", "right", "broken"))
    assert len(shown(judge.asked[0])) == 2
