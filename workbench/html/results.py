"""Results and what retrieval found, as nodes; the rows in which a predicted result and gold's differ are marked."""

from collections import Counter
from collections.abc import Iterable

from workbench.html.parts import counted, details, line, stack, table
from workbench.html.tree import Element, element
from workbench.sql.context_text import result_text
from workbench.sql.schema_text import literal, one_line
from workbench.types import Context, Execution, Row, Value

ROWS = 20  # rows of a result that are shown
_COLUMNS = 50
_CELL = 300  # characters of a value that are shown


def rows_part(execution: Execution, caption: str = "") -> Element:
    """The first rows of a result as SQL literals, so that '1' and 1 look different; or its error."""
    if not execution.is_complete:
        return line(f"{caption} {result_text(execution)}".strip())
    caption = f"{caption} {_row_count(execution)}".strip()
    return table(column_names(execution), map(_first_cells, execution.rows[:ROWS]), caption)


def found_part(context: Context) -> Element:
    """The retrieved values and descriptions of a context, as tables to unfold."""
    values = [
        (f"{v.table}.{v.column}", v.value, v.keyword, f"{v.edit:.2f}", f"{v.semantic:.2f}")
        for v in context.values
    ]
    texts = [(f"{d.table}.{d.column}", d.text, f"{d.score:.2f}") for d in context.descriptions]
    names = ("column", "value", "keyword", "alike by spelling", "alike by meaning")
    return stack(
        details(f"Values found: {len(values)}", table(names, values)),
        details(
            f"Descriptions found: {len(texts)}", table(("column", "description", "score"), texts)
        ),
    )


def _row_count(execution: Execution) -> str:
    shown = min(len(execution.rows), ROWS)
    text = counted(execution.row_count, "row")
    text += f", {shown} shown" if shown < execution.row_count else ""
    return text + (", cut short at the limit" if execution.truncated else "")


def column_names(execution: Execution, most: int = 8) -> list[str]:
    """The first columns' names, and how many more there are."""
    names = [one_line(name, 40) for name in execution.columns[:most]]
    more = len(execution.columns) - most
    return names + ([f"and {more} more columns"] if more > 0 else [])


def _first_cells(row: Row) -> list[str]:
    cells = [literal(cell, 80) for cell in row[:8]]
    return cells + ([""] if len(row) > 8 else [])


def marked_results(predicted: Execution, gold: Execution) -> tuple[Element, Element]:
    """The predicted result and gold's. Rows that only one result has come first, and say so; duplicates count."""
    ours, theirs = Counter(predicted.rows), Counter(gold.rows)
    only_predicted, only_gold = (ours - theirs).elements(), (theirs - ours).elements()
    return (
        _marked(predicted, only_predicted, "prediction", "minus"),
        _marked(gold, only_gold, "gold", "plus"),
    )


def _marked(execution: Execution, only: Iterable[Row], side: str, mark: str) -> Element:
    if not execution.is_complete:
        return element("p", f"No result. {result_text(execution)}", class_="own")
    own = Counter(only)
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
