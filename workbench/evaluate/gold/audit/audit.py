"""Audit the gold queries of a benchmark: run each, and the probe of each doubt about it.

Every check either looks at the result or doubts the text and shows rows that prove the doubt, so that no
finding rests on the text alone. Of the four patterns of errors in Jin et al. (2026, arXiv 2601.08778) these are signs of
two: a query that misreads the data, and a query that contradicts the hint. No check decides whether the gold query
answers its question: that takes a reader.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.compare import difference
from workbench.db.execute import Executor, Progress
from workbench.db.schema import read_schema
from workbench.db.sql.derived.doubts.groups import bare_columns, fan_out
from workbench.db.sql.derived.doubts.order import nulls_first, ties
from workbench.db.sql.derived.doubts.selects import ROWS, Check, Doubt
from workbench.db.sql.derived.doubts.values import integer_division, text_numbers
from workbench.evaluate.ex import equal
from workbench.evaluate.gold.audit.hints import contradicted_hints
from workbench.types import Execution, Limits, Question, Row

CHECKS: Mapping[str, Check] = {
    "ties at LIMIT": ties,
    "NULLs first": nulls_first,
    "bare column": bare_columns,
    "join fans out": fan_out,
    "text and numbers": text_numbers,
    "hint contradicted": contradicted_hints,
    "integer division": integer_division,
}
"""The checks that run a probe, by the kind of their findings. A new check is one more line."""

KINDS = ("fails", "empty", *CHECKS, "equal questions differ")
_WORD = re.compile(r"\w+|[<>=%]+")


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault that rows show: the first few of them, under the names of their columns."""

    kind: str
    question_id: str
    db_id: str
    what: str
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    probe: str = ""
    """The query that returned the rows; "" if the gold query itself returned them."""


def audit(
    benchmark: Benchmark,
    executor: Executor,
    limits: Limits,
    progress: Progress | None = None,
) -> tuple[Finding, ...]:
    """The findings on all gold queries, in the order of their kinds and then of the questions."""
    golds = [(benchmark.database(q.db_id), benchmark.golds[q.id].sql) for q in benchmark.questions]
    results = executor.execute_many(golds, limits, progress)
    ids = [question.id for question in benchmark.questions]
    executions = dict(zip(ids, results, strict=True))
    doubts = list(_doubts(benchmark, executions))
    probes = [(benchmark.database(question.db_id), doubt.probe) for _, question, doubt in doubts]
    answers = executor.execute_many(probes, limits, progress)
    found = [
        Finding(kind, q.id, q.db_id, doubt.what, answer.columns, answer.rows, doubt.probe)
        for (kind, q, doubt), answer in zip(doubts, answers, strict=True)
        if answer.status == "ok"
    ]
    found += _of_results(benchmark, executions)
    order = {question_id: place for place, question_id in enumerate(ids)}
    found.sort(key=lambda one: (KINDS.index(one.kind), order[one.question_id]))
    return tuple(found)


def _doubts(
    benchmark: Benchmark, executions: Mapping[str, Execution]
) -> Iterator[tuple[str, Question, Doubt]]:
    """The doubts about each gold query that runs; equal doubts are one."""
    databases = {question.db_id for question in benchmark.questions}
    schemas = {db_id: read_schema(benchmark.database(db_id), db_id) for db_id in databases}
    for question in benchmark.questions:
        sql = benchmark.golds[question.id].sql
        for kind, check in CHECKS.items() if executions[question.id].is_complete else ():
            for doubt in dict.fromkeys(check(question, sql, schemas[question.db_id])):
                yield kind, question, doubt


def _of_results(benchmark: Benchmark, executions: Mapping[str, Execution]) -> Iterator[Finding]:
    """The findings that the gold queries' own results show."""
    databases = {question.id: question.db_id for question in benchmark.questions}
    for key, execution in executions.items():
        if not execution.is_complete:
            what = execution.error or execution.status
            yield Finding("fails", key, databases[key], what)
        elif what := _emptiness(execution):
            rows = execution.rows[:ROWS]
            yield Finding("empty", key, databases[key], what, execution.columns, rows)
    for key, first in _differing_golds(benchmark, executions):
        only_here, only_there = difference(executions[key], executions[first])
        rows = (*only_here[:ROWS], *only_there[:ROWS])
        what = f"question {first} is the same, and its gold query has another result"
        columns = executions[key].columns
        yield Finding("equal questions differ", key, databases[key], what, columns, rows)


def _emptiness(execution: Execution) -> str:
    """Why a complete result counts as empty; "" if it does not."""
    values = {value for row in execution.rows for value in row}
    if execution.status == "empty":
        return "the result has no rows"
    if values == {None}:
        return "the result holds nothing but NULL"
    return "the result is 0 alone" if len(execution.rows) == 1 and values == {0} else ""


def _differing_golds(
    benchmark: Benchmark, executions: Mapping[str, Execution]
) -> Iterator[tuple[str, str]]:
    """The ids of a question and of an earlier one with equal text and hint, for each pair with different results."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for question in benchmark.questions:
        words = _WORD.findall(f"{question.text} {question.evidence}".casefold())
        groups.setdefault((question.db_id, *words), []).append(question.id)
    for first, *others in groups.values():
        gold = benchmark.golds[first].sql
        for other in others:
            if not equal(executions[other], executions[first], gold, benchmark.sense):
                yield other, first
