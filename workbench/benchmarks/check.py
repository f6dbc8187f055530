"""Check a benchmark's files: what a folder lacks, and what of a database cannot be read."""

import warnings
from collections.abc import Iterator
from pathlib import Path

from workbench.benchmarks.benchmark import BENCHMARKS, Benchmark, open_benchmark
from workbench.errors import BadInputError
from workbench.sql.schema import describe, read_schema


def missing(name: str, folder: Path) -> list[str]:
    """Return what the folder lacks of a benchmark, or the error of `open_benchmark`."""
    with warnings.catch_warnings(record=True, action="always") as warned:
        try:
            benchmark = open_benchmark(name, folder)
        except BadInputError as error:
            return [str(error)]
    left_out = [str(warning.message) for warning in warned]
    return [*left_out, *incomplete(benchmark)]


def incomplete(benchmark: Benchmark) -> Iterator[str]:
    """Yield what a benchmark has less than its release.

    Questions, and BIRD's descriptions of columns.
    """
    release = BENCHMARKS.get(benchmark.name)
    if not release:
        return
    count = len(benchmark.whole)
    if count < release.questions:
        yield f"{count:,} of {release.questions:,} questions"
    if benchmark.name.startswith("bird-"):
        bare = []
        for db_id in sorted({question.db_id for question in benchmark.questions}):
            folder = benchmark.database(db_id).with_name("database_description")
            if not folder.is_dir():
                bare.append(db_id)
        if bare:
            yield f"no database_description of {', '.join(bare)}"


def unreadable_parts(benchmark: Benchmark) -> Iterator[str]:
    """Yield a line for each part of a database, or of its descriptions, that cannot be read."""
    for db_id in dict.fromkeys(question.db_id for question in benchmark.questions):
        path = benchmark.database(db_id)
        schema = describe(read_schema(path), path.with_name("database_description"))
        for line in schema.skipped:
            yield f"database {schema.db_id}: {line}"
