"""Audit the gold queries of a benchmark: run each, and the probe of each doubt about it.

Every check either looks at the result or doubts the text and shows rows that prove the doubt, so that no
finding rests on the text alone. Of the four patterns of errors in Jin et al. (2026, arXiv 2601.08778) these are signs of
two: a query that misreads the data, and a query that contradicts the hint. No check decides whether the gold query
answers its question: that takes a reader.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.compare import difference
from workbench.db.execute import Executor, Progress
from workbench.db.schema import read_schema
from workbench.db.sql.derived.doubts.bare_columns import bare_columns
from workbench.db.sql.derived.doubts.division import integer_division
from workbench.db.sql.derived.doubts.fan_out import fan_out
from workbench.db.sql.derived.doubts.nulls_first import nulls_first
from workbench.db.sql.derived.doubts.selects import ROWS, Doubt
from workbench.db.sql.derived.doubts.text_numbers import text_numbers
from workbench.db.sql.derived.doubts.ties import ties
from workbench.evaluate.gold.audit.equal_questions import differing_golds
from workbench.evaluate.gold.audit.hints import contradicted_hints
from workbench.evaluate.gold.audit.outcomes import emptiness, failure
from workbench.types import Execution, Limits, Question, Row, Schema

Check = Callable[[Question, str, Schema], Iterator[Doubt]]

CHECKS: Mapping[str, Check] = {
    "ties at LIMIT": lambda _, sql, schema: ties(sql, schema),
    "NULLs first": lambda _, sql, schema: nulls_first(sql, schema),
    "bare column": lambda _, sql, schema: bare_columns(sql, schema),
    "join fans out": lambda question, sql, schema: fan_out(sql, schema, question.text),
    "text and numbers": lambda _, sql, schema: text_numbers(sql, schema),
    "hint contradicted": contradicted_hints,
    "integer division": lambda _, sql, schema: integer_division(sql, schema),
}
"""The checks that run a probe, by the kind of their findings. A new check is one more line."""

KINDS = ("fails", "empty", *CHECKS, "equal questions differ")


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
    schemas = {
        db_id: read_schema(benchmark.database(db_id), db_id)
        for db_id in {question.db_id for question in benchmark.questions}
    }
    for question in benchmark.questions:
        sql = benchmark.golds[question.id].sql
        for kind, check in CHECKS.items() if not failure(executions[question.id]) else ():
            for doubt in dict.fromkeys(check(question, sql, schemas[question.db_id])):
                yield kind, question, doubt


def _of_results(benchmark: Benchmark, executions: Mapping[str, Execution]) -> Iterator[Finding]:
    """The findings that the gold queries' own results show."""
    databases = {question.id: question.db_id for question in benchmark.questions}
    for key, execution in executions.items():
        if what := failure(execution):
            yield Finding("fails", key, databases[key], what)
        if what := emptiness(execution):
            rows = execution.rows[:ROWS]
            yield Finding("empty", key, databases[key], what, execution.columns, rows)
    for key, first in differing_golds(benchmark, executions):
        apart = difference(executions[key], executions[first])
        rows = (*apart.only_predicted[:ROWS], *apart.only_gold[:ROWS])
        what = f"question {first} is the same, and its gold query has another result"
        columns = executions[key].columns
        yield Finding("equal questions differ", key, databases[key], what, columns, rows)
