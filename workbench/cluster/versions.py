"""The versions that results depend on: those of a worker must be the driver's."""

import os
import socket
import sqlite3
import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from workbench.canonical import files_hash
from workbench.errors import ClusterError

_PACKAGE = Path(__file__).parents[1]


@cache
def versions() -> Mapping[str, str]:
    """The versions on which results depend besides a task's input, by name."""
    files = [file for file in _PACKAGE.rglob("*") if file.suffix in {".py", ".md", ".json", ".txt"}]
    return {
        "Python": ".".join(map(str, sys.version_info[:2])),
        "workbench": files_hash(_PACKAGE, files)[:12],
        "SQLite": sqlite3.sqlite_version,
        **{name: metadata.version(name) for name in ("sqlglot", "numpy", "rapidfuzz")},
    }


def identity() -> dict[str, Any]:
    """The versions of a worker, and its process."""
    return {"versions": versions(), "process": (socket.gethostname(), os.getpid())}


def check_versions(driver: Mapping[str, str], worker: Mapping[str, str], name: str) -> None:
    """Raise `ClusterError` if the worker's results could differ from those of the driver's machine."""
    differing = [
        f"{what} {worker.get(what)} and not {driver[what]}"
        for what in driver
        if worker.get(what) != driver[what]
    ]
    if differing:
        raise ClusterError(
            f"worker {name} has {', '.join(differing)}: install there what the driver has, and run the same"
            " again; what came back is kept"
        )
