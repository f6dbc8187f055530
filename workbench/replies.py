"""Readers of model replies, one for each form that a prompt asks for.

A reader takes the reply's text and returns its answer, or raises `Unread`; the lab then asks once more. No reader
guesses: a reply in another form is unread, and so is one that gives two different answers. The lab marks the end of a
reply that was cut off with `CUT`, and a query that reaches it is unread. `response_format` is what a `structured` lab
sends of a form that is a JSON object.
"""

import ast
import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any, TypeVar

from workbench.types import Example

T = TypeVar("T")
Schema = Mapping[str, Sequence[str]]  # the columns of each table

_TAG = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection|scratch_?pad)>"
_CLOSED = re.compile(rf"(?is)^.*(?:</{_TAG}|\[/THINK\]|◁/think▷|<\|end_of_thought\|>)")
_OPENED = re.compile(rf"(?i)<{_TAG}|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|channel\|>")
_FINAL_CHANNEL = re.compile(r"(?s)^.*<\|channel\|>final[^<]*<\|message\|>")
_ROLE = re.compile(r"\A\s*<\|(?:im_)?start(?:_header_id)?\|>assistant(?:<\|end_header_id\|>)?")
_END = re.compile(r"<\|(?:im_end|end|return|eot_id|endoftext)\|>|</s>|<end_of_turn>")
_TAGGED = re.compile(r"(?is)<((?:final_?)?answer|sql)>(.*?)(?:</?\1>|\Z)")

_LABEL = re.compile(
    r"(?im)^(?:[^\w\n]|_)*+final (?:optimi[sz]ed )?(?:sql query|sql|query|answer)\b[*_: \t]*"
)
_FENCE = re.compile(r"(?is)(```|~~~)[ \t]*(?:(?:sqlite|sql)\b|[\w+-]*(?=\n)|)(.*?)(?:\1|\Z)")
_BEFORE = r"(?>\s+|\(|--[^\n]*\n|/\*.*?\*/)*+"
_QUERY = re.compile(rf"(?is){_BEFORE}(?:SELECT|WITH|VALUES)\b(?!\s*(?:\.\.\.|…))")
_ANOTHER = re.compile(r"(?im)^[ \t]*(?:SELECT|WITH|VALUES)\b")
_QUOTED = r"'[^']*'|\"[^\"]*\"|`[^`]*`"
_STATEMENT = re.compile(rf"(?s)((?>{_QUOTED}|--[^\n]*|/\*(?:.*?\*/|.*)|[^;])*+)(.*)")
_ESCAPED = re.compile(rf"(?:{_QUOTED})|(&(?:lt|gt|amp|quot|#39)\b|\\[*_]|[“”…])")  # no SQL

_LETTER = re.compile(r"(?i)(?:(?:final )?answer\W+(?:is\W+)?(?:candidate\s+)?)?([AB])\W*")
_MARKS = re.compile(r"\\boxed|\\text|[*_`\"'()\[\]<>{}$\\#]")
_HINTS = re.compile(r"(?is)\s*\(hints?:\s*(.*?)\)\s*\Z")
CUT = "…"
_ALL = ("keep_all", "drop_all")
_EFFORT = 200_000  # characters of a reply that are tried as JSON, so that any reading ends soon

_TEXT, _LIST = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
_REASONING = {"chain_of_thought_reasoning": _TEXT}
_DECISION = {"anyOf": [{"enum": ["keep_all", "drop_all"]}, _LIST]}
_YES_OR_NO = {"type": "string", "enum": ["Yes", "No"]}
# By prompt: the members of the JSON object, and the form of further ones, which stand for tables.
_FORMS: dict[str, tuple[dict[str, Any], Any]] = {
    "prune/select_tables": ({**_REASONING, "table_names": _LIST}, False),  # CHESS, figures 8 to 12
    "prune/select_columns": (_REASONING, _LIST),
    "prune/filter_column": ({**_REASONING, "is_column_information_relevant": _YES_OR_NO}, False),
    "generate/chess_candidate": ({**_REASONING, "SQL": _TEXT}, False),
    "fix/reviser": ({**_REASONING, "revised_SQL": _TEXT}, False),
    "prune/mac_selector": ({}, _DECISION),  # MAC-SQL, appendix A.1
}


class Unread(ValueError):  # noqa: N818  it names what the reply is
    """The reply gives no answer in the form asked for. Its text completes "Answer only with ..."."""


def answer(text: str) -> str:
    """The reply without its thought and the marks of chat templates; "" where it ends in its thought.

    Where the reply has tags `<Answer>` or `<SQL>`, it is what stands in the last of them.
    """
    text = _CLOSED.sub("", _FINAL_CHANNEL.sub("", text))
    if opened := _OPENED.search(text):
        text = text[: opened.start()]
    text = _END.split(_ROLE.sub("", text, count=1), maxsplit=1)[0]
    text = text.replace("\r\n", "\n").strip("\ufeff \t\n")
    tagged = _TAGGED.findall(text)
    return tagged[-1][1].strip() if tagged else text


def sql(text: str) -> str:
    """The query after the last line `**Final SQL**`, `**Final Optimized SQL Query:**` or `Final Answer:`.

    It stands there in a fence or bare. Without such a line it is the only query in a fence, or the whole reply.
    """
    return _query(answer(text), "the query, in a fence that begins with ```sql")


def final_sql(text: str) -> str:
    """The query of `Final Answer: SELECT ...`, or the whole reply; any other query may be the one that failed."""
    said, asked = answer(text), "one line: Final Answer: and the whole query"
    if not _LABEL.search(said) and not _QUERY.match(said):
        raise Unread(asked)
    return _query(said, asked)


def last_sql(text: str) -> str:
    """The query in the last fence: a reply answers one sub-question a fence, and the question in the last."""
    fences = [body for _, body in _FENCE.findall(answer(text)) if _QUERY.match(body)]
    return _statement(fences[-1], "the query in a fence") if fences else sql(text)


def sql_object(text: str) -> str:
    """The query of `{"chain_of_thought_reasoning": "...", "SQL": "SELECT ..."}`, or its `revised_SQL`."""
    asked = "the JSON object that was asked for, with the reasoning and the whole query"
    queries = _members(text, "sql", "revised_sql")
    return _query(str(_only(queries, asked)) if queries else answer(text), asked)


def strings(text: str) -> list[str]:
    """The texts of `["...", "..."]`, a list as JSON or Python writes it."""
    return _only(_lists(text, str), "a JSON list of strings")


def ranking(text: str, *, count: int) -> list[int]:
    """The numbers of `[2, 1, 3]`, each from 1 to `count` once."""
    lists, numbers = _lists(text, int), list(range(1, count + 1))
    asked = f"a JSON list of the numbers from 1 to {count}, each once"
    return _only(lists if all(sorted(one) == numbers for one in lists) else [], asked)


def letter(text: str) -> str:
    """The letter of a line that is `A`, `B` or `Answer: A`."""
    lines = _MARKS.sub("", answer(text)).split("\n")
    if len(lines) == 1:
        lines = [lines[0].casefold().removeprefix("candidate ")]
    found = [match[1].upper() for line in lines if (match := _LETTER.fullmatch(line.strip()))]
    return _only(found, "the letter, A or B")


def verdicts(text: str, *, count: int, label: str = "candidate") -> list[bool]:
    """The verdicts of lines `Candidate Response #1: Passed`, one for each number; of `Unit Test #1` with that label."""
    named = rf"^[^\w\n]*(?:unit )?{label}(?: response)?[^\w\n]{{0,4}}(\d{{1,4}})[^\w\n]{{1,6}}"
    line = re.compile(rf"(?im){named}(passed|failed)\b(?!\W{{0,3}}(?:or|and|passed|failed)\b)")
    said: dict[int, list[bool]] = {number: [] for number in range(1, count + 1)}
    for number, word in line.findall(answer(text)):
        said.get(int(number), []).append(word.lower() == "passed")
    asked = f"a line for each {label}, such as {label.title()} #1: Passed, or Failed"
    return [_only(found, asked) for found in said.values()]


def relevant(text: str) -> bool:
    """The verdict of `{"chain_of_thought_reasoning": "...", "is_column_information_relevant": "Yes"}`."""
    found = [yes for row in _objects(text) for yes in _yes(row)]
    return _only(found, 'a JSON object whose is_column_information_relevant is "Yes" or "No"')


def relevant_columns(text: str, *, names: Sequence[str]) -> dict[str, bool]:
    """The verdicts of lines `{"column": "t.c", "is_column_information_relevant": "No"}`, one for each name."""
    said: dict[str, list[bool]] = {_plain(name): [] for name in names}
    for row in _objects(text):
        said.get(_plain(row.get("column")), []).extend(_yes(row))
    asked = f"a JSON object a line, one for each of the {len(names)} columns"
    return {name: _only(said[_plain(name)], asked) for name in names}


def tables(text: str, *, schema: Collection[str]) -> list[str]:
    """The tables of `{"chain_of_thought_reasoning": "...", "table_names": ["t", "u"]}` that the schema has."""
    found = [_known(said, schema) for said in _members(text, "table_names", "tables")]
    return _only(list(filter(None, found)), "a JSON object whose table_names the schema has")


def columns(text: str, *, schema: Schema) -> dict[str, list[str]]:
    """The columns of `{"chain_of_thought_reasoning": "...", "t": ["a", "b"], "u": ["c"]}` that the schema has."""
    rows = [*_members(text, "columns"), *_objects(text)]
    said = [_by_table(row, schema).items() for row in rows if isinstance(row, dict)]
    found = [{name: one for name, one in each if one and one not in _ALL} for each in said]
    asked = "a JSON object with a list of columns for each table that is needed"
    return _only(list(filter(None, found)), asked)


def decisions(text: str, *, schema: Schema) -> dict[str, str | list[str]]:
    """The decisions of `{"t": "keep_all", "u": "drop_all", "v": ["a", "b"]}` on tables of the schema."""
    found = [_by_table(row, schema) for row in _objects(text)]
    asked = 'a JSON object with "keep_all", "drop_all" or a list of columns for each table'
    return _only(list(filter(None, found)), asked)


def examples(text: str) -> list[Example]:
    """The examples of lines `{"input": "... (Hints: ...)", "output": "SELECT ..."}`; broken lines are left out."""
    found = []
    for row in _objects(text):
        question, query = row.get("input", row.get("question")), row.get("output", row.get("sql"))
        if isinstance(question, str) and isinstance(query, str) and _QUERY.match(query):
            hint = _HINTS.search(question) or ("", str(row.get("hint") or ""))
            found.append(Example(_HINTS.sub("", question), query, hint[1]))
    return _only([found] if found else [], 'a JSON object a line, with "input" and "output"')


def response_format(prompt: str) -> dict[str, Any] | None:
    """The parameter that tells a provider the form of a prompt's answer; None if it is no object."""
    if prompt not in _FORMS:
        return None
    members, others = _FORMS[prompt]
    schema = {"type": "object", "properties": members, "required": list(members),
              "additionalProperties": others}  # fmt: skip
    strict = others is False  # OpenAI's strict mode takes no others
    named = {"name": prompt.partition("/")[2], "schema": schema, "strict": strict}
    return {"type": "json_schema", "json_schema": named}


def _query(said: str, asked: str) -> str:
    """The one query of an answer, or of what stands after its last label."""
    said = _LABEL.split(said)[-1].strip()
    fences = [body for _, body in _FENCE.findall(said) if _QUERY.match(body)]
    if fences and not _QUERY.match(said):
        return _only([_statement(body, asked) for body in fences], asked)
    return _bare(said.strip("`*. \n") if said[:1] in {"`", "*"} else said, asked)


def _bare(said: str, asked: str) -> str:
    """The query with which a text begins: as many of its first paragraphs as SQLite can parse together."""
    paragraphs = re.split(r"\n[ \t]*\n", said, maxsplit=20)
    for end in range(len(paragraphs), 0, -1):
        query = _statement("\n\n".join(paragraphs[:end]), asked)
        more = any(map(_ANOTHER.search, paragraphs[end:]))
        if _QUERY.match(query) and _parses(query) and not more:
            return query
    raise Unread(asked)


def _statement(body: str, asked: str) -> str:
    """The one statement of a text, whose syntax may be wrong; a text with marks of HTML or Markdown is unread."""
    query, rest = _STATEMENT.findall(body)[0]
    if _ANOTHER.search(rest) or any(_ESCAPED.findall(query)):
        raise Unread(asked)
    return str(query).strip()


def _parses(query: str) -> bool:
    """Whether a text is SQL. SQLite parses it and is denied all else, so it looks up nothing and runs nothing."""
    with closing(sqlite3.connect(":memory:")) as parser:
        parser.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)
        try:
            parser.execute(f"EXPLAIN {query}")
        except (sqlite3.Error, ValueError) as error:
            return str(error) == "not authorized"
    return False


def _values(said: str) -> Iterator[Any]:
    """The outermost JSON objects and lists of an answer; a lone one may be written as in Python."""
    decoder, at, tried = json.JSONDecoder(strict=False), 0, 0  # a text may have line breaks
    while tried < _EFFORT and (opening := re.compile(r"[\[{]").search(said, at)):
        at = opening.start()
        try:
            value, at = decoder.raw_decode(said, at)
            yield value
        except (ValueError, RecursionError) as error:
            body = said[at : max(said.rfind("]"), said.rfind("}")) + 1]
            if not tried and len(body) < _EFFORT / 10:
                with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                    yield ast.literal_eval(body)
                    return
            tried += getattr(error, "pos", at + 10_000) - at + 100
            at += 1


def _lists(text: str, kind: type[T]) -> list[list[T]]:
    lists = [value for value in _values(answer(text)) if isinstance(value, list) and value]
    return [value for value in lists if all(type(one) is kind for one in value)]


def _objects(text: str) -> list[dict[str, Any]]:
    """The objects of a reply, those in lists too; their keys are compared in lower case."""
    values = [one if isinstance(one, list) else [one] for one in _values(answer(text))]
    rows = [one for some in values for one in some if isinstance(one, dict)]
    return [{str(key).casefold(): said for key, said in row.items()} for row in rows]


def _members(text: str, *names: str) -> list[Any]:
    return [row[name] for row in _objects(text) for name in names if row.get(name) is not None]


def _only(found: Sequence[T], asked: str) -> T:
    """The one answer, which may be given several times."""
    if not found or any(one != found[0] for one in found):
        raise Unread(asked)
    return found[0]


def _yes(row: Mapping[str, Any]) -> list[bool]:
    said = row.get("is_column_information_relevant", row.get("relevant"))
    verdict = {"yes": True, "true": True, "no": False, "false": False}.get(str(said).casefold())
    return [] if verdict is None else [verdict]


def _plain(name: object) -> str:
    """A name as it is compared: without quotes and case."""
    return " ".join(re.sub(r"[`\"'\[\]]", "", str(name)).split()).casefold()


def _known(said: object, names: Iterable[str]) -> list[str]:
    """The names of a schema that a list says, each once and spelled as in the schema."""
    known = {_plain(name): name for name in names}
    found = map(_plain, said if isinstance(said, list) else ())
    return list(dict.fromkeys(known[one] for one in found if one in known))


def _by_table(row: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """The decision on each table: "keep_all", "drop_all", or a list of columns that the table has."""
    known = {_plain(name): name for name in schema}
    said = {known[key]: one for name, one in row.items() if (key := _plain(name)) in known}
    lists = {name: _known(one, schema[name]) for name, one in said.items() if isinstance(one, list)}
    return {name: one for name, one in said.items() if one in _ALL} | lists
