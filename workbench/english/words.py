"""Words of questions, names and descriptions, and how alike two of them are."""

import re
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.fuzz import ratio

_TOKEN = re.compile(
    r"\d{4}-\d\d(?:-\d\d)?(?![\d-])|\d{1,2}[/.]\d{1,2}[/.]\d{4}|\d+(?:,\d{3})*(?:\.\d+)?(?![^\W_])"
    r"|(?:[^\W\d_]\.){2,}|[^\W_]+(?:['\u2019][^\W\d_]+)?|[%<>=≥≤]+|[,;.?!:()]"
)
_QUOTED = re.compile(
    r"(?<!\w)'((?:[^'\n]|'(?=\w)){1,80})'(?!\w)|[\"\u201c]([^\"\u201c\u201d\n]{1,80})[\"\u201d]|\u2018([^\u2019\n]{1,80})\u2019"
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")
_ENDINGS = (
    "ments", "ment", "ations", "ation", "ings", "ing", "ions", "ion", "ers", "er", "ors", "or",
    "ed", "ly", "al", "ity", "est"
)  # fmt: skip
_IRREGULAR = {
    "people": "person", "persons": "person", "men": "man", "women": "woman", "children": "child",
    "wrote": "write", "written": "write", "won": "win", "made": "make", "built": "build",
    "sold": "sell", "bought": "buy", "paid": "pay", "born": "birth", "sent": "send", "held": "hold",
    "taught": "teach", "spoken": "speak", "flew": "fly", "grew": "grow", "weigh": "weight",
    "weighs": "weight", "died": "death", "dead": "death", "began": "begin", "started": "start",
    "long": "length", "high": "height", "deep": "depth", "wide": "width", "dates": "date",
    "rate": "rate", "rates": "rate", "data": "data", "media": "media", "status": "status",
    "num": "number", "no": "number", "nr": "number", "qty": "quantity", "dob": "birth",
    "tel": "telephone", "desc": "description", "amt": "amount", "addr": "address", "yr": "year"
}  # fmt: skip
NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
    "fifty": 50, "hundred": 100, "thousand": 1000, "once": 1, "twice": 2, "thrice": 3, "dozen": 12,
    "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
    "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20
}  # fmt: skip
STOPWORDS = frozenset(
    re.findall(
        r"\S+",
        """a an the of in on at to for from by with and or is are was were be been being do does did have has
    had having that which who whom whose what when where why how this these those there it its their they
    he she his her him them i we you me my our us as than then so such if any all some each every list show
    give find name tell state provide please also only just not no can could would will shall should may
    into out up about over under between among both either during after before within across per along many
    much more most less least number count total first last one ones other another same different distinct
    unique return display identify indicate calculate compute determine report get s t ? , . ; : ( ) !
    regarding respectively belong belongs corresponding exist exists contain contains using used use
    """,
    )
)


_SMALL = frozenset({"of", "the", "in", "and", "for", "by", "to", "a", "an", "on", "at"})


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or mark of a text, and where it stands. `quoted` numbers the quotation it is in."""

    text: str
    low: str
    stem: str
    start: int
    end: int
    number: float | None
    quoted: int
    content: bool
    capital: bool  # written with a capital though no sentence starts here


@lru_cache(maxsize=512)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text; possessive endings are dropped."""
    quotes = [m.span() for m in _QUOTED.finditer(text)]
    found: list[Token] = []
    starts = True
    for match in _TOKEN.finditer(text):
        word = re.sub(r"['\u2019]s?$", "", match[0])
        word = word.replace(".", "") if re.fullmatch(r"(?:[^\W\d_]\.)+", word) else word
        low = word.lower()
        quoted = next((i for i, (a, b) in enumerate(quotes, 1) if a <= match.start() < b), 0)
        plain = low.replace(",", "")
        number = float(plain) if re.fullmatch(r"\d+(\.\d+)?", plain) else None
        if number is None and low in NUMBERS and not quoted:
            number = float(NUMBERS[low])
        content = bool(quoted and word[0].isalnum()) or (
            low not in STOPWORDS and (word[0].isalnum() and number is None)
        )
        capital = not starts and word[0].isupper() and low != "i"
        span = (match.start(), match.end())
        found.append(Token(word, low, stem(low), *span, number, quoted, content, capital))
        starts = word[0] in ".?!:"
    return tuple(found)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The word without the endings that grammar gives it; not always a word."""
    word = _IRREGULAR.get(word, word)
    if len(word) < 4 or not word.isalpha() or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    word = _IRREGULAR.get(word, word)
    for ending in _ENDINGS:
        base = word.removesuffix(ending)
        if base != word and len(base) >= 4 and re.search("[aeiouy]", base):
            word = base[:-1] if base[-1] == base[-2] and base[-1] not in "lsz" else base
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word


@lru_cache(maxsize=16384)
def name_words(name: str) -> tuple[str, ...]:
    """The stems of an identifier's parts: first_name, FirstName and "First Name" are the same."""
    parts = [part.lower() for part in _PARTS.findall(name)]
    telling = [part for part in parts if part not in _SMALL] or parts
    return tuple(stem(part) for part in telling)


@lru_cache(maxsize=262144)
def alike(word: str, name: str) -> float:
    """The likeness of a stem of the question and a stem of a name: 1 for equal stems, less for parts of one."""
    if word == name:
        return 1.0
    short, long = sorted((word, name), key=len)
    if len(short) < 2 or not word[0].isalpha():
        return 0.0
    if len(short) >= 4 and name.endswith(word):
        return 0.7
    if word[0] != name[0]:
        return 0.0
    if long.startswith(short) and len(short) >= 3:
        return 0.8 if len(short) >= 4 else 0.6
    common = next(
        (i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short)
    )
    if common >= 5 and common >= 0.6 * len(long):
        return 0.7
    if len(short) >= 6 and ratio(word, name) >= 84:
        return 0.7
    if name is short and len(name) <= 5 and len(word) > len(name) and _abbreviates(name, word):
        return 0.5 if len(name) > 2 else 0.35
    return 0.0


def _abbreviates(short: str, word: str) -> bool:
    """Whether these letters occur in the word in this order, as in "qty" for quantity."""
    rest = iter(word)
    return all(letter in rest for letter in short)
