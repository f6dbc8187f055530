"""A schema prepared for linking: the words of names and descriptions, kinds of columns, codes, dates."""

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

from workbench.english.words import STOPWORDS, name_words, stem
from workbench.types import Column, Schema, Table, lower_name

_FLAGS = [{"0", "1"}, {"y", "n"}, {"t", "f"}, {"yes", "no"}, {"true", "false"}]
_NAMES = frozenset(map(stem, ("name", "title", "surname", "label", "fullname")))
_FIRST = frozenset(map(stem, ("fname", "forename", "first", "given", "firstname")))
_LAST = frozenset(map(stem, ("sname", "surname", "lname", "last", "family", "lastname")))
_DATED = frozenset(map(stem, ("date", "time", "day", "birth", "year", "month")))
_FORMATS = {
    "iso": r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d.*)?",
    "dmy": r"\d\d[/.]\d\d[/.]\d{4}.*",
    "ymd": r"(1[6-9]|20)\d\d(0[1-9]|1[0-2])[0-3]\d|\d{4}/\d\d/\d\d.*|\d{4}-\d\d",
    "year": r"(1[6-9]|20)\d\d",
}
_YEAR_AT = {"dmy": 7, "ymd": 1}  # the character where the year begins, where STRFTIME cannot tell
_WORD = re.compile(r"[^\W\d_]+|\d+")
_CODE = re.compile(  # "K = cancelled; 'L': loaded"
    r"""(?:^|[\s;,.(:])(?:(['"\u2018\u2019])([^'"\u2018\u2019]{1,30})['"\u2018\u2019]|([A-Z0-9+-]{1,4}))\s*"""
    r"""(?:=|:|\u2192|\u2013|\u2014|- |means?|stands? for|is |for |refers? to|indicates?|denotes?|if )\s*"""
    r"""['"]?([^;,.\n'"=:]{2,60})"""
)


Pieces = tuple[str | int, ...]  # SQL with the ids of columns in it
Pairs = tuple[tuple[int, int], ...]  # the columns of a foreign key, and those that it points at


@dataclass(slots=True)
class Field:
    """A column with what is known of it; `id` numbers the columns of a schema from 0."""

    id: int
    table: int
    name: str
    words: tuple[str, ...]
    told: frozenset[str]  # the stems of its descriptions
    heading: tuple[str, ...]  # its name, written out, if its description begins with that
    kind: str  # number, text, date or flag
    dates: str  # the format of its dates, or ""
    key: str  # primary, foreign or ""
    named: bool  # holds what a thing is called
    codes: tuple[tuple[str, frozenset[str]], ...]  # values, and the stems of their meaning
    examples: tuple[str, ...]

    @property
    def measure(self) -> bool:
        """Is it a number of something, and no key?"""
        return self.kind == "number" and not self.key

    def about(self) -> frozenset[str]:
        """The stems of its name and of its descriptions."""
        return self.told.union(self.words)


@dataclass(slots=True)
class Sheet:
    """A table with what is known of it; `id` numbers the tables of a schema from 0."""

    id: int
    name: str
    words: tuple[str, ...]
    key: tuple[int, ...]
    label: tuple[int, ...]  # the columns that name its rows


@dataclass(slots=True, eq=False)
class Index:
    """A schema's columns and tables by number, and what finds them."""

    fields: list[Field] = field(default_factory=list)
    sheets: list[Sheet] = field(default_factory=list)
    # columns by the names of table and column, and by their own names
    by_name: dict[tuple[str, str], int] = field(default_factory=dict)
    named: dict[str, list[int]] = field(default_factory=dict)
    keys: list[tuple[int, int, Pairs]] = field(default_factory=list)  # from a table to another
    words: dict[str, float] = field(default_factory=dict)  # how much each stem tells, from 0 to 1

    def where(self, column: int) -> tuple[str, str]:
        """The names of a column's table and of the column."""
        found = self.fields[column]
        return self.sheets[found.table].name, found.name


@lru_cache(maxsize=256)  # questions in a row are about one schema, or each of its columns alone
def index(schema: Schema) -> Index:
    """The schema's index."""
    made = Index()
    for number, table in enumerate(schema.tables):
        first = len(made.fields)
        foreign = {lower_name(c) for k in table.foreign_keys for c in k.columns}
        primary = {lower_name(c) for c in table.primary_key}
        for column in table.columns:
            name = lower_name(column.name)
            key = "primary" if name in primary else "foreign" if name in foreign else ""
            made.by_name[lower_name(table.name), name] = len(made.fields)
            made.named.setdefault(name, []).append(len(made.fields))
            made.fields.append(_field(len(made.fields), number, column, key))
        made.sheets.append(_sheet(number, table, made.fields[first:]))
    seen = Counter(stem for column in made.fields for stem in column.about())
    for sheet in made.sheets:
        seen.update({*sheet.words})
    # As in retrieval, a stem tells the more, the fewer columns have it (inverse document frequency).
    total = math.log(1 + len(made.fields)) or 1.0
    made.words = {w: math.log(1 + len(made.fields) / n) / total for w, n in seen.items()}
    for sheet, table in zip(made.sheets, schema.tables, strict=True):
        for link in table.foreign_keys:
            ends = ((table.name, link.columns), (link.ref_table, link.ref_columns))
            own, others = (
                [made.by_name.get((lower_name(name), lower_name(c)), -1) for c in columns]
                for name, columns in ends
            )
            if min(*own, *others) >= 0 and made.fields[others[0]].table != sheet.id:
                pairs = tuple(zip(own, others, strict=False))
                made.keys.append((sheet.id, made.fields[others[0]].table, pairs))
    return made


def _field(number: int, table: int, column: Column, key: str) -> Field:
    words = name_words(column.name)
    text = f"{column.description} {column.value_description}"
    heading = _heading(column.description)
    told = _stems(text).union(heading)
    about = told.union(words)
    examples = tuple(str(value) for value in column.examples if value is not None)
    patterns = _FORMATS.items() if examples else ()
    dates = next((n for n, p in patterns if all(re.fullmatch(p, v) for v in examples)), "")
    if dates == "year" and not about & _DATED:
        dates = ""
    declared = column.type.upper()
    numeric = any(t in declared for t in ("INT", "REAL", "NUM", "DEC", "FLO", "DOU"))
    numeric |= bool(examples) and all(re.fullmatch(r"-?\d+(\.\d+)?", v) for v in examples)
    values = {value.lower() for value in examples}
    if values and any(values <= pair for pair in _FLAGS) and key != "primary":
        kind = "flag"
    elif dates or "DATE" in declared or (not numeric and not examples and about & _DATED):
        kind, dates = "date", dates or "iso"
    else:
        kind = "number" if numeric else "text"
    named = kind == "text" and bool(_NAMES.intersection(words) or (told & _NAMES and not key))
    codes = tuple(_codes(text)) if len(text) > 4 else ()
    return Field(
        number, table, column.name, words, told, heading, kind, dates, key, named, codes, examples
    )  # fmt: skip


def _stems(text: str) -> frozenset[str]:
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(stem(word) for word in words if word not in STOPWORDS)


def _heading(description: str) -> tuple[str, ...]:
    """The stems of a column's name as its description writes it out, if it begins with that."""
    words = _WORD.findall(re.split(r"[;:(,]| in ", description, maxsplit=1)[0])
    telling = [w.lower() for w in words if w.lower() not in {"of", "the", "a", "an", "in", "for"}]
    return tuple(dict.fromkeys(map(stem, telling))) if 1 <= len(telling) <= 4 else ()


def _codes(text: str) -> list[tuple[str, frozenset[str]]]:
    """The values that a description explains."""
    found = [(m[2] or m[3], _stems(m[4])) for m in _CODE.finditer(text)]
    return [(value, meaning) for value, meaning in found if meaning and value not in {"-", "+"}]


def _sheet(number: int, table: Table, columns: list[Field]) -> Sheet:
    key = tuple(c.id for c in columns if c.key == "primary")
    label = _label(columns) or key[:1] or tuple(c.id for c in columns[:1])
    return Sheet(number, table.name, name_words(table.name), key, label)


def _label(columns: list[Field]) -> tuple[int, ...]:
    """The columns that say what a row is called: a first name and a surname, a title, a name."""
    texts = [c for c in columns if c.kind == "text" and c.key != "foreign"]
    for first in texts:
        for last in texts:
            if first is not last and first.about() & _FIRST and last.about() & _LAST:
                return (first.id, last.id)
    return tuple(c.id for c in [c for c in texts if c.named] or texts)[:1]


def names_people(column: Field) -> bool:
    """Does its name say that it holds names?"""
    return bool((_NAMES | _FIRST | _LAST).intersection(column.words))


def part_of_date(column: Field, part: str) -> Pieces:
    """The year (%Y), month (%m) or day (%d) of a column's dates, as text; a year stays a number."""
    if (column.dates, part) == ("year", "%Y") or column.kind == "number":
        return (column.id,)
    if part == "%Y" and column.dates in _YEAR_AT:
        return ("SUBSTR(", column.id, f", {_YEAR_AT[column.dates]}, 4)")
    return (f"STRFTIME('{part}', ", column.id, ")")
