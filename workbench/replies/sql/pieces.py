"""All queries that stand in a reply, each with its form and its standing."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from workbench.replies.sql.fences import fences, has_fence, query_in_fence
from workbench.replies.sql.members import members, quoted_in_object
from workbench.replies.sql.standing import Standing, is_withdrawn, standing_of
from workbench.replies.sql.statement import (
    MOST,
    START,
    end_of,
    in_prose,
    is_english,
    readable,
)
from workbench.replies.text import ANSWER_TAG, boxed

Form = Literal["prose", "fence", "opening", "answer"]  # the later, the stronger

_PLACEHOLDER = re.compile(
    r"\bSELECT\s+(?:\.{3}|\u2026|<[^>]*>)|\.{3}\s*\Z|\u2026\s*\Z", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A query in a reply: where it begins and ends with its fence or tag, its form, and its standing.

    The form "answer" is a tag, a box or a JSON member; "opening" is a query with which the text begins.
    """

    start: int
    end: int
    sql: str
    form: Form
    standing: Standing = "plain"


def pieces(text: str, read: Callable[[str], str]) -> list[Piece]:
    """The queries of the text in their order; `read` gives the query of a text in a tag, a fence or a member.

    A query in a fence, a tag or a member need not be readable: a fixer wants to see a query with an error.
    """
    found: list[Piece] = []

    def add(start: int, end: int, sql: str, form: Form, standing: Standing = "plain") -> None:
        is_free = all(not one.start <= start < one.end for one in found)
        if sql and is_free and not _PLACEHOLDER.search(sql):
            found.append(Piece(start, end, sql, form, standing))

    if START.match(text):
        sql = readable(text, 0)
        if sql or not (is_english(text) or has_fence(text)):
            sql = sql or text[: end_of(text, 0)].strip()
            add(0, len(sql), sql, "opening")
    if box := boxed(text):
        start = text.rfind(box)
        add(start, start + len(box), read(box), "answer", "final")
    for tag in list(ANSWER_TAG.finditer(text))[-MOST:]:
        add(tag.start(), tag.end(), read(tag["inner"]), "answer", "final")
    for start, end, language, body in fences(text):
        add(start, end, query_in_fence(language, body, read), "fence")
    for start, end, sql in [*members(text, read)][-MOST:]:
        add(start, end, sql, "answer")
    stays = any(not is_withdrawn(text[piece.end :]) for piece in found)
    for start, sql in in_prose(text, labelled=stays):
        if not quoted_in_object(text, start, sql):
            add(start, start + len(sql), sql, "prose")
    return _with_standing(sorted(found, key=lambda piece: piece.start), text)


def _with_standing(found: list[Piece], text: str) -> list[Piece]:
    judged: list[Piece] = []
    position = 0
    for number, piece in enumerate(found):
        following = found[number + 1].start if number + 1 < len(found) else len(text)
        if piece.standing == "plain":
            before, after = text[position : piece.start], text[piece.end : following]
            judged.append(replace(piece, standing=standing_of(before, after)))
        else:
            judged.append(piece)
        position = piece.end
    return judged
