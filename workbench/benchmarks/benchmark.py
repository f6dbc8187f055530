"""Benchmarks: questions, gold queries apart from them, and a folder of databases.

BIRD and Spider are read as unpacked from their archives, Spider2-lite from its repository; the
bundled benchmark has eight databases written for this project, in BIRD's layout; and a user may
give a file. An item without an id, as in BIRD's train split and in Spider, has its position as
id. An id that a file gives twice, as the first release of BIRD's mini-dev does, gets a suffix:
137 and 137-2.
"""

import json
import os
import re
import warnings
from collections import defaultdict
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
    databases: the folder with `DB/DB.sqlite` for each db_id.
    flat: the folder has `DB.sqlite` instead, as Spider2-lite's.
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

    def sharing(self, id_in_file: str) -> list[Question]:
        """Return the questions to which the file gives the same id; [] if it gives it once."""
        keys = self.repeated.get(id_in_file, ())
        return [question for question in self.whole if question.id in keys]

    def has(self, db_id: str) -> bool:
        """Whether the SQLite file of a database is there."""
        # `Path.is_file` fails in a folder that may not be read.
        return os.path.isfile(self._file(db_id))  # noqa: PTH113

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


def named(questions: Sequence[Question]) -> str:
    """Return the ids and texts of questions among which an error asks to choose."""
    return " or ".join(f"{question.id} ({question.text})" for question in questions)


@lru_cache(maxsize=1000)  # every query and every schema of a run asks for it
def _is_inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


@dataclass(frozen=True, slots=True)
class _OneQuery:
    """What is hashed of a gold that is one query: its fields before there were other answers."""

    question_id: str
    sql: str
    difficulty: str


def _hashed(gold: Gold) -> Gold | _OneQuery:
    if gold.others or gold.results:
        return gold
    return _OneQuery(gold.question_id, gold.sql, gold.difficulty)


def some(questions: Sequence[Question], limit: float | None) -> list[Question]:
    """Return `limit` of the questions, spread evenly over their order; all questions if it is None.

    A limit below 1 is a share of each database's questions, rounded down, but at least one
    question. With 0.1, as many of BIRD dev's questions are drawn as CHESS draws for its
    Subsampled Development Set: 147 of 1,534 (section 4.1.1).
    """
    check_limit(limit)
    if limit is None or limit >= 1:
        return _spread(questions, limit)
    by_database = defaultdict[str, list[Question]](list)
    for question in questions:
        by_database[question.db_id].append(question)
    drawn: set[Question] = set()
    for part in by_database.values():
        drawn.update(_spread(part, limit))
    return [question for question in questions if question in drawn]


def _spread(questions: Sequence[Question], limit: float | None) -> list[Question]:
    total = len(questions)
    count = size(total, limit)
    return [questions[n * total // count] for n in range(count)]


def size(count: int, limit: float | None) -> int:
    """Return the number of questions that a limit leaves of `count` on one database."""
    if limit is None:
        return count
    if limit >= 1:
        return min(int(limit), count)
    share = int(count * limit + 1e-9)  # 100 * 0.29 is a little less than 29
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

    questions: the number that is published.
    tables: the files that may describe the databases, as Spider's tables.json does.
    """

    files: Sequence[str]
    databases: str
    questions: int
    url: str = ""
    sense: Sense = "bird"
    tables: Sequence[str] = ()


_RELEASES = json.loads(Path(__file__).with_name("releases.json").read_text("utf-8"))
BENCHMARKS = {name: Release(**fields) for name, fields in _RELEASES.items()}
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
    folder = Path(root) if root else None
    if known in BENCHMARKS:
        return _with_databases(_released(known, folder))
    return _with_databases(_users(Path(name), folder))


def _with_databases(opened: Benchmark) -> Benchmark:
    """The benchmark with the questions whose databases are there."""
    db_ids = {question.db_id for question in opened.questions}
    missing = [db_id for db_id in sorted(db_ids) if not opened.has(db_id)]
    if not missing:
        return opened
    there = [question for question in opened.questions if question.db_id not in missing]
    total = len(opened.questions)
    told = (
        f"{opened.name}: {total - len(there):,} of {total:,} questions are left out:"
        f" in {opened.databases} is no database {', '.join(missing)}"
    )
    if not there:
        raise BadInputError(f"{told}; give --root, the folder of its databases")
    warnings.warn(told, stacklevel=3)  # the line that opens the benchmark
    return opened.of(there)


def _released(name: str, root: Path | None) -> Benchmark:
    release = BENCHMARKS[name]
    if root is None and release.url:
        raise BadInputError(
            f"{name} is not bundled: give --root, the folder where it was unpacked"
        )
    folder = root or _DATA / name.removeprefix("bundled-")
    if name == "spider2-lite":
        databases, questions, golds = read_spider2(folder)
        return Benchmark(name, "bird", databases, questions, golds, flat=True)
    path, databases = _locate(folder, release, name)
    files = [path.with_name(file) for file in release.files]
    opened = _read(name, release.sense, databases, files)
    tables = [path.with_name(file) for file in release.tables]
    if tables:
        opened = _described(opened, tables)
    return _chess_sample(opened, path) if name == "bird-sds" else opened


def _described(opened: Benchmark, tables: Sequence[Path]) -> Benchmark:
    """The benchmark with the schemas of the first of these files that there is."""
    there = [path for path in tables if path.is_file()]
    source = (there or tables)[0]
    schemas = read_spider_schemas(source)
    used = {question.db_id for question in opened.questions}
    undescribed = ", ".join(sorted(used - schemas.keys()))
    if undescribed:
        raise BadInputError(f"{source} does not describe {undescribed}")
    return replace(opened, schemas=schemas)


def _chess_sample(bird: Benchmark, path: Path) -> Benchmark:
    """CHESS's Subsampled Development Set of BIRD's dev split."""
    file = Path(__file__).with_name("chess_sds.json")
    ids = {str(number) for number in json.loads(file.read_text())}
    drawn = [question for question in bird.questions if question.id in ids]
    lacking = len(ids) - len(drawn)
    if lacking:
        raise BadInputError(
            f"{path} lacks {lacking} of the {len(ids)} questions of bird-sds"
        )
    return bird.of(drawn)


def _users(path: Path, root: Path | None) -> Benchmark:
    """A file of a user's own, such as Spider-Syn's and Spider-DK's.

    Tables.json beside it, or in `root`, is read.
    """
    items = read_items(path, dict[str, Any])
    is_spiders = all("query" in item for item in items)
    sense: Sense = "spider" if is_spiders else "bird"
    root = root or path.parent
    opened = _read(path.stem, sense, root, [path])
    opened = _with_most_databases(opened, path)
    folders = (path.parent, root, opened.databases.parent)
    tables = [folder / "tables.json" for folder in folders]
    if not is_spiders or not any(file.is_file() for file in tables):
        return opened
    try:
        return _described(opened, tables)
    except BadInputError as error:
        warnings.warn(f"{error}: no exact match for {opened.name}", stacklevel=3)
        return opened


def _with_most_databases(opened: Benchmark, path: Path) -> Benchmark:
    """The benchmark with its folder of databases: its own one, or that in it that has more.

    A folder of databases may lie in one of its own name, as some tools unpack it.
    """
    root = opened.databases
    db_ids = {question.db_id for question in opened.questions}
    with_count = defaultdict[int, list[Benchmark]](list)
    for folder in (root, *root.glob("*/"), *root.glob("*database*/*database*/")):
        there = replace(opened, databases=folder)
        with_count[sum(map(there.has, db_ids))].append(there)
    count, best = max(with_count.items())
    if len(best) > 1 and best[0].databases != root:
        several = " and ".join(sorted(str(there.databases) for there in best))
        raise BadInputError(
            f"{path}: {several} have {count} of its databases each;"
            " give --root, the folder of its databases"
        )
    return best[0]


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
    keys_of = defaultdict[str, list[str]](list)  # of an id that the file states
    for number, item in enumerate(items):
        stated = str(number if item.question_id is None else item.question_id)
        key = stated
        if stated in keys_of:
            key = f"{stated}-{len(keys_of[stated]) + 1}"
        if key in golds:
            raise BadInputError(f"{paths[0]}: question_id {key} occurs twice")
        keys_of[stated].append(key)
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
    repeated = {id_: tuple(keys) for id_, keys in keys_of.items() if len(keys) > 1}
    if repeated:
        renamed = [
            f"{id_} became {' and '.join(keys)}" for id_, keys in repeated.items()
        ]
        warnings.warn(
            f"{paths[0]} gives ids to more than one question: {'; '.join(renamed)}",
            stacklevel=4,  # the line that opens the benchmark
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

    A file without these databases may be another benchmark's.
    """
    file = release.files[0]
    folder = release.databases
    for depth in ("", "*/", "*/*/"):
        places = []
        for path in sorted(root.glob(depth + file)):
            databases = _databases_beside(path, folder)
            if databases:
                places.append((path, databases))
        if len(places) > 1:
            several = " and ".join(str(path.parent) for path, _ in places)
            raise BadInputError(
                f"{root}: it contains {name} twice; give one of {several}"
            )
        if places:
            return places[0]
    if not root.is_dir():
        raise BadInputError(
            f"{root}: no such folder; give the one where {name} was unpacked"
        )
    lacks = f"no {file} with databases in {folder} beside it"
    where = f"in {root} or up to two folders below"
    raise BadInputError(f"{name}: {lacks} {where}; unpack it there")


def _databases_beside(file: Path, name: str) -> Path | None:
    """The folder of databases beside a file; some tools unpack it into one of its own name."""
    folder = file.parent / name
    for databases in (folder, folder / name):
        if any(databases.glob("*/*.sqlite")):
            return databases
    return None


def bundled_splits() -> dict[str, str]:
    """Return the split of each bundled database, dev or train, by the name of the database."""
    splits = {}
    for file in sorted(_DATA.glob("*/*_databases/*/*.sqlite")):
        splits[file.stem] = file.relative_to(_DATA).parts[0]
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
