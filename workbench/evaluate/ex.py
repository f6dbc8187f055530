"""Execution accuracy (EX): whether a query returns the same result as the question's gold query.

BIRD compares results as sets of rows, Spider as bags that keep the order if gold has ORDER BY; see
`spider_equal`. Spider's official script first drops every DISTINCT from both queries, unless it is called with
`--keep-distinct`; so does this module. Every verdict of the workbench is made here. Queries that differ in
layout and letter case only are executed once. A gold query that fails has no result, so no query equals it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.benchmarks.benchmark import Benchmark, Sense
from workbench.pool import Pool
from workbench.sql.executor import Executor, Job
from workbench.sql.reading import normalise_text
from workbench.types import Execution, Gold, Limits, Question, Row

DEFAULT_LIMITS = Limits()
Pair = tuple[str, str]  # a question's id and a query that answers it


def ex_verdicts(
    benchmark: Benchmark,
    pairs: Sequence[Pair],
    executor: Executor,
    limits: Limits = DEFAULT_LIMITS,
    *,
    sense: Sense | None = None,
    known: Mapping[Pair, str] | None = None,
) -> list[bool]:
    """Whether each pair's query is right, by default in the benchmark's own sense.

    `known` has the fingerprints of the results of executed queries; in BIRD's sense these do not run again.
    """
    if (sense or benchmark.sense) == "bird":
        return _bird_verdicts(benchmark, pairs, executor, limits, known or {})
    queries: dict[str, set[str]] = {}
    for question_id, sql in pairs:
        queries.setdefault(question_id, set()).add(sql)
    right = {
        (question.id, sql): results.right_in_spider(sql)
        for question, results in question_results(benchmark, queries, executor, limits)
        for sql in queries[question.id]
    }
    return [right[pair] for pair in pairs]


def pool_verdicts(
    benchmark: Benchmark,
    pool: Pool,
    executor: Executor,
    limits: Limits = DEFAULT_LIMITS,
    *,
    sense: Sense | None = None,
) -> dict[str, tuple[bool, ...]]:
    """The verdicts on the trials of each question that the pool answers, in order."""
    pairs = [
        (question.id, trial.candidate.sql)
        for question in benchmark.questions
        for trial in pool.trials.get(question.id, ())
    ]
    right: dict[str, list[bool]] = {question_id: [] for question_id, _ in pairs}
    verdicts = ex_verdicts(benchmark, pairs, executor, limits, sense=sense)
    for (question_id, _), verdict in zip(pairs, verdicts, strict=True):
        right[question_id].append(verdict)
    return {question_id: tuple(verdicts) for question_id, verdicts in right.items()}


def _bird_verdicts(
    benchmark: Benchmark,
    pairs: Sequence[Pair],
    executor: Executor,
    limits: Limits,
    known: Mapping[Pair, str],
) -> list[bool]:
    """Verdicts from fingerprints alone, which takes microseconds a pair, as no rows of cached results are read."""
    databases = {question.id: question.db_id for question in benchmark.questions}
    paths = {db_id: benchmark.database(db_id) for db_id in set(databases.values())}
    golds = {
        key: (databases[key], normalise_text(benchmark.golds[key].sql))
        for key in dict.fromkeys(key for key, _ in pairs)
    }
    new = {
        (key, sql): (databases[key], normalise_text(sql))
        for key, sql in pairs
        if (key, sql) not in known
    }
    distinct = list(dict.fromkeys([*golds.values(), *new.values()]))
    jobs = [(paths[db_id], sql) for db_id, sql in distinct]
    results = dict(zip(distinct, executor.result_fingerprints(jobs, limits), strict=True))
    return [
        (gold := results[golds[pair[0]]]) != ""
        and gold == (known[pair] if pair in known else results[new[pair]])
        for pair in pairs
    ]


def equal(predicted: Execution, gold: Execution, gold_sql: str, sense: Sense) -> bool:
    """Whether two results are equal in this sense. In Spider's, order counts if the gold query has ORDER BY."""
    if sense == "bird":
        return bird_equal(predicted, gold)
    return spider_equal(predicted, gold, gold_sql)


@dataclass(frozen=True, slots=True)
class QuestionResults:
    """The results of one question's queries and of its gold query."""

    gold: Gold
    executions: Mapping[str, Execution]  # by `normalise_text` of the query
    keep_distinct: bool = False  # Spider's sense compares the queries with their DISTINCT

    def of(self, sql: str) -> Execution:
        return self.executions[normalise_text(sql)]

    def are_lasting(self, sql: str | None) -> bool:
        """Whether the query and gold have results that do not depend on a transient failure, such as a lock."""
        queries = [self.gold.sql] if sql is None else [self.gold.sql, sql]
        texts = [text for q in queries for text in (q, spider_text(q, self.keep_distinct))]
        return not any(self.of(text).transient for text in texts)

    def right_in_bird(self, sql: str) -> bool:
        return bird_equal(self.of(sql), self.of(self.gold.sql))

    def right_in_spider(self, sql: str) -> bool:
        predicted, gold = (spider_text(text, self.keep_distinct) for text in (sql, self.gold.sql))
        return spider_equal(self.of(predicted), self.of(gold), gold)


def question_results(
    benchmark: Benchmark,
    queries: Mapping[str, Iterable[str]],
    executor: Executor,
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[int, int], None] | None = None,
    *,
    keep_distinct: bool = False,
) -> Iterator[tuple[Question, QuestionResults]]:
    """The results of each question's queries; `queries` are by question id.

    All of them are executed before the first is yielded. With a cache, only one question's rows are in
    memory at a time. `progress` is called with how many queries are done, of how many.
    """
    questions = [question for question in benchmark.questions if question.id in queries]
    paths = {db_id: benchmark.database(db_id) for db_id in {q.db_id for q in questions}}
    jobs = {
        question.id: [
            (paths[question.db_id], text)
            for text in _texts(
                (benchmark.golds[question.id].sql, *queries[question.id]), keep_distinct
            )
        ]
        for question in questions
    }
    distinct = list(dict.fromkeys(job for several in jobs.values() for job in several))
    ran: dict[Job, Execution] = {}
    if executor.caches:
        executor.result_fingerprints(distinct, limits, progress)
    else:
        ran = dict(zip(distinct, executor.execute_many(distinct, limits, progress), strict=True))
    for question in questions:
        own = jobs[question.id]
        if executor.caches:
            ran = dict(zip(own, executor.execute_many(own, limits), strict=True))
        executions = {text: ran[path, text] for path, text in own}
        yield question, QuestionResults(benchmark.golds[question.id], executions, keep_distinct)


def _texts(queries: Iterable[str], keep_distinct: bool) -> list[str]:
    """The distinct texts to execute for one question: each query as written, and as Spider executes it."""
    texts = (text for sql in queries for text in (sql, spider_text(sql, keep_distinct)))
    return list(dict.fromkeys(map(normalise_text, texts)))


_QUOTED_OR_DISTINCT = re.compile(
    r"""('[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/)|\bdistinct\b""",
    re.IGNORECASE | re.DOTALL,
)


def spider_text(sql: str, keep_distinct: bool = False) -> str:
    """The query as Spider's official script executes it.

    Operators that tokenised predictions split are joined (`> =` is `>=`), and DISTINCT is dropped everywhere,
    also in COUNT(DISTINCT ...), so that a query is not wrong only because of duplicates.
    """
    sql = sql.replace("> =", ">=").replace("< =", "<=").replace("! =", "!=")
    if keep_distinct or "distinct" not in sql.lower():
        return sql
    return _QUOTED_OR_DISTINCT.sub(lambda found: found[1] or "", sql)


def bird_equal(a: Execution, b: Execution) -> bool:
    """Whether the sets of rows are equal; two results without rows are equal, whatever their columns."""
    return a.fingerprint != "" and a.fingerprint == b.fingerprint


def spider_equal(predicted: Execution, gold: Execution, gold_sql: str) -> bool:
    """Whether the rows are equal under some order of columns, as lists if the gold query has ORDER BY."""
    if not predicted.is_complete or not gold.is_complete:
        return False
    if predicted.rows == gold.rows:
        return True
    if predicted.row_count != gold.row_count or len(predicted.columns) != len(gold.columns):
        return False
    if "order by" in gold_sql.lower():
        # The lists of rows are equal if their columns are equal; a Counter of columns ignores the columns' order.
        return Counter(zip(*predicted.rows, strict=True)) == Counter(zip(*gold.rows, strict=True))
    return _equal_as_bags(predicted.rows, gold.rows)


def _equal_as_bags(a: Sequence[Row], b: Sequence[Row]) -> bool:
    """Whether the rows are equal in any order, duplicates counted, under some order of the columns of `b`."""
    if Counter(a) == Counter(b):
        return True
    columns_a, columns_b = (list(zip(*rows, strict=True)) for rows in (a, b))
    bags_a, bags_b = (list(map(Counter, columns)) for columns in (columns_a, columns_b))
    fits = [[j for j, other in enumerate(bags_b) if bag == other] for bag in bags_a]

    def extend(chosen: list[int]) -> bool:
        """Assign columns of `b` to those of `a` from left to right, as long as the rows so far are equal as bags."""
        if len(chosen) == len(columns_a):
            return True
        left = Counter(zip(*columns_a[: len(chosen) + 1], strict=True))
        free = {
            columns_b[j]: j for j in fits[len(chosen)] if j not in chosen
        }  # one of equal columns
        return any(
            left == Counter(zip(*(columns_b[k] for k in (*chosen, j)), strict=True))
            and extend([*chosen, j])
            for j in free.values()
        )

    return extend([])
