"""Learn the weights from the bundled train split: `python -m workbench.embedded.learn`.

A question is learned from when some query proposed for it, with the hand-set prior.json, gives the
gold query's result. Which of these is meant is unknown, so the likelihood of all of them together
is maximised (maximum marginal likelihood), with a penalty for leaving the prior.

The last digits of sums differ between processors. So the optimum is found to more digits than the
weights keep.
"""

import json
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

import workbench as wb
from workbench.benchmarks.benchmark import known_flaws
from workbench.embedded.build_queries import WEIGHTS_FILE, Reading, propose
from workbench.embedded.provider import MODEL
from workbench.embedded.read_prompt import read_schema

# The features of the queries that were proposed for a question, a row a query and a column for each
# weight, and whether each is right.
Proposed = tuple[NDArray[np.float64], NDArray[np.bool_]]
PRIOR = json.loads(Path(__file__).with_name("prior.json").read_text(encoding="utf-8"))
PENALTY = 400.0  # high, since the train questions are few and of one kind
PROPOSED = 40  # queries for a question
DIGITS = 2  # of a weight
PRECISION = 1e-6  # of the optimum's gradient


def learn() -> dict[str, float]:
    """Return weights under which right queries are likely, without questions flawed on purpose."""
    benchmark = wb.open_benchmark("bundled-train")
    flawed = {flaw.question_id for flaw in known_flaws(benchmark)}
    retrieval = wb.Retrieval(wb.Keywords(MODEL))
    learned_from = []
    with (
        TemporaryDirectory() as folder,
        wb.Cache(Path(folder) / "cache.sqlite") as cache,
        wb.Executor(cache) as executor,
    ):
        lab = wb.Lab(wb.Client(cache), executor, benchmark.database)
        for question in benchmark.questions:
            if question.id in flawed:
                continue
            schema = read_schema(wb.create_table_text(lab.schema(question.db_id)))
            reading = Reading(retrieval(lab, question, schema), PRIOR)
            queries = propose(reading, PROPOSED)
            path = benchmark.database(question.db_id)
            texts = [
                benchmark.golds[question.id].sql,
                *(query.sql for query in queries),
            ]
            gold, *results = executor.result_fingerprints([(path, t) for t in texts])
            right = np.array([result == gold for result in results], dtype=bool)
            if gold and right.any():
                rows = [query.features for query in queries]
                features = pd.DataFrame(rows, columns=sorted(PRIOR), dtype=float)
                learned_from.append((features.fillna(0.0).to_numpy(), right))
    return fit(learned_from)


def fit(learned_from: Collection[Proposed]) -> dict[str, float]:
    """Return the weights that make the right queries likely."""
    names = sorted(PRIOR)
    prior = np.array([PRIOR[name] for name in names])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the loss, of likelihood and by leaving the prior, and its gradient."""
        away = weights - prior
        value = PENALTY / 2 * float(away @ away)
        slope = PENALTY * away
        for features, right in learned_from:
            scores = features @ weights
            meant = np.where(right, scores, -np.inf)
            value += float(logsumexp(scores) - logsumexp(meant))
            slope += features.T @ (softmax(scores) - softmax(meant))
        return value, slope

    best = minimize(loss, prior, jac=True, method="BFGS", options={"gtol": PRECISION}).x
    return dict(zip(names, best.round(DIGITS).tolist(), strict=True))


if __name__ == "__main__":
    WEIGHTS_FILE.write_text(json.dumps(learn(), indent=1) + "\n", encoding="utf-8")
