"""Results and queries as JSON, as the helpers of `desk.js` show them."""

import math
import re
from typing import Any

from workbench.sql.aligned import Part, aligned
from workbench.terminal import visible
from workbench.types import Execution, Schema, Value

ROWS = 30  # of a result, that are sent
_WORDS = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|\w+|\s+|.""")
_EXACT = 2**53  # JavaScript's numbers are exact below


def shown(text: str, longest: int = 300) -> str:
    """Text that JSON and a page can hold: invisible characters as escapes, a long text cut."""
    cut = text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"
    return visible(cut)


def value(cell: Value) -> int | float | str | None:
    if isinstance(cell, bytes):
        return f"x'{cell[:20].hex()}'" + (f"… ({len(cell):,} bytes)" if cell[20:] else "")
    if isinstance(cell, int | float) and not (math.isfinite(cell) and abs(cell) < _EXACT):
        return str(cell)
    return shown(cell) if isinstance(cell, str) else cell


def result(execution: Execution) -> dict[str, Any]:
    """The result of a query: its first rows and their number, or why there is none."""
    if not execution.is_complete:
        error = shown(execution.error or execution.status)
        return {"columns": [], "rows": [], "total": 0, "error": error}
    rows = [[value(cell) for cell in row] for row in execution.rows[:ROWS]]
    total = max(execution.row_count, len(execution.rows))
    return {"columns": [shown(name) for name in execution.columns], "rows": rows, "total": total}


def pair(gold: str, predicted: str, schema: Schema) -> list[dict[str, Any]]:
    """Two queries part by part, for `sqlPair`; [] if one cannot be read."""
    return [
        {"gold": _line(one), "predicted": _line(other), "same": same}
        for one, other, same in aligned(gold, predicted, schema)
    ]


def _line(part: Part | None) -> dict[str, Any] | None:
    if part is None:
        return None
    words = [shown(word) for word in _WORDS.findall(part.text)]
    return {"clause": part.clause, "depth": part.depth, "indent": part.indent, "words": words}
