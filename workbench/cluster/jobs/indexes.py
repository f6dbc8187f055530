"""Value indexes that workers build and the driver keeps."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.lab import Lab
from workbench.retrieve.index.values import IndexKind, build_index, keep_index


@dataclass(frozen=True, slots=True)
class IndexTask:
    """A worker's task: build the index of a database."""

    database: str
    kind: IndexKind


def build_on_worker(task: IndexTask, lab: Lab) -> bytes:
    """The content of the index file, built on a worker."""
    folder = lab.client.store.path.parent / "indexes"
    return build_index(lab.database(task.database), task.kind, folder).read_bytes()


def keep_built(task: IndexTask, content: Any, folder: Path | None) -> Path:
    """Write the index file where this process looks for it; returns its path."""
    return keep_index(Path(task.database), task.kind, bytes(content), folder)
