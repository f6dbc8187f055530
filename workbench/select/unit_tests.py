"""CHESS's Unit Tester (section 3.1, figures 13 and 14): write tests in words, select the query that passes most.

One call writes tests that tell the groups of equal results apart. Then one call for each test judges all
candidates, the better setting of section 4.2.1; or one call for each candidate judges it by all tests.

Departs from the paper in five ways:

- One query represents each group of equal results; if there is only one group, no model is asked.
- Candidates with a suspect result (`suspect`) take part only if there are no others, as in the other selectors.
- Each test sees the candidates in an order of its own, drawn from the seed; the published code always uses one.
- A missing verdict in a reply counts as half a passed test.
- A tie goes to the larger group. So without any readable reply the selection is the majority's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from workbench.canonical import content_hash
from workbench.errors import at_least, one_of
from workbench.lab import Lab
from workbench.replies.choices import read_choices
from workbench.replies.unit_tests import read_tests
from workbench.select.groups import groups, query_and_result, select_group
from workbench.types import SUSPECT, Context, Selection, Suspect, Trial

_NO_VERDICT = 0.5  # the score for a test without a verdict in the reply


@dataclass(frozen=True, slots=True)
class UnitTester:
    """Picks the query that passes most tests; a trial's score is how many of them it passes.

    tests: how many tests to write.
    by: whether one call judges all candidates by one "test", or one "candidate" by all tests.
    temperature: of the call that writes the tests.
    judge_temperature: of the calls that judge by them.
    seed: draws the order of the candidates before each test, and breaks ties.
    suspect: which results are suspect.
    """

    model: str
    tests: int = 10
    by: Literal["test", "candidate"] = "test"
    temperature: float = 0.8
    judge_temperature: float = 0.0
    seed: int = 0
    suspect: Suspect = "nulls"

    def __post_init__(self) -> None:
        at_least(1, tests=self.tests)
        one_of(("test", "candidate"), by=self.by)
        one_of(SUSPECT, suspect=self.suspect)

    def __call__(self, lab: Lab, context: Context, trials: Sequence[Trial]) -> Selection:
        found = groups(trials, f"{self.seed}{context.question.id}", suspect=self.suspect)
        passed = [0.0] * len(found)
        keys: list[str] = []
        if len(found) > 1:
            shown = [query_and_result(trials[group.representative]) for group in found]
            passed, keys = self._judge(lab, context, shown)
        ranks = [(number, len(group.members)) for number, group in zip(passed, found, strict=True)]
        best = ranks.index(max(ranks)) if ranks else None
        return select_group("unit_tests", context, trials, found, passed, best, call_keys=keys)

    def _judge(
        self, lab: Lab, context: Context, shown: Sequence[dict[str, Any]]
    ) -> tuple[list[float], list[str]]:
        """The number of tests that each candidate passes, and the keys of the calls."""
        all_indices = range(len(shown))
        written = lab.ask(self, "select/unit_tests", context, candidates=shown, count=self.tests)
        tests = read_tests(written.text)[: self.tests]
        judge = replace(self, temperature=self.judge_temperature)
        subjects: list[list[int]] = []  # for each call: which candidate each verdict is about
        requests = []
        for test in tests if self.by == "test" else []:
            places = [content_hash("order", [self.seed, test, one]) for one in shown]
            subjects.append(order := sorted(all_indices, key=places.__getitem__))
            data: dict[str, Any] = {"test": test, "candidates": [shown[index] for index in order]}
            requests.append(lab.request(judge, "select/evaluate_one_test", context, **data))
        for index in all_indices if self.by == "candidate" and tests else []:
            subjects.append([index] * len(tests))
            data = {"tests": tests, **shown[index]}
            requests.append(lab.request(judge, "select/evaluate_one_candidate", context, **data))
        label = "candidate" if self.by == "test" else "test"
        replies = lab.ask_many(requests)
        passed = [0.0] * len(shown)
        for reply, indices in zip(replies, subjects, strict=True):
            verdicts = read_choices(reply.text, label, len(indices))
            for index, verdict in zip(indices, verdicts, strict=True):
                passed[index] += _NO_VERDICT if verdict is None else verdict
        return passed, [written.key, *(reply.key for reply in replies)]
