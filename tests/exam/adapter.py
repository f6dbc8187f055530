"""The executor as an outside safety suite calls it: a function from SQL to a plain dict."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.errors import UnreadableDatabaseError
from workbench.sql.executor import Executor
from workbench.types import Execution, Limits


def make_executor(db_path: str) -> Callable[[str], dict[str, Any]]:
    executor = Executor(workers=2)
    limits = Limits(seconds=2.0)

    def run(sql: str) -> dict[str, Any]:
        try:
            execution = executor.execute(Path(db_path), sql, limits)
        # The caller's mistake, which the suite wants as a value.
        except UnreadableDatabaseError as error:
            execution = Execution("error", error=str(error))
        return {
            "ok": execution.status in {"ok", "empty"},
            "kind": execution.status,
            "rows": [list(row) for row in execution.rows],
            "columns": list(execution.columns),
            "truncated": execution.truncated,
            "message": execution.error,
        }

    return run
