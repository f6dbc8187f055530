"""The words of a text, and a schema that is prepared for linking by the words of its names.

The lists of words, and of phrases that ask for operations, stand in english.txt.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from rapidfuzz.fuzz import ratio

from workbench.types import Column, Schema, lower_name

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
        total = sum(weights)
        best = max(best, (round(fit / total, 6), round(literal / total, 6), mask))
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


_NAMES, _FIRST, _LAST, _DATED = (
    frozenset(map(stem, WORDS[kind])) for kind in ("names", "first", "last", "dated")
)
_FORMATS = {
    "iso": r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d.*)?",
    "dmy": r"\d\d[/.]\d\d[/.]\d{4}.*",
    "ymd": r"(1[6-9]|20)\d\d(0[1-9]|1[0-2])[0-3]\d|\d{4}/\d\d/\d\d.*|\d{4}-\d\d",
    "year": r"(1[6-9]|20)\d\d",
}
_YEAR_AT = {"dmy": 7, "ymd": 1}  # the character where the year begins, where STRFTIME cannot tell
_WORD = re.compile(r"[^\W\d_]+|\d+")
_LONGEST = 4  # joins from one table to another

Pieces = tuple[str | int, ...]  # SQL with the ids of columns in it


@dataclass(slots=True)
class Field:
    """A column with what is known of it; `id` numbers the columns of a schema from 0."""

    id: int
    table: int
    name: str
    words: tuple[str, ...]
    heading: tuple[str, ...]  # its name, written out, if its description begins with that
    about: frozenset[str]  # the stems of its name and its description
    kind: str  # number, text or date
    dates: str  # the format of its dates, or ""
    key: str  # primary, foreign or ""
    named: bool  # whether it holds what a thing is called
    examples: tuple[str, ...]

    def part(self, part: str) -> Pieces:
        """The year (%Y), month (%m) or day (%d) of its dates, as text; a year stays a number."""
        if (self.dates, part) == ("year", "%Y") or self.kind == "number":
            return (self.id,)
        if part == "%Y" and self.dates in _YEAR_AT:
            return ("SUBSTR(", self.id, f", {_YEAR_AT[self.dates]}, 4)")
        return (f"STRFTIME('{part}', ", self.id, ")")


class Sheet(NamedTuple):
    """A table with what is known of it; `id` numbers the tables of a schema from 0."""

    id: int
    name: str
    words: tuple[str, ...]
    key: tuple[int, ...]
    label: tuple[int, ...]  # the columns that say what a row is called


class Edge(NamedTuple):
    """A join: columns of the table `child` that point at columns of the table `parent`."""

    child: int
    parent: int
    pairs: tuple[tuple[int, int], ...]


class Tree(NamedTuple):
    """Joins that connect some tables."""

    tables: tuple[int, ...]
    edges: tuple[Edge, ...]


class Index:
    """A schema's columns, tables and foreign keys by number, and what finds them."""

    def __init__(self, schema: Schema) -> None:
        self.fields: list[Field] = []
        self.sheets: list[Sheet] = []
        self.keys: list[Edge] = []
        self.joins: dict[int, list[Edge]] = defaultdict(list)  # the keys by either table
        self.named: dict[str, list[int]] = {}  # columns by their own names
        places: dict[tuple[str, str], int] = {}
        for number, table in enumerate(schema.tables):
            foreign = {lower_name(c) for k in table.foreign_keys for c in k.columns}
            primary = {lower_name(c) for c in table.primary_key}
            own: list[Field] = []
            for place, column in enumerate(table.columns, len(self.fields)):
                name = lower_name(column.name)
                key = "primary" if name in primary else "foreign" if name in foreign else ""
                places[lower_name(table.name), name] = place
                self.named.setdefault(name, []).append(place)
                own.append(_field(place, number, column, key))
            self.fields += own
            keys = tuple(column.id for column in own if column.key == "primary")
            words = name_words(table.name)
            self.sheets.append(Sheet(number, table.name, words, keys, _label(own)))
        for number, table in enumerate(schema.tables):
            for link in table.foreign_keys:
                ends = ((table.name, link.columns), (link.ref_table, link.ref_columns))
                child, parent = (
                    [places.get((lower_name(name), lower_name(c)), -1) for c in columns]
                    for name, columns in ends
                )
                target = self.fields[parent[0]].table
                if min(*child, *parent) >= 0 and target != number:
                    edge = Edge(number, target, tuple(zip(child, parent, strict=True)))
                    self.keys.append(edge)
                    self.joins[number].append(edge)
                    self.joins[target].append(edge)

    def where(self, column: int) -> tuple[str, str]:
        """The names of a column's table and of the column."""
        found = self.fields[column]
        return self.sheets[found.table].name, found.name

    @cached_property
    def words(self) -> dict[str, float]:
        """The weight of each stem, from 0 to 1: the fewer columns have it, the higher, as in retrieval."""
        seen = Counter(
            word for some in (self.fields, self.sheets) for one in some for word in {*one.words}
        )
        seen.update(word for column in self.fields for word in column.about - {*column.words})
        total = math.log(1 + len(self.fields)) or 1.0
        count = len(self.fields)
        return {word: round(math.log(1 + count / n) / total, 6) for word, n in seen.items()}

    @cached_property
    def mention(self) -> re.Pattern[str]:
        """Finds columns, with their tables perhaps, and texts in quotes."""
        plain = [name for name in self.named if not name.isdigit() and "`" not in name]
        columns, tables = (
            "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
            for names in (plain, [lower_name(sheet.name) for sheet in self.sheets])
        )
        name = rf"(?:[`\"]?(?P<table>{tables})[`\"]?\.)?(?P<q>[`\"]?)(?P<column>{columns})(?P=q)"
        texts = r"'(?:[^']|'')*'"
        return re.compile(rf"{texts}|(?<![\w.]){name}(?![\w(])|\"[^\"]*\"", re.IGNORECASE)

    def tree(self, tables: frozenset[int]) -> Tree | None:
        """Joins that connect these tables: a tree grown to the nearest of them, again and again.

        The shortest tree of all is a Steiner tree and too slow to find; this one is nearly always it.
        """
        order, edges = sorted(tables)[:1], dict[Edge, None]()
        while missing := tables - {*order}:
            paths: dict[int, tuple[Edge, ...]] = dict.fromkeys(sorted(order), ())
            for table in (queue := [*paths]):  # breadth first; the queue grows as it is read
                for edge in self.joins[table]:
                    for other in {edge.child, edge.parent} - paths.keys():
                        paths[other] = (*paths[table], edge)
                        queue.append(other)
            path = next((paths[table] for table in queue if table in missing), ())
            if not 0 < len(path) <= _LONGEST:
                return None
            edges |= dict.fromkeys(path)
            order += {end for edge in path for end in edge[:2]} - {*order}
        return Tree((order[0], *sorted(order[1:])), tuple(edges)) if order else None


index = lru_cache(maxsize=256)(Index)  # questions in a row are about one schema or its columns


def _field(number: int, table: int, column: Column, key: str) -> Field:
    words, description = name_words(column.name), column.description
    # The column's name as its description writes it out, if it begins with that.
    said = _WORD.findall(re.split(r"[;:(,]| in ", description, maxsplit=1)[0].lower())
    telling = dict.fromkeys(stem(w) for w in said if w not in WORDS["small"])
    heading = tuple(telling) if len(telling) <= 4 else ()
    stems = (stem(w) for w in _WORD.findall(description.lower()) if w not in STOPWORDS)
    about = frozenset(stems).union(words, heading)
    examples, typed = [str(v) for v in column.examples if v is not None], column.type.upper()

    def written(form: str) -> bool:
        return bool(examples) and all(re.fullmatch(form, value) for value in examples)

    dates = next((name for name, form in _FORMATS.items() if written(form)), "")
    dates = "" if dates == "year" and not about & _DATED else dates
    numeric = re.search("INT|REAL|NUM|DEC|FLO|DOU", typed) or written(r"-?\d+(\.\d+)?")
    kind = "number" if numeric else "text"
    if dates or "DATE" in typed or (not numeric and not examples and about & _DATED):
        kind, dates = "date", dates or "iso"
    named = kind == "text" and bool(_NAMES & ({*words} if key else about))
    known = (words, heading, about, kind, dates, key, named, tuple(examples))
    return Field(number, table, column.name, *known)


def _label(columns: list[Field]) -> tuple[int, ...]:
    """The columns that say what a row is called: a first name and a surname, a title, a name, else the key."""
    texts = [column for column in columns if column.kind == "text" and column.key != "foreign"]
    first, last = ([c for c in texts if c.about & words] for words in (_FIRST, _LAST))
    if people := [(a.id, b.id) for a in first for b in last if a is not b]:
        return people[0]
    keys = [column for column in columns if column.key == "primary"]
    best = [c for c in texts if c.named] or texts or keys or columns
    return tuple(column.id for column in best[:1])


def columns_of(parts: Iterable[Pieces]) -> list[int]:
    """The columns in some pieces of SQL, in their order."""
    return [piece for pieces in parts for piece in pieces if isinstance(piece, int)]
