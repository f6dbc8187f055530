"""The fences of a reply, and the query in each: as SQL, in JSON, in a program, or in a difference."""

import re
from collections.abc import Callable, Iterator

from workbench.replies.sql.marks import bare
from workbench.replies.sql.statement import START, readable, statement

_MOST = 64
_FENCE = re.compile(r"`{3,}|~{3,}")
_QUOTE = re.compile(r"(?<!\w)'|'(?!\w)")  # no apostrophe inside a word
_NAME = re.compile(
    r"[ \t]*(?:(?!SELECT|WITH|VALUES)(?P<name>[\w+#-]+)[ \t]*(?:\r?\n|\Z)|(?:sqlite3?|sql|json)\b)?",
    re.IGNORECASE,
)
_PROGRAMS = {
    "python", "py", "python3", "javascript", "js", "ts", "java", "bash", "sh", "shell", "r",
}  # fmt: skip
_PROGRAM_TEXT = re.compile(
    r'"""(?P<a>.*?)"""|\'\'\'(?P<b>.*?)\'\'\''
    r'|"(?P<c>(?:[^"\\\n]|\\.)*)"|\'(?P<d>(?:[^\'\\\n]|\\.)*)\'',
    re.DOTALL,
)

_JOINED = re.compile(r"[\s+\\]*[rbfRBF]?")  # between the parts of one text


def fences(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Each fence: where it begins and ends, its language, and its text; the last one need not be closed."""
    marks = [mark for mark in _FENCE.finditer(text) if not _is_quoted(text, mark)][: 2 * _MOST]
    for opening, closing in zip(marks[::2], [*marks[1::2], None], strict=False):
        end = closing.start() if closing else len(text)
        body = text[opening.end() : end]
        name = _NAME.match(body)
        language = (name["name"] or "").lower() if name else ""
        inner = body[name.end() :] if name else body
        yield opening.start(), closing.end() if closing else end, language, inner


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    """Whether the mark stands in a literal, such as '```', and so opens and closes nothing."""
    start, end = text.rfind("\n", 0, mark.start()) + 1, text.find("\n", mark.end())
    after = text[mark.end() : end if end >= 0 else len(text)]
    return all(len(_QUOTE.findall(part)) % 2 for part in (text[start : mark.start()], after))


def has_fence(text: str) -> bool:
    return bool(_FENCE.search(text))


def query_in_fence(language: str, body: str, read: Callable[[str], str]) -> str:
    """The query in a fence of that language; `read` finds it in JSON."""
    if language in _PROGRAMS:
        texts = _texts_of_program(body)
        return next((statement(one.strip()) for one in reversed(texts) if START.match(one)), "")
    if language == "diff":
        lines = body.splitlines()
        body = "\n".join(line[1:] if line[:1] in "+ " else "" for line in lines if line[:1] != "-")
    inner = bare(body)
    if not START.match(inner) and inner[:1] in {"{", "[", '"'}:
        return read(inner)
    sql = statement(inner)
    # Prose follows in a fence that is not closed.
    return (readable(sql, 0) or sql) if "\n\n" in sql else sql


def _texts_of_program(body: str) -> list[str]:
    """The texts of a program; those with nothing or a plus between them are one text."""
    texts: list[str] = []
    end = -1
    for found in _PROGRAM_TEXT.finditer(body):
        text = found["a"] or found["b"] or found["c"] or found["d"] or ""
        if texts and _JOINED.fullmatch(body, end, found.start()):
            texts[-1] += text
        else:
            texts.append(text)
        end = found.end()
    return texts
