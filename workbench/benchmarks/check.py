"""Check a benchmark: which of its files are missing, and what is wrong in those that are there."""

from collections.abc import Iterator
from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark, Item, read_items
from workbench.benchmarks.load import BENCHMARKS
from workbench.sql.catalog import describe
from workbench.sql.executor import Executor
from workbench.sql.schema import read_schema


def missing(folder: Path) -> dict[str, list[str]]:
    """For each of BIRD's and Spider's benchmarks the files that `folder` lacks, up to two folders below."""
    lacks: dict[str, list[str]] = {}
    for name, release in BENCHMARKS.items():
        if not release.url or name == "bird-sds":
            continue
        file, databases = release.files[0], release.databases
        places = [at for depth in ("", "*/", "*/*/") for at in sorted(folder.glob(depth + file))]
        at = next((at for at in places if at.with_name(databases).is_dir()), None)
        if at is None:  # a dev.json without its databases may be another benchmark's
            lacks[name] = [f"{file} with the folder {databases} beside it"]
            continue
        inside = at.with_name(databases)
        inside = next(filter(Path.is_dir, [inside / databases]), inside)
        files = [at.with_name(other) for other in (*release.files[1:], *release.tables[-1:])]
        for db_id in sorted({item.db_id for item in read_items(at, Item)}):
            files.append(inside / db_id / f"{db_id}.sqlite")
            files += [inside / db_id / "database_description"] * (release.sense == "bird")
        lacks[name] = [str(path.relative_to(folder)) for path in files if not path.exists()]
    return lacks


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
