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
from typing import Literal, NamedTuple

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


class Ran(NamedTuple):
    """The executions of an answer's query and of the question's gold queries."""

    predicted: Execution
    golds: list[Execution]


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
    stored_ids = {key for key, gold in benchmark.golds.items() if gold.results}
    by_rows = pairs
    by_fingerprint: list[Pair] = []
    if benchmark.sense == "bird":
        by_rows = [pair for pair in pairs if pair[0] in stored_ids]
        by_fingerprint = [pair for pair in pairs if pair[0] not in stored_ids]
    parts = by_database(benchmark, by_rows)
    right = _by_rows(benchmark, parts, executor, limits)
    right |= _by_fingerprint(benchmark, by_fingerprint, executor, limits, known or {})
    return [right[pair] for pair in pairs]


def _by_rows(
    benchmark: Benchmark, parts: Parts, executor: Executor, limits: Limits = DEFAULT
) -> dict[Pair, bool]:
    """Return which pairs meet a stored result, or else a gold query in Spider's sense."""
    right = {}
    form = spider_text if benchmark.sense == "spider" else str
    for pair, (ran,) in executed(benchmark, parts, executor, [form], limits):
        right[pair] = is_right(benchmark.golds[pair[0]], "spider", ran)
    return right


def _by_fingerprint(
    benchmark: Benchmark,
    pairs: Sequence[Pair],
    executor: Executor,
    limits: Limits,
    known: Mapping[Pair, str],
) -> dict[Pair, bool]:
    to_run: dict[Pair, Job] = {}
    for path, part in by_database(benchmark, pairs).items():
        for key, sql in part:
            for gold in benchmark.golds[key].queries:
                to_run[key, gold] = (path, normalise_text(gold))
            if (key, sql) not in known:
                to_run[key, sql] = (path, normalise_text(sql))
    results = executor.result_fingerprints(list(to_run.values()), limits)
    fingerprints = dict(known) | dict(zip(to_run, results, strict=True))
    right = {}
    for key, sql in pairs:
        golds = benchmark.golds[key].queries
        accepted = {fingerprints[key, gold] for gold in golds} - {""}
        right[key, sql] = fingerprints[key, sql] in accepted
    return right


def is_right(gold: Gold, sense: Sense, ran: Ran) -> bool:
    """Whether the rows are those of one accepted answer."""
    if gold.results:
        return any(meets(ran.predicted, stored) for stored in gold.results)
    if sense == "bird":
        accepted = {execution.fingerprint for execution in ran.golds} - {""}
        return ran.predicted.fingerprint in accepted
    return any(
        spider_equal(ran.predicted, execution, sql)
        for execution, sql in zip(ran.golds, gold.queries, strict=True)
    )


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
            right_so_far = [pair for pair in part if right[pair]]
            on_this_variant = {file: right_so_far}
            right |= _by_rows(benchmark, on_this_variant, executor)
    return [right[pair] for pair in pairs]


def by_database(benchmark: Benchmark, pairs: Iterable[Pair]) -> Parts:
    """Return the distinct pairs of each database file."""
    databases = {question.id: question.db_id for question in benchmark.questions}
    parts: dict[str, list[Pair]] = {}
    for question_id, sql in dict.fromkeys(pairs):
        part = parts.setdefault(databases[question_id], [])
        part.append((question_id, sql))
    return {benchmark.database(db_id): part for db_id, part in parts.items()}


def executed(
    benchmark: Benchmark,
    parts: Parts,
    executor: Executor,
    forms: Sequence[Form],
    limits: Limits = DEFAULT,
) -> Iterator[tuple[Pair, list[Ran]]]:
    """Yield each pair with the executions of its query and of the gold queries in each form.

    With a cache, all queries of all databases run first, so that one slow database holds no other
    up; then the rows of one database at a time are read from it.
    """

    def jobs_of(path: Path, pair: Pair, form: Form) -> list[Job]:
        """Return the answer's query and the gold queries."""
        question_id, sql = pair
        queries = (sql, *benchmark.golds[question_id].queries)
        return [(path, normalise_text(form(query))) for query in queries]

    jobs: dict[Path, dict[Job, None]] = {}
    for path, part in parts.items():
        jobs[path] = {}
        for pair, form in product(part, forms):
            jobs[path] |= dict.fromkeys(jobs_of(path, pair, form))
    if executor.store and not executor.store.read_only:
        # The fingerprints are not needed: all run here, and rows are read from the cache below.
        executor.result_fingerprints(list(chain.from_iterable(jobs.values())), limits)
    for path, part in parts.items():
        executions = executor.execute_many(list(jobs[path]), limits)
        by_job = dict(zip(jobs[path], executions, strict=True))
        for pair in part:
            ran = []
            for form in forms:
                predicted, *golds = [by_job[job] for job in jobs_of(path, pair, form)]
                ran.append(Ran(predicted, golds))
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
    if predicted.row_count != gold.row_count:
        return False
    if len(predicted.columns) != len(gold.columns):
        return False
    if "order by" in gold_sql.lower():  # as the official script sees it
        # Lists of rows are equal under some order of columns if their bags of columns are.
        return _bag_of_columns(predicted.rows) == _bag_of_columns(gold.rows)
    return _equal_as_bags(predicted.rows, gold.rows)


def _bag_of_columns(rows: Sequence[Row]) -> Counter[Row]:
    return Counter(zip(*rows, strict=True))


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
        place = len(chosen)
        if place == len(columns_a):
            return True
        wanted = Counter(zip(*columns_a[: place + 1], strict=True))
        tried = set()
        for number, column in enumerate(columns_b):
            if number in chosen or column in tried or bags_b[number] != bags_a[place]:
                continue
            tried.add(column)  # one of equal columns is enough
            together = [columns_b[n] for n in (*chosen, number)]
            fits = Counter(zip(*together, strict=True)) == wanted
            if fits and extend([*chosen, number]):
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
    # BIRD divides all counts by the width of the gold row, which does not change F1.
    hits = surplus = absent = 0
    for predicted_row, gold_row in zip(predicted, gold, strict=False):
        hits_of_row = _number_in(predicted_row, gold_row)
        hits += hits_of_row
        surplus += len(predicted_row) - hits_of_row
        absent += len(gold_row) - _number_in(gold_row, predicted_row)
    without_partner = len(gold[0]) * abs(len(gold) - len(predicted))
    missed = surplus + absent + without_partner
    return 2 * hits / (2 * hits + missed)


def _number_in(row: Row, other: Row) -> int:
    """Return how many values of a row are in the other one."""
    return sum(value in other for value in row)


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
            # Both are repeats x runs.
            gold_times, our_times = np.reshape(timed["times"], (2, repeats, runs))
            by_repeat = zip(gold_times, our_times, strict=True)
            ratios[row] = [time_ratio(gold, ours) for gold, ours in by_repeat]
    ves_by_repeat = np.sqrt(ratios).sum(axis=0)  # times the number of answers
    ratio = ratios[:, ves_by_repeat.argmax()]
    rewards = [reward(each) for each in ratio]
    return answers.assign(ratio=ratio, ves=np.sqrt(ratio), r_ves=np.sqrt(rewards))


def time_ratio(gold: ArrayLike, predicted: ArrayLike) -> float:
    """Return the mean over runs of gold's seconds divided by the prediction's, without outliers."""
    ratios = np.divide(gold, predicted)
    distances = np.abs(ratios - ratios.mean())
    # BIRD's script drops those at three deviations, too, so all if all are equal, and counts the
    # answer as wrong; here they are kept.
    kept = ratios[distances <= 3 * ratios.std()]
    return float(kept.mean())


def reward(ratio: float) -> float:
    """Return BIRD's reward for a ratio; 0 for a wrong answer, whose ratio is 0."""
    if ratio == 0:
        return 0.0
    return next(points for least, points in _REWARDS if ratio >= least)
