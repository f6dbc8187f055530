"""What a selector is worth on databases that it did not see, and what each part of it adds.

Every database is judged by weights that were learned on others: on all others, or on a half of them. The
measure beside accuracy is CHASE-SQL's gap (section 4.5): how much of the way from the majority to the
oracle, which always picks a right candidate where there is one, the selector goes.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from workbench.errors import BadInputError
from workbench.evaluate.stats import Interval, mean_interval, t_quantile
from workbench.select.features import DOUBTS
from workbench.select.trained import Weights
from workbench.train.selector import Case, Learner, teach

Split = tuple[
    frozenset[str], ...
]  # parts of the databases; each is judged by what the others teach
Verdicts = Sequence[float]  # one for each case


@dataclass(frozen=True, slots=True)
class Row:
    """A selector's accuracy and the share of the gap that it closes, with 95% intervals by database."""

    name: str
    accuracy: Interval
    closed: float
    low: float
    high: float


def cross_validate(
    found: Sequence[Case],
    learner: Learner | None = None,
    *,
    halvings: int = 10,
    parts: bool = False,
) -> list[Row]:
    """Majority, oracle, and the selector with each database left out, and with half of them left out.

    The halvings are seeded draws, each judged both ways round. With `parts` there follows the selector
    without its reliabilities, without its doubts, and without each doubt.
    """
    learner = learner or Learner()
    databases = sorted({case.db_id for case in found})
    if len(databases) < 2:
        raise BadInputError(
            "cross-validation is by database, and the pool answers questions on one only"
        )
    alone: list[Split] = [tuple(frozenset({name}) for name in databases)]
    halves = [_halved(databases, seed) for seed in range(halvings)]
    answers: dict[str, Verdicts] = {
        "majority": [float(case.majority) for case in found],
        "oracle": [float(any(case.right)) for case in found],
        "trained, leaving one database out": _judged(found, learner, alone),
        "trained on one half of the databases": _judged(found, learner, halves),
    }
    if parts:
        others = {"reliabilities": replace(learner, reliability=False)}
        others |= {"doubts": replace(learner, doubts=())}
        for name in DOUBTS:
            kept = tuple(other for other in learner.doubts if other != name)
            others[name] = replace(learner, doubts=kept)
        answers |= {f"  without {name}": _judged(found, one, alone) for name, one in others.items()}
    return [_row(name, verdicts, answers, found) for name, verdicts in answers.items()]


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


def pick(weights: Weights, case: Case) -> bool:
    """Whether the group that these weights put first is right."""
    scores = weights.scores(case.evidence)
    return bool(scores) and case.right[scores.index(max(scores))]


def _judged(found: Sequence[Case], learner: Learner, splits: Sequence[Split]) -> Verdicts:
    """For each case the share of splits in which the selector is right."""
    right = [0.0] * len(found)
    for split in splits:
        for part in split:
            rest = [case for case in found if case.db_id not in part]
            if not teach(rest):
                raise BadInputError(
                    f"cross-validation leaves out {', '.join(sorted(part))}, and on the other databases no "
                    "question has both a right and a wrong result: give candidates for more of them"
                )
            weights = learner.weights(rest)
            for place, case in enumerate(found):
                if case.db_id in part:
                    right[place] += pick(weights, case) / len(splits)
    return [min(share, 1.0) for share in right]


def _halved(databases: Sequence[str], seed: int) -> Split:
    half = frozenset(random.Random(seed).sample(databases, len(databases) // 2))  # noqa: S311
    return half, frozenset(databases) - half


def _row(name: str, mine: Verdicts, all_: Mapping[str, Verdicts], found: Sequence[Case]) -> Row:
    databases = [case.db_id for case in found]
    gain = _more(mine, all_["majority"], databases)
    gap = _more(all_["oracle"], all_["majority"], databases)
    closed = _ratio(gain, gap, "")
    without = [_ratio(gain, gap, left_out) for left_out in gap]  # the jackknife of `evaluate.stats`
    n = len(without)
    variance = (n - 1) / n * sum((one - closed) ** 2 for one in without)
    half = t_quantile(0.95, n - 1) * sqrt(variance)
    interval = mean_interval(mine, databases)
    return Row(name, interval, closed, closed - half, closed + half)


def _more(these: Verdicts, those: Verdicts, databases: Sequence[str]) -> dict[str, float]:
    """By how much the first are more than the second, in sum, on each database."""
    sums: dict[str, float] = {}
    for database, this, that in zip(databases, these, those, strict=True):
        sums[database] = sums.get(database, 0.0) + this - that
    return sums


def _ratio(gain: Mapping[str, float], gap: Mapping[str, float], left_out: str) -> float:
    whole = sum(much for name, much in gap.items() if name != left_out)
    return sum(much for name, much in gain.items() if name != left_out) / whole if whole else 0.0
