"""Learn the weights from the bundled train split: `python -m workbench.embedded.learn`.

A question is learned from when some hypothesis gives the gold query's result. Which of these is meant is unknown, so
the likelihood of all of them together is maximised (maximum marginal likelihood), with a penalty for leaving the
hand-set prior.json. Hypotheses are proposed anew with the weights so far, a few rounds.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from workbench.benchmarks.load import known_flaws, open_benchmark
from workbench.embedded.combine import WEIGHTS_FILE, Hypothesis, propose
from workbench.embedded.prompt import read_schema
from workbench.embedded.provider import MODEL
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.retrieve.retrieval import Keywords, Retrieval
from workbench.sql.executor import Executor
from workbench.sql.schema_text import create_table_text
from workbench.types import Context

Weights = dict[str, float]
Judge = Callable[[Context, list[str]], list[bool]]  # which of these queries give gold's result
Judged = Sequence[tuple[Hypothesis, bool]]  # the hypotheses of a question, and which are right
PRIOR: Weights = json.loads(Path(__file__).with_name("prior.json").read_text(encoding="utf-8"))
L2, ROUNDS, KEPT = 3.0, 2, 70  # the penalty, the rounds, and the hypotheses of a question in each
SHARPNESS = 1.6  # what is learned is multiplied by it: the inverse of the temperature


def learn() -> Weights:
    """The weights that the bundled train split gives; questions that are flawed on purpose are left out."""
    benchmark = open_benchmark("bundled-train")
    flawed = {flaw.question_id for flaw in known_flaws(benchmark)}
    with TemporaryDirectory() as folder, Cache(Path(folder) / "s") as store, Executor(store) as run:
        lab, retrieval = Lab(Client(store), run, benchmark.database), Retrieval(Keywords(MODEL))
        contexts = []
        for question in (q for q in benchmark.questions if q.id not in flawed):
            schema = read_schema(create_table_text(lab.schema(question.db_id)))
            contexts.append(retrieval(lab, question, schema))

        def judge(context: Context, queries: list[str]) -> list[bool]:
            path = benchmark.database(context.question.db_id)
            queries = [benchmark.golds[context.question.id].sql, *queries]
            gold, *others = run.result_fingerprints([(path, sql) for sql in queries])
            return [bool(gold) and other == gold for other in others]

        return learn_from(contexts, judge)


def learn_from(contexts: Sequence[Context], judge: Judge) -> Weights:
    """Weights under which right hypotheses are likely, as weights.json has them."""
    weights = PRIOR
    pools: list[dict[str, tuple[Hypothesis, bool]]] = [{} for _ in contexts]
    for _ in range(ROUNDS):
        for context, pool in zip(contexts, pools, strict=True):
            proposed = propose(context, weights, KEPT)
            right = judge(context, [h.sql for h in proposed])
            pool |= {h.sql: (h, ok) for h, ok in zip(proposed, right, strict=True)}
        weights = _fit([list(pool.values()) for pool in pools])
    scaled = {name: round(SHARPNESS * w, 3) for name, w in sorted(weights.items())}
    return {name: weight for name, weight in scaled.items() if weight}


def _fit(pools: Iterable[Judged]) -> Weights:
    """The weights that make the right hypotheses of these pools likely."""
    usable = [pool for pool in pools if any(right for _, right in pool)]
    names = sorted({n for pool in usable for h, _ in pool for n in h.features} | PRIOR.keys())
    place = {name: i for i, name in enumerate(names)}
    centre = np.array([PRIOR.get(name, 0.0) for name in names])
    features = np.zeros((sum(map(len, usable)), len(names)))
    for row, (hypothesis, _) in enumerate(pair for pool in usable for pair in pool):
        for name, value in hypothesis.features.items():
            features[row, place[name]] = value
    right = np.array([right for pool in usable for _, right in pool])
    sizes = np.array([len(pool) for pool in usable])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss, of likelihood and by leaving the prior, and its gradient."""
        scores, away = features @ weights, weights - centre
        likely, all_of = _shares(scores, sizes)
        meant, right_of = _shares(np.where(right, scores, -np.inf), sizes)
        slope = features.T @ (likely - meant) + L2 * away
        return float((all_of - right_of).sum() + L2 * (away @ away) / 2), slope

    found = minimize(loss, centre, jac=True).x
    return dict(zip(names, found.tolist(), strict=True))


def _shares(
    scores: NDArray[np.float64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The softmax of the scores, question by question, and the logarithm of each question's sum."""
    starts = np.cumsum(sizes) - sizes
    highest = np.maximum.reduceat(scores, starts)
    powers = np.exp(scores - np.repeat(highest, sizes))
    sums = np.add.reduceat(powers, starts)
    return powers / np.repeat(sums, sizes), highest + np.log(sums)


if __name__ == "__main__":
    WEIGHTS_FILE.write_text(json.dumps(learn(), indent=0) + "\n", encoding="utf-8")
