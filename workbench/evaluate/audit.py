"""Whether the data decides the gold answer, or a LIMIT cuts a tie, NULL is first, text a number.

Each finding comes with its evidence, and none is a verdict: a question with a tie may still have
one sensible answer. A part of a query that does not run alone, such as a subquery that reads its
outer query's row, is passed over.
"""

from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from pathlib import Path

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.ex import by_database
from workbench.sql.executor import Executor
from workbench.sql.probes import Compared, Ranking, probes
from workbench.types import Execution, Row, Value

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
    pairs = []
    for question in benchmark.questions:
        sql = benchmark.golds[question.id].sql
        if sql:
            pairs.append((question.id, sql))
    rows = {}
    for path, part in by_database(benchmark, pairs).items():
        executions = _executed(path, [sql for _, sql in part], executor)
        for key, sql in part:
            rows[key] = [
                (key, path.stem, finding, evidence, sql)
                for finding, evidence in _findings(sql, executions).items()
            ]
    in_order = chain.from_iterable(rows[key] for key, _ in pairs)
    return pd.DataFrame(in_order, columns=_COLUMNS)


def _executed(
    path: Path, queries: Sequence[str], executor: Executor
) -> dict[str, Execution]:
    """Return the executions of the queries and of their probes, by text."""
    texts: list[str] = []
    for sql in queries:
        texts.append(sql)
        texts += [probe.sql for probe in probes(sql)]
    texts = list(dict.fromkeys(texts))
    executions = executor.execute_many([(path, text) for text in texts])
    return dict(zip(texts, executions, strict=True))


def _findings(sql: str, executions: dict[str, Execution]) -> dict[str, str]:
    """Return the findings about a gold query, the first of each kind, and their evidence."""
    result = executions[sql]
    if not result.is_complete:
        return {"fails": result.error}
    findings: dict[str, str] = {}
    if not result.rows:
        findings["empty"] = ""
    elif result.is_suspect("nulls"):
        findings["only nulls"] = _text(result.rows)
    for probe in probes(sql):
        rows = executions[probe.sql].rows  # none if the part does not run alone
        if isinstance(probe, Ranking):
            evidence = _ranked(probe, rows)
        else:
            evidence = {"compared as text": _compared(probe, rows)}
        for finding, text in evidence.items():
            if text:
                findings.setdefault(finding, text)
    return findings


def _ranked(probe: Ranking, rows: Sequence[Row]) -> dict[str, str]:
    if not rows:
        return {}
    first_keys = [row[-probe.keys] for row in rows]
    numbers = [number for _, number in _numbers(first_keys)]
    all_numbers = len(numbers) == len(rows)
    evidence = {"tie": _tie(probe, rows)}
    if first_keys[0] is None and set(first_keys) != {None}:
        evidence["null first"] = _text(rows)
    if all_numbers and numbers != sorted(numbers, reverse=probe.descending):
        evidence["sorted as text"] = _text([(key,) for key in first_keys])
    return evidence


def _tie(probe: Ranking, rows: Sequence[Row]) -> str:
    """Return the rows with equal keys of which a LIMIT keeps some, or ""."""
    keys = [row[-probe.keys :] for row in rows]
    for cut in probe.cuts:
        is_inside = 0 < cut < len(rows)
        if not is_inside or keys[cut - 1] != keys[cut]:
            continue
        key = keys[cut]
        tied = [row[: -probe.keys] for row in rows if row[-probe.keys :] == key]
        if len(set(tied)) > 1:
            return f"{len(tied)} rows at {_text([key])}: {_text(tied)}"
    return ""


def _compared(probe: Compared, rows: Sequence[Row]) -> str:
    """Return where the order of texts and that of their numbers differ, or ""."""
    numbers = _numbers([text for (text,) in rows])
    if 2 * len(numbers) <= len(rows):  # of other texts a few are numbers everywhere
        return ""
    if probe.extreme:
        choose = max if probe.extreme == "max" else min
        text, _ = choose(numbers)
        largest, _ = choose(numbers, key=itemgetter(1))
        if text != largest:
            return f"{probe.extreme} is {text!r}, and {largest} is a number"
    for bound, bound_number in _numbers(probe.bounds):
        for text, number in numbers:
            if (text < bound) != (number < bound_number):
                sign = "<" if text < bound else ">="
                return f"{text!r} {sign} {bound!r}"
    return ""


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
