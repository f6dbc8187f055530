"""Learn the weights from the bundled train split: `python -m workbench.embedded.learn`.

A question is learned from when some hypothesis gives the gold query's result. Which of these is meant is unknown, so
the likelihood of all of them together is maximised (maximum marginal likelihood), with a penalty for leaving the
hand-set prior.json. Hypotheses are proposed anew with the weights so far, a few rounds.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

import workbench as wb
from workbench.benchmarks.benchmark import known_flaws
from workbench.embedded.combine import WEIGHTS_FILE, Hypothesis, propose
from workbench.embedded.link import Reading
from workbench.embedded.prompt import read_schema
from workbench.embedded.provider import MODEL

Weights = dict[str, float]
Pool = dict[str, tuple[Hypothesis, bool]]  # the hypotheses of a question, and whether each is right
PRIOR: Weights = json.loads(Path(__file__).with_name("prior.json").read_text(encoding="utf-8"))
L2, ROUNDS, KEPT = 3.0, 2, 70  # the penalty, the rounds, and the hypotheses of a question in each
EXACT = {"ftol": 0.0, "gtol": 1e-7, "maxiter": 5000, "maxfun": 5000}
SHARPNESS = 1.6  # what is learned is multiplied by it: the inverse of the temperature


def learn() -> Weights:
    """Weights under which right hypotheses are likely; questions that are flawed on purpose are left out."""
    benchmark, weights = wb.open_benchmark("bundled-train"), PRIOR
    flawed = {flaw.question_id for flaw in known_flaws(benchmark)}
    questions = [question for question in benchmark.questions if question.id not in flawed]
    pools: dict[str, Pool] = {question.id: {} for question in questions}
    with TemporaryDirectory() as at, wb.Cache(Path(at) / "s") as store, wb.Executor(store) as run:
        lab = wb.Lab(wb.Client(store), run, benchmark.database)
        shown = {q.db_id: read_schema(wb.create_table_text(lab.schema(q.db_id))) for q in questions}
        retrieval = wb.Retrieval(wb.Keywords(MODEL))
        contexts = [retrieval(lab, question, shown[question.db_id]) for question in questions]
        for _ in range(ROUNDS):
            for context in contexts:
                question, proposed = context.question, propose(Reading(context, weights), KEPT)
                queries = [benchmark.golds[question.id].sql, *(h.sql for h in proposed)]
                path = benchmark.database(question.db_id)
                gold, *found = run.result_fingerprints([(path, sql) for sql in queries])
                right = (bool(gold) and one == gold for one in found)
                pools[question.id] |= {
                    h.sql: (h, ok) for h, ok in zip(proposed, right, strict=True)
                }
            weights = fit(pools.values())
    scaled = {name: round(SHARPNESS * weight, 2) for name, weight in sorted(weights.items())}
    return {name: weight for name, weight in scaled.items() if weight}


def fit(pools: Iterable[Pool]) -> Weights:
    """The weights that make the right hypotheses of these pools likely.

    They are rounded before anything is proposed by them: the last digits of sums differ between processors.
    """
    usable = [[*pool.values()] for pool in pools if any(right for _, right in pool.values())]
    names = sorted({n for pool in usable for h, _ in pool for n in h.features} | PRIOR.keys())
    centre = np.array([PRIOR.get(name, 0.0) for name in names])
    known = [
        (np.array([[h.features.get(n, 0.0) for n in names] for h, _ in pool]), [r for _, r in pool])
        for pool in usable
    ]

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss, of likelihood and by leaving the prior, and its gradient."""
        away = weights - centre
        value, slope = L2 * (away @ away) / 2, L2 * away
        for features, right in known:
            scores = features @ weights
            meant = np.where(right, scores, -np.inf)
            value += logsumexp(scores) - logsumexp(meant)
            slope += features.T @ (softmax(scores) - softmax(meant))
        return float(value), slope

    fitted = minimize(loss, centre, jac=True, method="L-BFGS-B", options=EXACT)
    return dict(zip(names, fitted.x.round(3).tolist(), strict=True))


if __name__ == "__main__":
    WEIGHTS_FILE.write_text(json.dumps(learn(), indent=0) + "\n", encoding="utf-8")
