"""The part of a reply that answers: without the reasoning, marks of chat templates, and an echoed prompt.

Models wrap their reasoning in tags of many names. The opening or the closing tag may be missing, since a
server may cut the first and a limit on the output the second.
"""

import json
import re
from collections.abc import Iterator

LONGEST = 200_000  # characters of a reply that are read: the last ones, where answers stand

_WORD = r"think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection|scratch_?pad|inner_monologue"
_THOUGHT = re.compile(
    rf"<(?P<xml>/?)(?:\w+:)?(?:{_WORD})(?:\s[^<>]*)?>"
    r"|\[(?P<square>/?)THINK\]"
    r"|\u25c1(?P<arrow>/?)think\u25b7"
    r"|<\|(?P<token>begin_of_thought|end_of_thought|START_THINKING|END_THINKING)\|>",
    re.IGNORECASE,
)
# A thought that a page folds away: <details type="reasoning">.
_FOLDED = re.compile(
    r"<details\b[^>]*\b(?:reasoning|thinking|thought)\b[^>]*>.*?(?:</details>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_RUN = re.compile(r"[\W_]{65,}")
_THOUGHT_HEADING = re.compile(
    rf"^(?P<level>#{{1,6}})[ \t]+(?:{_WORD}|thought process)\b", re.IGNORECASE | re.MULTILINE
)
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]*<\|message\|>")
_TURN_OPENS = re.compile(
    r"^\s*(?:<\|(?:im_start|start|start_header_id)\|>\s*assistant\s*(?:<\|end_header_id\|>)?)?\s*",
    re.IGNORECASE,
)
_TURN_ENDS = re.compile(
    r"<\|(?:im_end|im_start|end|return|eot_id|endoftext|end_of_text|eom_id|start_header_id|user)\|>"
    r"|<\uff5cend\u2581of\u2581sentence\uff5c>|</s>|<end_of_turn>|\[/?INST\]"
)
_HEADING = re.compile(
    r"^(?P<level>#{1,6})[ \t]+(?P<title>task|worked example|database schema|values found|"
    r"descriptions found|examples?|question|hint|answer|earlier attempts|query|result|"
    r"candidate \w+|column|unit test \d+)\b[ \t:*]*$"
    r"|^(?P<turn>question|user|human|input|instruction)[ \t]*:[ \t]",
    re.IGNORECASE | re.MULTILINE,
)
_ENVELOPE = re.compile(r'\[\s*\{\s*"type"\s*:\s*"text"|\{\s*"role"\s*:\s*"assistant"')
_ENCODED = re.compile(r'(?:\A|\n)\s*(?P<json>"\s*(?:\\n\s*)*[\[{].*\\")')
_QUOTED_BLOCK = re.compile(r"(?:^[ \t]*>[^\n]*(?:\n|\Z))+", re.MULTILINE)


def answer_text(reply: str) -> str:
    """The reply without what the model only thought; "" where it was cut off in its thought."""
    text = reply.removeprefix("\ufeff")[-LONGEST:].replace("\r\n", "\n")
    channels = list(_CHANNEL.finditer(text))
    if channels:
        last = channels[-1]
        text = text[last.end() :] if last[1].lower() == "final" else ""
    text = _without_thought(_TURN_OPENS.sub("", _FOLDED.sub("", text), count=1))
    turns = _TURN_ENDS.split(text)
    text = next((turn for turn in turns if turn.strip()), "")
    text = _without_thought_section(text)
    return _without_envelope(_QUOTED_BLOCK.sub(_unquoted, text).strip())


def without_long_runs(text: str) -> str:
    """The text with only the ends of long runs of marks and spaces, at each of which a pattern would begin anew."""
    return _RUN.sub(lambda run: run[0][:32] + run[0][-32:], text)


def _without_thought_section(text: str) -> str:
    """The text without a section that reasons, where a section called Answer follows it."""
    if not (thought := _THOUGHT_HEADING.search(text)):
        return text
    answer = re.compile(
        rf"^{thought['level']}[ \t]+(?:final )?answer\b", re.IGNORECASE | re.MULTILINE
    ).search(text, thought.end())
    return text[: thought.start()] + text[answer.start() :] if answer else text


def _without_envelope(text: str) -> str:
    """The text; if all of it is a message or a list of parts in JSON, their text."""
    text = _decoded_twice(text)
    if not _ENVELOPE.match(text):
        return text
    try:
        found = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text
    parts = found if isinstance(found, list) else [found]
    texts = [part.get("text", part.get("content")) for part in parts if isinstance(part, dict)]
    return "".join(one for one in texts if isinstance(one, str)).strip() or text


def _decoded_twice(text: str) -> str:
    """The text; where it has a JSON string around an object or a list, the decoded string in its place."""
    if not (found := _ENCODED.search(text)):
        return text
    start = found.start("json")
    try:
        inner, end = json.JSONDecoder(strict=False).raw_decode(text, start)
    except ValueError:
        return text
    return f"{text[:start]}{inner}{text[end:]}"


def _unquoted(block: re.Match[str]) -> str:
    """A block in which every line begins with Markdown's mark of a quotation, without the marks."""
    return re.sub(r"(?m)^[ \t]*> ?", "", block[0])


def _without_thought(text: str) -> str:
    """The text after the last closing tag, else what stands outside the tags.

    An opening tag that is never closed begins a thought that runs to the end. A closing tag that was never
    opened ends a thought that began with the reply.
    """
    tags = list(_THOUGHT.finditer(text))
    if not tags:
        return text
    closing = [tag for tag in tags if _closes(tag)]
    opening = [tag for tag in tags if not _closes(tag)]
    if not closing:
        return text[: opening[0].start()]
    after = text[closing[-1].end() :]
    if unfinished := [tag for tag in opening if tag.start() > closing[-1].start()]:
        after = text[closing[-1].end() : unfinished[0].start()]
    first = tags[0]
    before = "" if _closes(first) else text[: first.start()]
    if ANSWER_TAG.search(before):  # the reasoning follows the answer
        return f"{before}\n{after}"
    if after.strip():
        return after
    return "" if _closes(first) else text[: first.start()]


def _closes(tag: re.Match[str]) -> bool:
    marks = (tag["xml"], tag["square"], tag["arrow"])
    return "/" in marks or (tag["token"] or "").lower().startswith("end")


def sections(text: str) -> list[tuple[str, str]]:
    """The text in parts, at lines that look like the headings of a prompt: (title, part).

    The title of the first part is "", where the text does not begin with a heading. A model that echoes its
    prompt, or goes on with another question, writes such headings.
    """
    heads = list(_HEADING.finditer(text))
    parts = [("", text[: heads[0].start()] if heads else text)]
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=bool(heads)):
        level = len(head["level"] or "")
        title = (head["title"] or head["turn"]).lower()
        parts.append((f"{'sub' if level > 2 else ''}{title}", text[head.end() : end]))
    return parts


def answers(text: str) -> Iterator[str]:
    """The parts of the text that may answer, the likeliest first.

    These are what stands before any heading, then the sections called Answer: those of the prompt's own
    level before those of a worked example.
    """
    parts = sections(text)
    if parts[0][1].strip():
        yield parts[0][1].strip()
    for wanted in ("answer", "subanswer"):
        yield from (part.strip() for title, part in parts if title == wanted and part.strip())


BOXED = re.compile(r"\\boxed\s*\{")
_BRACE = re.compile(r"[{}]")
ANSWER_TAG = re.compile(
    r"<(?P<name>(?:final_?)?(?:answer|sql|query)(?:_?query)?|sql_?query|output|result)>(?P<inner>.*?)"
    r"(?:</(?P=name)>|(?=<(?:final_?)?(?:answer|sql)>)|\Z)",
    re.IGNORECASE | re.DOTALL,
)


def boxed(text: str) -> str:
    r"""What the last \boxed{...} holds, without \text{...} around it; "" where there is none."""
    found = ""
    for opening in [*BOXED.finditer(text)][-8:]:
        depth, start = 1, opening.end()
        for brace in _BRACE.finditer(text, start):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                found = text[start : brace.start()]
                break
    inner = re.fullmatch(r"\s*\\(?:text|texttt|mathrm|mathbf)\s*\{(.*)\}\s*", found, re.DOTALL)
    return (inner[1] if inner else found).strip()
