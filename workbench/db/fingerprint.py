"""Which content a database holds: a hash of the file and of what its write-ahead log adds to it.

Hashing gigabytes takes seconds, so the lab book remembers the hash of a file by everything its folder
says of it: place, inode, sizes, times of last change. The time of status change is among them, which no
program can set back.
"""

import hashlib
import time
from pathlib import Path

from workbench.canonical import canonical, content_hash
from workbench.errors import UnreadableDatabaseError
from workbench.store import Store

_SETTLED = 2_000_000_000  # ns; a younger file may change again within the grain of its time stamp


def database_fingerprint(path: Path, store: Store | None = None) -> str:
    """`db:` and a hash, equal for equal content wherever it lies."""
    state, changed = _state(path)
    place = content_hash("place", str(path.resolve()))
    if store:
        known = store.read("SELECT state, fingerprint FROM databases WHERE place = ?", (place,))
        if known and known[0][0] == state:
            return str(known[0][1])
    digest = hashlib.sha256()
    try:
        for part in (path, _wal(path)):
            if part.exists():
                with part.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
    except OSError as error:
        raise UnreadableDatabaseError(f"{path.name}: {error.strerror}") from error
    fingerprint = f"db:{digest.hexdigest()}"
    if store and time.time_ns() - changed > _SETTLED:
        with store.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO databases VALUES (?, ?, ?)", (place, state, fingerprint)
            )
    return fingerprint


def _state(path: Path) -> tuple[str, int]:
    """What the folder says of the file and its log, as text; and when either last changed."""
    try:
        found = [path.stat()]
    except OSError as error:
        raise UnreadableDatabaseError(
            f"{path.name}: {error.strerror}; give the path of an SQLite database"
        ) from error
    if not path.is_file():
        raise UnreadableDatabaseError(f"{path.name}: not a file; give the path of an SQLite database")
    if _wal(path).exists():
        found.append(_wal(path).stat())
    state = [[s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns] for s in found]
    return canonical(state).decode(), max(s.st_ctime_ns for s in found)


def _wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")
