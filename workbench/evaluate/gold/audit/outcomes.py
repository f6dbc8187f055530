"""A gold query that fails, and one whose result is empty or holds nothing but NULL."""

from workbench.types import Execution


def failure(execution: Execution) -> str:
    """Why the query has no result; "" if it has one."""
    return "" if execution.status in {"ok", "empty"} else execution.error or execution.status


def emptiness(execution: Execution) -> str:
    """In which way a result holds nothing; "" if it holds something, or there is no result."""
    if execution.status == "empty":
        return "the result has no rows"
    if execution.status == "ok" and all(value is None for row in execution.rows for value in row):
        return "the result holds nothing but NULL"
    return ""
