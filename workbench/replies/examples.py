"""The examples that a reply writes: objects with a question, its hint and its query."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.replies.json_values import json_values
from workbench.replies.text import answer_text

_LABELLED = re.compile(
    r"^(?:[^\w\n]|\d)*+(?:question|input)\W*:[*_]*\s*(?P<question>.+?)\s*$"
    r"(?:\s*^\W*(?:hint|evidence)\W*:[*_]*[ \t]*(?P<hint>.*?)\s*$)?"
    r"\s*^(?:\W*(?:sql|query|output)\W*:[*_]*\s*|\s*(?=```))"
    r"(?P<sql>(?:```\w*\s*)?[^\n]+(?:\n(?!\s*\n|(?:[^\w\n]|\d)*(?:question|input)\W*:)[^\n]+)*)",
    re.IGNORECASE | re.MULTILINE,
)


def read_examples(reply: str) -> list[dict[str, str]]:
    """The whole examples of the reply in their order, each with `question`, `hint` and `sql`."""
    text = answer_text(reply)
    found = [row for _, _, value in json_values(text, whole=True) for row in _rows(value)]
    if found:
        return found
    return [
        _tidy(
            _unquoted(one["question"]),
            _unquoted(one["hint"] or ""),
            _unquoted(re.sub(r"\A```\w*\s*|\s*```.*\Z", "", one["sql"], flags=re.DOTALL)),
        )
        for one in _LABELLED.finditer(text)
    ]


def _unquoted(text: str) -> str:
    """The text without one pair of quotes around the whole of it."""
    whole = re.fullmatch(r"""(["'])(.*)\1,?""", text.strip(), re.DOTALL)
    return whole[2] if whole and whole[1] not in whole[2] else text


def _rows(value: Any) -> Iterator[dict[str, str]]:
    """The examples in a value: itself, or those in its lists and objects."""
    if isinstance(value, Mapping):
        texts = {str(k).strip().lower(): v for k, v in value.items() if isinstance(v, str)}
        question = texts.get("question") or texts.get("input")
        sql = texts.get("sql") or texts.get("query") or texts.get("output")
        is_form = not re.search(r"\w", question or "")  # {"question": "...", "sql": "SELECT ..."}
        if question and sql and len(sql.split()) > 1 and not is_form:
            yield _tidy(question, texts.get("hint") or texts.get("evidence") or "", sql)
            return
        for item in value.values():
            yield from _rows(item)
    elif isinstance(value, list):
        for item in value:
            yield from _rows(item)


def _tidy(question: str, hint: str, sql: str) -> dict[str, str]:
    return {"question": question, "hint": hint, "sql": sql}
