"""Whether the data decides the gold answer.

A LIMIT that cuts a tie, NULL sorted first, numbers treated as text.

Each finding comes with its evidence, and none is a verdict: a question with a tie may still have
one sensible answer. A part of a query that does not run alone, such as a subquery that reads its
outer query's row, is passed over.
"""

from collections.abc import Iterator, Sequence

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
_SHOWN = 3  # rows of a finding's evidence
_Found = Iterator[tuple[str, str]]  # findings and their evidence


def undetermined(benchmark: Benchmark, executor: Executor | None = None) -> pd.DataFrame:
    """Return a row for each of FINDINGS about a gold query.

    Question_id, db_id, finding, evidence, sql.

    Stored results are not looked at. Without an executor the queries run in one that is closed
    again.

    >>> wb.undetermined(wb.open_benchmark("bundled-dev").limited(40)).empty
    True
    """
    if executor is None:
        with Executor() as of_this_call:
            return undetermined(benchmark, of_this_call)
    golds = [benchmark.golds[question.id] for question in benchmark.questions]
    parts = by_database(benchmark, [(gold.question_id, gold.sql) for gold in golds if gold.sql])
    rows = []
    for path, part in parts.items():
        texts: dict[str, None] = {}
        for _, sql in part:
            texts |= {sql: None} | {probe.sql: None for probe in probes(sql)}
        executions = executor.execute_many([(path, text) for text in texts])
        ran = dict(zip(texts, executions, strict=True))
        for key, sql in part:
            for finding, evidence in _findings(sql, ran).items():
                rows.append((key, path.stem, finding, evidence, sql))
    order = {question.id: place for place, question in enumerate(benchmark.questions)}
    rows.sort(key=lambda row: order[row[0]])
    return pd.DataFrame(rows, columns=_COLUMNS)


def _findings(sql: str, ran: dict[str, Execution]) -> dict[str, str]:
    result = ran[sql]
    if not result.is_complete:
        return {"fails": result.error}
    findings: dict[str, str] = {}
    if not result.rows:
        findings["empty"] = ""
    elif result.is_suspect("nulls"):
        findings["only nulls"] = _told(result.rows)
    for probe in probes(sql):
        rows = ran[probe.sql].rows  # none if the part does not run alone
        found = _ranked(probe, rows) if isinstance(probe, Ranking) else _compared(probe, rows)
        for finding, evidence in found:
            findings.setdefault(finding, evidence)
    return findings


def _ranked(probe: Ranking, rows: Sequence[Row]) -> _Found:
    ranked = [(row[: -probe.keys], row[-probe.keys :]) for row in rows]
    for cut in probe.cuts:
        if 0 < cut < len(ranked) and ranked[cut - 1][1] == ranked[cut][1]:
            key = ranked[cut][1]
            tied = [shown for shown, other in ranked if other == key]
            if len(set(tied)) > 1:
                yield "tie", f"{len(tied)} rows at {_told([key])}: {_told(tied)}"
    first_keys = [key[0] for _, key in ranked]
    if ranked and first_keys[0] is None and any(key is not None for key in first_keys):
        yield "null first", _told(rows)
    numbers = [number for _, number in _numbers(first_keys)]
    if len(numbers) == len(rows) and numbers != sorted(numbers, reverse=probe.descending):
        yield "sorted as text", _told([(key,) for key in first_keys])


def _compared(probe: Compared, rows: Sequence[Row]) -> _Found:
    texts = [text for (text,) in rows]
    numbers = _numbers(texts)
    if 2 * len(numbers) <= len(texts):  # of other texts a few are numbers everywhere
        return
    if probe.extreme:
        choose = max if probe.extreme == "max" else min
        by_text, by_number = choose(numbers), choose(numbers, key=lambda pair: pair[1])
        if by_text != by_number:
            yield (
                "compared as text",
                f"{probe.extreme} is {by_text[0]!r}, and {by_number[0]} is a number",
            )
    for bound, bound_number in _numbers(probe.bounds):
        for text, number in numbers:
            if (text < bound) != (number < bound_number):
                sign = "<" if text < bound else ">="
                yield "compared as text", f"{text!r} {sign} {bound!r}"


def _numbers(values: Sequence[Value]) -> list[tuple[str, float]]:
    """The texts of numbers, with the numbers."""
    found = []
    for value in values:
        try:
            found.append((str(value), float(value if isinstance(value, str) else "")))
        except ValueError:
            continue
    return found


def _told(rows: Sequence[Row]) -> str:
    shown = [", ".join(map(str, row)) for row in rows[:_SHOWN]]
    return " | ".join(shown + ["..."] * (len(rows) > _SHOWN))
