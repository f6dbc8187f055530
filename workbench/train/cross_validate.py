"""The accuracy of a selector on databases that it was not trained on, and the contribution of each of its parts.

Weights learned on all other databases, or on the half without it, judge each database. CHASE-SQL's gap (section 4.5)
is reported, too: the share of the difference between the majority and the oracle that the selector closes. The oracle
picks a right candidate if there is one.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import pandas as pd

from workbench.errors import BadInputError
from workbench.evaluate.stats import Interval, mean_interval, t_quantile
from workbench.select.features import DOUBTS
from workbench.select.trained import Weights
from workbench.train.selector import JudgedQuestion, Learner, has_comparisons

# Parts of the databases: each is judged by weights from the others.
Split = tuple[frozenset[str], ...]
Verdicts = Sequence[float]  # one for each question


@dataclass(frozen=True, slots=True)
class Row:
    """A selector's accuracy and the share of the gap that it closes, with 95% intervals by database."""

    name: str
    accuracy: Interval
    closed: float  # from 0 (no better than the majority) to 1 (the oracle)
    low: float
    high: float


def cross_validate(
    questions: Sequence[JudgedQuestion],
    learner: Learner | None = None,
    *,
    halvings: int = 10,
    parts: bool = False,
) -> list[Row]:
    """Majority, oracle, and the selector with each database left out, and with half of them left out.

    The halves are drawn by seeds, and each half judges the other. `parts` adds the selector without its
    reliabilities, without its doubts, without votes for parts of queries, and without each doubt.
    """
    learner = learner or Learner()
    databases = sorted({question.db_id for question in questions})
    if len(databases) < 2:
        raise BadInputError(
            "cross-validation is by database, and the pool answers questions on one only: give candidates for more"
        )
    alone: list[Split] = [tuple(frozenset({name}) for name in databases)]
    halves = [_halved(databases, seed) for seed in range(halvings)]
    answers: dict[str, Verdicts] = {
        "majority": [float(question.majority) for question in questions],
        "oracle": [float(any(question.right)) for question in questions],
        "trained, leaving one database out": _judged(questions, learner, alone),
        "trained on one half of the databases": _judged(questions, learner, halves),
    }
    if parts:
        others = {"reliabilities": replace(learner, reliability=False)}
        others |= {"doubts": replace(learner, doubts=())}
        others |= {"votes for parts of queries": replace(learner, parts=0.0)}
        for name in DOUBTS:
            rest = tuple(other for other in learner.doubts if other != name)
            others[name] = replace(learner, doubts=rest)
        for name, other in others.items():
            answers[f"  without {name}"] = _judged(questions, other, alone)
    databases_of = [question.db_id for question in questions]
    return [_row(name, verdicts, answers, databases_of) for name, verdicts in answers.items()]


def as_text(rows: Sequence[Row]) -> str:
    """The rows as a table, in percent."""
    width = max(len(row.name) for row in rows)
    lines = [f"{'':{width}}  EX (BIRD)  95% interval   of the gap  95% interval"]
    for row in rows:
        low, high = (100 * end for end in (row.accuracy.low, row.accuracy.high))
        line = f"{row.name:{width}}  {100 * row.accuracy.mean:9.2f}  {low:4.1f} to {high:5.1f}"
        if row.name not in {"majority", "oracle"}:
            line += f"  {row.closed:11.0%}  {row.low:4.0%} to {row.high:.0%}"
        lines.append(line)
    return "\n".join(lines)


def picks_right(weights: Weights, question: JudgedQuestion) -> bool:
    """Whether the group that these weights rank first is right."""
    scores = weights.scores(question.evidence)
    return bool(scores) and question.right[scores.index(max(scores))]


def _judged(
    questions: Sequence[JudgedQuestion], learner: Learner, splits: Sequence[Split]
) -> Verdicts:
    """For each question the share of splits in which the selector is right."""
    right = [0.0] * len(questions)
    for split in splits:
        for part in split:
            rest = [question for question in questions if question.db_id not in part]
            if not has_comparisons(rest):
                raise BadInputError(
                    f"cross-validation leaves out {', '.join(sorted(part))}, and on the other databases no "
                    "question has both a right and a wrong result: give candidates for more of them"
                )
            weights = learner.weights(rest)
            for index, question in enumerate(questions):
                if question.db_id in part:
                    right[index] += picks_right(weights, question) / len(splits)
    return [min(share, 1.0) for share in right]


def _halved(databases: Sequence[str], seed: int) -> Split:
    half = frozenset(random.Random(seed).sample(databases, len(databases) // 2))  # noqa: S311
    return half, frozenset(databases) - half


def _row(
    name: str, verdicts: Verdicts, answers: Mapping[str, Verdicts], databases: Sequence[str]
) -> Row:
    gain = _gain(verdicts, answers["majority"], databases)
    gap = _gain(answers["oracle"], answers["majority"], databases)
    closed = _ratio(gain, gap)
    # The jackknife of `evaluate.stats`: the share without each database.
    without = [_ratio(gain.drop(name), gap.drop(name)) for name in gap.index]
    n = len(without)
    variance = (n - 1) / n * sum((share - closed) ** 2 for share in without)
    half = t_quantile(0.95, n - 1) * sqrt(variance)
    interval = mean_interval(verdicts, databases)
    return Row(name, interval, closed, closed - half, closed + half)


def _gain(verdicts: Verdicts, base: Verdicts, databases: Sequence[str]) -> "pd.Series[float]":
    """The number of right answers on each database, minus that of the base."""
    return (pd.Series(verdicts) - pd.Series(base)).groupby(list(databases)).sum()


def _ratio(gain: "pd.Series[float]", gap: "pd.Series[float]") -> float:
    return float(gain.sum() / gap.sum()) if gap.sum() else 0.0
