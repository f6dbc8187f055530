"""Trains the selector of `select.trained` from a pool and the gold queries.

Each right group is compared with each wrong group of its question: a logistic regression on the differences
of votes and doubts. Nine databases hold some sixty questions that the majority loses, too few to weigh ten
doubts one by one. So all doubts share one weight that is learned freely, and a penalty keeps each doubt's own
weight near it. Some gold queries are wrong, so a comparison that the model cannot explain counts less in
every round.
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
from workbench.evaluate.ex import pool_verdicts
from workbench.lab import Lab
from workbench.pool import Pool
from workbench.select.features import DOUBTS
from workbench.select.majority import Majority
from workbench.select.trained import Evidence, Weights, beliefs, evidence
from workbench.systems.system import run_candidates
from workbench.types import Context

Floats = NDArray[np.float64]
# Answers of mean accuracy that are added to each generator's own, since a few answers prove little.
_PRIOR_ANSWERS = 10
_UNPENALISED = (
    30.0  # a column scaled by this needs a small weight, which the penalty hardly changes
)


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """One question to learn from: its groups of candidates with one result each."""

    question_id: str
    db_id: str
    evidence: tuple[Evidence, ...]
    """The votes and doubts of each group."""
    right: tuple[bool, ...]
    """Whether each group's result is gold's, by BIRD's EX."""
    majority: bool
    """Whether the candidate that the majority selects is right."""


def has_comparisons(questions: Sequence[JudgedQuestion]) -> bool:
    """Whether any of the questions has both a right and a wrong result."""
    return any(len(set(question.right)) == 2 for question in questions)


def judged_questions(lab: Lab, benchmark: Benchmark, pool: Pool) -> list[JudgedQuestion]:
    """The questions of the benchmark that the pool answers, with BIRD's verdicts on every group."""
    verdicts = pool_verdicts(benchmark, pool, lab.executor, sense="bird")
    judged = []
    for question in benchmark.questions:
        if not (trials := pool.trials.get(question.id)):
            continue
        trials = run_candidates(lab, question, [trial.candidate for trial in trials])
        # A group's results are equal, so the verdict on its representative is that on the group.
        groups = evidence(lab, question, trials)
        right = tuple(verdicts[question.id][e.group.representative] for e in groups)
        picked = Majority()(lab, Context(question, lab.schema(question.db_id)), trials).chosen
        majority = picked is not None and verdicts[question.id][picked]
        judged.append(JudgedQuestion(question.id, question.db_id, groups, right, majority))
    return judged


@dataclass(frozen=True, slots=True)
class Learner:
    """Learns the weights of a selector."""

    penalty: float = 3.0
    """Holds each doubt's weight near the weight that all doubts share."""
    noise: float = 0.1
    """The share of comparisons in which gold is assumed to be wrong."""
    rounds: int = 5
    reliability: bool = True
    """Whether each generator's vote has its own weight."""
    doubts: tuple[str, ...] = tuple(DOUBTS)
    """The doubts to use."""
    parts: float = 0.5
    """How much the votes for each part of a query count, of those for its result. It is given, not learned: the
    samples of one model agree on the parts of wrong queries, too, and teach nothing about other pools."""
    most_doubt: float | None = 2.0
    """See `Weights`. It is given, too: on databases other than the training's, doubts are right less often."""

    def __call__(self, questions: Sequence[JudgedQuestion]) -> Weights:
        """The weights, and the calibration of their beliefs on databases left out in turn."""
        weights = self.weights(questions)
        databases = sorted({question.db_id for question in questions})
        judged_beliefs: list[tuple[float, bool]] = []
        for left_out in databases:
            rest = [question for question in questions if question.db_id != left_out]
            if not has_comparisons(rest):
                continue
            others = self.weights(rest)
            for question in questions:
                if question.db_id == left_out and question.right:
                    scores = others.scores(question.evidence)
                    judged_beliefs += zip(beliefs(scores), question.right, strict=True)
        if len({right for _, right in judged_beliefs}) == 2:
            x = np.array([[belief] for belief, _ in judged_beliefs])
            model = _logistic(1.0).fit(x, [right for _, right in judged_beliefs])
            slope, intercept = float(model.coef_[0, 0]), float(model.intercept_[0])
            weights = replace(weights, slope=max(slope, 0.01), intercept=intercept)
        facts = {"questions": len(questions), "databases": databases, "learner": repr(self)}
        return replace(weights, learned_from=facts)

    def weights(self, questions: Sequence[JudgedQuestion]) -> Weights:
        """The weights without calibration, which picking does not need."""
        if not has_comparisons(questions):
            raise BadInputError(
                "nothing to learn from: no question has both a right and a wrong result among its candidates"
            )
        generators = _generator_votes(questions) if self.reliability else {}
        votes_only = Weights(1.0, {}, generators, parts=self.parts, most_doubt=self.most_doubt)
        differences, counts = self._comparisons(questions, votes_only)
        votes, doubts = differences[:, :1] * _UNPENALISED, differences[:, 1:]
        columns = np.hstack([votes, doubts, doubts.sum(axis=1, keepdims=True) * _UNPENALISED])
        weight = counts
        for _ in range(self.rounds):
            # Every comparison enters both ways round, so that neither order is preferred; half the weight
            # each. Without an intercept, two equal groups get even odds.
            model = _logistic(1 / self.penalty, fit_intercept=False).fit(
                np.vstack([columns, -columns]),
                np.repeat([1, 0], len(columns)),
                np.tile(weight, 2) / 2,
            )
            theta: Floats = model.coef_[0]
            # A comparison that these weights explain badly is more likely a mistake in gold.
            explained = (1 - self.noise) / (1 + np.exp(-columns @ theta))
            weight = counts * explained / (explained + self.noise / 2)
        common = theta[-1] * _UNPENALISED
        return replace(
            votes_only,
            votes=max(float(theta[0] * _UNPENALISED), 0.01),
            doubts={
                name: min(float(own + common), 0.0)
                for name, own in zip(self.doubts, theta[1:-1], strict=True)
            },
        )

    def _comparisons(
        self, questions: Sequence[JudgedQuestion], votes_only: Weights
    ) -> tuple[Floats, Floats]:
        """Right minus wrong, for every pair of groups; the pairs of a question weigh 1 together."""
        rows: list[list[float]] = []
        counts: list[float] = []
        for question in questions:
            votes = votes_only.scores(question.evidence)
            table = [
                [vote, *(e.doubts[name] for name in self.doubts)]
                for vote, e in zip(votes, question.evidence, strict=True)
            ]
            judged = list(zip(table, question.right, strict=True))
            wrong = [group for group, right in judged if not right]
            for group, right in judged:
                if right:
                    rows += [[a - b for a, b in zip(group, other, strict=True)] for other in wrong]
                    counts += [1 / len(wrong) for _ in wrong]
        return np.array(rows, dtype=np.float64), np.array(counts, dtype=np.float64)


def _generator_votes(questions: Sequence[JudgedQuestion]) -> dict[str, float]:
    """Each generator's vote, 1 on average: its log-odds to be right, shrunk towards those of all."""
    answered: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for question in questions:
        for e, is_right in zip(question.evidence, question.right, strict=True):
            answered.update(e.generators)
            right.update(e.generators if is_right else ())
    mean = right.total() / max(answered.total(), 1)
    share = {
        name: (right[name] + _PRIOR_ANSWERS * mean) / (n + _PRIOR_ANSWERS)
        for name, n in answered.items()
    }
    odds = {name: max(log(p / (1 - p)) + 1 if 0 < p < 1 else 1.0, 0.1) for name, p in share.items()}
    return {name: vote * len(odds) / sum(odds.values()) for name, vote in sorted(odds.items())}


def _logistic(c: float, **settings: Any) -> Any:
    try:
        linear = importlib.import_module("sklearn.linear_model")
    except ImportError as error:
        raise BadInputError(
            f"training a selector needs the extra `train`: pip install 'workbench[train]' ({error})"
        ) from error
    return linear.LogisticRegression(C=c, solver="newton-cholesky", **settings)
