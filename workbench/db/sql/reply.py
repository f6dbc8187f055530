"""The SQL in a model's reply.

Models answer in fences, in JSON that is nearly JSON, in tags, after labels and in the middle of prose.
The places where SQL may stand are tried in this order, and the first place that holds any decides:

1. the reply itself, where it starts with a query that can be read: its first statement, because a
   model that starts so goes on with the next question once it has answered;
2. tags such as <FINAL_ANSWER>; 3. fences; 4. JSON members such as "SQL"; 5. prose.

Within a place the last query wins: earlier ones are steps on the way. In a fence, tag or JSON member
it need not be readable, for a query with an error is an answer too, and a fixer wants to see it.
Fences, tags and JSON members may hold each other.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.db.sql.parse import why_unreadable


@dataclass(frozen=True, slots=True)
class Extracted:
    """SQL as the model wrote it, without a final semicolon; or "" and the reason why there is none."""

    sql: str
    reason: str = ""


_LONGEST = 200_000  # characters of a reply that are read: the last ones, where answers stand
_MOST = 16  # places tried of each kind, and ends tried of one query: parsing takes time

_COMMENT = r"--[^\n]*+(?:\n|\Z)|/\*.*?(?:\*/|\Z)"
_START = re.compile(
    rf"(?:[\s(]|{_COMMENT})*+(?:SELECT\b(?!\s*[:.;)])|VALUES\s*\("
    r"|WITH\s+(?:RECURSIVE\s+)?(?:\w+|\"[^\"]*\"|`[^`]*`|\[[^\]]*\])\s*(?:\([^()]*\)\s*)?AS\b)",
    re.IGNORECASE | re.DOTALL,
)
_LABEL = re.compile(
    r"(?:\s|\*\*|(?:final\s+|the\s+)?(?:sqlite3?|sql|query|answer)(?:\s+query)?"
    r"(?:\*\*)?(?:\s*:|\s*\n|(?=\s+(?:SELECT|WITH)\b)))*+",
    re.IGNORECASE,
)
# What a statement's end is not looked for in, then what ends it. Quotes and comments that are never
# closed run to the end of the text, which keeps the scan linear.
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
    r"(?:SELECT|WITH)\b|(?i:(?:^|(?<=[:`(\"])|(?<=: )|(?<= is ))(?:SELECT|WITH)\b)", re.MULTILINE
)
_TAG = re.compile(r"<(/?)(?:final_?)?(?:answer|sql|query)(?:_?query)?>", re.IGNORECASE)
_FENCE = re.compile(r"`{3,}|~{3,}")
_FENCE_NAME = re.compile(
    r"[ \t]*(?:(?!SELECT|WITH|VALUES)[\w+-]+[ \t]*(?:\r?\n|\Z)|(?:sqlite3?|sql|json)\b)?",
    re.IGNORECASE,
)
_MEMBER = re.compile(
    r"""["']([\w ]{0,30}?(?:sql|query|answer)[\w ]{0,30})["']\s{0,20}:\s{0,20}\[?\s{0,20}(["'])""",
    re.IGNORECASE,
)
_MEMBER_ENDS = re.compile(
    r"""\s*+(?:[}\]]|,\s*+(?:[}\]]|["'][^"'\n]{1,60}["']\s{0,20}:)|\Z|`{3})"""
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\n": "\n"}


def extract_sql(reply: str) -> Extracted:
    """The query that the reply proposes, verbatim. Any text is a reply; none raises."""
    text = _bare(reply[-_LONGEST:])
    if not text:
        return Extracted("", "the reply is empty")
    starts_as_sql = bool(_START.match(text))
    sql = (_readable(text, 0) if starts_as_sql else "") or _in_places(text, 3) or _in_prose(text)
    if not sql and starts_as_sql and not _ENGLISH.search(text):
        sql = text[: _end(text, 0)].strip()
    return Extracted(sql, "" if sql else "the reply holds no SELECT, WITH or VALUES query")


def _bare(text: str) -> str:
    """The text without a label in front, and without quotes or backticks around the whole."""
    text = text.removeprefix("\ufeff")
    if label := _LABEL.match(text):
        text = text[label.end() :].strip()
    for _ in range(3):
        if text[:1] not in {"`", '"', "'"} or text[:1] != text[-1:] or text.startswith("```"):
            break
        if len(text) < 2 or text.count(text[0]) % 2:
            break
        text = text[1:-1].strip()
    return text


def _in_places(text: str, depth: int) -> str:
    """The last query in the tags, else the fences, else the JSON members; "" where there is none."""
    for place in (_tags, _fences, _members):
        for piece in place(text):
            inner = _bare(piece)
            if not _START.match(inner) and depth and (sql := _in_places(inner, depth - 1)):
                return sql
            if sql := _last_statement(inner):
                return sql
    return ""


def _tags(text: str) -> Iterator[str]:
    """What follows each opening tag up to the next tag, the last first."""
    tags = list(_TAG.finditer(text))[-_MOST:]
    ends = [*(tag.start() for tag in tags), len(text)][1:]
    for tag, end in zip(reversed(tags), reversed(ends), strict=True):
        if not tag[1]:
            yield text[tag.end() : end]


def _fences(text: str) -> Iterator[str]:
    """What stands in each fence, the last first; the last one need not be closed."""
    for piece in reversed(_FENCE.split(text)[1::2][-_MOST:]):
        name = _FENCE_NAME.match(piece)
        yield piece[name.end() :] if name else piece


def _members(text: str) -> Iterator[str]:
    """The value of each JSON member named like SQL, the last first.

    Read without a JSON parser, for models forget to escape quotes, use the wrong ones, break lines in
    strings and stop in the middle.
    """
    for member in reversed(list(_MEMBER.finditer(text))[-_MOST:]):
        start, quote = member.end(), member[2]
        end = text.find(quote, start)
        while end != -1 and (text[end - 1] == "\\" or not _MEMBER_ENDS.match(text, end + 1)):
            end = text.find(quote, end + 1)
        yield _unescaped(text[start : end if end != -1 else None], quote)


def _unescaped(body: str, quote: str) -> str:
    if quote == '"':
        with contextlib.suppress(ValueError):
            return str(json.loads(f'"{body}"', strict=False))
    return re.sub(r"""\\(["'\\/nrt]|\n)""", lambda found: _ESCAPES.get(found[1], found[1]), body)


def _last_statement(text: str) -> str:
    """The last of the statements that looks like a query, readable or not."""
    found, start = "", 0
    while start < len(text):
        end = _end(text, start)
        if _START.match(text, start, end):
            found = text[start:end].strip()
        start = end + 1
    return found


def _end(text: str, start: int) -> int:
    """Where the statement that starts here ends, by semicolon, fence or tag, or with the text."""
    return next(
        (found.start() for found in _QUOTED_OR_END.finditer(text, start) if found[1] or found[2]),
        len(text),
    )


def _readable(text: str, start: int) -> str:
    """The query that starts here, without the prose behind it; "" where none can be read."""
    sql = text[start : _end(text, start)].strip()
    if _ENGLISH.search(sql) or (sql.startswith("Select") and " from " not in sql.lower()):
        return ""
    ends = [gap.start() for gap in _PARAGRAPH.finditer(sql) if not _GOES_ON.match(sql, gap.end())]
    ends = [*ends[:_MOST], len(sql)]
    breaks = [gap.start() for gap in _BREAK.finditer(sql)][:_MOST]
    for end in (*ends, *reversed(breaks)):
        if sql.count("`", 0, end) % 2 == 0 and not why_unreadable(sql[:end]):
            return sql[:end].rstrip()
    return ""


def _in_prose(text: str) -> str:
    """The last query in running text. It must be readable, and have a FROM where it starts mid-line."""
    found, end = "", 0
    for word in list(_IN_PROSE.finditer(text))[-4 * _MOST :]:
        start = word.start()
        if start < end or not _START.match(text, start):
            continue
        sql = _readable(text, start)
        starts_line = not text[:start].rpartition("\n")[2].strip()
        if sql and (starts_line or re.search(r"\sFROM\b", sql, re.IGNORECASE)):
            found, end = sql, start + len(sql)
    return found
