"""Look up whether the columns that queries compare with literals hold these values.

One SELECT looks up many values at once, through the executor, so that it is bounded, read-only and cached like
any other query. A value that cannot be looked up counts as present: without evidence there is no doubt.
"""

from collections.abc import Collection
from pathlib import Path

from workbench.db.execute import Executor
from workbench.db.text.quoting import quote
from workbench.types import Limits

ColumnValue = tuple[str, str, str | int | float]  # table, column, value

_BATCH = 50  # values in one SELECT
_LONGEST = 500  # characters of a value
_LIMITS = Limits(seconds=10.0)


def absent_values(
    executor: Executor, database: Path, values: Collection[ColumnValue]
) -> frozenset[ColumnValue]:
    """The values that their columns do not hold, compared as SQLite compares them."""
    asked = sorted(
        (v for v in set(values) if "\0" not in str(v[2]) and len(str(v[2])) <= _LONGEST), key=repr
    )
    batches = [asked[start : start + _BATCH] for start in range(0, len(asked), _BATCH)]
    jobs = [(database, f"SELECT {', '.join(map(_exists, batch))}") for batch in batches]
    absent: set[ColumnValue] = set()
    for batch, execution in zip(batches, executor.execute_many(jobs, _LIMITS), strict=True):
        if execution.status == "ok":
            pairs = zip(batch, execution.rows[0], strict=True)
            absent |= {value for value, is_there in pairs if not is_there}
    return frozenset(absent)


def _exists(column_value: ColumnValue) -> str:
    table, column, value = column_value
    text = "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
    return f"EXISTS(SELECT 1 FROM {quote(table)} WHERE {quote(table)}.{quote(column)} = {text})"
