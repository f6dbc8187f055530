"""Which of several columns a reply calls relevant, and which it does not."""

import re
from collections.abc import Iterator
from typing import Any

from workbench.replies.json_values import json_values
from workbench.replies.names.spelling import Names, Tables, plain
from workbench.replies.names.values import cells, without_bullet
from workbench.replies.relevance import MEMBERS, relevance_of
from workbench.replies.text import answer_text

_SEPARATOR = re.compile(r":\s|->|\u2192|=|\s[-\u2013\u2014]\s|\s(?=is\s)")
_OPENS = re.compile(r"^[\[{(\s]*")

# A tick or a cross for a verdict, and the members that list the columns of one.
_MARKS = str.maketrans(
    dict.fromkeys("\u2705\u2714\u2713", ": yes") | dict.fromkeys("\u274c\u2717\u2718", ": no")
)
_LISTING = {
    "relevant": True,
    "needed": True,
    "irrelevant": False,
    "not relevant": False,
    "not needed": False,
}

ColumnName = tuple[str, str]  # table, column


def read_column_verdicts(reply: str, tables: Tables) -> dict[ColumnName, bool]:
    """Whether each column is relevant, by what the reply says last of it; without those that it leaves out.

    The verdicts stand in objects that name their column, in an object by column or by table, or in lines
    such as `piece.glaze: yes` and `| piece.glaze | no |`. What a broken line says does not touch the others.
    """
    text, names = answer_text(reply), Names(tables)
    found: dict[ColumnName, bool] = {}
    for _, _, value in json_values(text):
        found |= dict(_of_value(value, names))
    return found or dict(_of_lines(text, names))


def _of_value(value: Any, names: Names, table: str = "") -> Iterator[tuple[ColumnName, bool]]:
    if isinstance(value, list):
        for item in value:
            yield from _of_value(item, names, table)
    if not isinstance(value, dict):
        return
    row = {plain(key): item for key, item in value.items()}
    owner = names.table(row.get("table", "")) or table
    named = next((row[key] for key in ("column", "column name", "name") if key in row), None)
    verdict = next(
        (relevant for key in MEMBERS if (relevant := relevance_of(row.get(key))) is not None), None
    )
    if verdict is not None and (pair := names.column(named, owner)):
        yield pair, verdict
        return
    for key, item in value.items():
        listing = _LISTING.get(plain(key))
        if listing is not None and isinstance(item, list):
            listed = (names.column(one, owner) for one in item if isinstance(one, str))
            yield from ((pair, listing) for pair in listed if pair)
        pair = names.column(key, owner)
        relevant = relevance_of(item)
        if pair and relevant is not None:
            yield pair, relevant
        elif pair and isinstance(item, dict):
            yield from _of_value({"column": ".".join(pair), **item}, names)
        else:
            yield from _of_value(item, names, names.table(key) or owner)


def _of_lines(text: str, names: Names) -> Iterator[tuple[ColumnName, bool]]:
    for line in text.translate(_MARKS).splitlines():
        head, *rest = cells(line) or _SEPARATOR.split(without_bullet(line.strip()), maxsplit=1)
        if len(rest) > 1 and (table := names.table(head)):  # | table | column | verdict |
            head, rest = f"{table}.{rest[0]}", rest[1:]
        pair = names.column(_OPENS.sub("", head))
        verdicts = [verdict for cell in rest if (verdict := relevance_of(cell)) is not None]
        if pair and verdicts:
            yield pair, verdicts[0]
