"""Whether the data decides the gold answer, or a LIMIT cuts a tie, NULL is first, text a number.

A gold query runs in further ways, each of which settles otherwise what the query leaves open. Where
the rows become others, those that only one of the two results has are the evidence. No finding is a
verdict: a question with a tie may still have one sensible answer.

A way that does not run is passed over. One that compares numbers loses a column's own collation.
"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.sql.executor import Executor
from workbench.sql.settle import settled
from workbench.types import Row, Value

FINDINGS = {
    "fails": "the gold query does not run",
    "empty": "it finds nothing",
    "only nulls": "it finds only NULLs",
    "tie": "LIMIT keeps some of the rows that are equal in the order",
    "null first": "NULL is sorted first where the smallest or largest is asked for",
    "sorted as text": "numbers are stored as text, and sorted as text",
    "compared as text": "numbers are stored as text, and compared as text",
}
_COLUMNS = ["question_id", "db_id", "finding", "evidence", "sql"]
_MOST = 3  # rows of a finding's evidence


def undetermined(
    benchmark: Benchmark, executor: Executor | None = None
) -> pd.DataFrame:
    """Return a row for each of FINDINGS about a gold query, with its evidence.

    Stored results are not looked at. Without an executor the queries run in one that is closed
    again.

    >>> wb.undetermined(wb.open_benchmark("bundled-dev").limited(40)).empty
    True
    """
    rows = []
    with ExitStack() as opened:
        running = executor or opened.enter_context(Executor())
        for question in benchmark.questions:
            sql = benchmark.golds[question.id].sql
            if not sql:
                continue
            database = benchmark.database(question.db_id)
            for finding, evidence in _findings(sql, database, running).items():
                rows.append((question.id, question.db_id, finding, evidence, sql))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _findings(sql: str, database: Path, executor: Executor) -> dict[str, str]:
    """Return the findings about a gold query, and their evidence."""
    (result,) = executor.execute_many([(database, sql)])
    if not result.is_complete:
        return {"fails": result.error}
    base_sql, ways = settled(sql, len(result.columns))
    jobs = [(database, query) for query in (base_sql, *ways.values())]
    base, *others = executor.execute_many(jobs)
    findings: dict[str, str] = {}
    if not result.rows:
        findings["empty"] = ""
    elif result.is_suspect("nulls"):
        findings["only nulls"] = _text(result.rows)
    for finding, other in zip(ways, others, strict=True):
        if base.is_complete and other.is_complete:
            differing = _differing(base.rows, other.rows)
            if differing:
                findings[finding] = _text(differing)
    return findings


def _differing(base: Sequence[Row], other: Sequence[Row]) -> list[Row]:
    """Return the rows that only one result has; the text of a number equals the number."""
    ours = _by_texts(base)
    theirs = _by_texts(other)
    of_one = ours.keys() ^ theirs.keys()
    rows = ours | theirs
    return [rows[texts] for texts in sorted(of_one)]


def _by_texts(rows: Sequence[Row]) -> dict[tuple[str, ...], Row]:
    return {tuple(map(_comparable, row)): row for row in rows}


def _comparable(value: Value) -> str:
    text = str(value)
    with suppress(ValueError):
        return str(float(text))
    return text


def _text(rows: Iterable[Row]) -> str:
    lines = [", ".join(map(str, row)) for row in rows]
    if len(lines) > _MOST:
        lines[_MOST:] = ["..."]
    return " | ".join(lines)
