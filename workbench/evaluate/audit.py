"""Whether the data decides the gold answer, or a LIMIT cuts a tie, NULL is first, text a number.

Each finding comes with its evidence, and none is a verdict: a question with a tie may still have
one sensible answer. A part of a query that does not run alone, such as a subquery that reads its
outer query's row, is passed over.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from operator import itemgetter
from pathlib import Path

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.sql.executor import Executor
from workbench.sql.probes import Compared, Ranking, probes
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
    if executor is None:
        with Executor() as of_this_call:
            return undetermined(benchmark, of_this_call)
    rows = []
    for question in benchmark.questions:
        sql = benchmark.golds[question.id].sql
        if not sql:
            continue
        findings = _findings(sql, benchmark.database(question.db_id), executor)
        for finding, evidence in findings.items():
            rows.append((question.id, question.db_id, finding, evidence, sql))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _findings(sql: str, database: Path, executor: Executor) -> dict[str, str]:
    """Return the findings about a gold query, the first of each kind, and their evidence."""
    listed = probes(sql)
    queries = [sql, *(probe.sql for probe in listed)]
    jobs = [(database, query) for query in queries]
    result, *parts = executor.execute_many(jobs)
    if not result.is_complete:
        return {"fails": result.error}
    findings: dict[str, str] = {}
    if not result.rows:
        findings["empty"] = ""
    elif result.is_suspect("nulls"):
        findings["only nulls"] = _text(result.rows)
    for probe, part in zip(listed, parts, strict=True):
        # A part that does not run alone has no rows.
        if isinstance(probe, Ranking):
            evidence = _ranked(probe, part.rows)
        else:
            evidence = _compared(probe, part.rows)
        for finding, text in evidence:
            findings.setdefault(finding, text)
    return findings


def _ranked(probe: Ranking, rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    for cut in probe.cuts:
        tied = _tied(probe, rows, cut)
        if len(set(tied)) > 1:
            key = _text([rows[cut][-probe.keys :]])
            evidence = f"{len(tied)} rows at {key}: {_text(tied)}"
            yield "tie", evidence
    first_keys = [row[-probe.keys] for row in rows]
    begins_with_null = None in first_keys[:1]
    if begins_with_null and set(first_keys) != {None}:
        yield "null first", _text(rows)
    if _as_text(first_keys, descending=probe.descending):
        yield "sorted as text", _text([(key,) for key in first_keys])


def _as_text(keys: Sequence[Value], *, descending: bool) -> bool:
    """Whether all are texts of numbers, and not in the order of the numbers."""
    numbers = [number for _, number in _numbers(keys)]
    are_numbers = len(numbers) == len(keys)
    return are_numbers and numbers != sorted(numbers, reverse=descending)


def _tied(probe: Ranking, rows: Sequence[Row], cut: int) -> list[Row]:
    """Return the rows that are equal in the order, and of which the cut keeps some."""
    keys = [row[-probe.keys :] for row in rows]
    is_inside = 0 < cut < len(rows)
    if not is_inside or keys[cut - 1] != keys[cut]:
        return []
    pairs = zip(rows, keys, strict=True)
    return [row[: -probe.keys] for row, key in pairs if key == keys[cut]]


def _compared(probe: Compared, rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Yield where the order of texts and that of their numbers differ."""
    finding = "compared as text"
    numbers = _numbers([text for (text,) in rows])
    if 2 * len(numbers) <= len(rows):  # of other texts a few are numbers everywhere
        return
    if probe.extreme:
        choose = max if probe.extreme == "max" else min
        text, _ = choose(numbers)
        largest, _ = choose(numbers, key=itemgetter(1))
        if text != largest:
            yield finding, f"{probe.extreme} is {text!r}, and {largest} is a number"
    for bound, bound_number in _numbers(probe.bounds):
        for text, number in numbers:
            if (text < bound) != (number < bound_number):
                sign = "<" if text < bound else ">="
                yield finding, f"{text!r} {sign} {bound!r}"


def _numbers(values: Sequence[Value]) -> list[tuple[str, float]]:
    """Return the texts of numbers, with the numbers."""
    numbers = []
    for value in values:
        if isinstance(value, str):
            with suppress(ValueError):
                numbers.append((value, float(value)))
    return numbers


def _text(rows: Sequence[Row]) -> str:
    lines = [", ".join(map(str, row)) for row in rows[:_MOST]]
    if len(rows) > _MOST:
        lines.append("...")
    return " | ".join(lines)
