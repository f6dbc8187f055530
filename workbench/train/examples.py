"""Few-shot examples: the questions of a training split with their gold queries, or examples in a file."""

from pathlib import Path

from pydantic import BaseModel

from workbench.benchmarks.benchmark import Benchmark, Filled, read_items
from workbench.errors import BadInputError
from workbench.types import Example


def training_examples(benchmark: Benchmark) -> tuple[Example, ...]:
    """Every question of the split with the query that answers it."""
    return tuple(
        Example(question.text, benchmark.golds[question.id].sql, question.evidence)
        for question in benchmark.questions
    )


class _Example(BaseModel, strict=True):
    question_id: int | str
    question: Filled
    sql: Filled


def examples_of(path: str | Path, benchmark: Benchmark) -> dict[str, tuple[Example, ...]]:
    """The examples that another system wrote for each question, such as those of CodeS in CHASE-SQL's table 9.

    The file is a JSON list or JSON lines: `question_id` is the question for which one was written, `question` and `sql` are
    its own.
    """
    known = {question.id for question in benchmark.questions}
    found: dict[str, tuple[Example, ...]] = {}
    for number, item in enumerate(read_items(Path(path), _Example)):
        key = str(item.question_id)
        if key not in known:
            raise BadInputError(f"{path}, item {number}: {benchmark.name} has no question {key}")
        found[key] = (*found.get(key, ()), Example(item.question, item.sql))
    return found
