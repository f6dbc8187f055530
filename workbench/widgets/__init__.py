"""The base of both widgets: one look, messages that are answered, and results and queries as JSON.

A page of plain DOM shows what the traits say, and text gets there as text only.
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.errors import BadInputError, WorkbenchError
from workbench.sql.facts import Part, aligned
from workbench.terminal import visible
from workbench.types import Execution, Row, Schema, Value

_HERE = Path(__file__).parent
_HELPERS = (_HERE / "desk.js").read_text(encoding="utf-8")
ROWS = 30  # of a result, that are sent
_EXACT = 2**53  # JavaScript's numbers are exact below
_LONGEST = 200_000  # characters of a text that are sent
_SENT_BACK = {"key", "source", "draft"}  # by the page, or as a part of what it sends


def script(view: Path) -> str:
    """Return the module of a widget: the shared helpers, then its own script with `render`."""
    return _HELPERS + view.read_text(encoding="utf-8")


def shown(text: str, longest: int = 300) -> str:
    """Return text that a page can hold: invisible characters as escapes, a long text cut."""
    if len(text) > longest:
        text = f"{text[:longest]}… ({len(text):,} characters)"
    return visible(text)


def to_page(value: Any, _widget: object = None) -> Any:
    """Return JSON as the page gets it: each text, and each name of a field, as `shown`.

    Fields in `_SENT_BACK` stay as they are, since the page sends them back. Traits have this as
    their `to_json`, and answers pass through it.
    """
    if isinstance(value, str):
        return shown(value, _LONGEST)
    if isinstance(value, Mapping):
        fields = {}
        for name, field in value.items():
            fields[shown(name)] = field if name in _SENT_BACK else to_page(field)
        return fields
    if isinstance(value, list | tuple):
        return list(map(to_page, value))
    return value


class Desk(anywidget.AnyWidget):
    """A widget whose page asks `{"do": NAME, ...}`, which `do_NAME` answers with JSON.

    A message has a number, `ref`, under which the answer goes back. An exception is an answer,
    too, since nothing else would show it: the page says it, and takes back what it had shown
    ahead.
    """

    _css = (_HERE / "look.css").read_text(encoding="utf-8")
    rows: Any = traitlets.List().tag(sync=True, to_json=to_page)
    detail: Any = traitlets.Dict().tag(sync=True, to_json=to_page)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self._hear)

    def _hear(self, _widget: object, message: dict[str, Any], _buffers: object) -> None:
        self.send(self.answer(message))

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a message of the page."""
        arguments = dict(message)
        ref = arguments.pop("ref", 0)
        name = arguments.pop("do", "")
        try:
            act = getattr(self, f"do_{name}", None)
            if act is None:
                raise BadInputError(f"no action {name!r}")
            return {"ref": ref, "answer": to_page(act(**arguments))}
        except WorkbenchError as error:
            return {"ref": ref, "error": to_page(str(error))}
        except Exception as error:  # noqa: BLE001  the page shows it
            text = f"{type(error).__name__}: {error}"
            return {"ref": ref, "error": to_page(text)}


def value(cell: Value) -> int | float | str | None:
    """Return a cell as JSON; a number that JavaScript cannot hold is a text."""
    if cell is None:
        return None
    if isinstance(cell, str):
        return shown(cell)
    if isinstance(cell, bytes):
        return shown(f"x'{cell.hex()}'", 42)
    is_exact = math.isfinite(cell) and abs(cell) < _EXACT
    return cell if is_exact else str(cell)


def many(count: int, noun: str) -> str:
    """Return a number with its noun: "1 row", "1,000 rows"."""
    text = f"{count:,} {noun}"
    return text if count == 1 else f"{text}s"


def result(execution: Execution) -> dict[str, Any]:
    """Return the result of a query: its first rows and their number, or why there is none."""
    if not execution.is_complete:
        error = shown(execution.error or execution.status)
        return {"columns": [], "rows": [], "total": 0, "error": error}
    rows = [list(map(value, row)) for row in execution.rows[:ROWS]]
    return {
        "columns": list(map(shown, execution.columns)),
        "rows": rows,
        "total": max(execution.row_count, len(execution.rows)),
    }


def differing(first: Execution, second: Execution) -> list[dict[str, list[bool]]]:
    """Return what only the first result has, and what only the second has.

    These are its columns, and the rows that are sent. All rows of both decide, however few are
    sent. A row is looked for as it is, and by the columns that both results have. Of a query that
    failed nothing is compared.
    """
    if not first.is_complete or not second.is_complete:
        nothing: dict[str, list[bool]] = {"columns": [], "rows": []}
        return [nothing, nothing]
    shared = shared_columns(first, second)
    places = list(shared)
    other_places = list(shared.values())
    return [
        _only(first, places, second, other_places),
        _only(second, other_places, first, places),
    ]


def _only(
    ours: Execution, places: list[int], theirs: Execution, their_places: list[int]
) -> dict[str, list[bool]]:
    """Return which columns and rows sent are ours alone; at `places` are the shared columns."""
    their_rows = set(theirs.rows)
    their_parts = set()
    if places:
        their_parts = {picked(row, their_places) for row in theirs.rows}
    rows = []
    for row in ours.rows[:ROWS]:
        is_theirs = row in their_rows or picked(row, places) in their_parts
        rows.append(not is_theirs)
    columns = [at not in places for at in range(len(ours.columns))]
    return {"columns": columns, "rows": rows}


def picked(row: Row, places: Iterable[int]) -> Row:
    """Return the cells of a row at these places."""
    return tuple(row[at] for at in places)


def shared_columns(first: Execution, second: Execution) -> dict[int, int]:
    """Return the place in the second result of each column of the first that both have.

    These are columns of the same values and name, or else of the same values, or else of the same
    name. Of several that match, the one at the same place is taken.
    """
    shared: dict[int, int] = {}
    for column_of in (_values_and_name, _values, _name):
        columns = [column_of(second, to) for to in range(len(second.columns))]
        for at in range(len(first.columns)):
            if at in shared:
                continue
            wanted = column_of(first, at)
            matching = []
            for to, column in enumerate(columns):
                if column == wanted and to not in shared.values():
                    matching.append(to)
            if matching:
                shared[at] = at if at in matching else matching[0]
    return shared


def _values_and_name(execution: Execution, at: int) -> tuple[object, ...]:
    return _values(execution, at), _name(execution, at)


def _values(execution: Execution, at: int) -> set[Value]:
    return {row[at] for row in execution.rows}


def _name(execution: Execution, at: int) -> str:
    return execution.columns[at].lower()


def pair(gold: str, predicted: str, schema: Schema) -> list[dict[str, Any]]:
    """Return two queries part by part, for `sqlPair`; [] if one cannot be read."""
    rows = []
    for gold_part, predicted_part, same in aligned(gold, predicted, schema):
        row = {
            "gold": _line(gold_part),
            "predicted": _line(predicted_part),
            "same": same,
        }
        rows.append(row)
    return rows


def _line(part: Part | None) -> dict[str, Any] | None:
    if part is None:
        return None
    return {
        "clause": part.clause,
        "depth": part.depth,
        "indent": part.indent,
        "text": part.text,
    }
