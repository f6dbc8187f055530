"""Which of two candidates running text prefers."""

import re

from workbench.replies.verdict.naming import BAD, CANDIDATE, GOOD, ONE, Letter, letter_in

_NEITHER = re.compile(
    r"\b(?:neither|none|cannot (?:tell|decide)|can't (?:tell|decide)|do(?:es)?n['\u2019]t know"
    r"|do not know|unclear|not sure|undecided)\b",
    re.IGNORECASE,
)
_C = (
    ONE.replace("?P<named>", "?P<named1>")
    .replace("?P<letter>", "?P<letter1>")
    .replace("?P<ordinal>", "?P<ordinal1>")
)
_D = ONE.replace("?P<named>", "?:").replace("?P<letter>", "?:").replace("?P<ordinal>", "?:")
_FAULT = r"(?:errors?|mistakes?|flaws?|problems?|issues?|faults?|bugs?)\b"
_CHOICES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"\b(?:choose|chose|pick|picked|prefer|select|selected|go\s+(?:with|for)|opt\s+for|vote\s+for"
            rf"|favou?r|trust|lean\s+towards?)\s+(?P<won>{_C})"
        ),
        (
            rf"(?P<won>{_C})[\s*_`\"')]*\s+(?:is|was|seems|looks|appears(?:\s+to\s+be)?|ist|est"
            rf"|es)\s+(?:\w+\s+){{0,2}}?(?:the\s+)?{GOOD}\b"
        ),
        rf"\b{GOOD}(?:\s+\w+){{0,2}}\s+(?:is|ist|est|es|would\s+be)\s*[:*_\"'`]*\s*(?P<won>{_C})",
        rf"\b(?:richtig|korrekt|correcta?)\s+(?:ist|es|est)\s+(?P<won>{_C})",
        rf"\bnot\s+{_D},?\s+but\s+(?P<won>{_C})",
        (
            rf"(?P<won>{_C})[\s*_`\"')]*\s+(?:over|beats|outperforms|surpasses|rather\s+than|wins|instead\s+of|satisfies"
            rf"|answers\s+the\s+question|correctly)\b"
        ),
        (
            rf"\b(?:so|therefore|thus|hence|then|on\s+balance|overall|ultimately)\b[\s,:*_]*(?:it(?:['\u2019]s|\s+is|\s+must\s+be)\s+"
            rf"|the\s+answer\s+is\s+|I\s+say\s+)?(?P<won>{_C})(?=[\W_]*(?:$|[.!\n]))"
        ),
        rf"\b(?:so|therefore|thus|hence)\b[\s,:*_]*(?P<won>{_C})\s+(?:is|must\s+be(?=\s+(?:it|the)\b)|answers|wins|gets)\b",
        rf"(?P<won>{_C})\s*(?:>{{1,3}}|\u227b)\s*{_D}",
        rf"{_D}\s*(?:<{{1,3}}|\u227a)\s*(?P<won>{_C})",
        rf"\b(?:must|had\s+to|have\s+to)\s+(?:pick|choose|decide|select|name\s+one)\b[\s,:;]+(?P<won>{_C})",
        rf"\bif\s+(?:forced|pressed)\b(?:\s+to\s+\w+)?[\s,:;]+(?P<won>{_C})",
        rf"(?P<won>{_C})\s+it\s+is\b",
        rf"(?P<won>{_C})\s+(?:has|gets|uses)\s+the\s+{GOOD}\b",
        rf"(?P<won>{_C})\s+(?:\w+\s+){{1,5}}?(?:more\s+(?!{_FAULT})|better|fewer\s+{_FAULT})[^.;\n]{{0,40}}\bthan\s+{_D}",
        r"(?P<won>\b[AB])\s?(?:\u306e\u65b9\u304c|\u306e\u307b\u3046\u304c)",
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
    rf"(?P<lost>{_C})[\s*_`\"')]*\s+(?:(?:is|was|ist|seems|looks|(?:should|must)\s+be)?\s*(?:the\s+)?(?:\w+ly\s+)?{BAD}|lacks|omits"
    rf"|misses|ignores|drops|forgets|has\s+(?:an?|the)\s+(?:\w+\s+)?(?:bug|error|mistake|flaw|problem)"
    rf"|does(?:\s+not|n['\u2019]t)(?=\W*(?:$|[.;\n])))\b"
    rf"|\b(?:missing|wrong|lacking|error|mistake|flaw|problem)\s+(?:\w+\s+)?(?:in|with)\s+(?P<faulty>{_D})"
    rf"|\b(?:reject|rule\s+out|discard|eliminate|exclude|dismiss|avoid)\s+(?P<dismissed>{_D})"
    rf"|(?P<owner>{_D})['\u2019]s\s+(?:\w+\s+){{1,4}}(?:is|are)\s+(?:\w+ly\s+)?(?:{BAD}|missing)\b"
    rf"|\b(?:although|though|while|even\s+if)\s+(?P<conceded>{_D})\b[^.;\n]{{0,80}},\s*it\s+(?:is\s+)?"
    rf"(?:{BAD}|lacks|omits|misses|ignores|drops|forgets)\b"
    rf"|(?P<hypothetical>{_D})\s+would\s+(?:have\s+been|be)\s+(?:\w+\s+)?{GOOD}\s+(?:if|but|had)\b"
    rf"|\b(?:incorrect|wrong|rejected|loser|worse)(?:\s+\w+)?(?:\s+is\s+|\W{{0,4}}[:=]\W{{0,4}})(?P<blamed>{_D})",
    re.IGNORECASE,
)


# "It is not A", "the answer cannot be A", "I don't think that A is correct".
_NOT = re.compile(
    rf"(?:\b(?:can)?not|n['\u2019]t)\s+(?:be\s+|(?:think|believe|say)\s+(?:that\s+)?(?:it(?:['\u2019]s|\s+is)\s+)?)?"
    rf"(?P<lost>{_C})(?=[\W_]*(?:$|[.!,:;\n])|\s+(?:is|was)\b)",
    re.IGNORECASE,
)
_NOT_BAD = re.compile(
    r"(?:\s+is\s+not|\s+isn['\u2019]t)\s+(?:wrong|incorrect|invalid|flawed|faulty|worse)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(r"[^.!?\n]*\?")
_AFFIRMED = re.compile(rf"(?P<won>{_D})(?:\s\w+)?\s?\?\W*(?:yes|correct|right)\b", re.IGNORECASE)


def verdict_of_prose(text: str) -> Letter:
    """The candidate that the last statement of choice names; else the one that is not ruled out."""
    affirmed = {letter_in(one["won"]) for one in _AFFIRMED.finditer(text)}
    if len(affirmed) == 1:  # "Is it A? No. B? Yes."
        return affirmed.pop()
    text = _ASKED.sub("", text) if _ASKED.sub("", text).strip() else text
    text = _NOT_BAD.sub(" is right", text)
    found: list[tuple[int, Letter]] = []
    lost: set[Letter] = set()
    for pattern in _CHOICES:
        alike = pattern is _CHOICES[-1]  # "both are equivalent, so A"
        for choice in pattern.finditer(text):
            negated = not alike and _NEGATION.search(
                text[max(0, choice.start() - 60) : choice.start()]
            )
            own_words = re.sub(r"(?i)\Anot\b.*\bbut\b", "", choice[0])  # "not A but B"
            within = re.search(
                r"\b(?:not|neither|both|less|n['\u2019]t)\b", own_words, re.IGNORECASE
            )
            letter = letter_in(choice["won"])
            if letter and not negated and not within:
                found.append((choice.start(), letter))
            elif pattern is _CHOICES[0]:  # "I would not choose B"
                lost.add(letter)
    letters = {letter for _, letter in found}
    if len(letters) == 2 and _ALSO.match(text, max(found)[0]):
        return ""
    if found and (len(letters) == 1 or not _NEITHER.search(text)):
        return max(found)[1]
    if _NEITHER.search(text):
        return ""
    lost |= {
        letter_in(next(filter(None, denial.groupdict().values())))
        for denial in _RULED_OUT.finditer(text)
    }
    lost -= {""}
    if len(lost) == 1:
        return "A" if lost == {"B"} else "B"
    named = {
        letter_in(one[0]) for one in CANDIDATE.finditer(text) if one["letter"] not in {"a", "b"}
    } - {""}
    denied = {letter_in(one["lost"]) for one in _NOT.finditer(text)} - {""}
    if len(denied) == 1 and named <= denied:
        return "A" if denied == {"B"} else "B"
    hedged = re.search(r"\b(?:could|might|may|either|both)\b", text, re.IGNORECASE)
    return named.pop() if len(named) == 1 and not lost and not hedged else ""
