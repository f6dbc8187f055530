"""Read the files that people have.

Text in the encodings that spreadsheets write, JSON, JSON lines, and lists of items.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import ErrorDetails

from workbench.errors import BadInputError, content_of
from workbench.types import Column, ForeignKey, Schema, Table


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Filled = Annotated[str, StringConstraints(pattern=r"\S")]
Queries = Annotated[list[Filled], Field(min_length=1), BeforeValidator(_listed)]
_Model = TypeVar("_Model")
_OBJECT = re.compile(r"\s*\{.*\}\s*")


def one_line(text: str) -> str:
    """Return a text with one blank between two words, as texts of questions are compared."""
    return " ".join(text.split())


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 as spreadsheets save it."""
    content = content_of(path)
    is_utf_16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return content.decode("utf-16" if is_utf_16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError(
            f"{path}: not UTF-8 text ({error}); save it as UTF-8"
        ) from error


def read_json(path: Path, text: str) -> Any:
    """Return the value of a JSON text, or the list of values of JSON lines.

    An object that has a key twice is refused, since one of two answers would be lost.
    """
    lines = _json_lines(text)
    if not lines:
        return _value(path, text, 1)
    return [_value(path, line, number) for number, line in lines.items()]


def _json_lines(text: str) -> dict[int, str]:
    """Return the lines of JSON lines by their numbers, from 1; none if it is one JSON text."""
    numbered = enumerate(text.split("\n"), 1)
    lines = {number: line for number, line in numbered if line.strip()}
    first = next(iter(lines.values()), "")
    is_json_lines = len(lines) > 1 and _OBJECT.fullmatch(first)
    return lines if is_json_lines else {}


def _value(path: Path, text: str, line: int) -> Any:
    """Return the value of a JSON text that begins on that line of a file."""
    try:
        return json.loads(text, object_pairs_hook=_each_key_once)
    except json.JSONDecodeError as error:
        place = f"line {line - 1 + error.lineno}, column {error.colno}"
        raise BadInputError(f"{path}, {place}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{path}, from line {line}: not JSON: {error}") from error


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError(f"one object has a key twice, of {[*fields]!r:.80}")
    return fields


def read_items(path: Path, model: type[_Model]) -> list[_Model]:
    """Return the items of a file, a JSON list or JSON lines, with at least one."""
    text = read_text(path)
    content = read_json(path, text)
    items = content if isinstance(content, list) else [content]
    if not items:
        raise BadInputError(f"{path}: an empty list; give an object for each item")
    return validated(items, model, lambda item: f"{path}, {_place(text, item)}")


def validated(
    items: list[Any], model: type[_Model], place: Callable[[int], str]
) -> list[_Model]:
    """Return the items as the model has them; the error names the place of the first fault."""
    try:
        return TypeAdapter(list[model]).validate_python(items)  # type: ignore[valid-type]
    except ValidationError as error:
        way, first = first_fault(error)
        # "4.question": the item's number, and the field that is wrong, if it is one.
        item, _, field = way.partition(".")
        where = place(int(item))
        if field:
            where += f": {field}"
        why = "not an object" if first["type"] == "model_type" else first["msg"]
        raise BadInputError(f"{where}: {why}; it is {first['input']!r:.60}") from error


def first_fault(error: ValidationError) -> tuple[str, ErrorDetails]:
    """Return the first field that a model of pydantic refuses, with the way to it, and why."""
    first = error.errors(include_url=False)[0]
    return ".".join(map(str, first["loc"])), first


def _place(text: str, item: int) -> str:
    """Return where an item of a file stands: its line in JSON lines, else its number from 0."""
    numbers = [*_json_lines(text)]
    return f"line {numbers[item]}" if numbers else f"item {item}"


class _Entry(BaseModel):
    """A database in Spider's tables.json, with what exact match reads: no types, no primary keys.

    Columns are numbered; column 0 is `*` and belongs to table -1.
    """

    db_id: str
    tables: list[str] = Field(alias="table_names_original")
    columns: list[tuple[int, str]] = Field(alias="column_names_original")
    foreign_keys: list[tuple[int, int]]

    def as_schema(self) -> Schema:
        """Return the schema; an IndexError says that a number is that of no table or column."""
        columns: list[list[Column]] = [[] for _ in self.tables]
        for table, name in self.columns:
            if table >= 0:
                columns[table].append(Column(name, ""))
        keys: list[list[ForeignKey]] = [[] for _ in self.tables]
        for number, ref_number in self.foreign_keys:
            table, name = self.columns[number]
            ref_table, ref_name = self.columns[ref_number]
            if min(number, ref_number, table, ref_table) < 0:
                raise IndexError  # of `*`, or of another column that is in no table
            key = ForeignKey((name,), self.tables[ref_table], (ref_name,))
            keys[table].append(key)
        tables = []
        parts = zip(self.tables, columns, keys, strict=True)
        for name, its_columns, its_keys in parts:
            described = Table(name, tuple(its_columns), foreign_keys=tuple(its_keys))
            tables.append(described)
        return Schema(self.db_id, tuple(tables))


def read_spider_schemas(path: Path) -> dict[str, Schema]:
    """Return the schema of each database in Spider's tables.json, on which exact match is defined.

    Its foreign keys are not always those that the SQLite files declare.
    """
    schemas: dict[str, Schema] = {}
    for number, entry in enumerate(read_items(path, _Entry)):
        where = f"{path}, item {number}"
        if entry.db_id in schemas:
            raise BadInputError(
                f"{where}: {entry.db_id!r} is described before; leave one of them"
            )
        try:
            schemas[entry.db_id] = entry.as_schema()
        except IndexError as error:
            raise BadInputError(
                f"{where}: a number is that of no table or column"
            ) from error
    return schemas
