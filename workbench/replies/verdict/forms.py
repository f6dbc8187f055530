"""Which of two candidates a judge prefers: A, B, or "" where the reply does not say.

Read in this order, because the forms that a prompt asks for leave the least doubt: a member of a JSON object,
an answer tag or box, a labelled line, a line that is the letter alone, a statement of choice, and last a
letter that is the only one named. Within a form the last one counts: a model that changes its mind says so
later.
"""

import re

from workbench.replies.json_values import member_name, objects
from workbench.replies.text import ANSWER_TAG, answer_text, boxed, without_long_runs
from workbench.replies.verdict.naming import BAD, NAME, Letter, letter_of

_LONGEST = 20_000  # characters that are read: the last ones, for an answer of one letter
_LONGEST_PROSE = 3_000  # of running text
_LONGEST_LINE = 120  # of a line that is the letter alone

_LABEL = re.compile(
    r"\b(?:(?:final|my|the)\s+){0,3}(?<!wrong )(?<!incorrect )(?:answer|verdict|choice|decision|winner|conclusion|selection"
    r"|result|antwort|respuesta|r\u00e9ponse)"
    r"(?:\s+letter)?[\s*_\"'`]*(?:is|:|=|\uff1a|\u2192|->|ist|es|est)[\s*_\"'`(]*(?:candidate\s+"
    r"|option\s+|query\s+)?(?P<x>[ABab])\b(?!['\u2019])"
    r"|(?:\u7b54\u6848|\u9009\u62e9?|\u6b63\u786e\u7684?)\s*(?:\u662f"
    r"|\u4e3a)?\s*[:\uff1a]?\s*(?P<y>[AB])(?![a-z])"
    r"|^\W*(?:correct|better|best)(?:\s+candidate)?\s*[:=]\W*(?P<z>[ABab])\b",
    re.IGNORECASE | re.MULTILINE,
)
_ROW = re.compile(
    rf"^[ \t|*_-]*(?P<mark>[\u2705\u2714\u2713\u274c\u2717\u2718]?)[\ufe0f \t*_]*"
    rf"(?:{NAME}[ \t]*)?(?P<x>[AB])[*_\s]*(?:(?:[|:(\u2013\u2014-]|(?<!\n)(?=[\u2705\u2714\u2713\u274c\u2717\u2718]))(?P<remark>[^\n]{{0,40}}))?$",
    re.MULTILINE | re.IGNORECASE,
)
_TICK = re.compile(
    r"\u2705|\u2714|\u2713|\byes\b|\btrue\b|\A[\s|*_]*(?:correct|right)\b", re.IGNORECASE
)
_CROSS = re.compile(
    r"\u274c|\u2717|\u2718|\bno\b|\bfalse\b|\A[\s|*_]*(?:incorrect|wrong|not)\b", re.IGNORECASE
)
_SCORE = re.compile(
    rf"^\W*(?:(?:score|rating|points|confidence)\W*(?:of|for)?\W*)?(?:{NAME}\W*)?(?P<x>[AB])\b"
    r"(?:\W*(?:score|rating|points|confidence))?\W{1,6}(?P<score>\d+(?:\.\d+)?)"
    r"(?:\s*(?:/\s*\d+|%|points))?\W*$",
    re.IGNORECASE | re.MULTILINE,
)
_SPEAKS_OF_SCORES = re.compile(
    r"\b(?:scores?|ratings?|points|confidence)\b|\d\s*/\s*\d|\d%", re.IGNORECASE
)
_LETTER_LINE = re.compile(
    r"^[\W_]*(?:candidate|option|query|answer|response)?[\s*_:\"'`(\[]*(?P<x>[ABab])[\W_]*$",
    re.IGNORECASE,
)
# A letter that opens a line as an answer does: "B. A join is needed", "A - because", "B, because".
_LETTER_FIRST = re.compile(
    r"^[\W_]*(?P<x>[AB])(?:[*_`\"')\]]*\s*(?:[.,;:)\u2014\u2013-])\s|[*_`]{1,2}\s*$|\s+(?:because"
    r"|since|as)\b)"
)
# The prompt's own words: "Answer with only the letter of the correct candidate, A or B."
# "Answer: A. Hmm, wait: B": a sentence that begins so takes the answer back.
_CORRECTS = re.compile(
    r"(?:^|[.!?\u2026\n)]\s*)(?:actually|hmm|wait|correction|on second thought|scratch that)\b\W",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"[*_`\"')]*(?:\s+(?:is|was|isn['\u2019]t|fails|lacks|misses|omits|ignores|cannot|can['\u2019]t)\b|\s*[<>=])",
    re.IGNORECASE,
)
_WIDE = str.maketrans("\uff21\uff22\uff41\uff42", "ABab")
_ECHO = re.compile(r"\bletter of the\b", re.IGNORECASE)
_BOTH = re.compile(r"\bA or B\b", re.IGNORECASE)
_ABOUT = re.compile(rf"\b(?:{NAME}|score|rating|points|is|correct)\b|\s")
_CHOSEN_MEMBERS = {
    "answer", "final answer", "verdict", "choice", "winner", "correct", "correct candidate", "better",
    "better candidate", "best", "best candidate", "preferred", "preferred candidate", "selected", "selection",
    "chosen", "decision", "candidate", "correct query", "letter", "result", "final", "correct answer",
    "selected candidate",
}  # fmt: skip


def read_verdict(reply: str) -> Letter:
    """The letter of the candidate that the reply prefers."""
    lines = answer_text(reply)[-_LONGEST:].translate(_WIDE).splitlines()
    text = without_long_runs("\n".join(line for line in lines if not _ECHO.search(line)))
    text = _BOTH.sub("", text).strip()
    if not text:
        return ""
    return (
        _of_json(text)
        or _of_table(text)
        or _of_scores(text)
        or _of_tags(text)
        or _of_label(text)
        or _of_lines(text)
        or _of_prose(text[-_LONGEST_PROSE:])
    )


def _of_prose(text: str) -> Letter:
    from workbench.replies.verdict.prose import verdict_of_prose  # noqa: PLC0415  its patterns take long

    return verdict_of_prose(text)


def _of_json(text: str) -> Letter:
    letter: Letter = ""
    for row in objects(text):
        for key, value in row.items():
            name = member_name(key)
            candidate = re.fullmatch(
                rf"[\W_]*(?:{NAME}\s*)?[\W_]*([AB12])[\W_]*", str(value).strip(), re.IGNORECASE
            )
            if name in _CHOSEN_MEMBERS and candidate:
                letter = letter_of(candidate[1])
        members = {_ABOUT.sub("", member_name(key)).upper(): value for key, value in row.items()}
        numbers = {x: worth for x in "AB" if (worth := _worth(members.get(x))) is not None}
        if not letter and len(set(numbers.values())) == 2:  # true and false, or scores
            letter = letter_of(max(numbers, key=lambda x: numbers[x]))
    return letter


def _worth(value: object) -> float | None:
    """A number, true or false, or a word such as "correct", as a number; None for anything else."""
    if isinstance(value, int | float):
        return value
    text = str(value).strip()
    begins = re.match(
        r"\W*(?:(?:yes|no|true|false)\W*$|correct|right|incorrect|wrong|not\b|\W)", text
    )
    if not begins or bool(_TICK.search(text)) == bool(_CROSS.search(text)):
        return None
    return float(bool(_TICK.search(text)))


def _of_table(text: str) -> Letter:
    """The only candidate that a table or list of both calls correct, or marks with a tick."""
    rows = {
        row["x"].upper(): f"{row['mark']}{row['remark'] or ''}"
        for row in _ROW.finditer(text)
        if row["mark"] or row["remark"]
    }
    good = [
        letter for letter, mark in rows.items() if _TICK.search(mark) and not _CROSS.search(mark)
    ]
    bad = [letter for letter, mark in rows.items() if _CROSS.search(mark)]
    return letter_of(good[0]) if set(rows) == {"A", "B"} and len(good) == len(bad) == 1 else ""


def _of_scores(text: str) -> Letter:
    """The candidate with the higher score, where both have one."""
    scores = {
        row["x"].upper(): float(row["score"]) for row in _SCORE.finditer(text.replace(", ", "\n"))
    }
    if len(scores) < 2 or scores["A"] == scores["B"] or not _SPEAKS_OF_SCORES.search(text):
        return ""
    return "A" if scores["A"] > scores["B"] else "B"


def _of_tags(text: str) -> Letter:
    inner = [boxed(text), *(tag["inner"] for tag in ANSWER_TAG.finditer(text))]
    for one in reversed([part.strip() for part in inner if part.strip()]):
        if line := _LETTER_LINE.match(one):
            return letter_of(line["x"])
    return ""


def _of_label(text: str) -> Letter:
    found = list(_LABEL.finditer(text))
    if not found:
        return ""
    last = found[-1]
    after = text[last.end() : last.end() + 12]
    if re.match(r"[\s*_]*(?:or|and|/|&|\+)\s*[\"'*_]*[AB]\b", after, re.IGNORECASE):
        return ""
    if _SENTENCE.match(text, last.end()):  # "Answer: B is wrong, so A"
        start = max(last.start(name) for name in ("x", "y", "z"))
        return _of_prose(text[start:])
    correction = _CORRECTS.search(text, last.end())
    if correction and (corrected := _of_prose(text[correction.start() :])):
        return corrected
    return letter_of(last["x"] or last["y"] or last["z"])


def _of_lines(text: str) -> Letter:
    """The letter that is a line of its own, the last one; else the letter that the reply begins with."""
    lines = [line for line in text.splitlines() if line.strip()]
    alone = [
        line
        for line in map(_LETTER_LINE.match, (one for one in lines if len(one) < _LONGEST_LINE))
        if line and not line.string.strip().startswith("|")
    ]
    if len(alone) == len(lines) and len({letter_of(line["x"]) for line in alone}) == 2:
        return ""  # both letters, and nothing else
    headings = len({letter_of(line["x"]) for line in alone}) == 2 and len(lines) > len(alone)
    if alone and not (
        headings and alone[-1].string is not lines[-1] and alone[0].string is not lines[0]
    ):
        first, last = alone[0], alone[-1]
        chosen = last if last.string is lines[-1] or first.string is not lines[0] else first
        if not _is_heading(chosen, lines):
            return letter_of(chosen["x"])
    opened = [line for line in (_LETTER_FIRST.match(one[:_LONGEST_LINE]) for one in lines) if line]
    if not opened or opened[0].string != lines[0][:_LONGEST_LINE] or lines[0].startswith("{"):
        return ""
    opening = opened[0]
    lists_both = len({line["x"] for line in opened}) == 2  # "A: 3 rows" and "B: 5 rows"
    if not lists_both and not re.match(rf"[\W_]*[AB]\W+(?:is\s+)?{BAD}", lines[0], re.IGNORECASE):
        return letter_of(opening["x"])
    return ""


def _is_heading(line: re.Match[str], lines: list[str]) -> bool:
    """Whether a line such as "Candidate A" is a heading: the other letter heads a line in the same words."""
    text = line.string
    other = "B" if letter_of(line["x"]) == "A" else "A"
    twin = (text[: line.start("x")] + other + text[line.end("x") :]).casefold()
    has_words = bool(re.search(r"[a-z]{2}", text)) or text.strip().endswith(":")
    return has_words and twin in {one.casefold() for one in lines}
