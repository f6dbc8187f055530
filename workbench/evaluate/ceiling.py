"""Gold as one more prediction: what the best of answers could reach, since a gold query may fail, too."""

from workbench.benchmarks.benchmark import Benchmark
from workbench.pool import Pool, pool_of
from workbench.types import Candidate, Trial


def gold_pool(benchmark: Benchmark) -> Pool:
    """A pool in which `gold` answers every question."""
    golds = benchmark.golds.items()
    return pool_of((question, Trial(Candidate(gold.sql, "gold"))) for question, gold in golds)
