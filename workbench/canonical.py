"""Canonical JSON, in which equal values have equal text, and hashes of values and of files."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no spaces; dataclasses become objects and tuples become arrays.

    Values outside JSON (bytes, sets, lone surrogates, keys that are not strings) raise TypeError: a lossy
    form could be shared by two different values.
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def content_hash(tag: str, value: Any) -> str:
    """`tag:` and 64 hex digits of sha256. Equal values give equal hashes on every machine."""
    return f"{tag}:{hashlib.sha256(canonical(value)).hexdigest()}"


def files_hash(folder: Path, files: Iterable[Path]) -> str:
    """A hash of the contents of files in a folder and of their paths in it."""
    digest = hashlib.sha256()
    for file in sorted(files):
        name = file.relative_to(folder).as_posix()
        digest.update(name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
