"""Which content a database holds: a hash of the file and of what its write-ahead log adds to it.

Hashing gigabytes takes seconds, so the lab book remembers the hash of a file by everything its folder
says of it: place, inode, sizes, times of last change. The time of status change is among them, which no
program can set back. A worker reads the file, never this process (see `opening.connect`).
"""

import os
import time
from collections.abc import Iterable
from pathlib import Path

from workbench.canonical import canonical, content_hash
from workbench.db.opening import wal
from workbench.db.supervisor import Supervisor
from workbench.errors import UnreadableDatabaseError
from workbench.store import Store

_SETTLED = 2_000_000_000  # ns; a younger file may change again within the grain of its time stamp
_SECONDS = 3600.0


def database_fingerprints(
    paths: Iterable[Path], workers: Supervisor, store: Store | None = None
) -> dict[Path, str]:
    """For each path `db:` and a hash, equal for equal content wherever it lies.

    A path that is no readable file is an UnreadableDatabaseError.
    """
    states = {path: file_state(path) for path in paths}
    places = {path: content_hash("place", str(path.resolve())) for path in states}
    remembered: dict[str, tuple[str, str]] = {}
    if store:
        found = store.read_keys(
            "SELECT place, state, fingerprint FROM databases WHERE place IN", list(places.values())
        )
        remembered = {place: (state, fingerprint) for place, state, fingerprint in found}
    known, unknown = {}, []
    for path, (state, _) in states.items():
        then, fingerprint = remembered.get(places[path], ("", ""))
        if then == state:
            known[path] = fingerprint
        else:
            unknown.append(path)
    if unknown:
        requests = [{"do": "digest", "path": os.path.realpath(path)} for path in unknown]
        for index, answer in workers.run(requests, _SECONDS):
            if "digest" not in answer:
                raise UnreadableDatabaseError(answer["error"])
            known[unknown[index]] = f"db:{answer['digest']}"
        if store and not store.read_only:
            settled = time.time_ns() - _SETTLED
            with store.write() as connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO databases VALUES (?, ?, ?)",
                    [
                        (places[path], states[path][0], known[path])
                        for path in unknown
                        if states[path][1] < settled
                    ],
                )
    return known


def file_state(path: Path) -> tuple[str, int]:
    """What the folder says of the file and its log, as text; and when either last changed."""
    try:
        found = [path.stat()]
    except OSError as error:
        raise UnreadableDatabaseError(
            f"{path.name}: {error.strerror}; give the path of an SQLite database"
        ) from error
    if not path.is_file():
        raise UnreadableDatabaseError(
            f"{path.name}: not a file; give the path of an SQLite database"
        )
    if wal(path).exists():
        found.append(wal(path).stat())
    state = [[s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns] for s in found]
    return canonical(state).decode(), max(s.st_ctime_ns for s in found)
