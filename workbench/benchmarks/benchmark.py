"""A benchmark: questions, gold queries apart from them, and a folder of databases."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, Field, StringConstraints, TypeAdapter, ValidationError

from workbench.canonical import content_hash
from workbench.errors import BadInputError, content_of
from workbench.types import Gold, Question, Schema

Sense = Literal["bird", "spider"]
"""Whose execution accuracy: `evaluate.ex` says when two results are equal for BIRD, and when for Spider."""
_DB_ID = re.compile(r"(?!\.*$)[A-Za-z0-9_.\-]{1,128}")
_Model = TypeVar("_Model")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Questions in the order of their file, and the gold queries that judge answers.

    `sense` is that of the benchmark's own leaderboard. `databases` holds `DB/DB.sqlite` for each db_id. `schemas` are
    those of Spider's tables.json, on which Spider's exact match is defined. `every` has all questions of the file where
    `questions` are only some of them, and is () otherwise.
    """

    name: str
    sense: Sense
    databases: Path
    questions: tuple[Question, ...] = field(repr=False)
    golds: Mapping[str, Gold] = field(repr=False)
    schemas: Mapping[str, Schema] = field(default_factory=dict, repr=False)
    every: tuple[Question, ...] = field(default=(), repr=False)

    def has(self, db_id: str) -> bool:
        """Whether the SQLite file of a database is there."""
        return (self.databases / db_id / f"{db_id}.sqlite").is_file()

    def database(self, db_id: str) -> Path:
        """The SQLite file of a database. A db_id is a plain name, so that it cannot lead out of the folder."""
        path, here = self.databases / db_id / f"{db_id}.sqlite", self.databases.resolve()
        if _DB_ID.fullmatch(db_id) and path.is_file() and path.resolve().is_relative_to(here):
            return path
        expected = f"expected {db_id}/{db_id}.sqlite in {self.databases}, and no link out of it"
        named = "a db_id has letters, digits, '_', '-' and '.' only, at most 128"
        raise BadInputError(f"no database {db_id!r}: {expected}; {named}")

    def limited(self, limit: float | None) -> "Benchmark":
        """The benchmark with `limit` of its questions, as `some` takes them."""
        asked = tuple(some(self.questions, limit))
        return replace(self, questions=asked, every=self.every or self.questions)

    def fingerprint(self) -> str:
        """A hash of questions and gold queries, which differ between releases of one benchmark."""
        golds = [self.golds[question.id] for question in self.questions]
        return content_hash("questions", [self.questions, golds])


def some(questions: Sequence[Question], limit: float | None) -> list[Question]:
    """`limit` of the questions, spread evenly over their order; all questions if it is None.

    A limit below 1 is a share of each database's questions, rounded down, but at least one question. With 0.1, as many
    of BIRD dev's questions are drawn as CHESS draws for its Subsampled Development Set: 147 of 1,534 (section 4.1.1).
    """
    check_limit(limit)
    parts: dict[str, list[int]] = {}
    for n, question in enumerate(questions):
        parts.setdefault(question.db_id if limit and limit < 1 else "", []).append(n)
    sizes = [(part, size(len(part), limit)) for part in parts.values()]
    return [questions[n] for n in sorted(p[i * len(p) // k] for p, k in sizes for i in range(k))]


def size(count: int, limit: float | None) -> int:
    """The number of questions that a limit leaves of `count`, as if all were on one database."""
    if limit is None:
        return count
    return min(int(limit), count) if limit >= 1 else max(1, int(count * limit + 1e-9))


def check_limit(limit: float | None) -> None:
    """Raise BadInputError for a limit that is neither a number of questions nor a share of them."""
    whole, share = type(limit) is int and limit >= 1, type(limit) is float and 0 < limit < 1
    if limit is not None and not whole and not share:
        allowed = "a number of questions from 1, a share of each database's below 1.0, or None"
        raise BadInputError(f"limit is {limit!r}: it must be {allowed}")


Filled = Annotated[str, StringConstraints(pattern=r"\S")]
# Names of the fields in BIRD's files, Spider's and those of Spider's variants.
_TEXT = AliasChoices("SpiderSynQuestion", "question")
_SQL = AliasChoices("SQL", "query", "sql")
_ORIGINAL = AliasChoices("SpiderQuestion", "original_question", "question")


class _Revised(BaseModel, strict=True):
    """An item of a file of revised golds; a field that it leaves out is not revised."""

    question_id: int | str | None = None
    db_id: str | None = None
    original: str = Field("", validation_alias=_ORIGINAL)
    text: Filled | None = Field(None, validation_alias=_TEXT)
    sql: Filled | None = Field(None, validation_alias=_SQL)
    evidence: str | None = None


class Item(_Revised, strict=True):
    """An item of a benchmark's file; without a question_id its position is its id."""

    db_id: Filled
    text: Filled = Field(validation_alias=_TEXT)
    sql: Filled = Field(validation_alias=_SQL)
    difficulty: str | None = None


def read_text(path: Path) -> str:
    """The text of a file in UTF-8, or in UTF-16 as spreadsheets save it."""
    content = content_of(path)
    utf_16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return content.decode("utf-16" if utf_16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: not UTF-8 text ({error}); save it as UTF-8") from error


def read_json(path: Path, text: str) -> Any:
    """The value of a JSON text, or the list of values of JSON lines. An object that has a key twice is refused."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(found := dict(pairs)) < len(pairs):  # one of two answers would be lost
            raise ValueError(f"one object has a key twice, of {[*found]!r:.80}")
        return found

    read = partial(json.loads, object_pairs_hook=unique)
    first, *others = [line for line in text.split("\n") if line.strip()] or [""]
    try:
        if others and re.fullmatch(r"\s*\{.*\}\s*", first):
            return [*map(read, (first, *others))]
        return read(text)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{path}: not JSON: {error}") from error


def read_items(path: Path, model: type[_Model]) -> list[_Model]:
    """The items of a file, a JSON list or JSON lines, with at least one."""
    many = Annotated[list[model], Field(min_length=1)]  # type: ignore[valid-type]
    given = read_json(path, read_text(path))
    given = given if isinstance(given, list) else [given]
    try:
        items: list[_Model] = TypeAdapter(many).validate_python(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        number, *names = first["loc"] or ("",)
        where = f"{path}, item {number}: {'.'.join(map(str, names))}" if names else f"{path}"
        wrong = f"{where}: {first['msg']}, and it is {first['input']!r:.60}"
        raise BadInputError(f"{wrong}; expected a list with an object for each item") from error
    return items


def with_golds(benchmark: Benchmark, file: str | Path) -> Benchmark:
    """Another benchmark: the questions that a JSON list names, with the gold queries, texts and hints of the list.

    An item names its question by `question_id`, or by the `db_id` and the original text, as Spider-Syn does. Items
    about other questions are left out. Arcwise-Plat, later releases of BIRD and mini-dev, Spider-Syn and Spider-DK are
    read as they are published.

    >>> import pathlib
    >>> _ = pathlib.Path("mine.json").write_text('[{"question_id": 13, "SQL": "SELECT 1"}]')
    >>> wb.with_golds(wb.open_benchmark("bundled-dev"), "mine.json").golds["13"].sql
    'SELECT 1'
    """
    path = Path(file)
    own = {question.id: question for question in benchmark.questions}
    questions: dict[str, Question] = {}
    golds: dict[str, Gold] = {}
    items = read_items(path, _Revised)
    for number, (item, key) in enumerate(zip(items, _keys(items, benchmark), strict=True)):
        if not (before := own.get(key)):
            continue
        if key in questions or item.db_id not in {None, before.db_id}:
            here = f"{path}, item {number}: question {key} on database {item.db_id!r}"
            raise BadInputError(f"{here}: {benchmark.name} asks it once, on {before.db_id!r}")
        hint = (item.evidence or "") if "evidence" in item.model_fields_set else before.evidence
        questions[key] = replace(before, text=item.text or before.text, evidence=hint)
        golds[key] = replace(benchmark.golds[key], sql=item.sql or benchmark.golds[key].sql)
    if not questions:
        about = f"{path}: none of its {len(items)} items is about a question of {benchmark.name}"
        raise BadInputError(f"{about}; give its question_id, or db_id and (original_)question")
    asked = tuple(questions[key] for key in own if key in questions)
    name = f"{benchmark.name} ({path.stem})"
    return replace(benchmark.limited(None), name=name, questions=asked, golds=golds)


def _keys(items: Sequence[_Revised], benchmark: Benchmark) -> list[str]:
    """The id of each item's question, "" if the benchmark has no such question."""
    if all(item.question_id is not None for item in items):
        return [str(item.question_id) for item in items]
    every = benchmark.every or benchmark.questions
    stated = [(item.db_id, " ".join(item.original.split())) for item in items]
    own = [(question.db_id, " ".join(question.text.split())) for question in every]
    # Spider-Syn corrects some of the original questions. If all databases and most texts are equal at the same place,
    # item n is about question n.
    same = sum(a == b for a, b in zip(stated, own, strict=False))
    if [db_id for db_id, _ in stated] == [db_id for db_id, _ in own] and 2 * same > len(own):
        return [question.id for question in every]
    waiting: dict[tuple[str | None, str], list[str]] = {}
    for about, question in zip(own, every, strict=True):
        waiting.setdefault(about, []).append(question.id)  # a few questions are asked twice
    return [waiting[about].pop(0) if waiting.get(about) else "" for about in stated]
