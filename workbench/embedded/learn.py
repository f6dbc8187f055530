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
from workbench.embedded.build_queries import WEIGHTS_FILE, Reading, propose
from workbench.embedded.provider import MODEL
from workbench.embedded.read_prompt import read_schema

# The features of the queries that were proposed for a question, a row a query and a column for each
# weight, and whether each is right.
Proposed = tuple[NDArray[np.float64], NDArray[np.bool_]]
PRIOR = json.loads(Path(__file__).with_name("prior.json").read_text(encoding="utf-8"))
NAMES = sorted(PRIOR)
PENALTY = 400.0  # high, since the train questions are few and of one kind
PROPOSED = 40  # queries for a question
DIGITS = 2  # of a weight
PRECISION = 1e-6  # of the optimum's gradient


def learn() -> dict[str, float]:
    """Return weights under which right queries are likely."""
    benchmark = wb.open_benchmark("bundled-train")
    learned_from = []
    with (
        TemporaryDirectory() as folder,
        wb.Cache(Path(folder, "cache.sqlite")) as cache,
        wb.Executor(cache) as executor,
    ):
        lab = wb.Lab(wb.Client(cache), executor, benchmark.database)
        for question in benchmark.questions:
            gold = benchmark.golds[question.id].sql
            learned_from += _proposed(lab, question, gold)
    return fit(learned_from)


def _proposed(lab: wb.Lab, question: wb.Question, gold: str) -> list[Proposed]:
    """Return what is learned from a question: nothing if no query proposed for it is right."""
    schema = read_schema(wb.create_table_text(lab.schema(question.db_id)))
    retrieve = wb.Retrieval(wb.Keywords(MODEL))
    context = retrieve(lab, question, schema)
    queries = propose(Reading(context, PRIOR), PROPOSED)
    path = lab.database(question.db_id)
    texts = [gold, *[query.sql for query in queries]]
    runs = [(path, text) for text in texts]
    wanted, *results = lab.executor.result_fingerprints(runs)
    right = np.array([result == wanted for result in results])
    if not wanted or not right.any():
        return []
    rows = [query.features for query in queries]
    features = pd.DataFrame(rows, columns=NAMES, dtype=float)
    return [(features.fillna(0.0).to_numpy(), right)]


def fit(learned_from: Collection[Proposed]) -> dict[str, float]:
    """Return the weights that make the right queries likely."""
    prior = np.array([PRIOR[name] for name in NAMES])
    optimum = minimize(
        _loss,
        prior,
        args=(prior, learned_from),
        jac=True,
        method="BFGS",
        options={"gtol": PRECISION},
    )
    weights = optimum.x.round(DIGITS)
    return dict(zip(NAMES, weights.tolist(), strict=True))


def _loss(
    weights: NDArray[np.float64],
    prior: NDArray[np.float64],
    learned_from: Collection[Proposed],
) -> tuple[float, NDArray[np.float64]]:
    """Return the loss, of likelihood and by leaving the prior, and its gradient."""
    away = weights - prior
    loss = PENALTY / 2 * float(away @ away)
    gradient = PENALTY * away
    for features, right in learned_from:
        scores = features @ weights
        right_scores = np.where(right, scores, -np.inf)
        loss += float(logsumexp(scores) - logsumexp(right_scores))
        gradient += features.T @ (softmax(scores) - softmax(right_scores))
    return loss, gradient


if __name__ == "__main__":
    WEIGHTS_FILE.write_text(json.dumps(learn(), indent=1) + "\n", encoding="utf-8")
