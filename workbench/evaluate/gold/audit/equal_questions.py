"""Questions with the same text, hint and database whose gold queries return different results."""

import re
from collections.abc import Iterator, Mapping

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.ex import equal
from workbench.types import Execution

_WORD = re.compile(r"\w+|[<>=%]+")


def differing_golds(
    benchmark: Benchmark, executions: Mapping[str, Execution]
) -> Iterator[tuple[str, str]]:
    """The ids of a question and of an earlier one that is the same, for each pair with different results."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for question in benchmark.questions:
        words = _WORD.findall(f"{question.text} {question.evidence}".casefold())
        groups.setdefault((question.db_id, *words), []).append(question.id)
    for first, *others in groups.values():
        for other in others:
            gold = benchmark.golds[first].sql
            if not equal(executions[other], executions[first], gold, benchmark.sense):
                yield other, first
