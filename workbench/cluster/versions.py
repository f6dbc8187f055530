"""The versions on which results depend: a worker must have the driver's."""

import os
import socket
import sqlite3
import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from workbench.canonical import folder_hash
from workbench.errors import ClusterError

_PACKAGE = Path(__file__).parents[1]


@cache
def versions() -> Mapping[str, str]:
    """The versions by the name of the program or package; the workbench's is a hash of its code and texts."""
    return {
        "Python": ".".join(map(str, sys.version_info[:2])),
        "workbench": folder_hash(_PACKAGE)[:12],
        "SQLite": sqlite3.sqlite_version,
        **{name: metadata.version(name) for name in ("sqlglot", "numpy", "rapidfuzz")},
    }


def identity() -> dict[str, Any]:
    """The versions of this process, and its host and process id."""
    return {"versions": versions(), "process": (socket.gethostname(), os.getpid())}


def check_versions(driver: Mapping[str, str], worker: Mapping[str, str], name: str) -> None:
    """Raise `ClusterError` if a version of the worker `name` is not the driver's, so that its results may differ."""
    differing = [
        f"{package} {worker.get(package)} and not {version}"
        for package, version in driver.items()
        if worker.get(package) != version
    ]
    if differing:
        raise ClusterError(
            f"worker {name} has {', '.join(differing)}: install the driver's versions there, and run the same"
            " again; the results so far are cached"
        )
