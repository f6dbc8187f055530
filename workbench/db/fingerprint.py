"""Fingerprint a database's content: a hash of its file and of its write-ahead log.

Hashing gigabytes takes seconds, so the cache has the hash of each file, and the state of the file when it was
hashed: device, inode, size and times. The state includes the time of status change (ctime), which no program
can set back. Workers read the file, as this process must not (see `opening._header`).
"""

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from workbench.canonical import canonical, content_hash
from workbench.db.sandbox.opening import is_settled
from workbench.db.sandbox.supervisor import Supervisor
from workbench.errors import UnreadableDatabaseError
from workbench.store import Store

_SECONDS = 60.0  # that hashing a file may take, besides the time to read its blocks
_SPEED = 20_000_000  # bytes a second that are read from a slow disk

# Every step of a system needs fingerprints, so those that were read from a cache file stay in memory: by the cache
# file's path, the database's path and its state.
_read: dict[tuple[Path, str, str], str] = {}

FileState = tuple[str, int]
"""The identity, sizes and times of a file and its log as text, and the time of their last change."""


def database_fingerprints(
    paths: Iterable[Path],
    workers: Supervisor,
    store: Store | None = None,
    states: Mapping[Path, FileState] | None = None,
) -> dict[Path, str]:
    """Each path's fingerprint, `db:` and a hash; files with equal content have equal fingerprints.

    `states` has the paths' states, if the caller has just read them.
    Raises `UnreadableDatabaseError` for a path that is not a readable file.
    """
    states = states or {path: file_state(path) for path in paths}
    known = {
        path: found
        for path, (state, _) in states.items()
        if store and (found := _read.get((store.path, str(path), state)))
    }
    states = {path: state for path, state in states.items() if path not in known}
    if not states:
        return known
    ids = {path: content_hash("place", str(path.resolve())) for path in states}
    stored: dict[str, tuple[str, str]] = {}
    if store:
        rows = store.read_keys(
            "SELECT place, state, fingerprint FROM databases WHERE place IN", list(ids.values())
        )
        stored = {id_: (state, fingerprint) for id_, state, fingerprint in rows}
    unknown = []
    for path, (state, _) in states.items():
        stored_state, fingerprint = stored.get(ids[path], ("", ""))
        if stored_state == state:
            known[path] = fingerprint
            if store:
                _read[store.path, str(path), state] = fingerprint
        else:
            unknown.append(path)
    if unknown:
        requests = [{"do": "digest", "path": os.path.realpath(path)} for path in unknown]
        for index, answer in workers.run(requests, max(map(_seconds, unknown))):
            if answer.get("status") == "timeout":
                raise UnreadableDatabaseError(
                    f"{unknown[index].name}: {answer['error']} while its content was hashed"
                )
            if "digest" not in answer:
                raise UnreadableDatabaseError(answer["error"])
            known[unknown[index]] = f"db:{answer['digest']}"
        if store and not store.read_only:
            with store.write() as connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO databases VALUES (?, ?, ?)",
                    [
                        (ids[path], states[path][0], known[path])
                        for path in unknown
                        if is_settled(states[path][1])
                    ],
                )
    return known


def _seconds(path: Path) -> float:
    return _SECONDS + 512 * path.stat().st_blocks / _SPEED


def unreadable(path: Path, error: OSError | ValueError) -> UnreadableDatabaseError:
    """The error for a path by which no file can be opened."""
    if isinstance(error, UnicodeEncodeError):
        return UnreadableDatabaseError(f"{path.name!a}: the path is not UTF-8; rename the file")
    why = getattr(error, "strerror", error)
    return UnreadableDatabaseError(f"{path.name}: {why}; give the path of an SQLite database")


def is_unchanged(path: Path, state: str) -> bool:
    """Whether the file and its log still have this state."""
    try:
        return file_state(path)[0] == state
    except UnreadableDatabaseError:
        return False


def file_state(path: Path) -> FileState:
    """The state of a database; raises `UnreadableDatabaseError` for a path that is not a readable file."""
    name = str(path)  # every step of a system calls this, and texts are faster than paths
    try:
        name.encode()
        stats = [os.stat(name)]  # noqa: PTH116
    except (OSError, ValueError) as error:  # a ValueError for a name with a NUL
        raise unreadable(path, error) from error
    if not stat.S_ISREG(stats[0].st_mode):
        raise UnreadableDatabaseError(
            f"{path.name}: not a file; give the path of an SQLite database"
        )
    with suppress(FileNotFoundError):
        stats.append(os.stat(f"{name}-wal"))  # noqa: PTH116
    state = [[s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns] for s in stats]
    return canonical(state).decode(), max(s.st_ctime_ns for s in stats)
