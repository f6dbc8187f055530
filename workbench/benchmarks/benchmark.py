"""Benchmarks: questions, gold queries apart from them, and a folder of databases.

BIRD and Spider are read as unpacked from their archives; the bundled benchmark has eight databases written for this
project, in BIRD's layout; and a user may give a file. An item without an id, as in BIRD's train split and in Spider, has
its position as id. Spider's exact match is defined on the schemas of tables.json, whose foreign keys are not always those
that the SQLite files declare.
"""

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, Field, StringConstraints, TypeAdapter, ValidationError

from workbench.canonical import content_hash
from workbench.errors import BadInputError, content_of, fault
from workbench.sql.executor import Executor
from workbench.sql.schema import describe, read_schema
from workbench.types import Column, ForeignKey, Gold, Question, Schema, Table

Sense = Literal["bird", "spider"]
"""Whose execution accuracy: `evaluate.ex` says when two results are equal for BIRD, and when for Spider."""
_DB_ID = re.compile(r"(?!\.*$)[A-Za-z0-9_.\-]{1,128}")
_Model = TypeVar("_Model")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Questions in the order of their file, and the gold queries that judge answers.

    `sense` is that of the benchmark's own leaderboard. `databases` holds `DB/DB.sqlite` for each db_id. `schemas` are
    those of Spider's tables.json. `every` has all questions of the file where `questions` are only some of them.
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


class _Item(_Revised, strict=True):
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


_DATA = Path(__file__).with_name("bundled_data")


@dataclass(frozen=True, slots=True)
class Release:
    """A benchmark as it is known before its files are read; one without `url` comes with the workbench."""

    files: tuple[str, ...]
    databases: str
    questions: int  # as published
    train: str  # the benchmark whose questions may serve as examples
    url: str = ""
    sense: Sense = "bird"
    tables: tuple[str, ...] = ()


_BIRD = ("bird-train", "https://bird-bench.github.io")
_SPIDER: tuple[str, str, Sense] = ("spider-train", "https://yale-lily.github.io/spider", "spider")
_TRAIN = ("train_spider.json", "train_others.json")
BENCHMARKS = {
    "bird-dev": Release(("dev.json",), "dev_databases", 1534, *_BIRD),
    "bird-sds": Release(("dev.json",), "dev_databases", 147, *_BIRD),
    "bird-mini-dev": Release(("mini_dev_sqlite.json",), "dev_databases", 500, *_BIRD),
    "bird-train": Release(("train.json",), "train_databases", 9428, *_BIRD),
    "spider-dev": Release(("dev.json",), "database", 1034, *_SPIDER, ("tables.json",)),
    "spider-test": Release(("test.json",), "test_database", 2147, *_SPIDER, ("test_tables.json", "tables.json")),
    "spider-train": Release(_TRAIN, "database", 8659, *_SPIDER, ("tables.json",)),
    "bundled-dev": Release(("dev.json",), "dev_databases", 278, "bundled-train"),
    "bundled-train": Release(("train.json",), "train_databases", 260, "bundled-train"),
}  # fmt: skip
_ALIASES = {"bird": "bird-dev", "mini-dev": "bird-mini-dev", "spider": "spider-dev", "bundled": "bundled-dev"}  # fmt: skip


def benchmark_name(name: str) -> str:
    """The name in BENCHMARKS of a name or an alias; the path of a JSON file as it is; "" for another name."""
    own = _ALIASES.get(name, name)
    return own if own in BENCHMARKS or name.endswith(".json") else ""


def open_benchmark(name: str, root: str | Path | None = None) -> Benchmark:
    """The benchmark of that name, whose files are in `root`; a bundled benchmark needs no `root`.

    A name that ends in .json is the path of a user's own benchmark in BIRD's or Spider's fields, and `root` the folder
    of its databases. Questions about missing databases are left out, with a warning that names the databases.

    >>> benchmark = wb.open_benchmark("bundled-dev")
    >>> len(benchmark.questions), benchmark.questions[13].text
    (278, 'How many ships does Hansen & Sons own?')
    """
    own = benchmark_name(name)
    release = BENCHMARKS.get(own)
    if not own:
        given = f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}"
        raise BadInputError(f"{given}, or give a JSON file of your own, NAME.json")
    if root is None and (not release or release.url):
        raise BadInputError(f"{name} is not bundled: give --root, the folder where it was unpacked")
    folder = Path(root or _DATA / own.removeprefix("bundled-"))
    opened = _released(own, release, folder) if release else _own(Path(name), folder)
    asked = opened.questions
    there = tuple(question for question in asked if opened.has(question.db_id))
    if left := len(asked) - len(there):
        missing = sorted({q.db_id for q in asked} - {q.db_id for q in there})
        said = f"{opened.name}: {left:,} of {len(asked):,} questions are left out: in"
        said += f" {opened.databases} is no database {', '.join(missing)}"
        if not there:
            raise BadInputError(said)
        warnings.warn(said, stacklevel=2)
        opened = replace(opened, questions=there, every=opened.every or asked)
    return opened


def _released(name: str, release: Release, root: Path) -> Benchmark:
    path, folder = _locate(root, release, name)
    questions, golds = _read_questions(path, *map(path.with_name, release.files[1:]))
    opened = Benchmark(name, release.sense, folder, questions, golds)
    if tables := [path.with_name(table) for table in release.tables]:
        source = next(filter(Path.is_file, tables), tables[-1])
        opened = replace(opened, schemas=_schemas(source))
        if unknown := {question.db_id for question in questions} - {*opened.schemas}:
            raise BadInputError(f"{source.name} does not describe {', '.join(sorted(unknown))}")
    if name == "bird-sds":
        ids = set(map(str, json.loads(Path(__file__).with_name("chess_sds.json").read_text())))
        if missing := len(ids - {*golds}):
            raise BadInputError(f"{path} lacks {missing} of the {len(ids)} questions of {name}")
        sample = tuple(question for question in questions if question.id in ids)
        opened = replace(opened, questions=sample, every=questions)
    return opened


def _own(path: Path, root: Path) -> Benchmark:
    questions, golds = _read_questions(path)
    spider = all("query" in item for item in read_items(path, dict[str, Any]))
    files = (file for depth in ("*/*", "*/*/*") for file in root.glob(f"{depth}.sqlite"))
    databases = next((file.parents[1] for file in files), root)
    return Benchmark(path.stem, "spider" if spider else "bird", databases, questions, golds)


def _read_questions(*paths: Path) -> tuple[tuple[Question, ...], dict[str, Gold]]:
    """The questions of the files and their gold queries by id."""
    questions: list[Question] = []
    golds: dict[str, Gold] = {}
    for path in paths:
        for number, item in enumerate(read_items(path, _Item)):
            key = str(len(questions) if item.question_id is None else item.question_id)
            if key in golds:
                raise BadInputError(f"{path}, item {number}: question_id {key} occurs twice")
            questions.append(Question(key, item.db_id, item.text, item.evidence or ""))
            golds[key] = Gold(key, item.sql, item.difficulty or "")
    return tuple(questions), golds


def _locate(root: Path, release: Release, name: str) -> tuple[Path, Path]:
    """The file and the folder of databases beside it, in `root` or at most two folders below.

    Some tools unpack a folder into one of its own name. A file without these databases may be another benchmark's.
    """
    file, folder = release.files[0], release.databases
    for depth in ("", "*/", "*/*/"):
        found = {
            path: inside
            for path in sorted(root.glob(depth + file))
            for inside in (path.parent / folder / folder, path.parent / folder)
            if next(inside.glob("*/*.sqlite"), None)
        }
        if len(found) > 1:
            several = " and ".join(str(path.parent) for path in found)
            raise BadInputError(f"{root}: it contains {name} twice; give one of {several}")
        if found:
            return found.popitem()
    if not root.is_dir():
        raise BadInputError(f"{root}: no such folder; give the one where {name} was unpacked")
    beside = f"no {file} with databases in {folder} beside it"
    raise BadInputError(f"{name}: {beside} in {root} or up to two folders below; unpack it there")


def _schemas(path: Path) -> dict[str, Schema]:
    schemas = {}
    for number, entry in enumerate(read_items(path, dict[str, Any])):
        try:
            schemas[entry["db_id"]] = Schema(entry["db_id"], tuple(_tables(entry)))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            wrong = f"{path}, item {number}: not a schema in Spider's form ({fault(error)})"
            raise BadInputError(wrong) from error
    return schemas


def _tables(entry: dict[str, Any]) -> Iterator[Table]:
    """The tables of one database in tables.json, whose column 0 is `*` and is left out."""
    names: list[str] = entry["table_names_original"]
    where: list[tuple[int, str]] = [tuple(pair) for pair in entry["column_names_original"]]
    typed = list(zip(where, entry["column_types"], strict=True))
    # A composite primary key is a list among the numbers in some releases.
    keys = [k for key in entry["primary_keys"] for k in (key if isinstance(key, list) else [key])]
    links = [(*where[a], *where[b]) for a, b in entry["foreign_keys"]]
    for number, name in enumerate(names):
        columns = tuple(Column(column, kind) for (at, column), kind in typed if at == number)
        primary = tuple(where[key][1] for key in keys if where[key][0] == number)
        foreign = (ForeignKey((c,), names[to], (ref,)) for at, c, to, ref in links if at == number)
        yield Table(name, columns, primary, tuple(foreign))


def lacking(name: str, folder: Path) -> str:
    """The error with which `open_benchmark` refuses the folder, which names what is missing; "" if it is complete."""
    with warnings.catch_warnings(record=True, action="always") as told:
        try:
            benchmark = open_benchmark(name, folder)
        except BadInputError as error:
            return str(error)
    named = sorted({q.db_id for q in benchmark.questions if benchmark.sense == "bird"})
    bare = [db for db in named if not (benchmark.databases / db / "database_description").is_dir()]
    left = [f"no database_description of {', '.join(bare)}"] if bare else []
    return "; ".join([*(str(warning.message) for warning in told), *left])


def check(benchmark: Benchmark, executor: Executor) -> Iterator[str]:
    """A line for each failing gold query, and each unreadable part of a database."""
    jobs = [(benchmark.database(q.db_id), benchmark.golds[q.id].sql) for q in benchmark.questions]
    for question, ran in zip(benchmark.questions, executor.execute_many(jobs), strict=True):
        if ran.status != "ok":
            yield f"question {question.id}: the gold query gives {ran.error or 'no rows'}"
    for path in dict.fromkeys(path for path, _ in jobs):
        schema = describe(read_schema(path), path.parent / "database_description")
        yield from (f"database {schema.db_id}: {line}" for line in schema.skipped)


def bundled_splits() -> dict[str, str]:
    """The split of each bundled database, dev or train, by the name of the database."""
    files = sorted(_DATA.glob("*/*_databases/*/*.sqlite"))
    return {file.stem: file.relative_to(_DATA).parts[0] for file in files}


@dataclass(frozen=True, slots=True)
class Flaw:
    """A fault that a bundled question has on purpose, as real benchmarks have them; `sql` is right where a query can be."""

    question_id: str
    kind: str
    note: str
    sql: str = ""


def known_flaws(benchmark: Benchmark) -> tuple[Flaw, ...]:
    """The flaws of a bundled benchmark's questions; () for another benchmark."""
    if benchmark.name not in {"bundled-dev", "bundled-train"}:
        return ()
    file = _DATA / benchmark.name.removeprefix("bundled-") / "flaws.json"
    return tuple(Flaw(**one) for one in json.loads(file.read_text("utf-8")))
