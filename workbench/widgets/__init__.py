"""The base of both widgets: one look, messages that are answered, and results and queries as JSON.

A page of plain DOM shows what the traits say, and text gets there as text only.
"""

import math
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.errors import BadInputError, WorkbenchError
from workbench.sql.facts import Part, aligned
from workbench.terminal import visible
from workbench.types import Execution, Schema, Value

_HERE = Path(__file__).parent
_HELPERS = (_HERE / "desk.js").read_text(encoding="utf-8")
ROWS = 30  # of a result, that are sent
_EXACT = 2**53  # JavaScript's numbers are exact below


def script(view: Path) -> str:
    """The module of a widget: the shared helpers, then its own `view.js`, which exports `render`."""
    return _HELPERS + view.read_text(encoding="utf-8")


class Desk(anywidget.AnyWidget):
    """A widget whose page asks by messages `{"do": NAME, ...}`, which the method `do_NAME` answers with JSON.

    A message has a number, `ref`, under which the answer goes back. An exception is an answer, too, since nothing else
    would show it: the page says it, and takes back what it had shown ahead.
    """

    _css = (_HERE / "look.css").read_text(encoding="utf-8")
    rows: Any = traitlets.List().tag(sync=True)
    detail: Any = traitlets.Dict().tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(lambda _, message, __: self.send(self.answer(message)))

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a message of the page."""
        given = dict(message)
        ref, name = given.pop("ref", 0), given.pop("do", "")
        try:
            act = getattr(self, f"do_{name}", None)
            if act is None:
                raise BadInputError(f"no action {name!r}")
            return {"ref": ref, "answer": act(**given)}
        except Exception as error:  # noqa: BLE001  the page shows it
            name = "" if isinstance(error, WorkbenchError) else f"{type(error).__name__}: "
            return {"ref": ref, "error": f"{name}{error}"}


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

    def line(part: Part) -> dict[str, Any]:
        text = shown(part.text, 4_000)
        return {"clause": part.clause, "depth": part.depth, "indent": part.indent, "text": text}

    return [
        {"gold": one and line(one), "predicted": other and line(other), "same": same}
        for one, other, same in aligned(gold, predicted, schema)
    ]
