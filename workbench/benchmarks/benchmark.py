"""Benchmarks: questions, gold queries apart from them, and a folder of databases.

BIRD and Spider are read as unpacked from their archives, Spider2-lite from its repository; the
bundled benchmark has eight databases written for this project, in BIRD's layout; and a user may
give a file. An item without an id, as in BIRD's train split and in Spider, has its position as
id. An id that a file gives twice, as the first release of BIRD's mini-dev does, gets a suffix:
137 and 137-2.
"""

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, Field

from workbench.benchmarks.files import Filled, read_items, read_spider_schemas
from workbench.benchmarks.spider2 import read_spider2
from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.types import Gold, Question, Schema

Sense = Literal["bird", "spider"]
"""Whose execution accuracy.

`evaluate.ex` says when two results are equal for BIRD, and when for Spider.
"""
_DB_ID = re.compile(r"(?!\.*$)[A-Za-z0-9_.\-]{1,128}")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Questions in the order of their file, and the gold queries that judge answers.

    sense: that of the benchmark's own leaderboard.
    databases: the folder with `DB/DB.sqlite` for each db_id, or `DB.sqlite` where it is `flat`.
    schemas: those of Spider's tables.json, on which exact match is defined.
    every: all questions of the file, where `questions` are only some of them.
    repeated: the ids of the questions to which the file gives the same id, by that id.
    """

    name: str
    sense: Sense
    databases: Path
    questions: tuple[Question, ...] = field(repr=False)
    golds: Mapping[str, Gold] = field(repr=False)
    schemas: Mapping[str, Schema] = field(default_factory=dict, repr=False)
    every: tuple[Question, ...] = field(default=(), repr=False)
    repeated: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    flat: bool = False

    def has(self, db_id: str) -> bool:
        """Whether the SQLite file of a database is there."""
        return self._file(db_id).is_file()

    def _file(self, db_id: str) -> Path:
        folder = self.databases if self.flat else self.databases / db_id
        return folder / f"{db_id}.sqlite"

    def database(self, db_id: str) -> Path:
        """Return the SQLite file of a database.

        A db_id is a plain name, so that it cannot lead out of the folder.
        """
        if _DB_ID.fullmatch(db_id):
            path, folder = self._file(db_id), self.databases.resolve()
            if path.is_file() and path.resolve().is_relative_to(folder):
                return path
        expected = f"expected {db_id}/{db_id}.sqlite in {self.databases}, and no link out of it"
        named = "a db_id has letters, digits, '_', '-' and '.' only, at most 128"
        raise BadInputError(f"no database {db_id!r}: {expected}; {named}")

    def limited(self, limit: float | None) -> "Benchmark":
        """Return the benchmark with `limit` of its questions, as `some` takes them."""
        return self.of(some(self.questions, limit))

    def of(self, questions: Sequence[Question]) -> "Benchmark":
        """Return the benchmark with these of its questions."""
        return replace(self, questions=tuple(questions), every=self.every or self.questions)

    def fingerprint(self) -> str:
        """Return a hash of questions and gold queries, which differ between releases."""
        golds = [_hashed(self.golds[question.id]) for question in self.questions]
        return content_hash("questions", [self.questions, golds])


@dataclass(frozen=True, slots=True)
class _Query:
    """What of a gold is hashed where it is one query, as it was before there were other answers."""

    question_id: str
    sql: str
    difficulty: str


def _hashed(gold: Gold) -> Gold | _Query:
    if gold.others or gold.results:
        return gold
    return _Query(gold.question_id, gold.sql, gold.difficulty)


def some(questions: Sequence[Question], limit: float | None) -> list[Question]:
    """Return `limit` of the questions, spread evenly over their order; all questions if it is None.

    A limit below 1 is a share of each database's questions, rounded down, but at least one
    question. With 0.1, as many of BIRD dev's questions are drawn as CHESS draws for its
    Subsampled Development Set: 147 of 1,534 (section 4.1.1).
    """
    check_limit(limit)
    is_share = limit is not None and limit < 1
    parts: dict[str, list[int]] = {}
    for place, question in enumerate(questions):
        parts.setdefault(question.db_id if is_share else "", []).append(place)
    drawn: list[int] = []
    for places in parts.values():
        count = size(len(places), limit)
        drawn += [places[n * len(places) // count] for n in range(count)]
    return [questions[place] for place in sorted(drawn)]


def size(count: int, limit: float | None) -> int:
    """Return the number of questions that a limit leaves of `count` on one database."""
    if limit is None:
        return count
    return min(int(limit), count) if limit >= 1 else max(1, int(count * limit + 1e-9))


def check_limit(limit: float | None) -> None:
    """Raise BadInputError for a limit that is neither a number of questions nor a share of them."""
    is_number = type(limit) is int and limit >= 1
    is_share = type(limit) is float and 0 < limit < 1
    if limit is not None and not is_number and not is_share:
        allowed = "a number of questions from 1, a share of each database's below 1.0, or None"
        raise BadInputError(f"limit is {limit!r}: it must be {allowed}")


_DATA = Path(__file__).with_name("bundled_data")


@dataclass(frozen=True, slots=True)
class Release:
    """A benchmark as it is known before its files are read.

    One without `url` comes with the workbench.
    """

    files: tuple[str, ...]
    databases: str
    questions: int  # as published
    train: str  # the benchmark whose questions may serve as examples
    url: str = ""
    sense: Sense = "bird"
    tables: tuple[str, ...] = ()


_BIRD = ("bird-train", "https://bird-bench.github.io")
_SPIDER: tuple[str, str, Sense] = ("spider-train", "https://yale-lily.github.io/spider", "spider")
_SPIDER_TRAIN = ("train_spider.json", "train_others.json")
_SPIDER_TEST_TABLES = ("test_tables.json", "tables.json")
_SPIDER2 = ("spider2-lite.jsonl",)
BENCHMARKS = {
    "bird-dev": Release(("dev.json",), "dev_databases", 1534, *_BIRD),
    "bird-sds": Release(("dev.json",), "dev_databases", 147, *_BIRD),
    "bird-mini-dev": Release(("mini_dev_sqlite.json",), "dev_databases", 500, *_BIRD),
    "bird-train": Release(("train.json",), "train_databases", 9428, *_BIRD),
    "spider-dev": Release(("dev.json",), "database", 1034, *_SPIDER, ("tables.json",)),
    "spider-test": Release(("test.json",), "test_database", 2147, *_SPIDER, _SPIDER_TEST_TABLES),
    "spider-train": Release(_SPIDER_TRAIN, "database", 8659, *_SPIDER, ("tables.json",)),
    "spider2-lite": Release(_SPIDER2, "", 135, "spider-train", "https://spider2-sql.github.io"),
    "bundled-dev": Release(("dev.json",), "dev_databases", 278, "bundled-train"),
    "bundled-train": Release(("train.json",), "train_databases", 260, "bundled-train"),
}
_ALIASES = {
    "bird": "bird-dev",
    "mini-dev": "bird-mini-dev",
    "spider": "spider-dev",
    "spider2": "spider2-lite",
    "bundled": "bundled-dev",
}


def benchmark_name(name: str) -> str:
    """Return the name in BENCHMARKS of a name or an alias, or "".

    The path of a JSON file is returned as it is.
    """
    known = _ALIASES.get(name, name)
    return known if known in BENCHMARKS or name.endswith(".json") else ""


def open_benchmark(name: str, root: str | Path | None = None) -> Benchmark:
    """Open the benchmark of that name, whose files are in `root`.

    A bundled benchmark needs no `root`.

    A name that ends in .json is the path of a user's own benchmark in BIRD's or Spider's fields,
    and `root` the folder of its databases. Questions about missing databases are left out, with a
    warning that names the databases.

    >>> benchmark = wb.open_benchmark("bundled-dev")
    >>> len(benchmark.questions), benchmark.questions[13].text
    (278, 'How many ships does Hansen & Sons own?')
    """
    known = benchmark_name(name)
    if not known:
        given = f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}"
        raise BadInputError(f"{given}, or give a JSON file of your own, NAME.json")
    release = BENCHMARKS.get(known)
    if root is None and not release:
        root = _databases_beside(Path(name))
    if root is None and release and release.url:
        raise BadInputError(f"{name} is not bundled: give --root, the folder where it was unpacked")
    folder = Path(root or _DATA / known.removeprefix("bundled-"))
    if known == "spider2-lite":
        databases, questions, golds = read_spider2(folder)
        opened = Benchmark(known, "bird", databases, questions, golds, flat=True)
    elif release:
        opened = _released(known, release, folder)
    else:
        opened = _users(Path(name), folder)
    return _with_databases(opened)


def _databases_beside(path: Path) -> Path:
    """Return the one folder of databases that lies beside a file of one's own."""
    names = sorted({release.databases for release in BENCHMARKS.values()} - {""})
    beside = [path.parent / name for name in names if (path.parent / name).is_dir()]
    if len(beside) != 1:
        there = ", ".join(folder.name for folder in beside) or "none"
        raise BadInputError(
            f"{path}: give --root, the folder of its databases; of {', '.join(names)} there is {there} beside it"
        )
    return beside[0]


def _with_databases(opened: Benchmark) -> Benchmark:
    """The benchmark with the questions whose databases are there."""
    there = [question for question in opened.questions if opened.has(question.db_id)]
    left_out = len(opened.questions) - len(there)
    if not left_out:
        return opened
    missing = {question.db_id for question in opened.questions} - {q.db_id for q in there}
    said = f"{opened.name}: {left_out:,} of {len(opened.questions):,} questions are left out: in"
    said += f" {opened.databases} is no database {', '.join(sorted(missing))}"
    if not there:
        raise BadInputError(said)
    warnings.warn(said, stacklevel=3)
    return opened.of(there)


def _released(name: str, release: Release, root: Path) -> Benchmark:
    path, databases = _locate(root, release, name)
    opened = _read(name, release.sense, databases, *map(path.with_name, release.files))
    if release.tables:
        tables = [path.with_name(file) for file in release.tables]
        source = next(filter(Path.is_file, tables), tables[-1])
        opened = replace(opened, schemas=read_spider_schemas(source))
        if missing := _undescribed(opened):
            raise BadInputError(f"{source.name} does not describe {', '.join(missing)}")
    if name == "bird-sds":
        ids = set(map(str, json.loads(Path(__file__).with_name("chess_sds.json").read_text())))
        if lacking := len(ids - {*opened.golds}):
            raise BadInputError(f"{path} lacks {lacking} of the {len(ids)} questions of {name}")
        opened = opened.of([question for question in opened.questions if question.id in ids])
    return opened


def _undescribed(benchmark: Benchmark) -> list[str]:
    return sorted({question.db_id for question in benchmark.questions} - {*benchmark.schemas})


def _users(path: Path, root: Path) -> Benchmark:
    """A file of a user's own, such as Spider-Syn's and Spider-DK's.

    Tables.json beside it, or in `root`, is read.
    """
    is_spiders = all("query" in item for item in read_items(path, dict[str, Any]))
    files = (file for depth in ("*/*", "*/*/*") for file in root.glob(f"{depth}.sqlite"))
    databases = next((file.parents[1] for file in files), root)
    opened = _read(path.stem, "spider" if is_spiders else "bird", databases, path)
    tables = [folder / "tables.json" for folder in (path.parent, root, databases.parent)]
    source = next(filter(Path.is_file, tables), None)
    if not is_spiders or not source:
        return opened
    described = replace(opened, schemas=read_spider_schemas(source))
    if missing := _undescribed(described):
        left = f"{source} does not describe {', '.join(missing)}"
        warnings.warn(f"{left}: no exact match for {opened.name}", stacklevel=4)
        return opened
    return described


# Names of the fields in BIRD's files, Spider's and those of Spider's variants.
TEXT = AliasChoices("SpiderSynQuestion", "question")
SQL = AliasChoices("SQL", "query", "sql")


class _Item(BaseModel, strict=True):
    """A question of a file. Several queries are right answers all."""

    question_id: int | str | None = None
    db_id: Filled
    text: Filled = Field(validation_alias=TEXT)
    sql: Filled | list[Filled] = Field(validation_alias=SQL, min_length=1)
    evidence: str | None = None
    difficulty: str | None = None


def _read(name: str, sense: Sense, databases: Path, *paths: Path) -> Benchmark:
    """The benchmark of these files, whose items are numbered through where they have no ids."""
    questions: list[Question] = []
    golds: dict[str, Gold] = {}
    sharing: dict[str, tuple[str, ...]] = {}
    for path in paths:
        for item in read_items(path, _Item):
            stated = str(len(questions) if item.question_id is None else item.question_id)
            before = sharing.get(stated, ())
            key = f"{stated}-{len(before) + 1}" if before else stated
            if key in golds:
                raise BadInputError(f"{path}: question_id {key} occurs twice")
            sharing[stated] = (*before, key)
            sql, *others = [item.sql] if isinstance(item.sql, str) else item.sql
            questions.append(Question(key, item.db_id, item.text, item.evidence or ""))
            golds[key] = Gold(key, sql, item.difficulty or "", tuple(others))
    repeated = {stated: keys for stated, keys in sharing.items() if len(keys) > 1}
    if repeated:
        renamed = "; ".join(
            f"{stated} became {' and '.join(keys)}" for stated, keys in repeated.items()
        )
        warnings.warn(f"{paths[0]} gives ids to more than one question: {renamed}", stacklevel=5)
    return Benchmark(name, sense, databases, tuple(questions), golds, repeated=repeated)


def _locate(root: Path, release: Release, name: str) -> tuple[Path, Path]:
    """The file and the folder of databases beside it, in `root` or at most two folders below.

    Some tools unpack a folder into one of its own name. A file without these databases may be
    another benchmark's.
    """
    file, folder = release.files[0], release.databases
    for depth in ("", "*/", "*/*/"):
        places: dict[Path, Path] = {}
        for path in sorted(root.glob(depth + file)):
            for databases in (path.parent / folder / folder, path.parent / folder):
                if next(databases.glob("*/*.sqlite"), None):
                    places[path] = databases
        if len(places) > 1:
            several = " and ".join(str(path.parent) for path in places)
            raise BadInputError(f"{root}: it contains {name} twice; give one of {several}")
        if places:
            return places.popitem()
    if not root.is_dir():
        raise BadInputError(f"{root}: no such folder; give the one where {name} was unpacked")
    beside = f"no {file} with databases in {folder} beside it"
    raise BadInputError(f"{name}: {beside} in {root} or up to two folders below; unpack it there")


def bundled_splits() -> dict[str, str]:
    """Return the split of each bundled database, dev or train, by the name of the database."""
    files = sorted(_DATA.glob("*/*_databases/*/*.sqlite"))
    return {file.stem: file.relative_to(_DATA).parts[0] for file in files}


@dataclass(frozen=True, slots=True)
class Flaw:
    """A fault that a bundled question has on purpose, as real benchmarks have them.

    `sql` is right where a query can be.
    """

    question_id: str
    kind: str
    note: str
    sql: str = ""


def known_flaws(benchmark: Benchmark) -> tuple[Flaw, ...]:
    """Return the flaws of a bundled benchmark's questions; () for another benchmark."""
    if benchmark.name not in {"bundled-dev", "bundled-train"}:
        return ()
    file = _DATA / benchmark.name.removeprefix("bundled-") / "flaws.json"
    return tuple(Flaw(**fields) for fields in json.loads(file.read_text("utf-8")))
