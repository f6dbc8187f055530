"""Find which words of a question speak of which tables, columns and values, and what they ask for.

english.json has the stopwords, the irregular forms, and the phrases that ask for something.
"""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from workbench.types import Column, Schema, Table, lower_name

_ENGLISH = json.loads(
    Path(__file__).with_name("english.json").read_text(encoding="utf-8")
)
WORDS = {kind: frozenset(words) for kind, words in _ENGLISH["words"].items()}
STOPWORDS = WORDS["stop"]
_TOKEN = re.compile(
    r"\d{4}-\d\d(?:-\d\d)?(?![\d-])|\d+(?:,\d{3})*(?:\.\d+)?(?![^\W_])"
    r"|[^\W_]+(?:['\u2019][^\W\d_]+)?|[%<>=≥≤]+|[,;.?!:()]"
)
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_QUOTED = re.compile(
    r"(?<!\w)'((?:[^'\n]|'(?=\w)){1,80})'(?!\w)"
    r"|[\"\u201c]([^\"\u201c\u201d\n]{1,80})[\"\u201d]"
    r"|\u2018([^\u2019\n]{1,80})\u2019"
)
_STEMMING = (  # of a word of four letters or more; the rest need not be a word
    (re.compile(r"(?<=..)ies$"), "y"),
    (re.compile(r"(?<=ss|sh|ch)es$|(?<=[xz])es$|(?<=[^su])(?<!i)s$"), ""),
    (
        re.compile(
            r"(?<=.{4})(?:ments?|ations?|ings?|ions?|ers?|ors?|ed|ly|al|ity|est)$"
        ),
        "",
    ),
    (re.compile(r"([^aeioulsz])\1$"), r"\1"),
    (re.compile(r"(?<=...)e$"), ""),
    (re.compile(r"(?<=...)y$"), "i"),
)
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LONGEST_CUE = 4  # words


def _by_word(lists: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the names of the lists that have a word."""
    names: dict[str, list[str]] = defaultdict(list)
    for name, words in lists.items():
        for word in words:
            names[word].append(name)
    return names


_CUES = _by_word(_ENGLISH["cues"])
_NUMBERS = _by_word(_ENGLISH["numbers"])
_FORMS = _by_word(_ENGLISH["forms"])


class Token(NamedTuple):
    """A word, number or mark of a text."""

    text: str
    low: str
    stem: str
    number: str  # its digits
    content: bool  # no stopword, number or mark
    name: bool  # in quotes, or written with a capital though no sentence starts here


@lru_cache(maxsize=8192)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text, without possessive endings."""
    quoted: set[int] = set()
    for match in _QUOTED.finditer(text):
        quoted.update(range(*match.span()))
    read = []
    starts = True  # a sentence
    for match in _TOKEN.finditer(text):
        word = _POSSESSIVE.sub("", match[0])
        low = word.lower()
        number = _number(low)
        capital = word[0].isupper() and not starts
        name = capital or match.start() in quoted
        content = word[0].isalnum() and not number and (name or low not in STOPWORDS)
        read.append(Token(word, low, stem(low), number, content, name))
        starts = low in WORDS["ends"]
    return tuple(read)


def _number(low: str) -> str:
    """Return the digits of a number, "" for another word."""
    digits = low.replace(",", "")
    if _NUMBER.fullmatch(digits):
        return digits
    return _NUMBERS[low][0] if low in _NUMBERS else ""


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a word without accents and without the endings that grammar gives it."""
    if not word.isascii():
        letters = unicodedata.normalize("NFKD", word)
        word = "".join(
            letter for letter in letters if not unicodedata.combining(letter)
        )
    if word in _FORMS:
        word = _FORMS[word][0]
    if len(word) < 4 or not word.isalpha():
        return word
    for pattern, ending in _STEMMING:
        word = pattern.sub(ending, word)
    return word


@lru_cache(maxsize=16384)
def name_words(name: str) -> tuple[str, ...]:
    """Return the stems of an identifier's parts, the same for first_name and FirstName."""
    parts = [part.lower() for part in _NAME_PART.findall(name)]
    telling = [part for part in parts if part not in WORDS["small"]]
    return tuple(map(stem, telling or parts))


class Cue(NamedTuple):
    """A phrase that asks for something, and the tokens that it is."""

    kind: str
    first: int
    end: int

    @property
    def mask(self) -> int:
        return (1 << self.end) - (1 << self.first)


@lru_cache(maxsize=256)
def cues(question: str) -> list[Cue]:
    """Return the cues in a question: at each word the longest phrase, perhaps of several kinds."""
    lows = [token.low for token in tokens(question)]
    read = []
    first = 0
    while first < len(lows):
        end, kinds = _cue_at(lows, first)
        read += [Cue(kind, first, end) for kind in kinds]
        first = end
    return read


def _cue_at(lows: Sequence[str], first: int) -> tuple[int, Sequence[str]]:
    """Return where the longest cue that begins at a word ends, and its kinds."""
    for end in range(min(first + _LONGEST_CUE, len(lows)), first, -1):
        phrase = " ".join(lows[first:end])
        if phrase in _CUES:
            return end, _CUES[phrase]
    return first + 1, []


@dataclass(frozen=True, eq=False, repr=False)
class Sheet:
    """A table with what is known of it."""

    name: str
    words: tuple[str, ...]
    fields: list["Field"]

    @cached_property
    def key(self) -> "Pieces":
        """The columns of its primary key."""
        return tuple(field for field in self.fields if field.key == "primary")

    @cached_property
    def label(self) -> "Pieces":
        """What names a row: first name and surname, else a name, else the key."""
        texts = [field for field in self.fields if field.may_name]
        first = [field for field in texts if field.says("first")]
        last = [field for field in texts if field.says("last")]
        if first and last and first[0] is not last[-1]:
            return (first[0], ", ", last[-1])
        names = [field for field in texts if field.says("names")]
        return (names[0],) if names else self.key[:1] or (self.fields[0],)


@dataclass(frozen=True, eq=False, slots=True)
class Field:
    """A column with what is known of it."""

    sheet: Sheet
    name: str
    words: tuple[str, ...]
    heading: tuple[
        str, ...
    ]  # its name, written out, if its description begins with that
    kind: str  # number, text or date
    key: str  # primary, foreign or ""
    examples: tuple[str, ...]

    @property
    def may_name(self) -> bool:
        """Whether it may hold what a thing is called."""
        return self.kind == "text" and self.key != "foreign" and not self.says("dated")

    def says(self, kind: str) -> bool:
        """Return whether its name has a word of this kind."""
        return not _STEMS[kind].isdisjoint((*self.words, *self.heading))


_STEMS = {kind: frozenset(map(stem, words)) for kind, words in WORDS.items()}
Pieces = tuple[str | Field, ...]  # SQL with the columns in it


def fields_of(pieces: Iterable[str | Field]) -> list[Field]:
    """Return the columns in a piece of SQL, in their order."""
    return [piece for piece in pieces if isinstance(piece, Field)]


class Join(NamedTuple):
    """A foreign key of one table to another."""

    child: Sheet
    parent: Sheet
    on: Pieces


class Tree(NamedTuple):
    """Tables in the order in which joins reach them, each join one table more."""

    sheets: list[Sheet]
    joins: list[Join]


class Index:
    """A schema's tables, columns and joins."""

    def __init__(self, schema: Schema) -> None:
        self.sheets = [_sheet(table) for table in schema.tables]
        self.fields: list[Field] = []
        self.named: dict[str, list[Field]] = defaultdict(list)  # columns by their names
        for sheet in self.sheets:
            self.fields += sheet.fields
        for field in self.fields:
            self.named[lower_name(field.name)].append(field)
        self.joins: list[Join] = []
        for sheet, table in zip(self.sheets, schema.tables, strict=True):
            for key in table.foreign_keys:
                (parent,) = [
                    other for other in self.sheets if other.name == key.ref_table
                ]
                on: list[str | Field] = []
                for name, ref in zip(key.columns, key.ref_columns, strict=True):
                    on += [
                        " AND ",
                        *self.find(name, sheet),
                        " = ",
                        *self.find(ref, parent),
                    ]
                if parent is not sheet:
                    self.joins.append(Join(sheet, parent, tuple(on[1:])))

    def find(self, column: str, sheet: Sheet | None = None) -> list[Field]:
        """Return the columns of a name, of all tables or of one."""
        fields = self.named.get(lower_name(column), [])
        return [field for field in fields if sheet in (None, field.sheet)]

    def connect(self, sheets: Iterable[Sheet]) -> "Tree | None":
        """Return a tree of joins that connects these tables; None if there is none.

        The smallest of all is slow to find; growing to the nearest table nearly always finds it.
        """
        missing = [sheet for sheet in self.sheets if sheet in sheets]
        tree = Tree(missing[:1], [])
        while missing:
            path = self._path(tree.sheets, missing)
            if path is None:
                return None
            for join in path:
                tree.joins.append(join)
                tree.sheets.append(
                    join.parent if join.child in tree.sheets else join.child
                )
            missing = [sheet for sheet in missing if sheet not in tree.sheets]
        return tree

    def _path(
        self, reached: Sequence[Sheet], missing: Sequence[Sheet]
    ) -> list[Join] | None:
        """Return the fewest joins from some tables to a missing one."""
        paths: dict[Sheet, list[Join]] = {sheet: [] for sheet in reached}
        queue = [*paths]
        for sheet in queue:  # breadth first; the queue grows as it is read
            path = paths[sheet]
            if sheet in missing:
                return path
            for join in self.joins:
                for near, far in ((join.child, join.parent), (join.parent, join.child)):
                    if near is sheet and far not in paths:
                        paths[far] = [*path, join]
                        queue.append(far)
        return None


index = lru_cache(maxsize=256)(
    Index
)  # questions in a row are about one schema or its columns


def _sheet(table: Table) -> Sheet:
    sheet = Sheet(table.name, name_words(table.name), [])
    keys: dict[str, str] = {}
    for key in table.foreign_keys:
        keys |= dict.fromkeys(key.columns, "foreign")
    keys |= dict.fromkeys(table.primary_key, "primary")
    for column in table.columns:
        sheet.fields.append(_field(sheet, column, keys.get(column.name, "")))
    return sheet


def _field(sheet: Sheet, column: Column, key: str) -> Field:
    """Return what is known of a column from its name, type, description and examples."""
    words = name_words(column.name)
    opening = re.split(r"[;:(,]| in ", column.description, maxsplit=1)[0]
    heading = name_words(opening.lower())
    examples = [str(value) for value in column.examples if value is not None]
    return Field(
        sheet=sheet,
        name=column.name,
        words=words,
        heading=heading if len(heading) <= 4 else (),
        kind=_kind(column.type.upper(), examples),
        key=key,
        examples=tuple(examples),
    )


def _kind(declared: str, examples: Sequence[str]) -> str:
    if examples and all(map(_DATE.match, examples)):
        return "date"
    if re.search("INT|REAL|NUM|DEC|FLO|DOU", declared):
        return "number"
    if examples and all(map(_NUMBER.fullmatch, examples)):
        return "number"
    return "date" if "DATE" in declared else "text"


class Mention(NamedTuple):
    """Tokens that may speak of a table, a column or a value."""

    mask: int
    part: float  # of its words that are said
    clause: int = 0  # of the hint, that says so

    @property
    def first(self) -> int:
        return lowest(self.mask)


@lru_cache(maxsize=65536)  # prompts about a question show the same names and values
def mentions(words: tuple[str, ...], question: str) -> list[Mention]:
    """Return where a question says words next to each other, the most of them first."""
    alike: dict[int, float] = {}
    beginnings = _by_beginning(question)
    for word in words:
        for place, other in beginnings.get(word[:4], ()):
            if other == word:
                alike[place] = 1.0
            elif other.startswith(word) or word.startswith(other):
                alike.setdefault(place, 0.8)
    places = sorted(alike)
    read = []
    for start in places:
        near = [place for place in places if start <= place <= start + len(words)]
        part = sum(alike[place] for place in near) / len(words)
        mask = union(1 << place for place in near)
        read.append(Mention(mask, round(min(1.0, part), 3)))
    return sorted(read, key=lambda mention: (-mention.part, mention.mask))[:3]


@lru_cache(maxsize=256)
def _by_beginning(question: str) -> dict[str, list[tuple[int, str]]]:
    """Return the stems of a question, with their places, by their first four letters."""
    read: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for place, token in enumerate(tokens(question)):
        if (
            place > 0 or token.low not in WORDS["commands"]
        ):  # "Name" is a column only later on
            read[token.stem[:4]].append((place, token.stem))
    return read


@lru_cache(maxsize=65536)
def words_of(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text."""
    return tuple(token.stem for token in tokens(text) if token.low[0].isalnum())


def lowest(mask: int) -> int:
    """Return the first token of a mask; -1 without any."""
    return (mask & -mask).bit_length() - 1


def union(masks: Iterable[int]) -> int:
    """Return all the bits of some masks."""
    result = 0
    for mask in masks:
        result |= mask
    return result
