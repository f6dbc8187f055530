"""What every benchmark comes down to: questions, gold queries kept apart, and a folder of databases."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.types import Gold, Question, Schema

_DB_ID = re.compile(r"[A-Za-z0-9_.\-]{1,128}")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Questions in their file's order, and what judges their answers.

    `databases` holds `DB/DB.sqlite` for each db_id. `family` says whose metrics are the benchmark's own.
    `schemas` are those of Spider's tables.json, by which Spider's exact match is defined.
    """

    name: str
    family: Literal["bird", "spider"]
    databases: Path
    questions: tuple[Question, ...]
    golds: Mapping[str, Gold]
    schemas: Mapping[str, Schema] = field(default_factory=dict)

    def database(self, db_id: str) -> Path:
        """The SQLite file of a database; a db_id that is no plain name never becomes a path."""
        if not _DB_ID.fullmatch(db_id) or not db_id.strip("."):
            raise BadInputError(
                f"db_id {db_id!r}: letters, digits, '_', '-' and '.' only, at most 128"
            )
        path = self.databases / db_id / f"{db_id}.sqlite"
        if not path.is_file():
            raise BadInputError(
                f"no database {db_id}: expected {db_id}/{db_id}.sqlite in {self.databases}"
            )
        return path

    def fingerprint(self) -> str:
        """A hash of questions and gold queries: releases of one benchmark differ, and so do their numbers."""
        golds = [self.golds[question.id] for question in self.questions]
        return content_hash("questions", [self.questions, golds])


def read_json(path: Path) -> Any:
    """A JSON file, or one clear line on why it is none."""
    try:
        return orjson.loads(path.read_bytes())
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInputError(f"{path}: not JSON ({error})") from error


def find(root: Path, names: Iterable[str], what: str) -> Path:
    """The first of these files or folders in `root` or up to two folders below it."""
    if not root.is_dir():
        raise BadInputError(
            f"--root {root}: no such folder; give the one where {what} was unpacked"
        )
    names = tuple(names)
    for depth in ("", "*/", "*/*/"):
        for name in names:
            for path in sorted(root.glob(depth + name)):
                return path
    raise BadInputError(
        f"{what}: none of {', '.join(names)} in {root} or up to two folders below it; unpack {what} there"
    )


def text_field(item: Any, number: int, path: Path, *names: str) -> str:
    """The first of these fields that the item has, which must be text."""
    for name in names:
        if isinstance(item, dict) and isinstance(item.get(name), str):
            return str(item[name])
    raise BadInputError(f"{path.name}, item {number}: no text field {' or '.join(names)}")
