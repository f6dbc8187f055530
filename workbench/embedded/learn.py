"""Learn the weights from the bundled train split: `python -m workbench.embedded.learn`.

A question is learned from when some query proposed for it gives the gold query's result. Which of
these is meant is unknown, so the likelihood of all of them together is maximised (maximum marginal
likelihood), with a penalty for leaving the hand-set prior.json. Queries are proposed anew with the
weights so far, a few rounds.

The last digits of sums differ between processors. So the optimum is found to more digits than the
weights keep, and the weights of a round are rounded before any query is proposed with them.
"""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

import workbench as wb
from workbench.benchmarks.benchmark import known_flaws
from workbench.embedded.build_queries import (
    WEIGHTS_FILE,
    Features,
    Query,
    Reading,
    propose,
)
from workbench.embedded.provider import MODEL
from workbench.embedded.read_prompt import read_schema

PRIOR = json.loads(Path(__file__).with_name("prior.json").read_text(encoding="utf-8"))
PENALTY = 400.0  # high, since the train questions are few and of one kind
ROUNDS = 2
PROPOSED = 40  # queries for a question in each round
DIGITS = 2  # of a weight
PRECISION = 1e-6  # of the optimum's gradient


class Pool(NamedTuple):
    """The queries that were proposed for a question, and whether each is right."""

    queries: dict[str, Query]
    right: dict[str, bool]


def learn() -> dict[str, float]:
    """Return weights under which right queries are likely, without questions flawed on purpose."""
    benchmark = wb.open_benchmark("bundled-train")
    flawed = {flaw.question_id for flaw in known_flaws(benchmark)}
    weights = dict(PRIOR)
    with (
        TemporaryDirectory() as folder,
        wb.Cache(Path(folder) / "cache.sqlite") as cache,
        wb.Executor(cache) as executor,
    ):
        lab = wb.Lab(wb.Client(cache), executor, benchmark.database)
        retrieval = wb.Retrieval(wb.Keywords(MODEL))
        contexts = []
        for question in benchmark.questions:
            if question.id not in flawed:
                schema = read_schema(wb.create_table_text(lab.schema(question.db_id)))
                contexts.append(retrieval(lab, question, schema))
        pools = [Pool({}, {}) for _ in contexts]
        for _ in range(ROUNDS):
            for context, pool in zip(contexts, pools, strict=True):
                proposed = propose(Reading(context, weights), PROPOSED)
                path = benchmark.database(context.question.db_id)
                gold = benchmark.golds[context.question.id].sql
                runs = [
                    (path, sql) for sql in (gold, *(query.sql for query in proposed))
                ]
                wanted, *prints = executor.result_fingerprints(runs)
                for query, result in zip(proposed, prints, strict=True):
                    pool.queries[query.sql] = query
                    pool.right[query.sql] = bool(wanted) and result == wanted
            weights = fit(pools)
    return weights


def fit(pools: Collection[Pool]) -> dict[str, float]:
    """Return the weights that make the right queries of these pools likely."""
    names = sorted(PRIOR)
    prior = np.array([PRIOR[name] for name in names])
    known = []
    for pool in pools:
        right = np.array([*pool.right.values()], dtype=bool)
        if right.any():
            known.append(
                (
                    _matrix([query.features for query in pool.queries.values()], names),
                    right,
                )
            )

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the loss, of likelihood and by leaving the prior, and its gradient."""
        away = weights - prior
        value = PENALTY / 2 * float(away @ away)
        slope = PENALTY * away
        for features, right in known:
            scores = features @ weights
            meant = np.where(right, scores, -np.inf)
            value += float(logsumexp(scores) - logsumexp(meant))
            slope += features.T @ (softmax(scores) - softmax(meant))
        return value, slope

    best = minimize(loss, prior, jac=True, method="BFGS", options={"gtol": PRECISION}).x
    return {
        name: round(float(weight), DIGITS)
        for name, weight in zip(names, best, strict=True)
    }


def _matrix(rows: Sequence[Features], names: Sequence[str]) -> NDArray[np.float64]:
    return np.array(
        [[row.get(name, 0.0) for name in names] for row in rows], dtype=float
    )


if __name__ == "__main__":
    WEIGHTS_FILE.write_text(json.dumps(learn(), indent=1) + "\n", encoding="utf-8")
