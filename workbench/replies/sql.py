"""The SQL that a reply proposes.

A reply may hold several queries: a draft, the old query that it quotes, a query that only checks something, an
alternative, and the answer. Each query becomes a `_Piece` with the words before it, and these decide:

1. a query that is called final, corrected or the answer wins, the last one of these;
2. else a query that nothing speaks against, in the form that answers have: an answer tag, a box or a JSON
   member before a fence, a fence before prose, the last one of these. A reply that begins with a query
   answers with it, because models that begin so go on with remarks, or with another question;
3. else the last draft, else the last alternative. A query that is called old or wrong is never the answer.

A query in a fence, a tag or a JSON member need not be readable: a fixer wants to see a query with an error.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workbench.db.sql.parse import why_unreadable
from workbench.replies.json_values import json_values
from workbench.replies.sql_standing import Standing, is_called_final, standing_of
from workbench.replies.text import ANSWER_TAG, answer_text, answers, boxed


@dataclass(frozen=True, slots=True)
class Extracted:
    """SQL as the model wrote it, without a final semicolon; or "" and the reason why there is none."""

    sql: str
    reason: str = ""


Form = Literal["answer", "opening", "fence", "prose"]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A query in a reply: where it begins and ends with its fence or tag, its form, and its standing."""

    start: int
    end: int
    sql: str
    form: Form
    standing: Standing = "plain"


_FORMS: tuple[Form, ...] = ("prose", "fence", "opening", "answer")  # the later, the stronger
_MOST = 16  # queries of each form, and ends tried of one query: parsing takes time

_COMMENT = r"--[^\n]*+(?:\n|\Z)|/\*.*?(?:\*/|\Z)"
_START = re.compile(
    rf"(?:[\s(]|{_COMMENT})*+(?:SELECT\b(?!\s*[:.;)\u2026])|VALUES\s*\("
    r"|WITH\s+(?:RECURSIVE\s+)?(?:\w+|\"[^\"]*\"|`[^`]*`|\[[^\]]*\])\s*(?:\([^()]*\)\s*)?AS\b)",
    re.IGNORECASE | re.DOTALL,
)
_LABEL = re.compile(
    r"(?:\s|\*\*|(?:final\s+|the\s+)?(?:sqlite3?|sql|query|answer)(?:\s+query)?"
    r"(?:\*\*)?(?:\s*[:\uff1a]|\s*\n|(?=\s+(?:SELECT|WITH)\b)))*+",
    re.IGNORECASE,
)
# The signs that end a statement, after what may hide them. Quotes and comments that are never closed run to
# the end of the text, which keeps the scan linear.
_QUOTED_OR_END = re.compile(
    rf"'[^']*(?:'|\Z)|\"[^\"]*(?:\"|\Z)|(`{{3,}})|`[^`]*(?:`|\Z)|\[[^\]]*(?:\]|\Z)|{_COMMENT}"
    r"|(;|<[/|])",
    re.DOTALL,
)
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
_BREAK = re.compile(r"\n|[.!?:](?=\s|\Z)|`")
_GOES_ON = re.compile(
    r"(?:FROM|WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|UNION|INTERSECT|EXCEPT|AND|OR|ON|AS|WINDOW|SELECT"
    r"|(?:NATURAL|LEFT|RIGHT|FULL|INNER|OUTER|CROSS|JOIN))\b|[-+*/=<>|,()]",
    re.IGNORECASE,
)
_ENGLISH = re.compile(r"\bFROM\s+(?:the|an|our|this|these|those|each|all)\b", re.IGNORECASE)
_IN_PROSE = re.compile(
    r"(?:SELECT|WITH)\b|(?i:(?:^|(?<=[:\uff1a`(\"])|(?<=: )|(?<= is )|(?<=\*\* ))(?:SELECT|WITH)\b)",
    re.MULTILINE,
)
_FENCE = re.compile(r"`{3,}|~{3,}")
_FENCE_NAME = re.compile(
    r"[ \t]*(?:(?!SELECT|WITH|VALUES)(?P<name>[\w+#-]+)[ \t]*(?:\r?\n|\Z)|(?:sqlite3?|sql|json)\b)?",
    re.IGNORECASE,
)
_PROGRAMS = {
    "python",
    "py",
    "python3",
    "javascript",
    "js",
    "ts",
    "java",
    "bash",
    "sh",
    "shell",
    "r",
}
_PROGRAM_TEXT = re.compile(
    r'"""(?P<a>.*?)"""|\'\'\'(?P<b>.*?)\'\'\'|"(?P<c>(?:[^"\\\n]|\\.)*)"|\'(?P<d>(?:[^\'\\\n]|\\.)*)\'',
    re.DOTALL,
)
_MEMBER = re.compile(
    r"""["'\u201c](?P<name>[\w ]{0,30}?(?:sql|query|answer)[\w ]{0,30})["'\u201d]\s{0,20}:\s{0,20}\[?\s{0,20}"""
    r"""(?P<quote>["'\u201c])""",
    re.IGNORECASE,
)
_MEMBER_ENDS = re.compile(
    r"""\s*+(?:[}\]]|,\s*+(?:[}\]]|["'][^"'\n]{1,60}["']\s{0,20}:)|\Z|`{3})"""
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\n": "\n"}

_NO_QUERY = re.compile(
    r"(?:^|\n)[ \t*_#]*+final (?:answer|sql|query)[\s*_]*[:\uff1a][\s*_`]*"
    r"(?:none|n/?a|no\b|nothing|unchanged|cannot|can't|unable|not possible|null|the query is)",
    re.IGNORECASE,
)
_NAMED_WRONG = re.compile(
    r"\bthe (first|second|last|former|latter)\b[^.;\n]{0,30}?\b(?:is|was) (?:\w+ )?(?:wrong|incorrect|not)\b",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\bSELECT\s+(?:\.{3}|\u2026|<[^>]*>)|\.{3}\s*\Z|\u2026\s*\Z", re.IGNORECASE
)


def read_sql(reply: str) -> Extracted:
    """The query that the reply proposes, verbatim but for marks of Markdown and HTML. No reply raises."""
    text = answer_text(reply)
    if not text:
        return Extracted("", "the reply is empty, or ends in its reasoning")
    sql = _answer(text)
    # Entities in the literals and names of a query may be data; anywhere else they came in on the way.
    # The semicolon of an entity looks like the end of a query.
    if _ENTITY.search("".join(_OUTSIDE.split(sql)[::2]) + ";" if sql else text):
        sql = _answer(html.unescape(text).replace("\xa0", " "))
    if sql:
        return Extracted(sql)
    return Extracted("", "the reply holds no SELECT, WITH or VALUES query")


def _answer(text: str) -> str:
    """The query of the first part of the text that holds one; "" where none does."""
    return next((sql for part in answers(text) if (sql := _tidied(_chosen(part, depth=3)))), "")


def _chosen(text: str, depth: int) -> str:
    """The query that the text answers with; "" where there is none."""
    bare = _bare(text)
    pieces = list(_pieces(bare, depth))
    if gives_none := _NO_QUERY.search(bare):
        pieces = [piece for piece in pieces if piece.start > gives_none.start()]
    pieces = _without_withdrawn(pieces, bare)
    if any(piece.standing == "rival" for piece in pieces) and not any(
        piece.standing == "final" for piece in pieces
    ):
        return ""
    for standing in ("final", "plain", "draft", "aside"):
        found = [piece for piece in pieces if piece.standing == standing]
        if found:
            strongest = max(_FORMS.index(piece.form) for piece in found)
            last = [piece for piece in found if _FORMS.index(piece.form) == strongest][-1]
            return last.sql
    return ""


def _without_withdrawn(pieces: list[_Piece], text: str) -> list[_Piece]:
    """The queries without the first or the last, where the text says afterwards that it is wrong."""
    after = text[pieces[-1].end :] if len(pieces) > 1 else ""
    wrong = {one.lower() for one in _NAMED_WRONG.findall(after)}
    if wrong & {"second", "last", "latter"}:
        return pieces[:-1]
    return pieces[1:] if wrong & {"first", "former"} else pieces


def _bare(text: str) -> str:
    """The text without a label in front, and without quotes or backticks around the whole."""
    if label := _LABEL.match(text):
        text = text[label.end() :].strip()
    for _ in range(3):
        if text[:1] not in {"`", '"', "'"} or text[:1] != text[-1:] or text.startswith("```"):
            break
        if len(text) < 2 or text.count(text[0]) % 2:
            break
        text = text[1:-1].strip()
    return text


def _pieces(text: str, depth: int) -> Iterator[_Piece]:
    """The queries of the text in their order, each with its standing."""
    found: list[_Piece] = []

    def add(start: int, end: int, sql: str, form: Form, standing: Standing = "plain") -> None:
        if sql and not _PLACEHOLDER.search(sql):
            found.append(_Piece(start, end, sql, form, standing))

    def is_free(start: int) -> bool:
        return all(not one.start <= start < one.end for one in found)

    if _START.match(text):
        sql = _readable(text, 0)
        if sql or not (_is_english(text) or _FENCE.search(text)):
            sql = sql or text[: _end(text, 0)].strip()
            add(0, len(sql), sql, "opening")
    if box := boxed(text):
        start = text.rfind(box)
        add(start, start + len(box), _inner(box, depth), "answer", "final")
    for tag in list(ANSWER_TAG.finditer(text))[-_MOST:]:
        add(tag.start(), tag.end(), _inner(tag["inner"], depth), "answer", "final")
    for start, end, name, body in _fences(text):
        if is_free(start):
            add(start, end, _in_fence(name, body, depth), "fence")
    for start, end, sql in [*_members(text)][-_MOST:]:
        if is_free(start):
            add(start, end, sql, "answer")
    for start, sql in _in_prose(text, labelled=bool(found)):
        if is_free(start):
            add(start, start + len(sql), sql, "prose")
    found.sort(key=lambda piece: piece.start)
    position = 0
    for number, piece in enumerate(found):
        before = text[position : piece.start]
        following = found[number + 1].start if number + 1 < len(found) else len(text)
        position = piece.end
        yield _Piece(
            piece.start,
            piece.end,
            piece.sql,
            piece.form,
            piece.standing
            if piece.standing == "final"
            else standing_of(before, text[piece.end : following]),
        )


def _inner(text: str, depth: int) -> str:
    """The query in the text of a tag, a box or a member: itself, or in a fence in it."""
    bare = _bare(text.strip())
    if _START.match(bare):
        return _statement(bare)
    return _chosen(bare, depth - 1) if depth else ""


def _fences(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Each fence: where it begins and ends, its language, and its text; the last one need not be closed."""
    marks = list(_FENCE.finditer(text))[: 2 * 64]
    for opening, closing in zip(marks[::2], [*marks[1::2], None], strict=False):
        end = closing.start() if closing else len(text)
        body = text[opening.end() : end]
        name = _FENCE_NAME.match(body)
        language = (name["name"] or "").lower() if name else ""
        yield (
            opening.start(),
            closing.end() if closing else end,
            language,
            body[name.end() :] if name else body,
        )


def _in_fence(language: str, body: str, depth: int) -> str:
    """The query in a fence: of SQL, of JSON, of a program that runs it, or of a difference."""
    if language == "diff":
        body = "\n".join(
            line[1:] if line[:1] in "+ " else "" for line in body.splitlines() if line[:1] != "-"
        )
    inner = _bare(body)
    if language in _PROGRAMS:
        texts = ((m["a"] or m["b"] or m["c"] or m["d"] or "") for m in _PROGRAM_TEXT.finditer(body))
        return next((_statement(one.strip()) for one in [*texts][::-1] if _START.match(one)), "")
    if not _START.match(inner) and depth and inner[:1] in '{["':
        return _chosen(inner, depth - 1)
    return _statement(inner)


def _members(text: str) -> Iterator[tuple[int, int, str]]:
    """The query of each JSON object that has a member named like one, where the object begins and ends."""
    for start, end, value in json_values(text):
        rows = value if isinstance(value, list) else [value]
        for row in rows:
            if isinstance(row, dict) and (sql := _member(row)):
                yield start, end, sql
    if "{" in text:
        return
    for member in list(_MEMBER.finditer(text))[-_MOST:]:  # a member without its object's bracket
        start, quote = member.end(), member["quote"]
        end = text.find(quote, start)
        while end != -1 and (text[end - 1] == "\\" or not _MEMBER_ENDS.match(text, end + 1)):
            end = text.find(quote, end + 1)
        body = text[start : end if end != -1 else None]
        body = re.sub(r"""\\(["'\\/nrt]|\n)""", lambda m: _ESCAPES.get(m[1], m[1]), body)
        if _START.match(body):
            yield member.start(), end + 1 if end != -1 else len(text), _statement(body)


def _member(row: dict[str, object]) -> str:
    """The query of an object: of its member `sql`, else of one named like a query but for drafts."""
    ranked: list[tuple[int, str]] = []
    for key, value in row.items():
        name = re.sub(r"[\W_]+", " ", str(key)).strip().lower()
        if isinstance(value, dict):
            if sql := _member(value):
                ranked.append((1, sql))
            continue
        listed = value if isinstance(value, list) else [value]
        texts = [one for one in listed if isinstance(one, str)]
        sql = next((found for one in reversed(texts) if (found := _inner(one, 1))), "")
        words = set(name.split())
        if not sql or words & {
            "reasoning",
            "explanation",
            "thought",
            "analysis",
            "draft",
            "wrong",
            "old",
        }:
            continue
        if words & {
            "original",
            "avoid",
            "alternative",
            "previous",
            "incorrect",
            "rejected",
            "error",
        }:
            continue
        if name in {
            "sql",
            "final sql",
            "sql query",
            "final query",
            "query",
            "answer",
            "final answer",
        }:
            ranked.append((3, sql))
        elif words & {"sql", "query", "answer"}:
            ranked.append((2, sql))
    return max(ranked, key=lambda one: one[0])[1] if ranked else ""


def _statement(text: str) -> str:
    """The statement of a text that answers: one that its comment calls the answer, else the last query."""
    found: list[str] = []
    start = 0
    while start < len(text):
        end = _end(text, start)
        if _START.match(text, start, end):
            found.append(text[start:end].strip())
        start = end + 1
    called = [
        one for one in found if re.match(r"\s*--[^\n]*\b(?:answer|final)\b", one, re.IGNORECASE)
    ]
    if not called and len(found) > 1 and found[0].startswith(found[-1]):
        return found[0]  # the same query again and again, the last time cut off
    return (called or found or [""])[-1]


def _end(text: str, start: int) -> int:
    """Where the statement that starts here ends: at a semicolon, fence or tag, or with the text."""
    return next(
        (found.start() for found in _QUOTED_OR_END.finditer(text, start) if found[1] or found[2]),
        len(text),
    )


def _readable(text: str, start: int) -> str:
    """The query that starts here, without the prose behind it; "" where none can be read."""
    sql = text[start : _end(text, start)].strip()
    if _is_english(sql) or (sql.startswith("Select") and " from " not in sql.lower()):
        return ""
    if sql.endswith(".") and not why_unreadable(_tidied(sql[:-1])):
        return sql[:-1]
    ends = [gap.start() for gap in _PARAGRAPH.finditer(sql) if not _GOES_ON.match(sql, gap.end())]
    ends = [*ends[:_MOST], len(sql)]
    breaks = [gap.start() for gap in _BREAK.finditer(sql)][:_MOST]
    for end in (*ends, *reversed(breaks)):
        if sql.count("`", 0, end) % 2 == 0 and not why_unreadable(_tidied(sql[:end])):
            return sql[:end].rstrip()
    return ""


def _is_english(text: str) -> bool:
    """Whether a text that begins like a query reads on like English, comments aside."""
    return bool(_ENGLISH.search(re.sub(_COMMENT, "", text, flags=re.DOTALL)))


def _in_prose(text: str, *, labelled: bool) -> Iterator[tuple[int, str]]:
    """The queries in running text. Each must be readable, and have a FROM where it starts mid-line.

    With `labelled`, only those that are called final: beside a fence, other queries in prose explain it.
    """
    end = 0
    for word in list(_IN_PROSE.finditer(text))[-4 * _MOST :]:
        start = word.start()
        if start < end or not _START.match(text, start):
            continue
        if labelled and not is_called_final(text[max(0, start - 120) : start]):
            continue
        sql = _readable(text, start)
        starts_line = not text[:start].rpartition("\n")[2].strip()
        if sql and (starts_line or re.search(r"\sFROM\b", sql, re.IGNORECASE)):
            yield start, sql
            end = start + len(sql)


_ENTITY = re.compile(r"&(?:[lg]t|amp|quot|apos|nbsp|#0?39|#x27);")
_OUTSIDE = re.compile(r"""('(?:[^']|'')*'|"[^"]*"|`[^`]*`)""")
_CURLY = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})


def _tidied(sql: str) -> str:
    """The query without Markdown's backslashes and typographic quotes outside its literals."""
    if "\\" in sql:
        sql = "".join(
            part if index % 2 else re.sub(r"\\([*_<>()\[\]#|~-])", r"\1", part)
            for index, part in enumerate(_OUTSIDE.split(sql))
        )
    outside = "".join(_OUTSIDE.split(sql)[::2])
    if re.search("[\u2018\u2019\u201c\u201d]", outside):
        sql = "".join(
            part if index % 2 else part.translate(_CURLY)
            for index, part in enumerate(_OUTSIDE.split(sql))
        )
    return sql.strip()
