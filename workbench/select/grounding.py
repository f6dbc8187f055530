"""Whether the values that queries ask for stand in the columns in which they look for them.

One query of our own answers for many values at once, through the executor, so it is bounded, read-only and
remembered like any other. Whatever cannot be looked up counts as found: no doubt without evidence.
"""

from collections.abc import Collection
from pathlib import Path

from workbench.db.execute import Executor
from workbench.db.quoting import quote
from workbench.types import Limits

Wanted = tuple[str, str, str | int | float]  # table, column, value

_AT_ONCE = 50  # values a query
_LONGEST = 500  # characters of a value
_LIMITS = Limits(seconds=10.0)


def missing(executor: Executor, database: Path, wanted: Collection[Wanted]) -> frozenset[Wanted]:
    """Those of the values that their column does not hold, by SQLite's own equality."""
    asked = sorted(
        (w for w in set(wanted) if "\0" not in str(w[2]) and len(str(w[2])) <= _LONGEST), key=repr
    )
    batches = [asked[start : start + _AT_ONCE] for start in range(0, len(asked), _AT_ONCE)]
    jobs = [(database, f"SELECT {', '.join(map(_exists, batch))}") for batch in batches]
    absent: set[Wanted] = set()
    for batch, execution in zip(batches, executor.execute_many(jobs, _LIMITS), strict=True):
        if execution.status == "ok":
            pairs = zip(batch, execution.rows[0], strict=True)
            absent |= {want for want, found in pairs if not found}
    return frozenset(absent)


def _exists(want: Wanted) -> str:
    table, column, value = want
    text = "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
    return f"EXISTS(SELECT 1 FROM {quote(table)} WHERE {quote(table)}.{quote(column)} = {text})"
