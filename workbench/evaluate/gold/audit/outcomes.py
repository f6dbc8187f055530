"""Gold queries that fail, and gold queries whose result is empty, nothing but NULL, or 0 alone."""

from workbench.types import Execution


def failure(execution: Execution) -> str:
    """Why the query has no result; "" if it has one."""
    return "" if execution.is_complete else execution.error or execution.status


def emptiness(execution: Execution) -> str:
    """Why a result counts as empty; "" if it does not, or if the query failed."""
    if execution.status == "empty":
        return "the result has no rows"
    values = {value for row in execution.rows for value in row}
    if values == {None}:
        return "the result holds nothing but NULL"
    if len(execution.rows) == 1 and values == {0}:
        return "the result is 0 alone"
    return ""
