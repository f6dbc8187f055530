"""A predicted result and gold's as two tables in which the rows that differ are marked."""

from collections import Counter

from workbench.html.parts import counted, line, stack, table
from workbench.html.tree import Element, element
from workbench.report.display.records import column_names
from workbench.sql.context_text import result_text
from workbench.sql.schema_text import literal
from workbench.types import Execution, Row, Value

ROWS = 20  # distinct rows that are shown
_COLUMNS = 50
_CELL = 300  # characters of a value that are shown


def marked_results(predicted: Execution, gold: Execution) -> tuple[Element, Element]:
    """The predicted result and gold's. Rows that only one result has come first, and say so; duplicates count."""
    left, right = Counter(predicted.rows), Counter(gold.rows)
    return (
        _marked(predicted, left - right, "prediction", "minus"),
        _marked(gold, right - left, "gold", "plus"),
    )


def _marked(execution: Execution, own: Counter[Row], side: str, mark: str) -> Element:
    if not execution.is_complete:
        return element("p", f"No result. {result_text(execution)}", class_="own")
    shared = Counter(execution.rows) - own
    rows = [(row, times, True) for row, times in own.items()]
    rows += [(row, times, False) for row, times in shared.items()]
    shown = rows[:ROWS]
    result = table(
        ["", *column_names(execution, _COLUMNS)],
        [[_sign(times, own=is_own), *map(_cell, row[:_COLUMNS])] for row, times, is_own in shown],
        marks=[mark if is_own else "" for *_, is_own in shown],
        kind="result",
    )
    summary = _summary(execution, own.total(), own.total() + shared.total())
    hidden = sum(times for _, times, _ in rows[ROWS:])
    summary += f" {hidden:,} more are not shown." if hidden else ""
    box = element(
        "div", result, class_="wide", tabindex="0", role="region", aria_label=f"Rows of {side}"
    )
    return stack(line(summary), box)


def _summary(execution: Execution, own: int, compared: int) -> str:
    text = f"{counted(execution.row_count, 'row')}, "
    text += f"{own:,} only here." if own else "all in the other result, too."
    if execution.truncated or execution.row_count > compared:
        text += f" The first {compared:,} are compared."
    return text


def _sign(times: int, *, own: bool) -> str:
    often = f" \N{MULTIPLICATION SIGN}{times:,}" if times > 1 else ""
    return ("≠ only here" if own else "= in both") + often


def _cell(value: Value) -> Element:
    kind = "null" if value is None else "number" if isinstance(value, int | float) else None
    return element("td", literal(value, _CELL), class_=kind)
