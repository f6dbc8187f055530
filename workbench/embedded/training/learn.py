"""Learn the weights of the embedded model from the bundled train split: `python -m workbench.embedded.training.learn`.

A question is learned from when some hypothesis gives the gold query's result. Which of these is meant is
unknown, so the likelihood of all of them together is maximised (maximum marginal likelihood), with a penalty
for leaving the hand-set `prior.json`. Hypotheses are proposed anew with the weights so far, a few rounds.
The present `weights.json` is older: features that left the grammar were dropped, the other weights kept. Learned anew,
they answer 102 instead of 104 questions of bundled dev, and 209 instead of 214 of 471 of Spider.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.bundled import load_bundled, load_flaws
from workbench.embedded.grammar.joint import Style
from workbench.embedded.parser import WEIGHTS_FILE, Hypothesis, combined, parts
from workbench.embedded.prompt.schema_reading import read_create_tables
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.retrieve.retrieval import Retrieval
from workbench.sql.executor import Executor
from workbench.sql.schema_text import create_table_text
from workbench.types import Context

Weights = dict[str, float]
Contexts = Mapping[str, Context]  # of questions, by their ids
Judged = Sequence[tuple[Hypothesis, bool]]  # the hypotheses of a question, and which are right
PRIOR = Path(__file__).with_name("prior.json")


@dataclass(frozen=True, slots=True)
class Settings:
    """How to learn. `sharpness` multiplies what is learned: the inverse of the temperature."""

    l2: float = 3.0  # of 3, 5 and 8 the best on bundled dev, and hardly worse on Spider
    rounds: int = 2
    kept: int = 70
    sharpness: float = 2.0


def train_contexts(benchmark: Benchmark, lab: Lab) -> Contexts:
    """The split's questions as a prompt shows them, by their ids; flawed ones are left out."""
    flawed = {flaw.question_id for flaw in load_flaws("train")}
    retrieval = Retrieval(None)
    return {
        q.id: retrieval(lab, q, read_create_tables(create_table_text(lab.schema(q.db_id))))
        for q in benchmark.questions
        if q.id not in flawed
    }


def judged(
    benchmark: Benchmark, executor: Executor, contexts: Contexts, weights: Weights, kept: int
) -> dict[str, Judged]:
    """The model's proposals for each context with these weights, judged by execution."""
    found: dict[str, Judged] = {}
    for i, context in contexts.items():
        proposed = combined(*parts(context, weights), Style(), kept)
        database = benchmark.database(context.question.db_id)
        queries = (benchmark.golds[i].sql, *(h.sql for h in proposed))
        gold, *others = executor.result_fingerprints([(database, sql) for sql in queries])
        found[i] = [(h, bool(gold) and r == gold) for h, r in zip(proposed, others, strict=True)]
    return found


def learn(
    benchmark: Benchmark, executor: Executor, contexts: Contexts, prior: Weights, settings: Settings
) -> Weights:
    """Weights under which right hypotheses are likely."""
    weights = dict(prior)
    pools: dict[str, dict[str, tuple[Hypothesis, bool]]] = {i: {} for i in contexts}
    for _ in range(settings.rounds):
        found = judged(benchmark, executor, contexts, weights, settings.kept)
        for i, pool in found.items():
            pools[i] |= {h.sql: (h, right) for h, right in pool}
        weights = fit([list(pool.values()) for pool in pools.values()], prior, settings)
    return weights


def fit(pools: Iterable[Judged], prior: Weights, settings: Settings) -> Weights:
    """The weights that make the right hypotheses of these pools likely."""
    usable = [pool for pool in pools if any(right for _, right in pool)]
    names = sorted({n for pool in usable for h, _ in pool for n in h.features} | prior.keys())
    place = {name: i for i, name in enumerate(names)}
    centre = np.array([prior.get(name, 0.0) for name in names])
    if not usable:
        return dict(zip(names, centre.tolist(), strict=True))
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
        slope = features.T @ (likely - meant) + settings.l2 * away
        return float((all_of - right_of).sum() + settings.l2 * (away @ away) / 2), slope

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


def write(weights: Mapping[str, float], settings: Settings, path: Path = WEIGHTS_FILE) -> None:
    """The weights as package data, multiplied by the sharpness and rounded."""
    scaled = {n: round(settings.sharpness * w, 3) for n, w in sorted(weights.items())}
    text = json.dumps({n: w for n, w in scaled.items() if w}, indent=0)
    path.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Learn and write the weights; print how often the best hypothesis is right."""
    settings = Settings()
    prior: Weights = json.loads(PRIOR.read_text(encoding="utf-8"))
    benchmark = load_bundled("train")
    with Cache() as cache, Executor() as executor:
        contexts = train_contexts(benchmark, Lab(Client(cache), executor, benchmark.database))
        weights = learn(benchmark, executor, contexts, prior, settings)
        best = judged(benchmark, executor, contexts, weights, 1).values()
    right = sum(correct for found in best for _, correct in found)
    print(f"learned from {len(contexts)} questions; the best hypothesis is right for {right}")
    write(weights, settings)


if __name__ == "__main__":
    main()
