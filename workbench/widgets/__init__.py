"""The base of both widgets: one look, messages that are answered, and results and queries as JSON.

A page of plain DOM shows what the traits say, and text gets there as text only.
"""

import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import anywidget
import traitlets
from sqlite_utils import Database

from workbench.errors import BadInputError, StoreError, WorkbenchError
from workbench.sql.facts import Part, aligned
from workbench.terminal import visible
from workbench.types import Execution, Row, Schema, Value

_HERE = Path(__file__).parent
_HELPERS = (_HERE / "desk.js").read_text(encoding="utf-8")
ROWS = 30  # of a result, that are sent
_EXACT = 2**53  # JavaScript's numbers are exact below


def script(view: Path) -> str:
    """Return the module of a widget: the shared helpers, then its own script with `render`."""
    return _HELPERS + view.read_text(encoding="utf-8")


class Desk(anywidget.AnyWidget):
    """A widget whose page asks `{"do": NAME, ...}`, which `do_NAME` answers with JSON.

    A message has a number, `ref`, under which the answer goes back. An exception is an answer,
    too, since nothing else would show it: the page says it, and takes back what it had shown
    ahead.
    """

    _css = (_HERE / "look.css").read_text(encoding="utf-8")
    rows: Any = traitlets.List().tag(sync=True)
    detail: Any = traitlets.Dict().tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(lambda _, message, __: self.send(self.answer(message)))

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a message of the page."""
        arguments = dict(message)
        ref = arguments.pop("ref", 0)
        name = arguments.pop("do", "")
        try:
            act = getattr(self, f"do_{name}", None)
            if act is None:
                raise BadInputError(f"no action {name!r}")
            return {"ref": ref, "answer": act(**arguments)}
        except WorkbenchError as error:
            return {"ref": ref, "error": str(error)}
        except Exception as error:  # noqa: BLE001  the page shows it
            return {"ref": ref, "error": f"{type(error).__name__}: {error}"}


def shown(text: str, longest: int = 300) -> str:
    """Return text that a page can hold: invisible characters as escapes, a long text cut."""
    if len(text) > longest:
        text = f"{text[:longest]}… ({len(text):,} characters)"
    return visible(text)


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
    inverse = {to: at for at, to in shared.items()}
    only_first = _only(first, second, shared)
    only_second = _only(second, first, inverse)
    return [only_first, only_second]


def _only(
    ours: Execution, theirs: Execution, shared: Mapping[int, int]
) -> dict[str, list[bool]]:
    """Return which columns and rows sent are ours alone.

    `shared` has the place of a column in their result by its place in ours.
    """
    their_rows = set(theirs.rows)
    their_parts = set()
    if shared:
        their_parts = {picked(row, shared.values()) for row in theirs.rows}
    rows = []
    for row in ours.rows[:ROWS]:
        is_theirs = row in their_rows or picked(row, shared) in their_parts
        rows.append(not is_theirs)
    columns = [at not in shared for at in range(len(ours.columns))]
    return {"columns": columns, "rows": rows}


def picked(row: Row, places: Iterable[int]) -> Row:
    """Return the cells of a row at these places."""
    return tuple(row[at] for at in places)


def shared_columns(first: Execution, second: Execution) -> dict[int, int]:
    """Return the columns that both results have: of the same values, or else the same name."""
    columns = _matched_by(first)
    other_columns = _matched_by(second)
    shared: dict[int, int] = {}
    for part in range(3):
        for at, column in enumerate(columns):
            if at in shared:
                continue
            matching = []
            for to, other in enumerate(other_columns):
                if column[part] == other[part] and to not in shared.values():
                    matching.append(to)
            if matching:
                shared[at] = at if at in matching else matching[0]
    return shared


def _matched_by(execution: Execution) -> list[tuple[object, set[Value], str]]:
    """Return by what each column is matched: its values and name, its values, its name."""
    parts: list[tuple[object, set[Value], str]] = []
    for at, column in enumerate(execution.columns):
        name = column.lower()
        values = {row[at] for row in execution.rows}
        parts.append(((values, name), values, name))
    return parts


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
        "text": shown(part.text, 4_000),
    }


@contextmanager
def desk_file(path: Path, what: str) -> Iterator[Database]:
    """Open an SQLite file in which people's work is kept; several programs may write at once."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            yield Database(connection)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{what} {path}: {error}; nothing was written") from error
