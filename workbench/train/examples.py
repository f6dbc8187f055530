"""A training split as examples to show: questions with their gold queries, of databases that no test asks."""

from workbench.benchmarks.benchmark import Benchmark
from workbench.types import Example


def training_examples(benchmark: Benchmark) -> tuple[Example, ...]:
    """Every question of the split with the query that answers it."""
    return tuple(
        Example(question.text, benchmark.golds[question.id].sql, question.evidence)
        for question in benchmark.questions
    )
