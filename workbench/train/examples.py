"""Few-shot examples: the questions of a training split with their gold queries, or examples in a file."""

from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.predictions.formats import read_predictions
from workbench.errors import BadInputError
from workbench.types import Example


def training_examples(benchmark: Benchmark) -> tuple[Example, ...]:
    """Every question of the split with the query that answers it."""
    return tuple(
        Example(question.text, benchmark.golds[question.id].sql, question.evidence)
        for question in benchmark.questions
    )


def examples_of(path: str | Path, benchmark: Benchmark) -> dict[str, tuple[Example, ...]]:
    """The examples that another system wrote for each question, such as those of CodeS in CHASE-SQL's table 9.

    The file has the form of predictions, one record for each example: `question_id` is the question for which it
    was written, `question` and `sql` are the example's own.
    """
    path, known = Path(path), {question.id for question in benchmark.questions}
    found: dict[str, list[Example]] = {}
    for record in read_predictions(path, benchmark):
        if record.id not in known or not record.text:
            raise BadInputError(
                f"{path}, {record.line}: expected a question_id of {benchmark.name}, and the example's question and sql"
            )
        found.setdefault(record.id, []).append(Example(record.text, record.sql))
    return {question: tuple(examples) for question, examples in found.items()}
