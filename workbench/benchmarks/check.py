"""Check a benchmark: what a folder lacks of it, and what is wrong in the files that are there."""

import warnings
from collections.abc import Iterator
from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.load import open_benchmark
from workbench.errors import BadInputError
from workbench.sql.catalog import describe
from workbench.sql.executor import Executor
from workbench.sql.schema import read_schema


def lacking(name: str, folder: Path) -> str:
    """The files of the benchmark that the folder lacks, in the words of the error of opening it; "" if none."""
    with warnings.catch_warnings(record=True, action="always") as told:
        try:
            benchmark = open_benchmark(name, folder)
        except BadInputError as error:
            return str(error)
    names = sorted({q.db_id for q in benchmark.questions if benchmark.sense == "bird"})
    folders = [benchmark.database(name).parent / "database_description" for name in names]
    bare = ", ".join(folder.parent.name for folder in folders if not folder.is_dir())
    left = [f"no database_description of {bare}"] if bare else []
    return "; ".join([*(str(warning.message) for warning in told), *left])


def check(benchmark: Benchmark, executor: Executor) -> Iterator[str]:
    """A line for each gold query that fails, question that is asked twice and part of a database that is unreadable."""
    asked: dict[tuple[str, str], str] = {}
    jobs = [(benchmark.database(q.db_id), benchmark.golds[q.id].sql) for q in benchmark.questions]
    for question, ran in zip(benchmark.questions, executor.execute_many(jobs), strict=True):
        if ran.status != "ok":
            yield f"question {question.id}: the gold query gives {ran.error or 'no rows'}"
        text = " ".join(question.text.casefold().split())
        if (first := asked.setdefault((question.db_id, text), question.id)) != question.id:
            yield f"question {question.id}: the same as {first}"
    for db_id in dict.fromkeys(question.db_id for question in benchmark.questions):
        schema = read_schema(path := benchmark.database(db_id))
        if (folder := path.parent / "database_description").is_dir():
            schema = describe(schema, folder)
        yield from (f"database {db_id}: {line}" for line in schema.skipped)
