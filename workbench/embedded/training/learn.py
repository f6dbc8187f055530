"""Learn the weights of the embedded model from the bundled train split: `python -m workbench.embedded.training.learn`.

A question is learned from when some hypothesis gives the gold query's result. Which of these is meant is
unknown, so the likelihood of all of them together is maximised (maximum marginal likelihood), with a penalty
for leaving the hand-set `prior.json`. Hypotheses are proposed anew with the weights so far, a few rounds.
Every question is learned from twice, the second time under names that mean nothing (`renaming`).
With --check each database is judged by weights learned from the others.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.bundled import load_bundled, load_flaws
from workbench.db.catalog import describe
from workbench.db.execute import Executor
from workbench.db.schema import read_schema, with_examples
from workbench.db.text.schema_text import create_table_text
from workbench.embedded.grammar.joint import Style
from workbench.embedded.parser import WEIGHTS_FILE, Hypothesis, propose
from workbench.embedded.prompt.schema_reading import read_create_tables
from workbench.embedded.training.renaming import renamed
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.retrieve.retrieval import Retrieval
from workbench.store import Store
from workbench.types import Context, Limits

Weights = dict[str, float]
Judged = Sequence[tuple[Hypothesis, bool]]  # the hypotheses of a question, and which are right
PRIOR = Path(__file__).with_name("prior.json")
_LIMITS = Limits(seconds=1.0, rows=2_000, bytes=500_000)  # gold queries need far less


@dataclass(frozen=True, slots=True)
class Settings:
    """How to learn. `sharpness` multiplies what is learned: the inverse of the temperature."""

    l2: float = 2.0
    rounds: int = 2
    kept: int = 70
    steps: int = 250
    rate: float = 0.05
    sharpness: float = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """A context to learn from, with what turns queries about it into ones about the true database."""

    question_id: str
    db_id: str
    context: Context
    restored: Callable[[str], str]


class Teacher:
    """Says which hypotheses are right, by executing them; each query runs once."""

    def __init__(self, benchmark: Benchmark, executor: Executor) -> None:
        self.benchmark = benchmark
        self.executor = executor
        self.known: dict[tuple[Path, str], str] = {}

    def judged(self, items: Sequence[Item], weights: Weights, kept: int) -> dict[Item, Judged]:
        """What the model proposes for each item with these weights, judged."""
        proposed = {item: propose(item.context, Style(), weights, kept) for item in items}
        gold = {item: self._job(item, self.benchmark.golds[item.question_id].sql) for item in items}
        mine = {
            item: [self._job(item, item.restored(h.sql)) for h in found]
            for item, found in proposed.items()
        }
        jobs = dict.fromkeys([*gold.values(), *(job for some in mine.values() for job in some)])
        todo = [job for job in jobs if job not in self.known]
        fingerprints = self.executor.result_fingerprints(todo, _LIMITS)
        self.known |= dict(zip(todo, fingerprints, strict=True))
        return {
            item: [
                (h, bool(right) and self.known[job] == right)
                for h, job in zip(found, mine[item], strict=True)
            ]
            for item, found in proposed.items()
            for right in (self.known[gold[item]],)
        }

    def _job(self, item: Item, sql: str) -> tuple[Path, str]:
        return self.benchmark.database(item.db_id), sql


def train_items(benchmark: Benchmark, lab: Lab) -> list[Item]:
    """The split's questions as a prompt shows them, each also under other names; flawed ones left out."""
    flawed = {flaw.question_id for flaw in load_flaws("train")}
    retrieval = Retrieval(None)
    schemas = {}
    items = []
    for question in benchmark.questions:
        if question.id in flawed:
            continue
        if question.db_id not in schemas:
            path = benchmark.database(question.db_id)
            schema = describe(
                with_examples(read_schema(path), path), path.with_name("database_description")
            )
            schemas[question.db_id] = read_create_tables(create_table_text(schema))
        context = retrieval(lab, question, schemas[question.db_id])
        items.append(Item(question.id, question.db_id, context, str))
        items.append(Item(question.id, question.db_id, *renamed(context)))
    return items


def learn(items: Sequence[Item], teacher: Teacher, prior: Weights, settings: Settings) -> Weights:
    """Weights under which right hypotheses are likely."""
    weights = dict(prior)
    pools: dict[Item, dict[str, tuple[Hypothesis, bool]]] = {item: {} for item in items}
    for _ in range(settings.rounds):
        for item, judged in teacher.judged(items, weights, settings.kept).items():
            pools[item] |= {h.sql: (h, right) for h, right in judged}
        weights = fit([list(pool.values()) for pool in pools.values()], prior, weights, settings)
    return weights


def fit(pools: Iterable[Judged], prior: Weights, start: Weights, settings: Settings) -> Weights:
    """The weights that make the right hypotheses of these pools likely, found by gradient ascent (Adam)."""
    usable = [pool for pool in pools if any(right for _, right in pool)]
    names = sorted({n for pool in usable for h, _ in pool for n in h.features} | prior.keys())
    place = {name: i for i, name in enumerate(names)}
    centre = np.array([prior.get(name, 0.0) for name in names])
    weights = np.array([start.get(name, prior.get(name, 0.0)) for name in names])
    if not usable:
        return dict(zip(names, weights.tolist(), strict=True))
    features = np.zeros((sum(map(len, usable)), len(names)))
    for row, (hypothesis, _) in enumerate(pair for pool in usable for pair in pool):
        for name, value in hypothesis.features.items():
            features[row, place[name]] = value
    right = np.array([right for pool in usable for _, right in pool])
    sizes = np.array([len(pool) for pool in usable])
    momentum, spread = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, settings.steps + 1):
        scores = features @ weights
        likely = _shares(scores, sizes)
        meant = _shares(np.where(right, scores, -np.inf), sizes)
        slope = features.T @ (likely - meant) + settings.l2 * (weights - centre)
        momentum = 0.9 * momentum + 0.1 * slope
        spread = 0.999 * spread + 0.001 * slope**2
        size = np.sqrt(spread / (1 - 0.999**step)) + 1e-8
        weights = weights - settings.rate * momentum / (1 - 0.9**step) / size
    return dict(zip(names, weights.tolist(), strict=True))


def _shares(scores: NDArray[np.float64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The softmax of the scores, question by question."""
    starts = np.cumsum(sizes) - sizes
    highest = np.repeat(np.maximum.reduceat(scores, starts), sizes)
    powers = np.exp(scores - highest)
    return np.asarray(powers / np.repeat(np.add.reduceat(powers, starts), sizes))


def summary(results: Iterable[Judged], sharpness: float) -> dict[str, float]:
    """How often the best hypothesis is right, one drawn, any of ten drawn, and any at all."""
    found: list[tuple[float, float, float, float]] = []
    for judged in results:
        rights = np.array([right for _, right in judged], dtype=float)
        scores = np.array([h.score for h, _ in judged])
        shares = _shares(sharpness * scores, np.array([len(scores)])) if len(scores) else scores
        drawn = float(shares @ rights)
        found.append((float(rights[:1].sum()), drawn, 1 - (1 - drawn) ** 10, float(rights.any())))
    means = np.mean(found, axis=0).tolist()
    return dict(zip(("best", "one sample", "any of ten", "any"), means, strict=True))


def check(items: Sequence[Item], teacher: Teacher, prior: Weights, settings: Settings) -> None:
    """Print how weights learned from the other databases do on each, plain and renamed."""
    judged: dict[Item, Judged] = {}
    for db_id in sorted({item.db_id for item in items}):
        weights = learn([i for i in items if i.db_id != db_id], teacher, prior, settings)
        judged |= teacher.judged([i for i in items if i.db_id == db_id], weights, 40)
    for name, plain in (("plain", True), ("renamed", False)):
        chosen = [v for i, v in judged.items() if (i.restored is str) == plain]
        _print(name, chosen, settings.sharpness)


def _print(name: str, results: Sequence[Judged], sharpness: float) -> None:
    shares = ", ".join(f"{k} {v:.1%}" for k, v in summary(results, sharpness).items())
    print(f"{name}: {len(results)} questions, {shares}", flush=True)


def write(weights: Mapping[str, float], settings: Settings, path: Path = WEIGHTS_FILE) -> None:
    """The weights as package data, multiplied by the sharpness and rounded."""
    scaled = {n: round(settings.sharpness * w, 3) for n, w in sorted(weights.items())}
    text = json.dumps({n: w for n, w in scaled.items() if w}, indent=0)
    path.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Learn and write the weights, or only check."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true", help="judge each database by the others")
    given = arguments.parse_args()
    settings = Settings()
    prior: Weights = json.loads(PRIOR.read_text(encoding="utf-8"))
    benchmark = load_bundled("train")
    with Store() as store, Executor(store) as executor:
        items = train_items(benchmark, Lab(Client(store), executor, benchmark.database))
        teacher = Teacher(benchmark, executor)
        if given.check:
            check(items, teacher, prior, settings)
        else:
            weights = learn(items, teacher, prior, settings)
            _print("learned from", list(teacher.judged(items, weights, 40).values()), 1.0)
            write(weights, settings)


if __name__ == "__main__":
    main()
