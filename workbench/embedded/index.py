"""A schema prepared for linking: the words of every name and description, kinds of columns, codes, dates."""

import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace

from workbench.embedded.descriptions import WORD, codes_of, heading_of
from workbench.embedded.words import STOPWORDS, name_words, stem
from workbench.types import Column, Schema, Table, fold

_DATES = (
    ("iso", r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d.*)?"),
    ("month", r"\d{4}-\d\d"),
    ("dmy", r"\d\d?/\d\d?/\d{4}.*"),
    ("dots", r"\d\d?\.\d\d?\.\d{4}.*"),
    ("ymd", r"(1[6-9]|20)\d\d(0[1-9]|1[0-2])[0-3]\d"),
    ("slashes", r"\d{4}/\d\d/\d\d.*"),
    ("year", r"(1[6-9]|20)\d\d"),
)
_FLAGS = {frozenset(pair) for pair in (("0", "1"), ("y", "n"), ("t", "f"), ("yes", "no"))}
_FLAGS |= {frozenset({"true", "false"})}
_NAMES = frozenset(map(stem, ("name", "title", "surname", "label", "fullname")))
_KEYS = frozenset(map(stem, ("id", "code", "number", "key", "identifier", "uid", "ref")))
_FIRST = frozenset(map(stem, ("fname", "forename", "first", "given", "firstname")))
_LAST = frozenset(map(stem, ("sname", "surname", "lname", "last", "family", "lastname")))
_DATED = frozenset(map(stem, ("date", "time", "day", "birth", "year", "month")))


@dataclass(slots=True)
class Field:
    """A column with what is known of it; `id` numbers the columns of a schema from 0."""

    id: int
    table: int
    name: str
    words: tuple[str, ...]
    told: frozenset[str]
    heading: tuple[str, ...]  # what its description begins with: its name, written out
    kind: str  # number, text, date or flag
    dates: str  # the name of the format of its dates
    key: str  # primary, foreign or ""
    named: bool  # holds what a thing is called
    codes: tuple[
        tuple[str, frozenset[str]], ...
    ]  # values ("" for NULL) and the stems of their meaning
    examples: tuple[str, ...]

    @property
    def measure(self) -> bool:
        """Is it a number of something, and no key?"""
        return self.kind == "number" and not self.key


@dataclass(slots=True)
class Sheet:
    """A table: its words and those of what identifies it, its columns and its key."""

    id: int
    name: str
    words: tuple[str, ...]
    alias: tuple[str, ...]  # what its key is the key of: another name, if it is not the same
    fields: tuple[int, ...]
    key: tuple[int, ...]
    label: tuple[int, ...]  # the columns that name its rows
    role: int = -1  # of a table's second appearance: the foreign key of the first that points there


@dataclass(slots=True)
class Index:
    """`joins` is a place for what `joins.graph` finds of the schema."""

    schema: Schema
    fields: list[Field] = field(default_factory=list)
    sheets: list[Sheet] = field(default_factory=list)
    by_name: dict[tuple[str, str], int] = field(default_factory=dict)
    named: dict[str, list[int]] = field(default_factory=dict)  # fields by folded name
    joins: object = None
    points_at: dict[int, int] = field(
        default_factory=dict
    )  # tables by the foreign keys that lead there
    copies: dict[int, int] = field(
        default_factory=dict
    )  # of columns of tables that refer to themselves
    words: dict[str, float] = field(default_factory=dict)  # how much each word tells, from 0 to 1

    def where(self, column: int) -> tuple[str, str]:
        """The names of a column's table and of the column."""
        found = self.fields[column]
        return self.sheets[found.table].name, found.name


_RECENT: dict[int, Index] = {}


def index(schema: Schema) -> Index:
    """The schema's index; the last few are kept, since one schema is asked about many times."""
    found = _RECENT.get(id(schema))
    if found is None or found.schema is not schema:
        found = _build(schema)
        while len(_RECENT) >= 8:
            _RECENT.pop(next(iter(_RECENT)), None)
        _RECENT[id(schema)] = found
    return found


def _build(schema: Schema) -> Index:
    made = Index(schema)
    seen: Counter[str] = Counter()
    for number, table in enumerate(schema.tables):
        first = len(made.fields)
        foreign = {fold(c) for k in table.foreign_keys for c in k.columns}
        primary = {fold(c) for c in table.primary_key}
        for column in table.columns:
            name = fold(column.name)
            key = "primary" if name in primary else "foreign" if name in foreign else ""
            new = _field(len(made.fields), number, column, key)
            made.fields.append(new)
            made.by_name[fold(table.name), name] = new.id
            made.named.setdefault(name, []).append(new.id)
            seen.update(new.told.union(new.words))
        made.sheets.append(_sheet(number, table, made, tuple(range(first, len(made.fields)))))
        seen.update({*made.sheets[-1].words, *made.sheets[-1].alias})
    for number, table in enumerate(schema.tables):
        for link in table.foreign_keys:
            source = made.by_name.get((fold(table.name), fold(link.columns[0])))
            target = next((s.id for s in made.sheets if fold(s.name) == fold(link.ref_table)), None)
            if source is not None and target is not None and len(link.columns) == 1:
                made.points_at[source] = target
                if target == number and not any(
                    s.role >= 0 and s.name == table.name for s in made.sheets
                ):
                    _copy(made, made.sheets[number], source)
    total = math.log(1 + len(made.fields))
    made.words = (
        {w: math.log(1 + len(made.fields) / n) / total for w, n in seen.items()} if total else {}
    )
    return made


def _field(number: int, table: int, column: Column, key: str) -> Field:
    words = name_words(column.name)
    told_text = f"{column.description} {column.value_description}"
    told = frozenset(stem(w.lower()) for w in WORD.findall(told_text) if w.lower() not in STOPWORDS)
    heading = heading_of(column.description)
    told |= frozenset(heading)
    examples = tuple(str(value) for value in column.examples if value is not None)
    dates = next(
        (
            name
            for name, pattern in _DATES
            if examples and all(re.fullmatch(pattern, value) for value in examples)
        ),
        "",
    )
    about = told.union(words)
    if dates in {"year", "ymd"} and not about & _DATED and dates != "ymd":
        dates = ""
    declared = column.type.upper()
    numeric = any(t in declared for t in ("INT", "REAL", "NUM", "DEC", "FLO", "DOU"))
    numeric = numeric or (
        bool(examples) and all(re.fullmatch(r"-?\d+(\.\d+)?", v) for v in examples)
    )
    flags = {value.lower() for value in examples}
    if flags and any(flags <= pair for pair in _FLAGS) and key != "primary":
        kind = "flag"
    elif dates or "DATE" in declared or (not numeric and not examples and about & _DATED):
        kind = "date"
    else:
        kind = "number" if numeric else "text"
    return Field(
        number,
        table,
        column.name,
        words,
        told,
        heading,
        kind,
        dates or ("iso" if kind == "date" else ""),
        key,
        kind == "text" and bool(_NAMES.intersection(words) or (told & _NAMES and not key)),
        tuple(codes_of(told_text)) if len(told_text) > 4 else (),
        examples,
    )


def _copy(made: Index, sheet: Sheet, role: int) -> None:
    """The table once more, as what its foreign key to itself points at: a mentor, a parent, a boss."""
    first = len(made.fields)
    made.copies |= {old: first + n for n, old in enumerate(sheet.fields)}
    number = len(made.sheets)
    made.fields += [
        replace(made.fields[old], id=made.copies[old], table=number) for old in sheet.fields
    ]

    def again(ids: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(made.copies[i] for i in ids)

    fields, key, label = again(sheet.fields), again(sheet.key), again(sheet.label)
    made.sheets.append(replace(sheet, id=number, role=role, fields=fields, key=key, label=label))
    made.points_at[role] = number


def _sheet(number: int, table: Table, made: Index, fields: tuple[int, ...]) -> Sheet:
    columns = [made.fields[i] for i in fields]
    key = tuple(c.id for c in columns if c.key == "primary")
    words = name_words(table.name)
    alias: tuple[str, ...] = ()
    if len(key) == 1:
        identifier = made.fields[key[0]]
        alias = tuple(w for w in identifier.heading or identifier.words if w not in _KEYS | _NAMES)
    return Sheet(
        number,
        table.name,
        words,
        alias if set(alias) != set(words) else (),
        fields,
        key,
        _label(columns) or key[:1] or fields[:1],
    )


def _label(columns: list[Field]) -> tuple[int, ...]:
    """The columns that say what a row is called: a first name and a surname, a title, a name."""
    texts = [c for c in columns if c.kind == "text" and c.key != "foreign"]
    for first in texts:
        for last in texts:
            if _said(first) & _FIRST and _said(last) & _LAST and first is not last:
                return (first.id, last.id)
    return tuple(c.id for c in [c for c in texts if c.named] or texts)[:1]


def names_people(column: Field) -> bool:
    """Does its name say that it holds names?"""
    return bool((_NAMES | _FIRST | _LAST).intersection(column.words))


def _said(column: Field) -> frozenset[str]:
    return column.told.union(column.words)
