"""Find which words of a question speak of which tables, columns and values, and what they ask for.

english.json has the stopwords, the irregular forms, and the phrases that ask for something.
"""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import filterfalse
from pathlib import Path
from typing import NamedTuple

from workbench.sql.reading import quote
from workbench.types import Column, ForeignKey, Schema, Table, lower_name

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
_STEMMING = (  # of a word of four letters or more; the rest need not be a word
    (re.compile(r"(?<=..)ies$"), "y"),  # cities
    # Boxes, ships.
    (re.compile(r"(?<=ss|sh|ch)es$|(?<=[xz])es$|(?<=[^su])(?<!i)s$"), ""),
    (
        re.compile(  # payments, registered, nationality
            r"(?<=.{4})(?:ments?|ations?|ings?|ions?|ers?|ors?|ed|ly|al|ity|est)$"
        ),
        "",
    ),
    (re.compile(r"([^aeioulsz])\1$"), r"\1"),  # shipp(ed)
    (re.compile(r"(?<=...)e$"), ""),  # name, nam(ed)
    (re.compile(r"(?<=...)y$"), "i"),  # country
)
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NUMERIC = re.compile("INT|REAL|NUM|DEC|FLO|DOU")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ALIKE = 0.8  # what a word counts as that begins like another


_NUMBERS: dict[str, str] = _ENGLISH["numbers"]
_CUES: dict[str, list[str]] = defaultdict(list)  # what each phrase asks for
for _kind_of_cue, _phrases in _ENGLISH["cues"].items():
    for _phrase in _phrases:
        _CUES[_phrase].append(_kind_of_cue)
_ANY_CUE = "|".join(map(re.escape, sorted(_CUES, key=len, reverse=True)))
_CUE = re.compile(rf"(?<!\S)(?:{_ANY_CUE})(?!\S)")


class Token(NamedTuple):
    """A word, number or mark of a text."""

    text: str
    low: str
    stem: str
    number: str  # its digits
    content: bool  # no stopword, number or mark
    name: bool  # written with a capital though no sentence starts here


@lru_cache(maxsize=8192)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text, without possessive endings."""
    read = []
    starts = True  # a sentence
    for match in _TOKEN.finditer(text):
        word = _POSSESSIVE.sub("", match[0])
        low = word.lower()
        number = low.replace(",", "")
        if not _NUMBER.fullmatch(number):
            number = _NUMBERS.get(low, "")
        name = word[0].isupper() and not starts
        content = word[0].isalnum() and not number and (name or low not in STOPWORDS)
        read.append(Token(word, low, stem(low), number, content, name))
        starts = low in WORDS["ends"]
    return tuple(read)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a word without accents and without the endings that grammar gives it."""
    if not word.isascii():
        letters = unicodedata.normalize("NFKD", word)
        word = "".join(filterfalse(unicodedata.combining, letters))
    if len(word) < 4 or not word.isalpha():
        return word
    for pattern, ending in _STEMMING:
        word = pattern.sub(ending, word)
    return word


_STEMS = {kind: frozenset(map(stem, words)) for kind, words in WORDS.items()}


@lru_cache(maxsize=16384)
def name_words(name: str) -> tuple[str, ...]:
    """Return the stems of an identifier's parts, the same for first_name and FirstName."""
    parts = [part.lower() for part in _NAME_PART.findall(name)]
    return tuple(stem(part) for part in parts if part not in WORDS["small"])


class Cue(NamedTuple):
    """A phrase that asks for something, and where it stands: from a token up to another."""

    kind: str
    first: int
    end: int

    @property
    def places(self) -> frozenset[int]:
        """The places of its tokens."""
        return frozenset(range(self.first, self.end))


@lru_cache(maxsize=256)
def cues(question: str) -> list[Cue]:
    """Return the cues in a question: at each word the longest phrase, perhaps of several kinds."""
    text = " ".join(token.low for token in tokens(question))
    read = []
    for match in _CUE.finditer(text):
        first = text.count(" ", 0, match.start())
        end = first + len(match[0].split())
        read += [Cue(kind, first, end) for kind in _CUES[match[0]]]
    return read


@dataclass(eq=False, repr=False)
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
        names = [field for field in self.fields if field.names("row")]
        parts = [field for field in self.fields if field.names("person")][:2]
        if len(parts) == 2:
            return (parts[0], ", ", parts[1])
        return tuple([*names, *self.key, *self.fields][:1])


@dataclass(frozen=True, eq=False, slots=True)
class Field:
    """A column with what is known of it."""

    sheet: Sheet
    name: str
    words: tuple[str, ...]
    heading: tuple[str, ...]  # its name, written out, if a description begins so
    kind: str  # number, text or date
    key: str  # primary, foreign or ""
    examples: tuple[str, ...]

    def names(self, kind: str) -> bool:
        """Return whether it may hold what such a thing is called."""
        is_text = self.kind == "text" and self.key != "foreign"
        return is_text and self.says(kind) and not self.says("dated")

    def says(self, kind: str) -> bool:
        """Return whether its name has a word of this kind."""
        return not _STEMS[kind].isdisjoint((*self.words, *self.heading))


Pieces = tuple[str | Field, ...]  # SQL with the columns in it


def fields_of(pieces: Iterable[str | Field]) -> list[Field]:
    """Return the columns in a piece of SQL, in their order."""
    return [piece for piece in pieces if isinstance(piece, Field)]


class Joined(NamedTuple):
    """A table with the condition of the join that reaches it; the first has none."""

    sheet: Sheet
    on: str


class Index:
    """A schema's tables, columns and joins."""

    def __init__(self, schema: Schema) -> None:
        """Read the tables, then the keys between them."""
        self.sheets = [_sheet(table) for table in schema.tables]
        self.named: dict[str, list[Field]] = defaultdict(list)  # columns by their names
        for sheet in self.sheets:
            for field in sheet.fields:
                self.named[lower_name(field.name)].append(field)
        self.joins: dict[Sheet, list[Joined]] = defaultdict(list)  # from each table
        by_name = {lower_name(sheet.name): sheet for sheet in self.sheets}
        for child, table in zip(self.sheets, schema.tables, strict=True):
            for key in table.foreign_keys:
                parent = by_name.get(lower_name(key.ref_table))
                if parent and parent is not child:
                    on = _condition(key, child, parent)
                    self.joins[child].append(Joined(parent, on))
                    self.joins[parent].append(Joined(child, on))

    def find(self, column: str) -> list[Field]:
        """Return the columns of a name, of all tables."""
        return self.named.get(lower_name(column), [])

    def connect(self, wanted: Collection[Sheet]) -> list[Joined] | None:
        """Return joins that connect these tables; None if there are none.

        The fewest of all are slow to find; growing to the nearest table nearly always finds them.
        """
        missing = [sheet for sheet in self.sheets if sheet in wanted]
        tree = [Joined(sheet, "") for sheet in missing[:1]]
        while missing:
            paths: dict[Sheet, list[Joined]] = {joined.sheet: [] for joined in tree}
            queue = [*paths]
            for sheet in queue:  # breadth first; the queue grows as it is read
                for joined in self.joins[sheet]:
                    if joined.sheet not in paths:
                        paths[joined.sheet] = [*paths[sheet], joined]
                        queue.append(joined.sheet)
            nearest = next((sheet for sheet in queue if sheet in missing), None)
            if nearest is None:
                return None
            tree += paths[nearest]
            missing.remove(nearest)
        return tree


@lru_cache(maxsize=256)  # questions in a row are about one schema or its columns
def index(schema: Schema) -> Index:
    """Return what is known of a schema."""
    return Index(schema)


def _condition(key: ForeignKey, child: Sheet, parent: Sheet) -> str:
    """Return the condition of a join by a foreign key."""
    equations = []
    for name, ref in zip(key.columns, key.ref_columns, strict=False):
        left = f"{quote(child.name)}.{quote(name)}"
        equations.append(f"{left} = {quote(parent.name)}.{quote(ref)}")
    return " AND ".join(equations)


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
    opening = re.split(r"[;:(,]| in ", column.description, maxsplit=1)[0]
    heading = name_words(opening.lower())
    examples = tuple(str(value) for value in column.examples if value is not None)
    return Field(
        sheet=sheet,
        name=column.name,
        words=name_words(column.name),
        heading=heading if len(heading) <= 4 else (),
        kind=_kind(column.type.upper(), examples),
        key=key,
        examples=examples,
    )


def _kind(declared: str, examples: Sequence[str]) -> str:
    if "DATE" in declared or (examples and all(map(_DATE.match, examples))):
        return "date"
    is_number = examples and all(map(_NUMBER.fullmatch, examples))
    return "number" if is_number or _NUMERIC.search(declared) else "text"


class Mention(NamedTuple):
    """Tokens that may speak of a table, a column or a value."""

    places: frozenset[int]
    share: float  # of its words that are said
    clause: int = 0  # of the hint, that says so; the first is 1

    @property
    def first(self) -> int:
        """The place of its first token."""
        return min(self.places, default=-1)


NOTHING = Mention(frozenset(), 0.0)


@lru_cache(maxsize=65536)  # prompts about a question show the same names and values
def mentions(words: tuple[str, ...], question: str) -> list[Mention]:
    """Return where a question says words next to each other, the most of them first.

    One other word may stand between.
    """
    alike: dict[int, float] = {}
    beginnings = _by_beginning(question)
    for word in words:
        for place, said in beginnings.get(word[:4], ()):
            if said == word:
                alike[place] = 1.0
            elif said.startswith(word) or word.startswith(said):
                alike.setdefault(place, _ALIKE)
    read = []
    for start in sorted(alike):
        end = start + len(words) + 1
        places = frozenset(alike.keys() & range(start, end))
        total = sum(alike[place] for place in sorted(places))
        share = min(1.0, total / len(words))
        read.append(Mention(places, round(share, 3)))
    read.sort(key=lambda mention: -mention.share)
    return read[:3]


@lru_cache(maxsize=256)
def _by_beginning(question: str) -> dict[str, list[tuple[int, str]]]:
    """Return the stems of a question, with their places, by their first four letters."""
    read: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for place, token in enumerate(tokens(question)):
        # "Name" and the like are columns only later on.
        if place > 0 or token.low not in WORDS["commands"]:
            read[token.stem[:4]].append((place, token.stem))
    return read


@lru_cache(maxsize=65536)
def words_of(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text."""
    return tuple(token.stem for token in tokens(text) if token.low[0].isalnum())
