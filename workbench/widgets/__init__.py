"""The base of both widgets: one look, messages that are answered, and results and queries as JSON.

A page of plain DOM shows what the traits say, and text gets there as text only.
"""

import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from operator import itemgetter
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
    """The module of a widget: the shared helpers, then its own script with `render`."""
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
        """The answer to a message of the page."""
        arguments = dict(message)
        ref, name = arguments.pop("ref", 0), arguments.pop("do", "")
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
    """Text that JSON and a page can hold: invisible characters as escapes, a long text cut."""
    cut = text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"
    return visible(cut)


def value(cell: Value) -> int | float | str | None:
    """A cell as JSON; a number that JavaScript cannot hold is a text."""
    if isinstance(cell, bytes):
        rest = f"… ({len(cell):,} bytes)" if len(cell) > 20 else ""
        return f"x'{cell[:20].hex()}'{rest}"
    if isinstance(cell, str):
        return shown(cell)
    if cell is None or (math.isfinite(cell) and abs(cell) < _EXACT):
        return cell
    return str(cell)


def many(count: int, noun: str) -> str:
    """A number with its noun: "1 row", "1,000 rows"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def result(execution: Execution) -> dict[str, Any]:
    """The result of a query: its first rows and their number, or why there is none."""
    if not execution.is_complete:
        error = shown(execution.error or execution.status)
        return {"columns": [], "rows": [], "total": 0, "error": error}
    rows = [list(map(value, row)) for row in execution.rows[:ROWS]]
    total = max(execution.row_count, len(execution.rows))
    return {"columns": list(map(shown, execution.columns)), "rows": rows, "total": total}


def differing(one: Execution, other: Execution) -> list[dict[str, list[bool]]]:
    """What only the first result has, and what only the second has: its columns, and the rows sent.

    All rows of both decide, however few are sent. A row is looked for as it is, and by the columns
    that both results have. Of a query that failed nothing is compared.
    """
    if not (one.is_complete and other.is_complete):
        return [{"columns": [], "rows": []}] * 2
    shared = shared_columns(one, other)
    return [_only(one, other, shared), _only(other, one, {to: at for at, to in shared.items()})]


def _only(one: Execution, other: Execution, shared: Mapping[int, int]) -> dict[str, list[bool]]:
    whole_rows = set(other.rows)
    parts = {picked(row, shared.values()) for row in other.rows}
    rows = []
    for row in one.rows[:ROWS]:
        has_part = bool(shared) and picked(row, shared) in parts
        rows.append(row not in whole_rows and not has_part)
    columns = [at not in shared for at in range(len(one.columns))]
    return {"columns": columns, "rows": rows}


def picked(row: Row, places: Iterable[int]) -> Row:
    """The cells of a row at these places."""
    return tuple(row[at] for at in places)


def shared_columns(one: Execution, other: Execution) -> dict[int, int]:
    """The columns that both results have: of the same values, or else the same name."""
    columns, other_columns = _columns(one), _columns(other)
    shared: dict[int, int] = {}
    for traits in (itemgetter(0, 1), itemgetter(0), itemgetter(1)):
        for at, column in enumerate(columns):
            matching = []
            for to, other_column in enumerate(other_columns):
                if to not in shared.values() and traits(column) == traits(other_column):
                    matching.append(to)
            if matching and at not in shared:
                shared[at] = at if at in matching else matching[0]
    return shared


def _columns(execution: Execution) -> list[tuple[frozenset[Value], str]]:
    """The values and the name of each column."""
    names = [name.lower() for name in execution.columns]
    values = [frozenset(column) for column in zip(*execution.rows, strict=True)]
    if not values:
        values = [frozenset()] * len(names)
    return list(zip(values, names, strict=True))


def pair(gold: str, predicted: str, schema: Schema) -> list[dict[str, Any]]:
    """Two queries part by part, for `sqlPair`; [] if one cannot be read."""
    rows = []
    for one, other, same in aligned(gold, predicted, schema):
        rows.append({"gold": _line(one), "predicted": _line(other), "same": same})
    return rows


def _line(part: Part | None) -> dict[str, Any] | None:
    if part is None:
        return None
    text = shown(part.text, 4_000)
    return {"clause": part.clause, "depth": part.depth, "indent": part.indent, "text": text}


@contextmanager
def desk_file(path: Path, what: str) -> Iterator[Database]:
    """An SQLite file in which people's work is kept; several programs may write at once."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            yield Database(connection)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{what} {path}: {error}; nothing was written") from error
