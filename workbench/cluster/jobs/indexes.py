"""Value indexes that workers build and the driver keeps."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.lab import Lab
from workbench.retrieve.index.values import IndexKind, build_index, keep_index


@dataclass(frozen=True, slots=True)
class IndexPart:
    """The index of one database: the task of a worker."""

    database: str
    kind: IndexKind


def build_part(part: IndexPart, lab: Lab) -> bytes:
    """The file of the index, built on a worker."""
    folder = lab.client.store.path.parent / "indexes"
    return build_index(lab.database(part.database), part.kind, folder).read_bytes()


def keep_part(part: IndexPart, built: Any, folder: Path | None) -> Path:
    """Write the file where this process looks for the index; returns its path."""
    return keep_index(Path(part.database), part.kind, bytes(built), folder)
