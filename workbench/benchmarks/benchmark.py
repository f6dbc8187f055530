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
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, Field

from workbench.benchmarks.files import (
    Filled,
    Queries,
    one_line,
    read_items,
    read_spider_schemas,
)
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

    @property
    def whole(self) -> tuple[Question, ...]:
        """All questions of the file."""
        return self.every or self.questions

    def by_text(self) -> dict[tuple[str, str], list[Question]]:
        """Return all questions by database and text, and by ("", text).

        A few questions are asked twice.
        """
        asked: dict[tuple[str, str], list[Question]] = {}
        for question in self.whole:
            text = one_line(question.text)
            for db_id in (question.db_id, ""):
                asked.setdefault((db_id, text), []).append(question)
        return asked

    def sharing(self, stated: str) -> list[Question]:
        """Return the questions to which the file gives the same id; [] if it gives it once."""
        keys = self.repeated.get(stated, ())
        return [question for question in self.whole if question.id in keys]

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
            path = self._file(db_id)
            if path.is_file() and _is_inside(path, self.databases):
                return path
        expected = f"expected {db_id}/{db_id}.sqlite in {self.databases}, and no link out of it"
        allowed = "a db_id has letters, digits, '_', '-' and '.' only, at most 128"
        raise BadInputError(f"no database {db_id!r}: {expected}; {allowed}")

    def limited(self, limit: float | None) -> "Benchmark":
        """Return the benchmark with `limit` of its questions, as `some` takes them."""
        return self.of(some(self.questions, limit))

    def of(self, questions: Sequence[Question]) -> "Benchmark":
        """Return the benchmark with these of its questions."""
        return replace(self, questions=tuple(questions), every=self.whole)

    def fingerprint(self) -> str:
        """Return a hash of questions and gold queries, which differ between releases."""
        golds = [_hashed(self.golds[question.id]) for question in self.questions]
        return content_hash("questions", [self.questions, golds])


def told(questions: Sequence[Question]) -> str:
    """Return ids and texts of questions, one of which has to be said."""
    texts = [f"{question.id} ({question.text})" for question in questions]
    return " or ".join(texts)


@lru_cache(maxsize=1000)  # every query and every schema of a run asks for it
def _is_inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


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
        part = question.db_id if is_share else ""
        parts.setdefault(part, []).append(place)
    drawn: list[int] = []
    for places in parts.values():
        total = len(places)
        count = size(total, limit)
        drawn += [places[n * total // count] for n in range(count)]
    return [questions[place] for place in sorted(drawn)]


def size(count: int, limit: float | None) -> int:
    """Return the number of questions that a limit leaves of `count` on one database."""
    if limit is None:
        return count
    if limit >= 1:
        return min(int(limit), count)
    share = int(count * limit + 1e-9)
    return max(1, share)


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


_BIRD = "https://bird-bench.github.io"
_SPIDER = "https://yale-lily.github.io/spider"
BENCHMARKS = {
    "bird-dev": Release(
        files=("dev.json",),
        databases="dev_databases",
        questions=1534,
        train="bird-train",
        url=_BIRD,
    ),
    "bird-sds": Release(
        files=("dev.json",),
        databases="dev_databases",
        questions=147,
        train="bird-train",
        url=_BIRD,
    ),
    "bird-mini-dev": Release(
        files=("mini_dev_sqlite.json",),
        databases="dev_databases",
        questions=500,
        train="bird-train",
        url=_BIRD,
    ),
    "bird-train": Release(
        files=("train.json",),
        databases="train_databases",
        questions=9428,
        train="bird-train",
        url=_BIRD,
    ),
    "spider-dev": Release(
        files=("dev.json",),
        databases="database",
        questions=1034,
        train="spider-train",
        url=_SPIDER,
        sense="spider",
        tables=("tables.json",),
    ),
    "spider-test": Release(
        files=("test.json",),
        databases="test_database",
        questions=2147,
        train="spider-train",
        url=_SPIDER,
        sense="spider",
        tables=("test_tables.json", "tables.json"),
    ),
    "spider-train": Release(
        files=("train_spider.json", "train_others.json"),
        databases="database",
        questions=8659,
        train="spider-train",
        url=_SPIDER,
        sense="spider",
        tables=("tables.json",),
    ),
    "spider2-lite": Release(
        files=("spider2-lite.jsonl",),
        databases="",
        questions=135,
        train="spider-train",
        url="https://spider2-sql.github.io",
    ),
    "bundled-dev": Release(
        files=("dev.json",),
        databases="dev_databases",
        questions=278,
        train="bundled-train",
    ),
    "bundled-train": Release(
        files=("train.json",),
        databases="train_databases",
        questions=260,
        train="bundled-train",
    ),
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
        unknown = f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}"
        raise BadInputError(f"{unknown}, or give a JSON file of your own, NAME.json")
    release = BENCHMARKS.get(known)
    if root is None and release is None:
        root = _databases_beside(Path(name))
    if root is None and release and release.url:
        raise BadInputError(
            f"{name} is not bundled: give --root, the folder where it was unpacked"
        )
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
    names = {release.databases for release in BENCHMARKS.values()}
    known = sorted(filter(None, names))
    beside = [name for name in known if (path.parent / name).is_dir()]
    if len(beside) == 1:
        return path.parent / beside[0]
    there = ", ".join(beside) or "none"
    raise BadInputError(
        f"{path}: give --root, the folder of its databases;"
        f" of {', '.join(known)} there is {there} beside it"
    )


def _with_databases(opened: Benchmark) -> Benchmark:
    """The benchmark with the questions whose databases are there."""
    there = []
    missing = set()
    for question in opened.questions:
        if opened.has(question.db_id):
            there.append(question)
        else:
            missing.add(question.db_id)
    if not missing:
        return opened
    total = len(opened.questions)
    left_out = f"{total - len(there):,} of {total:,} questions are left out"
    why = f"in {opened.databases} is no database {', '.join(sorted(missing))}"
    if not there:
        raise BadInputError(f"{opened.name}: {left_out}: {why}")
    warnings.warn(f"{opened.name}: {left_out}: {why}", stacklevel=3)
    return opened.of(there)


def _released(name: str, release: Release, root: Path) -> Benchmark:
    path, databases = _locate(root, release, name)
    files = [path.with_name(file) for file in release.files]
    opened = _read(name, release.sense, databases, files)
    if release.tables:
        tables = [path.with_name(file) for file in release.tables]
        opened, lacks = _described(opened, tables)
        if lacks:
            raise BadInputError(lacks)
    return _chess_sample(opened, path) if name == "bird-sds" else opened


def _described(opened: Benchmark, tables: Sequence[Path]) -> tuple[Benchmark, str]:
    """The benchmark with the schemas of the first of these files, and what the file lacks."""
    source = next(filter(Path.is_file, tables), tables[-1])
    schemas = read_spider_schemas(source)
    used = {question.db_id for question in opened.questions}
    undescribed = ", ".join(sorted(used - schemas.keys()))
    lacks = ""
    if undescribed:
        lacks = f"{source} does not describe {undescribed}"
    return replace(opened, schemas=schemas), lacks


def _chess_sample(bird: Benchmark, path: Path) -> Benchmark:
    """CHESS's Subsampled Development Set of BIRD's dev split."""
    file = Path(__file__).with_name("chess_sds.json")
    ids = set(map(str, json.loads(file.read_text())))
    lacking = len(ids - bird.golds.keys())
    if lacking:
        raise BadInputError(
            f"{path} lacks {lacking} of the {len(ids)} questions of bird-sds"
        )
    return bird.of([question for question in bird.questions if question.id in ids])


def _users(path: Path, root: Path) -> Benchmark:
    """A file of a user's own, such as Spider-Syn's and Spider-DK's.

    Tables.json beside it, or in `root`, is read.
    """
    items = read_items(path, dict[str, Any])
    is_spiders = all("query" in item for item in items)
    databases = _folder_of_databases(root)
    sense: Sense = "spider" if is_spiders else "bird"
    opened = _read(path.stem, sense, databases, [path])
    folders = (path.parent, root, databases.parent)
    tables = [folder / "tables.json" for folder in folders]
    if not is_spiders or not any(file.is_file() for file in tables):
        return opened
    described, lacks = _described(opened, tables)
    if lacks:
        warnings.warn(f"{lacks}: no exact match for {opened.name}", stacklevel=3)
        return opened
    return described


def _folder_of_databases(root: Path) -> Path:
    """The folder in `root`, or `root` itself, with a folder for each database."""
    for depth in ("*/*", "*/*/*"):
        for file in root.glob(f"{depth}.sqlite"):
            return file.parents[1]
    return root


# Names of the fields in BIRD's files, Spider's and those of Spider's variants.
TEXT = AliasChoices("SpiderSynQuestion", "question")
SQL = AliasChoices("SQL", "query", "sql")


class _Item(BaseModel, strict=True):
    """A question of a file. Several queries are right answers all."""

    question_id: int | str | None = None
    db_id: Filled
    text: Filled = Field(validation_alias=TEXT)
    sql: Queries = Field(validation_alias=SQL)
    evidence: str | None = None
    difficulty: str | None = None


def _read(name: str, sense: Sense, databases: Path, paths: Sequence[Path]) -> Benchmark:
    """The benchmark of these files, whose items are numbered through where they have no ids."""
    items: list[_Item] = []
    for path in paths:
        items += read_items(path, _Item)
    questions: list[Question] = []
    golds: dict[str, Gold] = {}
    sharing: dict[str, list[str]] = {}
    for number, item in enumerate(items):
        stated = str(number if item.question_id is None else item.question_id)
        keys = sharing.setdefault(stated, [])
        key = f"{stated}-{len(keys) + 1}" if keys else stated
        if key in golds:
            raise BadInputError(f"{paths[0]}: question_id {key} occurs twice")
        keys.append(key)
        sql, *others = item.sql
        question = Question(
            id=key,
            db_id=item.db_id,
            text=item.text,
            evidence=item.evidence or "",
        )
        questions.append(question)
        golds[key] = Gold(
            question_id=key,
            sql=sql,
            difficulty=item.difficulty or "",
            others=tuple(others),
        )
    repeated = {}
    renamed = []
    for stated, keys in sharing.items():
        if len(keys) > 1:
            repeated[stated] = tuple(keys)
            renamed.append(f"{stated} became {' and '.join(keys)}")
    if renamed:
        warnings.warn(
            f"{paths[0]} gives ids to more than one question: {'; '.join(renamed)}",
            stacklevel=4,
        )
    return Benchmark(
        name=name,
        sense=sense,
        databases=databases,
        questions=tuple(questions),
        golds=golds,
        repeated=repeated,
    )


def _locate(root: Path, release: Release, name: str) -> tuple[Path, Path]:
    """The file and the folder of databases beside it, in `root` or at most two folders below.

    Some tools unpack a folder into one of its own name. A file without these databases may be
    another benchmark's.
    """
    file = release.files[0]
    folder = release.databases
    for depth in ("", "*/", "*/*/"):
        places: dict[Path, Path] = {}
        for path in sorted(root.glob(depth + file)):
            beside = path.parent / folder
            for databases in (beside / folder, beside):
                if any(databases.glob("*/*.sqlite")):
                    places[path] = databases
        if len(places) > 1:
            several = " and ".join(str(path.parent) for path in places)
            raise BadInputError(
                f"{root}: it contains {name} twice; give one of {several}"
            )
        if places:
            return places.popitem()
    if not root.is_dir():
        raise BadInputError(
            f"{root}: no such folder; give the one where {name} was unpacked"
        )
    lacks = f"no {file} with databases in {folder} beside it"
    where = f"in {root} or up to two folders below"
    raise BadInputError(f"{name}: {lacks} {where}; unpack it there")


def bundled_splits() -> dict[str, str]:
    """Return the split of each bundled database, dev or train, by the name of the database."""
    splits = {}
    for file in sorted(_DATA.glob("*/*_databases/*/*.sqlite")):
        split, *_ = file.relative_to(_DATA).parts
        splits[file.stem] = split
    return splits


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
    split = benchmark.name.removeprefix("bundled-")
    content = (_DATA / split / "flaws.json").read_text("utf-8")
    return tuple(Flaw(**fields) for fields in json.loads(content))
