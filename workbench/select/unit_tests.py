"""CHESS's Unit Tester (section 3.1, figures 13 and 14): tests in words, and who passes most.

One call writes tests that tell the groups of equal results apart. Then each test is put to all candidates
in one call, the setting of section 4.2.1 that does better, or all tests to each candidate.

Departures. One query speaks for all with its result, and where all agree nobody is asked. Candidates without
rows or with an error stay out while others have rows, as they do in the other selectors. The candidates
stand in another order before each test, drawn from the seed, where the published code has always the same.
A verdict that a reply does not give counts half; a tie goes to the larger group, so that without a single
readable reply the selection is the majority's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.canonical import content_hash
from workbench.db.context_text import context_data, result_text
from workbench.errors import at_least, one_of
from workbench.lab import Lab
from workbench.select.groups import groups
from workbench.select.verdicts import read_tests, read_verdicts
from workbench.types import Context, Execution, Request, Selection, Trial

_NOT_RUN = Execution("error", error="not run")


@dataclass(frozen=True, slots=True)
class UnitTester:
    """Picks the query that passes most of `tests` tests; a trial's score is how many of them it passes.

    `temperature` is that of the call that writes the tests, `judge_temperature` of those that judge by
    them, each by one test or for one candidate.
    """

    model: str
    tests: int = 10
    by: Literal["test", "candidate"] = "test"
    temperature: float = 0.8
    judge_temperature: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        at_least(1, tests=self.tests)
        one_of(("test", "candidate"), by=self.by)

    def __call__(self, lab: Lab, context: Context, trials: Sequence[Trial]) -> Selection:
        found = groups(trials, f"{self.seed}{context.question.id}")
        passed = [0.0] * len(found)
        keys: list[str] = []
        if len(found) > 1:
            passed, keys = self._judged(lab, context, [trials[group.speaker] for group in found])
        scores = dict.fromkeys(range(len(trials)), 0.0)
        for group, points in zip(found, passed, strict=True):
            scores |= dict.fromkeys(group.members, points)
        best = max(found, key=lambda g: (scores[g.speaker], len(g.members)), default=None)
        return Selection(
            context.question.id,
            tuple(trials),
            best.speaker if best else None,
            "unit_tests",
            tuple(scores.values()),
            call_keys=tuple(keys),
        )

    def _judged(
        self, lab: Lab, context: Context, trials: Sequence[Trial]
    ) -> tuple[list[float], list[str]]:
        """How many tests each of the trials passes, and the calls that this took."""
        told = context_data(context)

        def ask(prompt: str, temperature: float, **data: Any) -> Request:
            parameters = {"temperature": temperature}
            return lab.request(prompt, self.model, context.question, parameters, **told, **data)

        shown = [
            {"query": t.candidate.sql, "result": result_text(t.execution or _NOT_RUN)}
            for t in trials
        ]
        written = lab.client.complete(
            ask("select/unit_tests", self.temperature, candidates=shown, count=self.tests)
        )
        tests = read_tests(written.text)[: self.tests]
        if self.by == "test":
            label = "candidate"
            orders = [self._order(test, shown) for test in tests]
            judging = [
                ask(
                    "select/evaluate_one_test",
                    self.judge_temperature,
                    test=test,
                    candidates=[shown[place] for place in order],
                )
                for test, order in zip(tests, orders, strict=True)
            ]
        else:
            label = "(?:unit[ _])?test"
            orders = [[place] * len(tests) for place in range(len(shown)) if tests]
            judging = [
                ask("select/evaluate_one_candidate", self.judge_temperature, tests=tests, **one)
                for one in shown
                if tests
            ]
        answers = lab.client.complete_many(judging)
        passed = [0.0] * len(shown)
        for answer, order in zip(answers, orders, strict=True):
            verdicts = read_verdicts(answer.text, label, len(order))
            for place, verdict in zip(order, verdicts, strict=True):
                passed[place] += verdict
        return passed, [written.key, *(answer.key for answer in answers)]

    def _order(self, test: str, shown: Sequence[dict[str, str]]) -> list[int]:
        """The places of the candidates as they stand before a test."""
        return sorted(
            range(len(shown)),
            key=lambda place: content_hash("order", [self.seed, test, shown[place]]),
        )
