"""CHESS's Unit Tester (section 3.1, figures 13 and 14): tests in words, and who passes most.

One call writes tests that tell the groups of equal results apart. Then each test is put to all candidates
in one call, the setting of section 4.2.1 that does better, or all tests to each candidate.

Departures. One query speaks for all with its result, and where all agree nobody is asked. The candidates
stand in another order before each test, drawn from the seed, where the published code has always the same.
A verdict that a reply does not give counts half; a tie goes to the larger group, so that without a single
readable reply the selection is the majority's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.canonical import content_hash
from workbench.db.context_text import context_data, result_text
from workbench.lab import Lab
from workbench.llm.replies import read_list
from workbench.select.groups import groups
from workbench.types import Context, Execution, Request, Selection, Trial

_NOT_RUN = Execution("error", error="not run")
_UNTOLD = 0.5
_LINE = 1000  # characters of a line that are looked at: the last ones, where verdicts stand
_SIGNS = " \t\"'*`|:=.-\u2013\u2014#()[]0123456789"
_VERDICT = re.compile(r"(\bnot\W|n[\u2019']t\W)?\b(pass|fail)(?:e[sd]|s|ing)?\b", re.IGNORECASE)
_PASSED = {"pass", "passed"}
_FAILED = {"fail", "failed"}


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
            label = "(?:unit )?test"
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


def read_tests(reply: str) -> list[str]:
    """The tests in a reply: a list of texts or of objects, or lines that say what a query should do."""
    listed = [
        max(map(str, item.values()), key=len, default="") if isinstance(item, dict) else str(item)
        for item in read_list(reply)
    ]
    lines = [
        line[line.index("The ") :]
        for line in reply.splitlines()
        if re.match(r"[\W\d]{0,10}The\b.*\bshould\b", line[:_LINE])
    ]
    return list(dict.fromkeys(test.strip(" \"',") for test in listed or lines if test.strip()))


def read_verdicts(reply: str, label: str, count: int) -> list[float]:
    """For each of so many things, which the reply labels and numbers, 1 if it passed, 0 if it failed.

    The last word on each counts, for models reason first; half where there is none. A reply that labels
    nothing is read by its lines or commas, if there are as many verdicts as things.
    """
    number = re.compile(
        rf"\b{label}s?\W{{1,6}}(?:(?:response|query)\W{{1,6}})?(\d{{1,4}})\b", re.IGNORECASE
    )
    verdicts = [_UNTOLD] * count
    bare = []
    for line in reply.splitlines():
        parts = number.split(line[-_LINE:])
        for found, text in zip(parts[1::2], parts[2::2], strict=True):
            if 1 <= int(found) <= count and (words := list(_VERDICT.finditer(text))):
                word = words[0] if text[: words[0].start()].strip(_SIGNS) == "" else words[-1]
                verdicts[int(found) - 1] = float((word[2].lower() == "pass") != bool(word[1]))
        bare += [item.strip(_SIGNS).lower() for item in line[-_LINE:].split(",")]
    alone = [float(word in _PASSED) for word in bare if word in _PASSED | _FAILED]
    return alone if set(verdicts) <= {_UNTOLD} and len(alone) == count else verdicts
