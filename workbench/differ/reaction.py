"""Find queries whose result hardly changes when the data changes, which selectors count as evidence against them.

If no row can meet a condition, if the columns of a join share no values, or if text is compared with a number, the
result is the same for any rows. On the benchmark's database such a query may still agree with others by chance.
"""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from random import Random

from workbench.db.execute import Executor
from workbench.db.normalise import normalise_text
from workbench.differ.change import Changes
from workbench.differ.keep import mended
from workbench.differ.near import constants
from workbench.differ.search import beginnings, cells, needed_rules
from workbench.differ.touched import touched_rows
from workbench.types import Execution, Limits

_LIMITS = Limits(seconds=2.0, rows=20_000, bytes=2_000_000)
_BATCH = 12
_CHANGES = (1, 2, 3, 5, 8)  # numbers of random changes from one database to the next
# In three pools, 2% of the right queries and 23% of the wrong ones give at most two results on 48 databases.
_MOST_RESULTS = 2


def unreactive(
    queries: Iterable[str],
    starts: Iterable[str],
    database: Path,
    executor: Executor,
    *,
    databases: int = 48,
) -> frozenset[str]:
    """The queries with at most two different results on `databases` small databases.

    The first databases hold real rows that the queries `starts` read. Further ones are random changes of these
    near the constants of `starts`; a database on which a query gives a new result is changed further. A query that
    fails on any database is left out, as its results are no evidence.
    """
    normalised = {sql: normalise_text(sql) for sql in queries}
    texts = tuple(sorted(set(normalised.values())))  # a query runs once, however it is spelled
    random = Random(0)  # noqa: S311  no secret
    runs = _runs(texts, tuple(sorted(set(starts))), database, executor, databases, random)
    if len(runs) < max(1, databases // 2):
        return frozenset()
    inert = {
        text
        for text, executions in zip(texts, zip(*runs, strict=True), strict=True)
        if all(execution.is_complete for execution in executions)
        and len({execution.fingerprint for execution in executions}) <= _MOST_RESULTS
    }
    return frozenset(sql for sql, text in normalised.items() if text in inert)


def _runs(
    texts: tuple[str, ...],
    starts: tuple[str, ...],
    database: Path,
    executor: Executor,
    databases: int,
    random: Random,
) -> list[tuple[Execution, ...]]:
    """The executions of all queries on each database, without databases whose rows break a constraint."""
    rules = needed_rules(database, texts)
    near, used = constants(starts, rules), cells(starts, rules)
    changes = Changes(rules, near, used, random, nulls=False)
    touched = touched_rows(starts, rules, database, executor)
    known = list(islice(beginnings(touched, rules, random), _BATCH))
    batch = known[:]
    seen: set[tuple[int, str]] = set()
    runs: list[tuple[Execution, ...]] = []
    tried = 0
    while batch and tried < databases:
        tried += len(batch)
        small = [rules.database(rows) for rows in batch]
        answers = executor.execute_in_memory(small, texts, _LIMITS)
        for rows, answer in zip(batch, answers, strict=True):
            results = set(enumerate(execution.fingerprint for execution in answer or ()))
            # A database that gives any query a new result is changed further.
            if not results <= seen:
                known.append(rows)
            seen |= results
        runs += [answer for answer in answers if answer]
        drafts = [changes(random.choice(known), random.choice(_CHANGES)) for _ in range(_BATCH)]
        batch = [changed for draft in drafts if (changed := mended(draft, rules, random))]
    return runs
