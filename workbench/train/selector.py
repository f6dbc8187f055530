"""Learns the selector of `select.trained` from a pool and gold, and tells by database what it is worth.

A right group is compared with each wrong one of its question: a logistic regression on the differences of
votes and doubts. Nine databases hold some sixty questions that the majority loses, too few to weigh ten
doubts one by one. So all doubts share one weight that is learned freely, and each departs from it only as
far as the data insist. Gold is wrong at times: a comparison that nothing explains counts less and less.
"""

import importlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.benchmarks.benchmark import Benchmark
from workbench.errors import BadInputError
from workbench.evaluate.judge import bird_verdicts
from workbench.lab import Lab
from workbench.pool import Pool
from workbench.select.features import DOUBTS
from workbench.select.majority import Majority
from workbench.select.trained import Evidence, Weights, beliefs, evidence
from workbench.systems.system import ran
from workbench.types import Context

Floats = NDArray[np.float64]
_FREE = 30.0  # a column as large as this pays next to nothing for its weight


@dataclass(frozen=True, slots=True)
class Case:
    """A question: what is known of each group, whether it is right, and whether the majority's is."""

    question_id: str
    db_id: str
    evidence: tuple[Evidence, ...]
    right: tuple[bool, ...]
    majority: bool


def teach(found: Sequence[Case]) -> bool:
    """Whether anything can be learned: a question has both a right and a wrong result."""
    return any(len(set(case.right)) == 2 for case in found)


def cases(lab: Lab, benchmark: Benchmark, pool: Pool) -> list[Case]:
    """The questions of the benchmark that the pool answers, with BIRD's verdicts on every group."""
    verdicts = bird_verdicts(benchmark, pool, lab.executor)
    found = []
    for question in benchmark.questions:
        if not (trials := pool.trials.get(question.id)):
            continue
        trials = ran(lab, question, [trial.candidate for trial in trials])
        known = evidence(lab, question, trials)
        right = tuple(verdicts[question.id][e.group.speaker] for e in known)
        most = Majority()(lab, Context(question, lab.schema(question.db_id)), trials).chosen
        majority = most is not None and verdicts[question.id][most]
        found.append(Case(question.id, question.db_id, known, right, majority))
    return found


@dataclass(frozen=True, slots=True)
class Learner:
    """How the weights are learned.

    `penalty` is of a doubt's departure from the common weight, `noise` the share of comparisons in which
    gold is taken to be wrong. `reliability` tells whether each generator has a vote of its own, and
    `doubts` which are looked at.
    """

    penalty: float = 3.0
    noise: float = 0.1
    rounds: int = 5
    reliability: bool = True
    doubts: tuple[str, ...] = tuple(DOUBTS)

    def __call__(self, found: Sequence[Case]) -> Weights:
        """The weights, calibrated on databases that were left out in turn, if the others can teach."""
        weights = self.weights(found)
        databases = sorted({case.db_id for case in found})
        told: list[tuple[float, bool]] = []
        for left_out in databases:
            rest = [case for case in found if case.db_id != left_out]
            if not teach(rest):
                continue
            others = self.weights(rest)
            for case in found:
                if case.db_id == left_out and case.right:
                    told += zip(beliefs(others.scores(case.evidence)), case.right, strict=True)
        if len({right for _, right in told}) == 2:
            x = np.array([[belief] for belief, _ in told])
            model = _logistic(1.0).fit(x, [right for _, right in told])
            slope, intercept = float(model.coef_[0, 0]), float(model.intercept_[0])
            weights = replace(weights, slope=max(slope, 0.01), intercept=intercept)
        facts = {"questions": len(found), "databases": databases, "learner": repr(self)}
        return replace(weights, learned_from=facts)

    def weights(self, found: Sequence[Case]) -> Weights:
        """The weights alone, which is all that picking takes."""
        if not teach(found):
            raise BadInputError(
                "nothing to learn from: no question has both a right and a wrong result among its candidates"
            )
        plain = Weights(1.0, {}, _votes(found) if self.reliability else {})
        differences, counts = self._comparisons(found, plain)
        votes, doubts = differences[:, :1] * _FREE, differences[:, 1:]
        columns = np.hstack([votes, doubts, doubts.sum(axis=1, keepdims=True) * _FREE])
        weight = counts
        for _ in range(self.rounds):
            model = _logistic(1 / self.penalty, fit_intercept=False).fit(
                np.vstack([columns, -columns]),
                np.repeat([1, 0], len(columns)),
                np.tile(weight, 2) / 2,
            )
            theta: Floats = model.coef_[0]
            explained = (1 - self.noise) / (1 + np.exp(-columns @ theta))
            weight = counts * explained / (explained + self.noise / 2)
        common = theta[-1] * _FREE
        return replace(
            plain,
            votes=max(float(theta[0] * _FREE), 0.01),
            doubts={
                name: min(float(own + common), 0.0)
                for name, own in zip(self.doubts, theta[1:-1], strict=True)
            },
        )

    def _comparisons(self, found: Sequence[Case], plain: Weights) -> tuple[Floats, Floats]:
        """Right minus wrong, for every pair of groups; the pairs of a question weigh 1 together."""
        rows: list[list[float]] = []
        counts: list[float] = []
        for case in found:
            votes = plain.scores(case.evidence)
            table = [
                [vote, *(e.doubts[name] for name in self.doubts)]
                for vote, e in zip(votes, case.evidence, strict=True)
            ]
            for one, good in zip(table, case.right, strict=True):
                wrong = [other for other, right in zip(table, case.right, strict=True) if not right]
                if good:
                    rows += [[a - b for a, b in zip(one, other, strict=True)] for other in wrong]
                    counts += [1 / len(wrong) for _ in wrong]
        return np.array(rows, dtype=np.float64), np.array(counts, dtype=np.float64)


def _votes(found: Sequence[Case], prior: int = 10) -> dict[str, float]:
    """Each generator's vote: its log-odds to be right, drawn towards those of all, 1 on average."""
    answered: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for case in found:
        for e, good in zip(case.evidence, case.right, strict=True):
            answered.update(e.generators)
            right.update(e.generators if good else ())
    mean = right.total() / max(answered.total(), 1)
    share = {name: (right[name] + prior * mean) / (n + prior) for name, n in answered.items()}
    odds = {name: max(log(p / (1 - p)) + 1 if 0 < p < 1 else 1.0, 0.1) for name, p in share.items()}
    return {name: vote * len(odds) / sum(odds.values()) for name, vote in sorted(odds.items())}


def _logistic(c: float, **settings: Any) -> Any:
    try:
        linear = importlib.import_module("sklearn.linear_model")
    except ImportError as error:
        raise BadInputError(
            f"to train a selector takes the extra `train`: pip install 'workbench[train]' ({error})"
        ) from error
    return linear.LogisticRegression(C=c, solver="newton-cholesky", **settings)
