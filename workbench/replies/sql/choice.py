"""Which of the queries in a reply is its answer.

1. A query that is called final, corrected or the answer wins, the last one of these;
2. else a query that nothing speaks against, in the form that answers have: an answer tag, a box or a JSON
   member before a fence, a fence before prose, the last one of these. A reply that begins with a query
   answers with it, because models that begin so go on with remarks, or with another question;
3. else the last draft, else the last alternative. A query that is called old or wrong is never the answer,
   and of two that the reply leaves open ("this or that") neither is.
"""

import re
from dataclasses import dataclass
from typing import get_args

from workbench.replies.sql.marks import bare, has_entities, tidied, without_entities
from workbench.replies.sql.pieces import Form, Piece, pieces
from workbench.replies.sql.statement import START, statement
from workbench.replies.text import answer_text, answers
from workbench.sql.reading import parse

_DEEPEST = 3  # tags, fences and members in each other
_SQUARE_TAG = re.compile(r"\[(/?)SQL\]")
# "Final answer: none", which speaks of every query above it.
_NO_QUERY = re.compile(
    r"(?:^|\n)[ \t*_#]*+final (?:answer|sql|query)[\s*_]*[:\uff1a][\s*_`]*"
    r"(?:none|n/?a|no\b|nothing|unchanged|cannot|can't|unable|not possible|null|the query is)",
    re.IGNORECASE,
)
_PLACE = {
    "first": 0,
    "former": 0,
    "1": 0,
    "a": 0,
    "second": 1,
    "latter": 1,
    "2": 1,
    "b": 1,
    "last": -1,
}
# "The second is not right": after both queries.
_NAMED_WRONG = re.compile(
    r"\bthe (first|second|last|former|latter)\b[^.;\n]{0,30}?\b(?:is|was) (?:\w+ )?(?:wrong|incorrect|not)\b",
    re.IGNORECASE,
)
# "So I go with option 1": after both queries.
_NAMED_RIGHT = re.compile(
    r"\b(?:go(?:ing)? with|choose|pick|prefer|use|recommend|answer is) (?:the )?"
    r"(?:(?:option|query|version|approach|variant|number) ([12ab])\b|(first|second|former|latter)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Extracted:
    """SQL as the model wrote it, without a final semicolon; or "" and the reason why there is none."""

    sql: str
    reason: str = ""


def read_sql(reply: str) -> Extracted:
    """The query that the reply proposes, verbatim but for marks of Markdown and HTML. No reply raises."""
    text = _SQUARE_TAG.sub(r"<\1sql>", answer_text(reply))
    if not text:
        return Extracted("", "the reply is empty, or ends in its reasoning")
    sql = _answer(text)
    if has_entities(sql or text):
        sql = _answer(without_entities(text))
    if sql:
        return Extracted(sql)
    return Extracted("", "the reply holds no SELECT, WITH or VALUES query")


def _answer(text: str) -> str:
    """The query of the first part of the text that holds one; "" where none does."""
    return next((sql for part in answers(text) if (sql := tidied(_chosen(part, _DEEPEST)))), "")


def _chosen(text: str, depth: int) -> str:
    """The query that the text answers with; "" where there is none."""

    def inner(part: str) -> str:
        """The query in a tag, a box or a member: the whole of it, or one in it."""
        whole = bare(part.strip())
        if START.match(whole):
            return statement(whole)
        return _chosen(whole, depth - 1) if depth else ""

    whole = bare(text)
    # The label of a text that is no whole query stays: it may say "final".
    text = whole if START.match(whole) else text.strip()
    found = pieces(text, inner)
    if gives_none := _NO_QUERY.search(text):
        found = [piece for piece in found if piece.start > gives_none.start()]
    found = _as_named_later(found, text)
    standings = {piece.standing for piece in found}
    if "rival" in standings and "final" not in standings:
        return ""
    for standing in ("final", "plain", "draft", "aside"):
        if alike := [piece for piece in found if piece.standing == standing]:
            return _strongest(alike)
    return ""


def _strongest(found: list[Piece]) -> str:
    """The last query of the strongest form; if it is only a part of an earlier query, the earlier one."""
    forms: tuple[Form, ...] = get_args(Form)
    form = max((piece.form for piece in found), key=forms.index)
    queries = [piece.sql for piece in found if piece.form == form]
    last = queries[-1]
    return next((sql for sql in queries[:-1] if _is_part(last, sql)), last)


def _is_part(part: str, sql: str) -> bool:
    """Whether the part is a sub-query, or the query cut off in a word or where it cannot be read."""
    if f"({' '.join(part.split())})" in " ".join(sql.split()).replace("( ", "(").replace(" )", ")"):
        return True
    rest = sql.removeprefix(part)
    cut_in_word = part[-1:].isalnum() and rest[:1].isalnum()
    return rest != sql and bool(rest) and (cut_in_word or isinstance(parse(part), str))


def _as_named_later(found: list[Piece], text: str) -> list[Piece]:
    """The queries without the first or the last, where the text says below them that it is wrong, or only the
    one that it says to use.
    """
    if len(found) < 2:
        return found
    after = text[found[-1].end :]
    if right := [one or other for one, other in _NAMED_RIGHT.findall(after)]:
        return [found[_PLACE[right[-1].lower()]]]
    wrong = {one.lower() for one in _NAMED_WRONG.findall(after)}
    if wrong & {"second", "last", "latter"}:
        return found[:-1]
    return found[1:] if wrong & {"first", "former"} else found
