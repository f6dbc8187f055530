"""Check a benchmark and count its parts: the tests check the bundled benchmark, `workbench data` checks any other."""

from collections import Counter
from dataclasses import dataclass

from workbench.benchmarks.benchmark import Benchmark
from workbench.sql.catalog import describe
from workbench.sql.executor import Executor
from workbench.sql.facts import features
from workbench.sql.schema import read_schema
from workbench.sql.schema_text import quote


@dataclass(frozen=True, slots=True)
class Report:
    """Counts of a benchmark's parts, and a complaint for each fault."""

    databases: tuple[tuple[str, int, int, int], ...]  # name, tables, columns, rows
    hints: int
    features: tuple[tuple[str, int], ...]  # an SQL feature, and how many gold queries have it
    complaints: tuple[str, ...]


def check(benchmark: Benchmark, executor: Executor) -> Report:
    """Run every gold query, read every database and its descriptions, and find repeated questions."""
    complaints = []
    golds = [benchmark.golds[question.id] for question in benchmark.questions]
    jobs = [
        (benchmark.database(q.db_id), g.sql)
        for q, g in zip(benchmark.questions, golds, strict=True)
    ]
    made_of = Counter(features("SELECT 1"))  # every feature, 0 times
    asked: dict[tuple[str, str], str] = {}
    for question, gold, execution in zip(
        benchmark.questions, golds, executor.execute_many(jobs), strict=True
    ):
        if execution.status != "ok":
            outcome = execution.error or "no rows"
            complaints.append(f"question {question.id}: the gold query gives {outcome}")
        text = " ".join(question.text.casefold().split())
        if first := asked.get((question.db_id, text)):
            complaints.append(f"question {question.id}: the same as {first}")
        asked.setdefault((question.db_id, text), question.id)
        if found := features(gold.sql):
            made_of.update(name for name, count in found.items() if count)
        else:
            complaints.append(f"question {question.id}: the gold query cannot be read")
    databases = []
    for db_id in dict.fromkeys(question.db_id for question in benchmark.questions):
        path = benchmark.database(db_id)
        schema = read_schema(path)
        if (folder := path.parent / "database_description").is_dir():
            schema = describe(schema, folder)
        complaints += [f"database {db_id}: {line}" for line in schema.skipped]
        counts = executor.execute_many(
            [(path, f"SELECT COUNT(*) FROM {quote(table.name)}") for table in schema.tables]
        )
        rows = [int(str(count.rows[0][0])) if count.rows else 0 for count in counts]
        databases.append((db_id, len(schema.tables), len(schema.columns()), sum(rows)))
    return Report(
        tuple(databases),
        sum(bool(question.evidence) for question in benchmark.questions),
        tuple(made_of.items()),
        tuple(complaints),
    )
