"""Labels on disk: one JSON line each, added at once and never changed.

A label is about a question and a query, both by their text, so that it is found again after a rerun, in a
benchmark whose questions were numbered anew, and whatever the layout of the query. To take one back is a
line of its own. Several programs may add to one file; each sees what the others added.
"""

import fcntl
import os
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from workbench.errors import BadInputError, StoreError
from workbench.label.case import Case, case_key
from workbench.store import home

_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,100}")


@dataclass(frozen=True, slots=True)
class Label:
    """What an annotator says of a case; `automatic` where a rule said it. `key` is what it is about."""

    id: str
    at: str
    annotator: str
    taxonomy: str
    category: str
    subcategory: str
    note: str
    automatic: bool
    db_id: str
    question_id: str
    question: str
    sql: str
    key: tuple[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", case_key(self.db_id, self.question, self.sql))


FIELDS = tuple(one.name for one in fields(Label) if one.init)


def label_of(
    case: Case,
    taxonomy: str,
    category: str,
    subcategory: str = "",
    *,
    annotator: str,
    note: str = "",
    automatic: bool = False,
) -> Label:
    """A new label of a case."""
    return Label(
        id=uuid.uuid4().hex,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        annotator=_whole(annotator),
        taxonomy=taxonomy,
        category=category,
        subcategory=subcategory,
        note=_whole(note),
        automatic=automatic,
        db_id=case.question.db_id,
        question_id=case.question.id,
        question=case.question.text,
        sql=case.predicted,
    )


def _whole(text: str) -> str:
    """The text without halves of characters, which cannot be written down."""
    return text.encode("utf-8", "replace").decode()


class LabelStore:
    """The labels in a file. `torn` counts lines that a crash cut off; all others are kept."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.torn = 0
        self._read = 0  # bytes of the file that are known
        self._labels: dict[str, Label] = {}  # by id, those taken back left out
        self._about: dict[tuple[str, str, tuple[str, str]], list[str]] = {}
        self.refresh()

    @classmethod
    def named(cls, name: str) -> "LabelStore":
        """The labels of that name in the workbench's home."""
        if not _NAME.fullmatch(name) or not name.strip("."):
            raise BadInputError(f"labels {name!r}: letters, digits, '_', '-' and '.' only")
        return cls(home() / "labels" / f"{name}.jsonl")

    def add(self, labels: Iterable[Label]) -> None:
        """Keep the labels; they are on disk when this returns."""
        self._append([{name: getattr(label, name) for name in FIELDS} for label in labels])

    def undo(self, annotator: str, taxonomy: str) -> Label | None:
        """Take back the last label that the annotator gave by hand; the one before it counts again."""
        mine = self.labels(taxonomy=taxonomy, annotator=annotator, automatic=False, latest=False)
        if not mine:
            return None
        self._append(
            [{"retracts": mine[-1].id, "at": datetime.now(UTC).isoformat(timespec="seconds")}]
        )
        return mine[-1]

    def labels(
        self,
        *,
        taxonomy: str | None = None,
        annotator: str | None = None,
        automatic: bool | None = None,
        latest: bool = True,
    ) -> tuple[Label, ...]:
        """The labels that count, in the order in which they were given.

        With `latest`, of several that an annotator gave to one case only the last one.
        """
        self.refresh()
        last = {ids[-1] for ids in self._about.values() if ids}
        return tuple(
            label
            for label in self._labels.values()
            if (not latest or label.id in last)
            and taxonomy in {None, label.taxonomy}
            and annotator in {None, label.annotator}
            and automatic in {None, label.automatic}
        )

    def of(self, key: tuple[str, str], taxonomy: str, annotator: str) -> Label | None:
        """What the annotator says of the case with that key, as far as the file has been read."""
        ids = self._about.get((taxonomy, annotator, key))
        return self._labels[ids[-1]] if ids else None

    def _append(self, records: list[dict[str, Any]]) -> None:
        lines = b"".join(orjson.dumps(record) + b"\n" for record in records)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+", buffering=0) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                _write(file.fileno(), lines)
        except OSError as error:
            raise StoreError(
                f"labels {self.path}: {error.strerror}; nothing was added, and what was there is safe"
            ) from error
        self.refresh()

    def refresh(self) -> None:
        """Read what was added since, by whomever."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._read)
                added = file.read()
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(f"labels {self.path}: {error.strerror}") from error
        *lines, rest = added.split(b"\n")
        for line in lines:
            self.torn += not self._take(line)
        self._read += len(added) - len(rest)
        if rest and self._take(
            rest
        ):  # all of it but its newline: whoever adds the next line adds that, too
            self._read += len(rest)

    def _take(self, line: bytes) -> bool:
        """Learn from a line; whether it is a whole one."""
        if not line.strip(b"\0 \r"):
            return True
        try:
            record = orjson.loads(line)
        except ValueError:
            return False
        if isinstance(record, dict) and (
            taken_back := self._labels.pop(str(record.get("retracts")), None)
        ):
            self._about[_about(taken_back)].remove(taken_back.id)
        elif isinstance(record, dict) and "retracts" not in record:
            label = read_label(record, str(self.path))
            if label.id not in self._labels:
                self._labels[label.id] = label
                self._about.setdefault(_about(label), []).append(label.id)
        return True


def read_label(record: Mapping[str, Any], where: str) -> Label:
    """A label from its fields, or one line on what is wrong with it."""
    for name in FIELDS:
        if not isinstance(record.get(name), bool if name == "automatic" else str):
            raise BadInputError(
                f"{where}: no label, for its {name} is {record.get(name)!r:.60}; a label has"
                f" {', '.join(FIELDS)}"
            )
    return Label(**{name: record[name] for name in FIELDS})


def _about(label: Label) -> tuple[str, str, tuple[str, str]]:
    return label.taxonomy, label.annotator, label.key


def _write(file: int, lines: bytes) -> None:
    """Add lines at the end, all or none of them, and wait until they are on the disk."""
    end = os.fstat(file).st_size
    if end and os.pread(file, 1, end - 1) != b"\n":
        lines = b"\n" + lines  # what a crash left there stays a line of its own
    try:
        rest = memoryview(lines)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    except OSError:
        os.ftruncate(file, end)
        raise
