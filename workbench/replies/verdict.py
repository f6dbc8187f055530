"""Which of two candidates a judge prefers: A, B, or "" where the reply does not say.

Read in this order, because the forms that a prompt asks for leave the least doubt: a member of a JSON object,
an answer tag or box, a labelled line, a line that is the letter alone, a statement of choice, and last a
letter that is the only one named. Within a form the last one counts: a model that changes its mind says so
later.
"""

import re
from typing import Literal

from workbench.replies.json_values import objects
from workbench.replies.text import ANSWER_TAG, answer_text, boxed

Letter = Literal["A", "B", ""]
_LONGEST = 20_000  # characters that are read: the last ones, for an answer of one letter
_LONGEST_PROSE = 3_000  # of running text
_LONGEST_LINE = 120  # of a line that is the letter alone

_NAME = r"(?:candidate|option|response|query|answer|choice|sql|number)"
# A candidate as models name it: "A" but not the article, "candidate b", "the second query", "candidate 1".
_ONE = (
    rf"(?:(?:(?:the\s+)?{_NAME}s?\s*[\"'`(*_]*|#)(?P<named>[ABab12])\b"
    rf"|[\"'`(*_]*\b(?P<letter>B\b|(?-i:(?<=[a-z,;:] )A\b)|A\b(?![ ]+(?!is\b|was\b|are\b|has\b|over\b"
    rf"|rather\b|and\b|or\b|as\b|because\b|since\b|wins\b|it\b|but\b|then\b|ist\b|est\b|es\b|only\b"
    rf"|alone\b|instead\b|for\b|in\b|on\b|does\b|gets\b|returns\b|lacks\b|omits\b|misses\b"
    rf"|wins\b)[a-z]))"
    rf"|\b(?:the\s+)?(?P<ordinal>first|second|former|latter|erste|zweite)(?:\s+(?:one|{_NAME}|abfrage"
    rf"|anfrage))?\b)"
)
_CANDIDATE = re.compile(_ONE, re.IGNORECASE)
_GOOD = (
    r"(?:correct|right|better|best|closer|closest|preferable|preferred|superior|accurate|valid|winner"
    r"|richtig|besser|korrekt|correcta?|mejor|meilleure?|juste)"
)
_BAD = (
    r"(?:wrong|incorrect|not\s+(?:\w+\s+)?(?:correct|right|valid)|invalid|flawed|worse|fails?|falsch"
    r"|mistaken|ruled\s+out|rejected|faulty|isn['\u2019]t\s+(?:\w+\s+)?(?:correct|right))"
)
_LABEL = re.compile(
    r"\b(?:(?:final|my|the)\s+){0,3}(?:answer|verdict|choice|decision|winner|conclusion|selection"
    r"|result|antwort|respuesta|r\u00e9ponse)"
    r"(?:\s+letter)?[\s*_\"'`]*(?:is|:|=|\uff1a|\u2192|->|ist|es|est)[\s*_\"'`(]*(?:candidate\s+"
    r"|option\s+|query\s+)?(?P<x>[ABab])\b(?!['\u2019])"
    r"|(?:\u7b54\u6848|\u9009\u62e9|\u6b63\u786e\u7684?)\s*(?:\u662f"
    r"|\u4e3a)?\s*[:\uff1a]?\s*(?P<y>[AB])(?![a-z])"
    r"|^\W*(?:correct|better|best)(?:\s+candidate)?\s*[:=]\W*(?P<z>[ABab])\b",
    re.IGNORECASE | re.MULTILINE,
)
_ROW = re.compile(
    rf"^[ \t|*_-]*(?P<mark>[\u2705\u2714\u2713\u274c\u2717\u2718]?)[\ufe0f \t*_]*"
    rf"(?:{_NAME}[ \t]*)?(?P<x>[AB])[*_\s]*(?:[|:(\u2013\u2014-](?P<said>[^\n]{{0,40}}))?$",
    re.MULTILINE | re.IGNORECASE,
)
_TICK = re.compile(
    r"\u2705|\u2714|\u2713|\byes\b|\btrue\b|\A[\s|*_]*(?:correct|right)\b", re.IGNORECASE
)
_CROSS = re.compile(
    r"\u274c|\u2717|\u2718|\bno\b|\bfalse\b|\A[\s|*_]*(?:incorrect|wrong|not)\b", re.IGNORECASE
)
_SCORE = re.compile(
    rf"^\W*(?:(?:score|rating|points|confidence)\W*(?:of|for)?\W*)?(?:{_NAME}\W*)?(?P<x>[AB])\b"
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
_ECHO = re.compile(r"\bletter of the\b", re.IGNORECASE)
_MARKS = re.compile(r"[\W_]{65,}")  # marks and spaces in a row, each of which patterns would try
_BOTH = re.compile(r"\bA or B\b", re.IGNORECASE)
_NEITHER = re.compile(
    r"\b(?:neither|none|cannot (?:tell|decide)|can't (?:tell|decide)|do(?:es)?n['\u2019]t know"
    r"|do not know|unclear|not sure|undecided)\b",
    re.IGNORECASE,
)
_CHOSEN_MEMBERS = {
    "answer", "final answer", "verdict", "choice", "winner", "correct", "correct candidate", "better",
    "better candidate", "best", "best candidate", "preferred", "preferred candidate", "selected", "selection",
    "chosen", "decision", "candidate", "correct query", "letter", "result", "final", "correct answer",
    "selected candidate",
}  # fmt: skip


def read_verdict(reply: str) -> Letter:
    """The letter of the candidate that the reply prefers."""
    lines = answer_text(reply)[-_LONGEST:].splitlines()
    text = "\n".join(line for line in lines if not _ECHO.search(line))
    text = _MARKS.sub(lambda run: run[0][:32] + run[0][-32:], text)
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


def _letter(text: str | None) -> Letter:
    """The letter that a name of a candidate means."""
    found = (text or "").strip().lower()
    if found in {"a", "1", "first", "former", "erste"}:
        return "A"
    return "B" if found in {"b", "2", "second", "latter", "zweite"} else ""


def _of_json(text: str) -> Letter:
    letter: Letter = ""
    for row in objects(text):
        for key, value in row.items():
            name = re.sub(r"[\W_]+", " ", str(key)).strip().lower()
            said = re.fullmatch(
                rf"[\W_]*(?:{_NAME}\s*)?[\W_]*([AB12])[\W_]*", str(value).strip(), re.IGNORECASE
            )
            if name in _CHOSEN_MEMBERS and said:
                letter = _letter(said[1])
        members = {str(key).strip().upper(): value for key, value in row.items()}
        numbers = {x: v for x in "AB" if isinstance(v := members.get(x), int | float)}
        if not letter and len(set(numbers.values())) == 2:  # true and false, or scores
            letter = _letter(max(numbers, key=lambda x: numbers[x]))
    return letter


def _of_table(text: str) -> Letter:
    """The only candidate that a table or list of both calls correct, or marks with a tick."""
    rows = {
        row["x"].upper(): f"{row['mark']}{row['said'] or ''}"
        for row in _ROW.finditer(text)
        if row["mark"] or row["said"]
    }
    good = [
        letter for letter, said in rows.items() if _TICK.search(said) and not _CROSS.search(said)
    ]
    bad = [letter for letter, said in rows.items() if _CROSS.search(said)]
    return _letter(good[0]) if set(rows) == {"A", "B"} and len(good) == len(bad) == 1 else ""


def _of_scores(text: str) -> Letter:
    """The candidate with the higher score, where both have one."""
    scores = {row["x"].upper(): float(row["score"]) for row in _SCORE.finditer(text)}
    if len(scores) < 2 or scores["A"] == scores["B"] or not _SPEAKS_OF_SCORES.search(text):
        return ""
    return "A" if scores["A"] > scores["B"] else "B"


def _of_tags(text: str) -> Letter:
    inner = [boxed(text), *(tag["inner"] for tag in ANSWER_TAG.finditer(text))]
    for one in reversed([part.strip() for part in inner if part.strip()]):
        if line := _LETTER_LINE.match(one):
            return _letter(line["x"])
    return ""


def _of_label(text: str) -> Letter:
    found = list(_LABEL.finditer(text))
    if not found:
        return ""
    last = found[-1]
    after = text[last.end() : last.end() + 12]
    if re.match(r"[\s*_]*(?:or|and|/)\s*[\"'*_]*[AB]\b", after, re.IGNORECASE):
        return ""
    return _letter(last["x"] or last["y"] or last["z"])


def _of_lines(text: str) -> Letter:
    """The letter that is a line of its own, the last one; else the letter that the reply begins with."""
    lines = [line for line in text.splitlines() if line.strip()]
    alone = [
        line
        for line in map(_LETTER_LINE.match, (one for one in lines if len(one) < _LONGEST_LINE))
        if line and not line.string.strip().startswith("|")
    ]
    if len(alone) == len(lines) and len({_letter(line["x"]) for line in alone}) == 2:
        return ""  # both letters, and nothing else
    headings = len({_letter(line["x"]) for line in alone}) == 2 and len(lines) > len(alone)
    if alone and not (
        headings and alone[-1].string is not lines[-1] and alone[0].string is not lines[0]
    ):
        first, last = alone[0], alone[-1]
        chosen = last if last.string is lines[-1] or first.string is not lines[0] else first
        if not _is_heading(chosen, lines):
            return _letter(chosen["x"])
    opened = [line for line in (_LETTER_FIRST.match(one[:_LONGEST_LINE]) for one in lines) if line]
    if not opened or opened[0].string != lines[0][:_LONGEST_LINE] or lines[0].startswith("{"):
        return ""
    opening = opened[0]
    lists_both = len({line["x"] for line in opened}) == 2  # "A: 3 rows" and "B: 5 rows"
    if not lists_both and not re.match(rf"[\W_]*[AB]\W+(?:is\s+)?{_BAD}", lines[0], re.IGNORECASE):
        return _letter(opening["x"])
    return ""


def _is_heading(line: re.Match[str], lines: list[str]) -> bool:
    """Whether a line such as "Candidate A" is a heading: the other letter heads a line in the same words."""
    text = line.string
    other = "B" if _letter(line["x"]) == "A" else "A"
    twin = (text[: line.start("x")] + other + text[line.end("x") :]).casefold()
    has_words = bool(re.search(r"[a-z]{2}", text)) or text.strip().endswith(":")
    return has_words and twin in {one.casefold() for one in lines}


_C = (
    _ONE.replace("?P<named>", "?P<named1>")
    .replace("?P<letter>", "?P<letter1>")
    .replace("?P<ordinal>", "?P<ordinal1>")
)
_D = _ONE.replace("?P<named>", "?:").replace("?P<letter>", "?:").replace("?P<ordinal>", "?:")
_CHOICES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"\b(?:choose|chose|pick|picked|prefer|select|selected|go\s+(?:with|for)|opt\s+for|vote\s+for"
            rf"|favou?r)\s+(?P<won>{_C})"
        ),
        (
            rf"(?P<won>{_C})[\s*_`\"')]*\s+(?:is|was|seems|looks|appears(?:\s+to\s+be)?|ist|est"
            rf"|es)\s+(?:\w+\s+){{0,2}}?(?:the\s+)?{_GOOD}\b"
        ),
        rf"\b{_GOOD}(?:\s+\w+){{0,2}}\s+(?:is|ist|est|es|would\s+be)\s*[:*_\"'`]*\s*(?P<won>{_C})",
        rf"\b(?:richtig|korrekt|correcta?)\s+(?:ist|es|est)\s+(?P<won>{_C})",
        rf"\bnot\s+{_D},?\s+but\s+(?P<won>{_C})",
        (
            rf"(?P<won>{_C})[\s*_`\"')]*\s+(?:over|beats|rather\s+than|wins|instead\s+of|satisfies"
            rf"|answers\s+the\s+question|correctly)\b"
        ),
        (
            rf"\b(?:so|therefore|thus|hence|then)\b[\s,:*_]*(?:it(?:['\u2019]s|\s+is|\s+must\s+be)\s+"
            rf"|the\s+answer\s+is\s+|I\s+say\s+)?(?P<won>{_C})(?=[\W_]*(?:$|[.!\n]))"
        ),
        rf"\b(?:so|therefore|thus|hence)\b[\s,:*_]*(?P<won>{_C})\s+(?:is|answers|wins|gets)\b",
        rf"(?P<won>{_C})\s*(?:>|\u227b)\s*{_D}",
        rf"\b(?:must|had\s+to|have\s+to)\s+(?:pick|choose|decide|select|name\s+one)\b[\s,:;]+(?P<won>{_C})",
        rf"(?P<won>{_C})\s+it\s+is\b",
        (
            rf"\b(?:it(?:['\u2019]s|\s+is|\s+must\s+be|\s+has\s+to\s+be)|that(?:['\u2019]s"
            rf"|\s+is))\s+(?P<won>{_C})(?=[\W_]*(?:$|[.!,\n]))"
        ),
        (
            rf"\b(?:equivalent|alike|equal|same)\b[^.\n]*[,;:]\s*(?:so\s+"
            rf"|then\s+)?(?P<won>{_C})(?=[\W_]*(?:$|[.!\n]))"
        ),
    )
]
_ALSO = re.compile(r"[^.\n]*\b(?:also|too|as\s+well|likewise|equally)\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"(?:\bnot|n['\u2019]t|\bneither|\bnor|\bboth)\s+(?:\w+\s+)?$", re.IGNORECASE
)
_RULED_OUT = re.compile(
    rf"(?P<lost>{_C})[\s*_`\"')]*\s+(?:(?:is|was|ist|seems|looks)?\s*(?:\w+ly\s+)?{_BAD}|lacks|omits"
    rf"|misses|ignores|drops|forgets)\b"
    rf"|\b(?:missing|wrong|lacking|error|mistake|flaw|problem)\s+(?:\w+\s+)?(?:in|with)\s+(?P<faulty>{_D})",
    re.IGNORECASE,
)


def _of_prose(text: str) -> Letter:
    """The candidate that the last statement of choice names; else the one that is not ruled out."""
    found: list[tuple[int, Letter]] = []
    lost: set[Letter] = set()
    for pattern in _CHOICES:
        alike = pattern is _CHOICES[-1]  # "both are equivalent, so A"
        for said in pattern.finditer(text):
            negated = not alike and _NEGATION.search(text[max(0, said.start() - 60) : said.start()])
            own_words = re.sub(r"(?i)\Anot\b.*\bbut\b", "", said[0])  # "not A but B"
            within = re.search(r"\b(?:not|neither|both|n['\u2019]t)\b", own_words, re.IGNORECASE)
            letter = _name_of(said["won"])
            if letter and not negated and not within:
                found.append((said.start(), letter))
            elif pattern is _CHOICES[0]:  # "I would not choose B"
                lost.add(letter)
    letters = {letter for _, letter in found}
    if len(letters) == 2 and _ALSO.match(text, max(found)[0]):
        return ""
    if found and (len(letters) == 1 or not _NEITHER.search(text)):
        return max(found)[1]
    if _NEITHER.search(text):
        return ""
    lost |= {_name_of(said["lost"] or said["faulty"]) for said in _RULED_OUT.finditer(text)}
    lost -= {""}
    if len(lost) == 1:
        return "A" if lost == {"B"} else "B"
    if only := re.fullmatch(rf"\W*not\s+(?P<lost>{_C})\W*", text, re.IGNORECASE):
        return "A" if _name_of(only["lost"]) == "B" else "B"
    named = {
        _name_of(one[0]) for one in _CANDIDATE.finditer(text) if one["letter"] not in {"a", "b"}
    } - {""}
    hedged = re.search(r"\b(?:could|might|may|either|both)\b", text, re.IGNORECASE)
    return named.pop() if len(named) == 1 and not lost and not hedged else ""


def _name_of(text: str) -> Letter:
    """The letter that a phrase such as "candidate **B**" or "the second query" means."""
    said = _CANDIDATE.search(text)
    return _letter(said["named"] or said["letter"] or said["ordinal"]) if said else ""
