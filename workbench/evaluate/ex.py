"""Metrics that run a query and the gold query: execution accuracy (EX), Soft-F1, and VES and R-VES.

BIRD compares results as sets of rows: the order of columns counts, the order of rows and duplicates
do not. Spider allows any order of columns; it counts duplicates, and the order of rows if the gold
query has ORDER BY, and its official script first drops every DISTINCT from both queries. On the
same predictions the two differ by up to six points. A gold query that fails has no result, so no
query equals it; a result that was cut off equals no other.

VES and R-VES say how much faster a right answer runs than the gold query. BIRD takes the ratios
from wall-clock time: both queries run in turn 100 times, ratios three standard deviations or more
from their mean are dropped, and of five such repeats the best score is reported. So its numbers
change with the computer and the run. `by="opcodes"` counts SQLite's opcodes instead, which are the
same everywhere, but no unit of time: a sort, or a LIKE over a long text, is a single one. So tables
name these scores "VES, opcodes". One departure: both queries run on one warm connection of the
sandbox's worker, and all rows are fetched. BIRD opens a connection for each run; its VES stops the
clock at the first row, and its R-VES includes the opening.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.benchmarks.benchmark import Benchmark, Sense
from workbench.errors import BadInputError, at_least
from workbench.evaluate.stored import meets
from workbench.sql.executor import DEFAULT, Executor, Job
from workbench.sql.reading import normalise_text
from workbench.types import Execution, Gold, Limits, Row

Pair = tuple[str, str]  # a question's id and a query that answers it
Parts = Mapping[Path, Sequence[Pair]]  # of each database file
Form = Callable[[str], str]  # writes a query as it is executed
# For each form: a query's execution, then the gold queries'.
Ran = list[list[Execution]]


def ex_verdicts(
    benchmark: Benchmark,
    pairs: Sequence[Pair],
    executor: Executor,
    limits: Limits = DEFAULT,
    known: Mapping[Pair, str] | None = None,
) -> list[bool]:
    """Return whether each pair's query meets an accepted answer, in the benchmark's sense.

    BIRD's sense reads fingerprints of results and no rows; a query whose fingerprint is in
    `known`, from an earlier run, does not run again.
    """
    if benchmark.sense == "spider":
        by_rows, by_fingerprint = pairs, []
    else:
        is_stored = {key for key, gold in benchmark.golds.items() if gold.results}
        by_rows = [pair for pair in pairs if pair[0] in is_stored]
        by_fingerprint = [pair for pair in pairs if pair[0] not in is_stored]
    parts = by_database(benchmark, by_rows)
    right = _by_rows(benchmark, parts, executor, limits)
    parts = by_database(benchmark, by_fingerprint)
    right |= _by_fingerprint(benchmark, parts, executor, limits, known or {})
    return [right[pair] for pair in pairs]


def _by_rows(
    benchmark: Benchmark, parts: Parts, executor: Executor, limits: Limits = DEFAULT
) -> dict[Pair, bool]:
    right = {}
    form = spider_text if benchmark.sense == "spider" else str
    for pair, (ran,) in executed(benchmark, parts, executor, [form], limits):
        right[pair] = is_right(benchmark.golds[pair[0]], "spider", *ran)
    return right


def _by_fingerprint(
    benchmark: Benchmark,
    parts: Parts,
    executor: Executor,
    limits: Limits,
    known: Mapping[Pair, str],
) -> dict[Pair, bool]:
    jobs: dict[tuple[Path, str], None] = {}
    for path, part in parts.items():
        for key, sql in part:
            queries = benchmark.golds[key].queries
            if (key, sql) not in known:
                queries = (*queries, sql)
            for query in queries:
                jobs[path, normalise_text(query)] = None
    results = executor.result_fingerprints(list(jobs), limits)
    fingerprints = dict(zip(jobs, results, strict=True))
    right = {}
    for path, part in parts.items():
        for key, sql in part:
            job = (path, normalise_text(sql))
            result = known.get((key, sql)) or fingerprints.get(job, "")
            golds = [normalise_text(gold) for gold in benchmark.golds[key].queries]
            accepted = {fingerprints[path, gold] for gold in golds} - {""}
            right[key, sql] = result in accepted
    return right


def is_right(gold: Gold, sense: Sense, predicted: Execution, *golds: Execution) -> bool:
    """Whether the rows are those of one accepted answer; `golds` are those of its queries."""
    if gold.results:
        return any(meets(predicted, stored) for stored in gold.results)
    if sense == "bird":
        return predicted.fingerprint in {ran.fingerprint for ran in golds} - {""}
    accepted = zip(golds, gold.queries, strict=True)
    return any(spider_equal(predicted, ran, sql) for ran, sql in accepted)


def suite_verdicts(
    benchmark: Benchmark, pairs: Sequence[Pair], suite: str | Path, executor: Executor
) -> list[bool]:
    """Return test-suite accuracy (Zhong et al., 2020).

    Right in Spider's sense on every `DB/*.sqlite` of the folder.
    """
    right = dict.fromkeys(pairs, True)
    for path, part in by_database(benchmark, pairs).items():
        files = sorted(Path(suite, path.stem).glob("*.sqlite"))
        if not files:
            raise BadInputError(
                f"{suite}: no {path.stem}/*.sqlite; give the test suite's folder"
            )
        for file in files:
            still = [pair for pair in part if right[pair]]
            right |= _by_rows(benchmark, {file: still}, executor)
    return [right[pair] for pair in pairs]


def by_database(benchmark: Benchmark, pairs: Iterable[Pair]) -> Parts:
    """Return the distinct pairs of each database file."""
    databases = {question.id: question.db_id for question in benchmark.questions}
    parts: dict[str, list[Pair]] = {}
    for pair in dict.fromkeys(pairs):
        parts.setdefault(databases[pair[0]], []).append(pair)
    return {benchmark.database(db_id): part for db_id, part in parts.items()}


def executed(
    benchmark: Benchmark,
    parts: Parts,
    executor: Executor,
    forms: Sequence[Form],
    limits: Limits = DEFAULT,
) -> Iterator[tuple[Pair, Ran]]:
    """Yield each pair with the executions of its query and of the gold queries in each form.

    With a cache, all queries of all databases run first, so that one slow database holds no other
    up; then the rows of one database at a time are read from it.
    """

    def texts(pair: Pair, form: Form) -> list[str]:
        question_id, sql = pair
        queries = sql, *benchmark.golds[question_id].queries
        return [normalise_text(form(query)) for query in queries]

    jobs: dict[Path, list[Job]] = {}
    for path, part in parts.items():
        distinct: dict[str, None] = {}
        for pair, form in product(part, forms):
            distinct |= dict.fromkeys(texts(pair, form))
        jobs[path] = [(path, text) for text in distinct]
    if executor.store and not executor.store.read_only:
        executor.result_fingerprints(list(chain.from_iterable(jobs.values())), limits)
    for path, part in parts.items():
        executions = executor.execute_many(jobs[path], limits)
        by_job = dict(zip(jobs[path], executions, strict=True))
        for pair in part:
            ran = []
            for form in forms:
                written = texts(pair, form)
                ran.append([by_job[path, text] for text in written])
            yield pair, ran


_QUOTED_OR_DROPPED = re.compile(
    r"""('[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/)|\bdistinct\b|;.*""",
    re.IGNORECASE | re.DOTALL,
)


def spider_text(sql: str) -> str:
    """Return the query as Spider's script executes it without `--keep-distinct`.

    Operators that tokenised predictions split are joined (`> =` is `>=`), and DISTINCT is
    dropped everywhere, also in COUNT(DISTINCT ...), so that a query is not wrong only because of
    duplicates. The first statement alone is executed.
    """
    sql = sql.replace("> =", ">=").replace("< =", "<=").replace("! =", "!=")
    return _QUOTED_OR_DROPPED.sub(lambda match: match[1] or "", sql)


def spider_equal(predicted: Execution, gold: Execution, gold_sql: str) -> bool:
    """Whether the rows are equal under some order of columns; as lists under ORDER BY."""
    if not predicted.is_complete or not gold.is_complete:
        return False
    if predicted.rows == gold.rows:  # no rows equal no rows, whatever the columns
        return True
    if predicted.row_count != gold.row_count or len(predicted.columns) != len(
        gold.columns
    ):
        return False
    if "order by" in gold_sql.lower():  # as the official script sees it
        # Lists of rows are equal under some order of columns if the bags of their columns are
        # equal.
        return Counter(zip(*predicted.rows, strict=True)) == Counter(
            zip(*gold.rows, strict=True)
        )
    return _equal_as_bags(predicted.rows, gold.rows)


def _equal_as_bags(a: Sequence[Row], b: Sequence[Row]) -> bool:
    """Whether the rows are equal as bags under some order of the columns of `b`."""
    if Counter(a) == Counter(b):
        return True
    columns_a = list(zip(*a, strict=True))
    columns_b = list(zip(*b, strict=True))
    bags_a = [Counter(column) for column in columns_a]
    bags_b = [Counter(column) for column in columns_b]

    def extend(chosen: list[int]) -> bool:
        """Whether the remaining columns of `a` find theirs in `b`, from left to right."""
        column = len(chosen)
        if column == len(columns_a):
            return True
        wanted = Counter(zip(*columns_a[: column + 1], strict=True))
        free = [n for n in range(len(columns_b)) if n not in chosen]
        # Of equal columns one is tried.
        fitting = {columns_b[n]: n for n in free if bags_b[n] == bags_a[column]}
        for n in fitting.values():
            together = [columns_b[k] for k in (*chosen, n)]
            fits = Counter(zip(*together, strict=True)) == wanted
            if fits and extend([*chosen, n]):
                return True
        return False

    return extend([])


def soft_f1(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """Return Soft-F1 from 0 to 1, as BIRD mini-dev's script computes it; two empty results score 1.

    Duplicates are dropped, and row n is compared with row n. A predicted value counts as found
    if it is anywhere in the gold row; a row without a partner counts with all of its values;
    NULL is a value. The example in BIRD's README leaves NULLs out and comes to 0.8 where the
    script says 0.67.
    """
    predicted = list(dict.fromkeys(predicted))
    gold = list(dict.fromkeys(gold))
    if not predicted or not gold:
        return float(not predicted and not gold)
    hits = 0  # BIRD divides all counts by the width of the gold row, which F1 does not change
    missed = len(gold[0]) * abs(len(gold) - len(predicted))
    for predicted_row, gold_row in zip(predicted, gold, strict=False):
        common = sum(value in gold_row for value in predicted_row)
        hits += common
        missed += len(predicted_row) - common
        missed += sum(value not in predicted_row for value in gold_row)
    return 2 * hits / (2 * hits + missed)


By = Literal["time", "opcodes"]
# The least ratio, and the reward for it: BIRD's R-VES.
_REWARDS = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5), (0.0, 0.25))


def efficiency(
    benchmark: Benchmark,
    answers: pd.DataFrame,
    executor: Executor,
    by: By = "time",
    runs: int = 100,
    repeats: int = 5,
) -> pd.DataFrame:
    """Return the answers (question_id, sql, correct) with `ratio`, `ves` and `r_ves`.

    They are those of the repeat with the highest VES. A ratio is gold's cost over the answer's,
    0 for a wrong answer, and for one whose gold has no query. VES is the mean of `ves`, as a
    share.
    """
    at_least(1, runs=runs, repeats=repeats)
    if by == "opcodes":
        runs = repeats = 1
    databases = {question.id: question.db_id for question in benchmark.questions}
    ratios = np.zeros((len(answers), repeats))
    columns = (answers["question_id"], answers["sql"], answers["correct"])
    for row, (key, sql, correct) in enumerate(zip(*columns, strict=True)):
        if not correct:
            continue
        request = {
            "do": "times",
            "queries": [benchmark.golds[key].sql, sql],
            "repeats": runs * repeats,
            "seconds": 30.0 * runs * repeats,
        }
        timed = executor.ask(benchmark.database(databases[key]), request)
        if "times" not in timed:  # it failed this time, and counts 0
            continue
        if by == "opcodes":  # SQLite counts in tens: fewer than ten count as ten
            gold_opcodes, opcodes = timed["opcodes"]
            ratios[row] = max(gold_opcodes, 10) / max(opcodes, 10)
        else:
            by_repeat = np.reshape(timed["times"], (2, repeats, runs)).swapaxes(0, 1)
            ratios[row] = [time_ratio(gold, ours) for gold, ours in by_repeat]
    best = np.sqrt(ratios).sum(axis=0).argmax()  # the repeat with the highest VES
    ratio = ratios[:, best]
    rewards = [reward(each) for each in ratio]
    return answers.assign(ratio=ratio, ves=np.sqrt(ratio), r_ves=np.sqrt(rewards))


def time_ratio(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Return the mean over runs of gold's seconds divided by the prediction's, without outliers."""
    ratios = np.divide(gold, predicted)
    # If all ratios are equal, BIRD's script drops all and counts the answer as wrong; here all are
    # kept.
    distances = np.abs(ratios - ratios.mean())
    kept = ratios[distances < 3 * ratios.std()]
    if not kept.size:
        kept = ratios
    return float(kept.mean())


def reward(ratio: float) -> float:
    """Return BIRD's reward for a ratio; 0 for a wrong answer, whose ratio is 0."""
    if ratio == 0:
        return 0.0
    return next(points for least, points in _REWARDS if ratio >= least)
