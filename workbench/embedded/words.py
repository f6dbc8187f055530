"""English: the words of a text, their stems, how alike two are, and the phrases that ask for operations.

The lists of words and phrases stand in english.txt.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rapidfuzz.fuzz import ratio

_LISTS: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
for _line in Path(__file__).with_name("english.txt").read_text(encoding="utf-8").splitlines():
    _kind, _name, _words = _line.split(maxsplit=2)
    _LISTS[_kind][_name] += _words.split(" | ") if _kind == "cue" else _words.split()
WORDS = {name: frozenset(words) for name, words in _LISTS["words"].items()}
STOPWORDS = WORDS["stop"]
NUMBERS = {word: int(number) for number, words in _LISTS["number"].items() for word in words}
_FORMS = {form: word for word, forms in _LISTS["form"].items() for form in forms}
_CUES: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)  # by their first word
for _kind, _phrases in _LISTS["cue"].items():
    for _phrase in sorted(_phrases, key=lambda phrase: -len(phrase.split())):
        _CUES[_phrase.split()[0]].append((tuple(_phrase.split()), _kind))
_ENDINGS = "ments ment ations ation ings ing ions ion ers er ors or ed ly al ity est"
_TOKEN = re.compile(
    r"\d{4}-\d\d(?:-\d\d)?(?![\d-])|\d{1,2}[/.]\d{1,2}[/.]\d{4}|\d+(?:,\d{3})*(?:\.\d+)?(?![^\W_])"
    r"|(?:[^\W\d_]\.){2,}|[^\W_]+(?:['\u2019][^\W\d_]+)?|[%<>=≥≤]+|[,;.?!:()]"
)
_QUOTED = re.compile(
    r"(?<!\w)'((?:[^'\n]|'(?=\w)){1,80})'(?!\w)|[\"\u201c]([^\"\u201c\u201d\n]{1,80})[\"\u201d]|\u2018([^\u2019\n]{1,80})\u2019"
)


class Token(NamedTuple):
    """A word, number or mark of a text."""

    text: str
    low: str
    stem: str
    number: float | None
    quoted: bool
    content: bool
    capital: bool  # written with a capital though no sentence starts here


@lru_cache(maxsize=8192)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text; possessive endings are dropped."""
    quotes = [match.span() for match in _QUOTED.finditer(text)]
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        word = re.sub(r"['\u2019]s?$", "", match[0])
        word = word.replace(".", "") if re.fullmatch(r"(?:[^\W\d_]\.)+", word) else word
        low = word.lower()
        quoted = any(start <= match.start() < end for start, end in quotes)
        plain = low.replace(",", "")
        number = float(plain) if re.fullmatch(r"\d+(\.\d+)?", plain) else None
        if number is None and low in NUMBERS and not quoted:
            number = float(NUMBERS[low])
        content = word[0].isalnum() and (quoted or (low not in STOPWORDS and number is None))
        starts = not found or found[-1].low[0] in ".?!:" or low == "i"
        capital = word[0].isupper() and not starts
        found.append(Token(word, low, stem(low), number, quoted, content, capital))
    return tuple(found)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The word without the endings that grammar gives it; not always a word."""
    word = _FORMS.get(word, word)
    if len(word) < 4 or not word.isalpha() or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    word = _FORMS.get(word, word)
    for ending in _ENDINGS.split():
        base = word.removesuffix(ending)
        if base != word and len(base) >= 4 and re.search("[aeiouy]", base):
            word = base[:-1] if base[-1] == base[-2] and base[-1] not in "lsz" else base
            break
    word = word[:-1] if word.endswith("e") and len(word) > 3 else word
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word


@lru_cache(maxsize=16384)
def name_words(name: str) -> tuple[str, ...]:
    """The stems of an identifier's parts: first_name, FirstName and "First Name" are the same."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+", name)
    lows = [part.lower() for part in parts]
    return tuple(stem(low) for low in [low for low in lows if low not in WORDS["small"]] or lows)


@lru_cache(maxsize=262144)
def alike(word: str, name: str) -> float:
    """The likeness of a stem of the question and a stem of a name: 1 for equal stems, less for parts of one."""
    short, long = sorted((word, name), key=len)
    if word == name:
        return 1.0
    if len(short) >= 3 and long.startswith(short):
        return 0.8
    return 0.7 if len(short) >= 6 and ratio(word, name) >= 84 else 0.0


def said(phrase: Sequence[Token], text: Sequence[Token]) -> tuple[int, float, float]:
    """The tokens of a text that say a phrase, as near to each other as may be: a mask.

    Also the part of the phrase that they say, and the part that they say literally.
    """
    hits: list[list[tuple[int, float]]] = []  # where each word is said, and how alike it is written
    for word in phrase:
        same = [(i, 1.0) for i, token in enumerate(text) if token.low == word.low]
        like = ((i, alike(t.stem, word.stem)) for i, t in enumerate(text) if t.low not in STOPWORDS)
        loose = not same and word.number is None and word.low not in STOPWORDS
        hits.append([(i, 0.9 * how) for i, how in like if how] if loose else same)
    weights = [0.3 if t.low in STOPWORDS else min(8, 1 + len(t.low)) / 8 for t in phrase]
    best = (0.0, 0.0, 0)
    for anchor, _ in min(filter(None, hits), key=len, default=())[:4]:
        mask, fit, literal, at = 0, 0.0, 0.0, -1
        for options, weight in zip(hits, weights, strict=True):
            near = [(abs(i - anchor), i, how) for i, how in options if not mask >> i & 1]
            if near and min(near)[0] <= len(phrase) + 2:
                _, i, how = min(near)
                mask |= 1 << i
                fit += weight * how
                literal += weight * (how == 1.0 and (at < 0 or i == at + 1))
                at = i
        best = max(best, (fit / sum(weights), literal / sum(weights), mask))
    return best[2], best[0], best[1]


class Cue(NamedTuple):
    """A phrase that asks for something: tokens `first` up to but not including `end`."""

    kind: str
    first: int
    end: int
    mask: int
    word: str  # its last


@lru_cache(maxsize=256)  # a question is asked about one column after the other
def cues(question: str) -> list[Cue]:
    """The cues in a question, of each kind the longest that starts at a word, without parts of longer cues."""
    text = tokens(question)
    lows = [token.low for token in text]
    found: list[tuple[str, int, int]] = []
    for first, low in enumerate(lows):
        kinds: dict[str, int] = {}
        for words, kind in _CUES.get(low, ()) if not text[first].quoted else ():
            if tuple(lows[first : first + len(words)]) == words:
                kinds.setdefault(kind, first + len(words))
        if low.endswith("est") and len(low) > 4 and not kinds.keys() & {"max", "min"}:
            kinds["max"] = first + 1
        if low.endswith("er") and lows[first + 1 : first + 2] == ["than"] and not kinds:
            kinds["more"] = first + 2
        found += ((kind, first, end) for kind, end in kinds.items())

    def part(cue: tuple[str, int, int]) -> bool:
        """Whether it is a part of a longer one, as "least" is of "at least"."""
        extreme = cue[0] in {"max", "min"}
        return any(
            start <= cue[1] and cue[2] <= end and end - start > cue[2] - cue[1]
            for kind, start, end in found
            if kind != "wh" and not (extreme and kind in {"most", "fewest"})
        )

    return [
        Cue(k, a, b, (1 << b) - (1 << a), lows[b - 1]) for k, a, b in found if not part((k, a, b))
    ]
