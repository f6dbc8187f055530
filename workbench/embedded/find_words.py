"""Find which words of a question speak of which tables, columns and values, and what they ask for.

english.json has the stopwords, the irregular forms, and the phrases that ask for something.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from workbench.sql.reading import quote
from workbench.types import Column, ForeignKey, Schema, Table, lower_name

_ENGLISH = json.loads(
    Path(__file__).with_name("english.json").read_text(encoding="utf-8")
)
WORDS = {kind: frozenset(words) for kind, words in _ENGLISH["words"].items()}
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
_HEADING = re.compile(r"[;:(,]| in ")  # what ends it in a description
_NUMERIC = re.compile("INT|REAL|NUM|DEC|FLO|DOU")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ALIKE = 0.8  # what a word counts as that begins like another


_NUMBERS = _ENGLISH["numbers"]
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


@lru_cache(maxsize=8192)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text, without possessive endings."""
    read = []
    for written in _TOKEN.findall(text):
        word = _POSSESSIVE.sub("", written)
        low = word.lower()
        number = low.replace(",", "")
        if not _NUMBER.fullmatch(number):
            number = _NUMBERS.get(low, "")
        is_word = word[0].isalnum() and not number
        content = is_word and low not in WORDS["stop"]
        token = Token(
            text=word,
            low=low,
            stem=stem(low),
            number=number,
            content=content,
        )
        read.append(token)
    return tuple(read)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a word without the endings that grammar gives it."""
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
    text = " ".join([token.low for token in tokens(question)])
    read = []
    for match in _CUE.finditer(text):
        phrase = match[0]
        first = text.count(" ", 0, match.start())
        end = first + phrase.count(" ") + 1
        read += [Cue(kind, first, end) for kind in _CUES[phrase]]
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
        parts = [field for field in self.fields if field.names("person")]
        if len(parts) > 1:
            return (parts[0], ", ", parts[1])
        names = [field for field in self.fields if field.names("row")]
        return (*names, *self.key, *self.fields)[:1]


@dataclass(frozen=True, eq=False, slots=True)
class Field:
    """A column with what is known of it."""

    sheet: Sheet
    name: str
    words: tuple[str, ...]
    heading: tuple[str, ...]  # its name, written out, if a description begins so
    kind: str  # number or text
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
        self.paths: dict[Sheet, dict[Sheet, list[Joined]]] = {}
        for child, table in zip(self.sheets, schema.tables, strict=True):
            for key in table.foreign_keys:
                self._join(child, key)

    def _join(self, child: Sheet, key: ForeignKey) -> None:
        """Add the joins of a foreign key, in both directions."""
        for parent in self.sheets:
            is_meant = lower_name(parent.name) == lower_name(key.ref_table)
            if is_meant and parent is not child:
                on = _condition(key, child, parent)
                self.joins[child].append(Joined(parent, on))
                self.joins[parent].append(Joined(child, on))

    def find(self, column: str) -> list[Field]:
        """Return the columns of a name, of all tables."""
        return self.named.get(lower_name(column), [])

    def connect(self, wanted: Collection[Sheet]) -> list[Joined] | None:
        """Return joins that connect these tables; None if there are none.

        The fewest of all are slow to find; the shortest from the first table to each are nearly so.
        """
        sheets = [sheet for sheet in self.sheets if sheet in wanted]
        tree: dict[Sheet, Joined] = {}
        for sheet in sheets:
            path = self._paths(sheets[0]).get(sheet)
            if path is None:
                return None
            for joined in path:
                tree.setdefault(joined.sheet, joined)
        return [*tree.values()]

    def _paths(self, start: Sheet) -> dict[Sheet, list[Joined]]:
        """Return the shortest way from a table to each that can be reached from it."""
        if start not in self.paths:
            paths = {start: [Joined(start, "")]}
            queue = [start]
            for sheet in queue:  # breadth first; the queue grows as it is read
                for joined in self.joins[sheet]:
                    if joined.sheet not in paths:
                        paths[joined.sheet] = [*paths[sheet], joined]
                        queue.append(joined.sheet)
            self.paths[start] = paths
        return self.paths[start]


index = lru_cache(maxsize=256)(Index)  # many questions in a row are about one schema


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
    opening = _HEADING.split(column.description, maxsplit=1)[0]
    heading = name_words(opening.lower())
    examples = [str(value) for value in column.examples if value is not None]
    is_number = bool(examples) and all(map(_NUMBER.fullmatch, examples))
    if _NUMERIC.search(column.type.upper()):
        is_number = True
    return Field(
        sheet=sheet,
        name=column.name,
        words=name_words(column.name),
        heading=heading if len(heading) <= 4 else (),
        kind="number" if is_number else "text",
        key=key,
        examples=tuple(examples),
    )


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


def mentions(words: tuple[str, ...], question: str) -> list[Mention]:
    """Return where a question says words next to each other, the most of them first.

    One other word may stand between.
    """
    beginnings = _by_beginning(question)
    if beginnings.keys().isdisjoint([word[:4] for word in words]):
        return []  # as of most names and values
    alike = _alike(words, beginnings)
    read = []
    for start in sorted(alike):
        end = start + len(words) + 1
        places = [place for place in range(start, end) if place in alike]
        total = sum([alike[place] for place in places])
        share = min(1.0, total / len(words))
        mention = Mention(
            places=frozenset(places),
            share=round(share, 3),
        )
        read.append(mention)
    read.sort(key=lambda mention: -mention.share)
    return read[:3]


def best_mention(words: tuple[str, ...], question: str) -> Mention:
    """Return where a question says the most of these words."""
    read = mentions(words, question)
    return read[0] if read else NOTHING


def _alike(
    words: Iterable[str], beginnings: dict[str, list[tuple[int, str]]]
) -> dict[int, float]:
    """Return the places of a question's words that are like these, and how like."""
    alike: dict[int, float] = {}
    for word in words:
        for place, said in beginnings.get(word[:4], ()):
            if said == word:
                alike[place] = 1.0
            elif said.startswith(word) or word.startswith(said):
                alike.setdefault(place, _ALIKE)
    return alike


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
