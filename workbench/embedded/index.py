"""A schema prepared for linking: the words of its names, what kind of thing a column holds, keys, and joins."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from workbench.embedded.words import STOPWORDS, WORDS, name_words, stem
from workbench.types import Column, Schema, lower_name

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
        return {word: math.log(1 + len(self.fields) / n) / total for word, n in seen.items()}

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
