"""Read the items of a benchmark's JSON file, in the layouts of BIRD, of Spider and of Spider's variants."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from workbench.errors import BadInputError, content_of
from workbench.types import Gold, Question

# The names of a field, in the order in which they are tried.
SQL = ("SQL", "query", "sql")
TEXT = ("SpiderSynQuestion", "question")


def read_text(path: Path) -> str:
    """The text of a file in UTF-8, or in UTF-16 as spreadsheets save it."""
    content = content_of(path)
    utf_16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return content.decode("utf-16" if utf_16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError(
            f"{path}: not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from error


def read_items(path: Path) -> list[Any]:
    """The items of a benchmark's file, which is a JSON list."""
    text = read_text(path)
    try:
        items = orjson.loads(text) if text.strip() else []
    except ValueError as error:
        raise BadInputError(f"{path}: not JSON ({error})") from error
    if not isinstance(items, list) or not items:
        found = f"{items!r:.60}" if items else "nothing"
        raise BadInputError(
            f"{path}: expected a list with an object for each item, and found {found}"
        )
    return items


def text_field(item: Any, number: int, path: Path, name: str, default: str | None = None) -> str:
    """A text field of an item. With a default, the field may be missing or null."""
    if not isinstance(item, dict):
        raise BadInputError(f"{path.name}, item {number}: not an object but {item!r:.60}")
    value = item.get(name)
    if value is None:
        value = default
    if not isinstance(value, str):
        raise BadInputError(f"{path.name}, item {number}: no text field {name}")
    return value


def filled_field(item: Any, number: int, path: Path, name: str, default: str | None = None) -> str:
    """A text field that must not be empty."""
    value = text_field(item, number, path, name, default)
    if not value.strip():
        of = f" (question {item['question_id']})" if "question_id" in item else ""
        raise BadInputError(
            f"{path.name}, item {number}{of}: {name} is empty; write its text, or take the item out"
        )
    return value


def first_name(names: tuple[str, ...], item: Mapping[str, Any]) -> str:
    """The first of these names that the item has, else the last of them."""
    return next((name for name in names if name in item), names[-1])


def read_questions(items: list[Any], path: Path) -> tuple[tuple[Question, ...], dict[str, Gold]]:
    """The questions of the items and their gold queries by id; without a question_id the position is the id."""
    questions, golds = [], {}
    for number, item in enumerate(items):
        db_id = filled_field(item, number, path, "db_id")
        key = item.get("question_id", number)
        if type(key) not in {int, str}:
            raise BadInputError(
                f"{path.name}, item {number}: question_id is {key!r}; it must be a number or text"
            )
        key = str(key)
        if key in golds:
            raise BadInputError(f"{path.name}, item {number}: question_id {key} occurs twice")
        text = filled_field(item, number, path, first_name(TEXT, item))
        questions.append(Question(key, db_id, text, text_field(item, number, path, "evidence", "")))
        query = next((name for name in SQL if name in item), "SQL")
        difficulty = text_field(item, number, path, "difficulty", "")
        golds[key] = Gold(key, filled_field(item, number, path, query), difficulty)
    return tuple(questions), golds
