"""A benchmark: questions, gold queries apart from them, and a folder of databases."""

import math
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.types import Gold, Question, Schema

_DB_ID = re.compile(r"[A-Za-z0-9_.\-]{1,128}")

Sense = Literal["bird", "spider"]
"""Execution accuracy as BIRD defines it, equal sets of rows, or as Spider does (`evaluate.ex`)."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Questions in the order of their file, and the gold queries that judge answers.

    `databases` holds `DB/DB.sqlite` for each db_id. `sense` is the sense of EX of the benchmark's own
    leaderboard. `schemas` are those of Spider's tables.json, by which Spider's exact match is defined. `every`
    has all questions of the file where `questions` are only some of them, and is () otherwise.
    """

    name: str
    sense: Sense
    databases: Path
    questions: tuple[Question, ...]
    golds: Mapping[str, Gold]
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    every: tuple[Question, ...] = ()

    def has(self, db_id: str) -> bool:
        """Whether the SQLite file of a database is there."""
        return (self.databases / db_id / f"{db_id}.sqlite").is_file()

    def database(self, db_id: str) -> Path:
        """The SQLite file of a database. A db_id must be a plain name, so that it cannot lead out of the folder."""
        path = _path(self.databases, db_id)
        try:
            found = path.stat()
        except OSError:
            found = None
        if not found or not stat.S_ISREG(found.st_mode):
            raise BadInputError(
                f"no database {db_id}: expected {db_id}/{db_id}.sqlite in {self.databases}"
            )
        if not _is_inside(path, self.databases, found.st_dev, found.st_ino):
            raise BadInputError(
                f"database {db_id}: a link leads out of {self.databases}; put the file itself there"
            )
        return path

    def limited(self, limit: float | None) -> "Benchmark":
        """The benchmark with `limit` of its questions, as `some` takes them; `every` has all questions."""
        asked = tuple(some(self.questions, limit))
        return replace(self, questions=asked, every=self.every or self.questions)

    def fingerprint(self) -> str:
        """A hash of questions and gold queries. Releases of one benchmark differ, and so does the EX on them."""
        golds = [self.golds[question.id] for question in self.questions]
        return content_hash("questions", [self.questions, golds])


@lru_cache(maxsize=4096)  # every step asks for the path
def _path(folder: Path, db_id: str) -> Path:
    if not _DB_ID.fullmatch(db_id) or not db_id.strip("."):
        raise BadInputError(f"db_id {db_id!r}: letters, digits, '_', '-' and '.' only, at most 128")
    return folder / db_id / f"{db_id}.sqlite"


@lru_cache(maxsize=4096)  # links are followed once for each file
def _is_inside(path: Path, folder: Path, device: int, inode: int) -> bool:
    """Whether the file that a path leads to, known by its device and inode, is in the folder."""
    del device, inode
    return path.resolve().is_relative_to(folder.resolve())


def some(questions: Sequence[Question], limit: float | None) -> list[Question]:
    """`limit` of the questions, spread evenly, or all questions if it is None.

    A limit below 1 is a share of each database's questions, rounded down, but at least one question: 0.1 is how CHESS
    draws its Subsampled Development Set (section 4.1.1), 147 of BIRD dev's 1,534 questions.
    """
    check_limit(limit)
    if limit is None:
        return list(questions)
    if limit >= 1:
        return _spread(questions, int(limit))
    by_database: dict[str, list[Question]] = {}
    for question in questions:
        by_database.setdefault(question.db_id, []).append(question)
    drawn = {
        question.id
        for part in by_database.values()
        for question in _spread(part, size(len(part), limit))
    }
    return [question for question in questions if question.id in drawn]


def _spread(questions: Sequence[Question], count: int) -> list[Question]:
    count = min(count, len(questions))
    return [questions[n * len(questions) // count] for n in range(count)]


def size(count: int, limit: float | None) -> int:
    """About how many of `count` questions a limit leaves."""
    if limit is None:
        return count
    return min(int(limit), count) if limit >= 1 else max(1, math.floor(count * limit + 1e-9))


def check_limit(limit: float | None) -> None:
    """Raise BadInputError for a limit that is neither a number of questions nor a share of them."""
    whole = type(limit) is int and limit >= 1
    if limit is not None and not whole and not (type(limit) is float and 0 < limit < 1):
        raise BadInputError(
            f"limit is {limit!r}: it must be a number of questions, 1 or more, a share of each database's between 0"
            " and 1, or None"
        )


def locate(root: Path, file: str, folder: str, what: str) -> tuple[Path, Path]:
    """A benchmark's file and the folder of databases beside it, searched in `root` and up to two folders below.

    A file of this name without databases beside it may belong to another benchmark, so it is passed over.
    """
    if not root.is_dir():
        raise BadInputError(f"{root}: no such folder; give the one where {what} was unpacked")
    lone: list[Path] = []
    for depth in ("", "*/", "*/*/"):
        paths = sorted(root.glob(depth + file))
        found = [(path, inside) for path in paths if (inside := _databases(path.parent / folder))]
        if len(found) > 1:
            places = " and ".join(str(path.parent) for path, _ in found)
            raise BadInputError(f"{root}: it contains {what} twice; give one of {places}")
        if found:
            return found[0]
        lone += paths
    if lone:
        raise BadInputError(
            f"{what}: {lone[0]} has no folder {folder} with databases beside it; unpack them there"
        )
    raise BadInputError(
        f"{what}: no {file} in {root} or up to two folders below it; unpack {what} there"
    )


def _databases(folder: Path) -> Path | None:
    """The folder that holds `DB/DB.sqlite`: this one, or a folder of the same name in it, as some tools unpack."""
    for candidate in (folder, folder / folder.name):
        if next(candidate.glob("*/*.sqlite"), None):
            return candidate
    return None
