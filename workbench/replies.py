"""Readers of model replies, one for each form that a prompt asks for.

A reader takes the reply's text and returns its answer, or raises `Unread`; the lab then asks once
more. Besides the asked form it reads others in which models often answer, such as those of
`LETTER_FORMS`. No reader guesses: a reply in no such form is unread, and so is one that gives two
different answers. The lab marks the end of a reply that was cut off with `CUT`, and a query that
reaches it is unread.
"""

import ast
import html
import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any, TypeVar

from workbench.types import Example

T = TypeVar("T")
Row = dict[str, Any]
Schema = Mapping[str, Sequence[str]]  # the columns of each table

# What surrounds an answer. Each pattern has an example of what it matches.
# Such as "think>", of "<think>" or "</seed:think>"
_TAG = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection|scratch_?pad)>"
# Such as "Let me see ... </think>": all that stands before the last end of a thought
_CLOSED = re.compile(rf"(?is)^.*(?:</{_TAG}|\[/THINK\]|◁/think▷|<\|end_of_thought\|>)")
# Such as "<think>": once closed thoughts are gone, a thought that has no end
_OPENED = re.compile(
    rf"(?i)<{_TAG}|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|channel\|>"
)
# Such as "<|channel|>analysis ... <|channel|>final<|message|>"
_FINAL_CHANNEL = re.compile(r"(?s)^.*<\|channel\|>final[^<]*<\|message\|>")
# Such as "<|im_start|>assistant"
_ROLE = re.compile(
    r"\A\s*<\|(?:im_)?start(?:_header_id)?\|>assistant(?:<\|end_header_id\|>)?"
)
# Such as "<|im_end|>"
_END = re.compile(r"<\|(?:im_end|end|return|eot_id|endoftext)\|>|</s>|<end_of_turn>")
# Such as "<answer>SELECT 1</answer>"
_TAGGED = re.compile(r"(?is)<((?:final_?)?answer|sql)>(.*?)(?:</?\1>|\Z)")
# Such as "\boxed{\text{A}}"
_BOXED = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]{1,5000})\}")
# Such as "**Final SQL:**", "Revised query:", or at the end of a line ". Final answer:"
_LABEL = re.compile(
    r"""(?imx)
      ^(?:[^\w\n]|_)*+ final\ (?:optimi[sz]ed\ )?(?:sql\ query|sql|query|answer)\b [*_:\ \t]*
    | ^(?:[^\w\n]|_)*+ (?:final|revised|corrected|repaired|fixed|correction)
      (?:\ (?:sql\ )?(?:query|sql|answer|ranking|json))? [*_]*: [*_\ \t]*
    | [.!?]\ final\ answer: \s*$
    """
)
CUT = "…"

# Queries.
# Such as "```sql\nSELECT 1\n```", perhaps without its end
_FENCE = re.compile(
    r"(?is)(```|~~~)[ \t]*(?:(?:sqlite|sql)\b|[\w+-]*(?=\n)|)(.*?)(?:\1|\Z)"
)
# Such as "`SELECT 1`", "**SELECT 1**"
_INLINE = re.compile(r"(`|\*\*)([^`*][^`]*?)\1")
# white space, brackets and comments before a query
_BEFORE = r"(?>\s+|\(|--[^\n]*\n|/\*.*?\*/)*+"
# Such as "SELECT 1", and not "SELECT ...", which stands for a query
_QUERY = re.compile(rf"(?is){_BEFORE}(?:SELECT|WITH|VALUES)\b(?!\s*(?:\.\.\.|…))")
# Such as "SQL: " before SELECT, or nothing; "With" may begin a sentence, so it is not read
_START = re.compile(
    r"(?m)^(?:[^\n:\uff1a]{0,40}[:\uff1a])?[ \t]*+(?=(?:(?i:SELECT)|WITH|with|VALUES|values)\b)"
)
# Such as "The original query was:", in the line before a query that is not the answer
_OLD = re.compile(
    r"(?i)\b(?:original|old|previous|fail\w*|first|draft|attempt\w*|wrong|incorrect|given|broken"
    r"|current|existing|erroneous|was|were|not|instead of|avoid|again|needs|error)\b[^\n]*\s*\Z"
)
_FROM = re.compile(r"(?i)\bfrom\b")
# Such as "This fails with no such column", after a query that is not the answer
_FAULT = re.compile(r"(?i)\b(?:error|fail|wrong|incorrect|problem|mistake|no such)")
# Such as "Sub question 2: ..."
_SUB_QUESTION = re.compile(r"(?im)^[^\w\n]*sub[ -]?question\b")
# Such as "SQL: SELECT 1", "**SQL**: SELECT 1"
_SQL_LINE = re.compile(r"(?im)^[^\w\n]*sql[^\w\n]{0,9}:")
# Such as "### Question 2", which a model has made up after its answer
_NEXT_QUESTION = re.compile(
    r"(?im)^(?:#+ *(?:question|task|input)\b|\**(?:question|user|q)\**:)"
)
# what is quoted, or a comment
_APART = r"'[^']*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*(?:.*?\*/|.*)"
# what stands before a semicolon or at the end
_STATEMENT = re.compile(rf"(?s)(?>{_APART}|[^;])++")
# In group 1 what Markdown, HTML and typography put into SQL: "&lt;", "\_", a typographic quote
_MARK = re.compile(
    rf"(?s)(?:{_APART})|(&(?:[lg]t|amp|quot|apos|nbsp|#\d+);|\\[^\sA-Za-z0-9]|[“”\u2018\u2019…])"
)
_STRAIGHT = {"“": '"', "”": '"', "\u2018": "'", "\u2019": "'"}
# Such as "SELECT a\nFROM t\n  WHERE": a line begins with a word in capitals or is indented
_LAID_OUT = re.compile(r"(?:SELECT|WITH)\b[^\n]*(?:\n(?:[A-Z]{2,}\b|[ \t(),])[^\n]*)*")
# Such as ". ", the end of a sentence
_SENTENCE = re.compile(r"[.!?:](?:\s|\Z)")

# JSON, and what models write for it.
_BRACKET = re.compile(r"[\[{]")
# In group 1 a text or an escape, which stays; else "// a comment", or the comma of "[1, 2,]"
_NO_JSON = re.compile(
    r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\\.)|//[^\n]*|#[^\n]*|/\*[^*]*\*/|,(?=\s*+[\]}])"
)
# Such as '"sql": "', and the '"}' at the end, where quotes between them are not escaped
_RAW_KEY = re.compile(r'(?i)"(?:revised_)?sql"\s*+:\s*+"')
_RAW_END = re.compile(r'"\s*+,?\s*+\}\s*+(?:```)?\s*+\Z')
# Such as " (Hints: a ferry is a ship)"
_HINTS = re.compile(r"(?is)\s*\(hints?:\s*(.*?)\)\s*\Z")
_ALL = ("keep_all", "drop_all")
_EFFORT = 200_000  # characters of a reply that are tried as JSON, so that any reading ends soon
_DECODER = json.JSONDecoder(strict=False)  # a text may have line breaks

# Lists.
# Such as "rejected", in the key of a list that is no answer
_ASIDE = re.compile(r"reason|analysis|thought|step|expla|reject|exclude|ignore")
# Such as "- **ferry**: its name is asked for", with the name in group 1 if a name begins the item
_ITEM = re.compile(
    r"(?m)^ *(?:[-*•]|\d+[.)]) +"
    r"(?:[*`\"']{0,3}(\w[\w ]{0,80}?)[*`\"']{0,3} ?(?=[:(\u2013\u2014-]|$))?"
)
# Such as "all except these:"
_LEFT_OUT = re.compile(
    r"(?i)\b(?:not|except|irrelevant|without|drop|exclude\w*)\b|n't\b"
)
# Such as "Candidate #2"
_CANDIDATE = re.compile(r"(?i)(?:candidate )?#?(\d{1,4})")
# Such as "1. Candidate 2": the rank, and who has it
_RANKED = re.compile(
    r"(?im)^[^\w\n]*(\d{1,4})[.)][^\w\n]*candidate[^\w\n]{0,3}(\d{1,4})\b"
)

# The forms of a claim, with A for the letter in each example. The words in capitals are no regular
# expressions yet: `_LETTER_TERMS` says what each stands for.
LETTER_FORMS = {
    "The answer is A.": (
        r"(?<!wrong )(?<!incorrect )(?<!rejected )"
        r"\b(?:answer|verdict|choice|decision|winner)(?: is:?|:) XEND"
    ),
    "The correct candidate is A": r"\bRIGHT (?:NOUN)(?: is:?|:) XEND",
    "I choose A over B.": r"\b(?:choose|chose|pick|select|prefer) XEND",
    "Candidate A is better than candidate B.": (
        r"X is RIGHT than\b(?!.{0,300}\b(?:if|unless|but)\b)"
    ),
    "A is the correct one.": r"X is the RIGHT (?:NOUN)END",
    "A is correct.": r"X is RIGHTEND",
    "B is wrong, so A": r"\b(?:so|therefore|hence|thus),? X(?=\W*$)",
    "A: because it has the join.": r"^X(?:[,:]| [-\u2013\u2014]) (?:because|since)\b",
    "A. A join is needed.": r"^X\.$",
}
_LETTER_TERMS = {
    "X": r"(?:candidate |query |option )?(?-i:([AB]))\b",
    "END": r"(?=\W*$|[.;:!)]|,(?! (?:or|and|if|unless|but|though)\b)| (?:because|since|over)\b)",
    "RIGHT": r"(?:clearly )?(?:correct|better|best|right)",
    "NOUN": r"sql query|query|candidate|answer|choice|option|one",
}
_MOST_SENTENCES = 1_000  # with letters, so that any reading ends soon
_UNSURE = re.compile(
    r"(?i)\b(?:not|nor|neither|if|whether|or|could|might|unless|cannot|otherwise|perhaps|maybe)\b"
    r"|n't\b"
)
# Such as "But wait, ...", after which what was claimed before does not count
_TAKEN_BACK = re.compile(
    r"(?im)(?:^|[.!?;]\s+)(?:but|however|wait|actually|hmm|although)\b"
)
# Such as "Answer: A", in a line of its own
_LETTER = re.compile(
    r"(?i)(?:(?:final )?answer\W+(?:is\W+)?(?:candidate\s+)?)?([AB])\W*"
)
# Such as "Candidate A", in a line of its own that is no heading of its query
_HEADING = re.compile(r"(?im)^candidate ([AB])\W*$(?!\n(?:query|sql)\b)")
# Such as "**", "\\boxed"
_DECORATION = re.compile(r"\\boxed|\\text|[*_`\"'()\[\]<>{}$\\#]")
# Such as "rejected", in a key of JSON
_REJECTED = re.compile(r"reject|wrong|incorrect|worse|worst|loser|other|not_")

# The forms of yes and no in prose.
YES_FORMS = {
    "Yes, it is asked for.": r"\A\W*(yes|no)\b(?= ?[.,:;!(\u2013\u2014-]|\W*\Z)",
    "The question names it, so the answer is yes.": r"\banswer is:?\W+(yes|no)\b(?=\W*$|\.)",
}
# Such as "Yes, it is."
_YES = re.compile(r"(?i)\W*(yes|no|true|false)\b(?= ?[.,:;!(\u2013\u2014-]|\W*\Z)")

# The forms of verdicts on three candidates, of which the first passes in each example. The words in
# capitals stand for `_VERDICT_TERMS`: NUMBERS are the candidates, and WORD is the verdict.
VERDICT_FORMS = {
    "Candidate 1: passed\nCandidate 2: failed\n| 3 | ❌ |": (
        r"START(?:LABEL|(?<=\| ))NUMBERS[^\w\n✅❌]{1,6}WORD"
    ),
    "Candidates 2 and 3 fail; candidate 1 passes.": (
        r"(?:START|[.;,] (?:and |but )?)LABELNUMBERS WORD"
    ),
    "Candidates that fail: 2, 3\nPassed: 1": (
        r"START(?:LABEL(?:that )?)?WORD: (?:LABEL)?NUMBERS[^\w\n]*$"
    ),
    "Only candidate 1 passes.": r"START(?P<only>only) LABELNUMBERS WORD",
    "All candidates pass.": (
        r"START(?P<these>all)(?: of)?(?: the)? LABELWORD(?!.{0,300}\b(?:except|but|not|fail))"
    ),
}
_VERDICT_TERMS = {
    "START": r"^[^\w\n]*",
    "LABEL": r"(?:unit )?NAMEs?(?: responses?)?[^\w\n]{0,4}",
    "NUMBERS": r"(?P<these>\d{1,4}(?:(?:, and|,| and| &) ?#?\d{1,4}){0,50}(?!\d))",
    "WORD": r"(?P<word>pass(?:e[ds])?|fail(?:ed|s)?|✅|❌)"
    r"(?!\w|\W{0,3}(?:or|pass|fail|if|only)\w*)",
}


def _written_out(forms: Iterable[str], terms: Mapping[str, str]) -> list[str]:
    """Patterns whose terms in capitals are replaced by what they stand for."""
    patterns = list(forms)
    for name, meaning in terms.items():
        patterns = [pattern.replace(name, meaning) for pattern in patterns]
    return patterns


_CLAIMS = _written_out(LETTER_FORMS.values(), _LETTER_TERMS)
_VERDICTS = _written_out(VERDICT_FORMS.values(), _VERDICT_TERMS)


class Unread(ValueError):  # noqa: N818  it names what the reply is
    """The reply gives no answer in the form asked for: it completes "Answer only with ..."."""


def answer(text: str) -> str:
    """Take away the thought and the marks of chat templates; "" if the reply ends in its thought.

    Where the reply has tags `<Answer>` or `<SQL>`, it is what stands in the last of them.
    """
    # First, as the marks that open its channels would count as an open thought.
    text = _FINAL_CHANNEL.sub("", text)
    text = _CLOSED.sub("", text)
    opened = _OPENED.search(text)
    if opened:
        text = text[: opened.start()]
    text = _ROLE.sub("", text, count=1)
    text = _END.split(text, maxsplit=1)[0]
    text = text.replace("\r\n", "\n").strip("\ufeff \t\n")
    tagged = _TAGGED.findall(text)
    return tagged[-1][1].strip() if tagged else text


def sql(text: str) -> str:
    """Read the query after a line `**Final SQL**`, `**Final Optimized SQL Query:**` or the like.

    It stands after the last such line, in a fence or bare. Without one it is the only query in a
    fence, or the whole reply; or else the only one in backticks, or after prose.
    """
    return _query(_final(text), "the query, in a fence that begins with ```sql")


def final_sql(text: str) -> str:
    """Read the query of `Final Answer: SELECT ...`, or the whole reply.

    Any other query may be the one that failed. A JSON object counts, and so does the only fence if
    the reply begins or ends with it.
    """
    said = answer(text)
    asked = "one line: Final Answer: and the whole query"
    if _LABEL.search(said) or _QUERY.match(said) or _queries_in_json(said):
        return _query(_final(text), asked)
    fences = _fences(said)
    if not fences:
        raise Unread(asked)
    before = said[: fences[-1].start()]
    after = said[fences[-1].end() :]
    is_amid_text = before and after
    if is_amid_text or _OLD.search(before) or _FAULT.search(after):
        raise Unread(asked)
    return _query(said, asked)


def last_sql(text: str) -> str:
    """Read the query in the last fence: each sub-question has one, and the last is the question's.

    Without fences, it is that of the last line `SQL: SELECT ...`. The last sub-question must have a
    query.
    """
    said = _SUB_QUESTION.split(answer(text))[-1]
    asked = "the query in a fence"
    fences = _fences(said)
    if fences:
        return _fenced(fences[-1][2], asked)
    return _query(_SQL_LINE.split(said)[-1].strip(), asked)


def sql_object(text: str) -> str:
    """Read the query of `{"chain_of_thought_reasoning": "...", "SQL": "..."}`, or `revised_SQL`."""
    asked = "the JSON object that was asked for, with the reasoning and the whole query"
    return _query(_final(text), asked)


def strings(text: str) -> list[str]:
    """Read the texts of `["...", "..."]`, in JSON or Python; the list may be an object's member."""
    lists = [
        items
        for items in _lists(_final(text))
        if all(type(item) is str for item in items)
    ]
    return _only(lists, "a JSON list of strings")


def ranking(text: str, *, count: int) -> list[int]:
    """Read `[2, 1, 3]`, or lines `1. Candidate 2`: each number from 1 to `count` once."""
    said = _final(text)
    numbers = list(range(1, count + 1))
    lists = _lists(said)
    ranked = _RANKED.findall(said)
    ranks = _numbers(rank for rank, _ in ranked)
    candidates = _numbers(candidate for _, candidate in ranked)
    # Where candidates are in turn, too, the lines may be remarks on each.
    if ranks == numbers and candidates != numbers:
        lists.append(candidates)
    orders = [order for order in map(_numbers, lists) if order]
    asked = f"a JSON list of the numbers from 1 to {count}, each once"
    if any(sorted(order) != numbers for order in orders):
        raise Unread(asked)
    return _only(orders, asked)


def letter(text: str) -> str:
    """Read a line that is `A`, `B` or `Answer: A`, or else a claim in one of `LETTER_FORMS`."""
    said = _final(text)
    asked = "the letter, A or B"
    plain = _DECORATION.sub("", said)
    letters = (
        _letters_in_json(said)
        or _letters(plain.split("\n"))
        or _HEADING.findall(plain)
        or _claimed(plain)
    )
    chosen = _only([name.upper() for name in letters], asked)
    if not chosen:  # the one claim is in doubt, see `_claimed`
        raise Unread(asked)
    return chosen


def verdicts(text: str, *, count: int, label: str = "candidate") -> list[bool]:
    """Read a line `Candidate Response #1: Passed` for each number.

    With the label "unit test", the lines are `Unit Test #1: Passed`. Verdicts on several at once
    are read, too, see `VERDICT_FORMS`.
    """
    numbers = range(1, count + 1)
    told: dict[int, list[bool]] = {number: [] for number in numbers}
    of_others: list[bool] = []  # of those whom "only candidate 1 passes" does not name
    for claim in _verdicts(_final(text), label):
        passed = claim["word"].casefold().startswith(("p", "✅"))
        these = list(numbers)
        if claim["these"].casefold() != "all":
            these = [int(number) for number in re.findall(r"\d+", claim["these"])]
        for number in these:
            if number in told:
                told[number].append(passed)
        if "only" in claim.groupdict():
            of_others.append(not passed)
    asked = f"a line for each {label}, such as {label.title()} #1: Passed, or Failed"
    return [_only(told[number] or of_others, asked) for number in numbers]


def relevant(text: str) -> bool:
    """Read the verdict of `{"is_column_information_relevant": "Yes"}`, or of prose."""
    said = _final(text)
    told: list[bool] = []
    for row in _objects(said):
        told += _yes(row)
    if not told:
        claims = _TAKEN_BACK.split(said)[-1]
        for form in YES_FORMS.values():
            words = re.findall(form, claims, re.IGNORECASE)
            told += [word.casefold() == "yes" for word in words]
    asked = 'a JSON object whose is_column_information_relevant is "Yes" or "No"'
    return _only(told, asked)


def relevant_columns(text: str, *, names: Sequence[str]) -> dict[str, bool]:
    """Read a line `{"column": "t.c", "is_column_information_relevant": "No"}` for each name."""
    told: dict[str, list[bool]] = {}
    for row in _objects(_final(text)):
        told.setdefault(_plain(row.get("column")), []).extend(_yes(row))
    asked = f"a JSON object a line, one for each of the {len(names)} columns"
    verdicts = {}
    for name in names:
        verdicts[name] = _only(told.get(_plain(name), []), asked)
    return verdicts


def tables(text: str, *, schema: Collection[str]) -> list[str]:
    """Read the tables of `{"table_names": ["t", "u"]}` that the schema has.

    Or those of a list whose every item begins with one.
    """
    said = _final(text)
    named = [_known(names, schema) for names in _members(said, "table_names", "tables")]
    items = _ITEM.findall(said)
    listed = _known(items, schema)
    all_are_tables = len(listed) == len(items)
    if not named and all_are_tables and not _LEFT_OUT.search(said):
        named = [listed]
    return _only(_filled(named), "a JSON object whose table_names the schema has")


def columns(text: str, *, schema: Schema) -> dict[str, list[str]]:
    """Read the columns of `{"t": ["a", "b"], "u": ["c"]}` that the schema has.

    Or those of `{"columns": ["t.a", "t.b", "u.c"]}`.
    """
    said = _final(text)
    rows = _objects(said)
    for member in _members(said, "columns"):
        if isinstance(member, list):
            rows.append(_undotted(member))
        elif isinstance(member, dict):
            rows.append(member)
    named: list[dict[str, list[str]]] = []
    for row in rows:
        decided = _by_table(row, schema).items()
        named.append(
            {name: kept for name, kept in decided if kept and kept not in _ALL}
        )
    asked = "a JSON object with a list of columns for each table that is needed"
    return _only(_filled(named), asked)


def decisions(text: str, *, schema: Schema) -> dict[str, str | list[str]]:
    """Read the decision on each table: `{"t": "keep_all", "u": "drop_all", "v": ["a", "b"]}`."""
    decided = [_by_table(row, schema) for row in _objects(_final(text))]
    asked = (
        'a JSON object with "keep_all", "drop_all" or a list of columns for each table'
    )
    return _only(_filled(decided), asked)


def examples(text: str) -> list[Example]:
    """Read lines `{"input": "... (Hints: ...)", "output": "SELECT ..."}`; leave out broken ones."""
    read: list[Example] = []
    for row in _objects(answer(text)):
        question = row.get("input", row.get("question"))
        query = row.get("output", row.get("sql"))
        if not isinstance(question, str) or not isinstance(query, str):
            continue
        if _QUERY.match(query):
            in_question = _HINTS.search(question)
            hint = in_question[1] if in_question else str(row.get("hint") or "")
            read.append(Example(_HINTS.sub("", question), query, hint))
    if not read:
        raise Unread('a JSON object a line, with "input" and "output"')
    return read


def _final(text: str) -> str:
    """Return what stands after the last label of an answer, without what surrounds it.

    That may be a box, a quotation or JSON's quotes.
    """
    said = answer(text)
    if said.startswith('"'):
        with suppress(ValueError):
            said = json.loads(said)
    if said.startswith(">"):
        said = re.sub(r"(?m)^> ?", "", said)
    boxed = _BOXED.findall(said)
    if boxed:
        said = boxed[-1]
    return _LABEL.split(said)[-1].strip()


def _query(said: str, asked: str) -> str:
    """Read the one query of an answer: bare, or in JSON, in a fence, in backticks, after prose."""
    if _QUERY.match(said):
        return _bare(said, asked)
    members = _queries_in_json(said)
    if members:  # perhaps with a fence in it
        return _query(_only(members, asked), asked)
    fences = _fences(said)
    if fences:
        return _only([_fenced(fence[2], asked) for fence in fences], asked)
    start = _START.search(said)
    if start:
        if _OLD.search(said[: start.end()]):
            raise Unread(asked)
        return _bare(said[start.end() :], asked)
    inline: list[str] = []
    for _, query in _INLINE.findall(said):
        if _QUERY.match(query) and _FROM.search(query) and _parses(query):
            inline.append(query)
    return _only(inline, asked)


def _fences(said: str) -> list[re.Match[str]]:
    return [fence for fence in _FENCE.finditer(said) if _QUERY.match(fence[2])]


def _queries_in_json(said: str) -> list[str]:
    """Read members `sql` and `revised_sql`.

    One in whose text nobody escaped the quotes counts if it ends the reply.
    """
    members = _members(said, "sql", "revised_sql")
    if members:
        return [str(member).strip() for member in members]
    key = _RAW_KEY.search(said)
    end = _RAW_END.search(said)
    if not key or not end:
        return []
    written = said[key.end() : end.start()]
    # Those escapes that the model wrote all the same.
    query = written.replace('\\"', '"').replace("\\n", "\n")
    return [query] if _parses(query) else []


def _bare(said: str, asked: str) -> str:
    """Read the query with which a text begins: the most paragraphs that SQLite parses together.

    A query that SQLite cannot parse stands alone, so that a fixer may mend it.
    """
    said = _NEXT_QUESTION.split(said)[0].strip()
    paragraphs = re.split(r"\n[ \t]*\n", said, maxsplit=20)
    # All of them first, then without the last.
    for end in range(len(paragraphs), 0, -1):
        query = _statement(_undone("\n\n".join(paragraphs[:end])), asked)
        is_last = not any(map(_START.search, paragraphs[end:]))
        if is_last and _QUERY.match(query) and _parses(query):
            return query
    if " FROM " in said and _LAID_OUT.fullmatch(said) and not _SENTENCE.search(said):
        return _fenced(said, asked)
    raise Unread(asked)


def _fenced(body: str, asked: str) -> str:
    """Read the one statement of a text. Its syntax may be wrong, unless marks in it were undone."""
    plain = _undone(body)
    query = _statement(plain, asked)
    if plain != body and not _parses(query):
        raise Unread(asked)
    return query


def _statement(body: str, asked: str) -> str:
    """Read the one statement of a text, which may repeat it, and end in the midst of that."""
    parts: list[str] = [part.strip() for part in _STATEMENT.findall(body)]
    query = parts[0] if parts else ""
    # Remarks are left out.
    further = [part for part in parts[1:] if _START.search(part)]
    # The last of several repetitions may be cut off; a single one may be a shorter query.
    if len(further) > 1 and query.startswith(further[-1]):
        further.pop()
    if any(part != query for part in further):
        raise Unread(asked)
    if query.endswith(CUT) or any(_MARK.findall(query)):  # CUT may stand in a comment
        raise Unread(asked)
    return query


def _undone(query: str) -> str:
    """Undo the marks of HTML, Markdown and typography that stand where SQL has none."""
    marks = "".join(_MARK.findall(query))
    if "&" in marks:
        query = html.unescape(query)
    if "\\" in marks and "ESCAPE" not in query.upper():
        query = re.sub(r"\\([^\sA-Za-z0-9])", r"\1", query)
    return _MARK.sub(lambda match: _STRAIGHT.get(match[1], match[0]), query)


def _parses(query: str) -> bool:
    """Whether a text is SQL.

    SQLite parses it and is denied all else, so it looks up nothing and runs nothing.
    """
    with closing(sqlite3.connect(":memory:")) as parser:
        parser.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)
        try:
            parser.execute(f"EXPLAIN {query}")
        except (sqlite3.Error, ValueError) as error:
            return str(error) == "not authorized"  # so it was parsed
    return False  # it is empty, or a comment


def _values(said: str) -> Iterator[Any]:
    """Yield the outermost JSON objects and lists, also those that only `_loosely` reads."""
    effort = _EFFORT
    last_bracket = max(said.rfind("]"), said.rfind("}")) + 1
    at = 0
    while effort > 0 and (opening := _BRACKET.search(said, at)):
        at = opening.start()
        end_of_line = said.find("\n", at)
        if end_of_line == -1:
            end_of_line = len(said)
        value, end, tried = _value_at(said, at, (last_bracket, end_of_line), effort)
        effort -= tried
        if value is None:
            at += 1
        else:
            yield value
            at = end


def _value_at(
    said: str, at: int, ends: Iterable[int], effort: int
) -> tuple[Any, int, int]:
    """Return the value that begins at a bracket, where it ends, and the effort of trying.

    None if there is no value. What JSON does not read is read loosely, up to one of the `ends`.
    """
    try:
        return *_DECODER.raw_decode(said, at), 0
    except (ValueError, RecursionError) as error:
        tried = getattr(error, "pos", at + 10_000) - at + 100
    for end in ends:
        body = said[at:end]
        tried += 10 * len(body)  # slower than JSON
        value = _loosely(body) if tried < effort else None
        if value is not None:
            return value, end, tried
    return None, at, tried


def _loosely(body: str) -> Any:
    """Read a Python literal, or JSON with comments, commas too many or typographic quotes.

    None if the text is neither.
    """
    plain = _NO_JSON.sub(r"\1", body)
    if '"' not in plain:
        plain = re.sub("[“”]", '"', plain)
    for parse in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return parse(plain)
    return None


def _lists(said: str) -> list[list[Any]]:
    """Return the lists of an answer that are not empty, and those of its objects."""
    lists = [value for value in _values(said) if isinstance(value, list)]
    for row in _objects(said):
        members = [row[key] for key in row if not _ASIDE.search(key)]
        lists += [member for member in members if isinstance(member, list)]
    return _filled(lists)


def _objects(said: str) -> list[Row]:
    """Return the objects of an answer, those in lists too, with their keys in lower case."""
    rows: list[Row] = []
    for value in _values(said):
        rows += _rows(value if isinstance(value, list) else [value])
    inner: list[Row] = []
    for row in rows:
        for member in row.values():
            inner += _rows(member if isinstance(member, list) else [])
    return rows + inner


def _rows(items: Iterable[object]) -> list[Row]:
    objects = [item for item in items if isinstance(item, dict)]
    return [{str(key).casefold(): row[key] for key in row} for row in objects]


def _members(said: str, *names: str) -> list[Any]:
    members: list[Any] = []
    for row in _objects(said):
        members += [row[name] for name in names if row.get(name) is not None]
    return members


def _filled(answers: Iterable[T]) -> list[T]:
    return [found for found in answers if found]


def _only(answers: Sequence[T], asked: str) -> T:
    """Return the one answer, which may be given several times."""
    if not answers or any(other != answers[0] for other in answers):
        raise Unread(asked)
    return answers[0]


def _letters(lines: Iterable[str]) -> list[str]:
    matches = [_LETTER.fullmatch(line.strip()) for line in lines]
    return [match[1] for match in matches if match]


def _letters_in_json(said: str) -> list[str]:
    members: list[str] = []
    for row in _objects(said):
        kept = [row[key] for key in row if not _REJECTED.search(key)]
        members += [re.sub("(?i)candidate ", "", str(member)) for member in kept]
    return _letters(members)


def _claimed(said: str) -> list[str]:
    """Return the letter of each claim in a form of `LETTER_FORMS`; "" where doubt precedes it."""
    letters: list[str] = []
    sentences = re.split(r"(?<=[.;!?\n])\s*", _TAKEN_BACK.split(said)[-1])
    if len(sentences) > _MOST_SENTENCES:
        return letters
    for sentence in sentences:
        for form in _CLAIMS:
            claim = re.search(form, sentence, re.IGNORECASE)
            if claim:
                is_doubted = _UNSURE.search(sentence[: claim.start()])
                letters.append("" if is_doubted else claim[1])
    return letters


def _verdicts(said: str, label: str) -> Iterator[re.Match[str]]:
    """Yield the claims in the forms of `VERDICT_FORMS`.

    Those in `{"candidate": 1, "verdict": "passed"}` and `{"1": "passed"}` are written as lines.
    """
    lines = [said]
    for row in _objects(said):
        for key, member in row.items():
            number = row.get(label) or re.sub(r"\D", "", key)
            lines.append(f"{label} {number}: {member}")
    for pattern in _VERDICTS:
        form = re.compile(pattern.replace("NAME", label), re.IGNORECASE | re.MULTILINE)
        yield from form.finditer("\n".join(lines))


def _numbers(items: Iterable[object]) -> list[int]:
    """Return the numbers of a list of candidates; [] if an item is something else."""
    matches = [_CANDIDATE.fullmatch(str(item)) for item in items]
    numbers = [int(match[1]) for match in matches if match]
    return numbers if len(numbers) == len(matches) else []


def _yes(row: Row) -> list[bool]:
    verdict = row.get("is_column_information_relevant", row.get("relevant"))
    match = _YES.match(str(verdict))
    return [match[1].casefold() in {"yes", "true"}] if match else []


def _plain(name: object) -> str:
    """Return a name as it is compared: without quotes and case."""
    return " ".join(re.sub(r"[`\"'\[\]]", "", str(name)).split()).casefold()


def _known(names: object, schema: Iterable[str]) -> list[str]:
    """Return the names of a schema that a list has, each once and spelled as in the schema."""
    spelled = {_plain(name): name for name in schema}
    plain = map(_plain, names if isinstance(names, list) else ())
    return list(dict.fromkeys(spelled[name] for name in plain if name in spelled))


def _by_table(row: Row, schema: Schema) -> Row:
    """Return the decision on each table: "keep_all", "drop_all", or columns that it has."""
    decided: Row = {}
    for name, decision in row.items():
        for table in _known([name], schema):
            if isinstance(decision, list):
                decided[table] = _known(decision, schema[table])
            elif decision in _ALL:
                decided[table] = decision
    return decided


def _undotted(names: Iterable[object]) -> dict[str, list[str]]:
    """Return the columns of each table in a list of names such as `ferry.built`."""
    by_table: dict[str, list[str]] = {}
    for name in names:
        table, _, column = str(name).partition(".")
        by_table.setdefault(table, []).append(column)
    return by_table
