"""Whether a write-ahead log has anything for a reader. Imports the standard library alone, as the worker must."""

import struct
from pathlib import Path

# The byte order of a log's checksums, by its magic number.
_WORDS = {0x377F0682: "<", 0x377F0683: ">"}
_HEADER, _FRAME = 32, 24  # bytes of the log's header, and of the header before each page

Sums = tuple[int, int]


def has_commit(log: Path) -> bool:
    """Whether the log has a committed transaction. SQLite deletes a log without one when it closes the database."""
    if not log.exists():
        return False
    with log.open("rb") as file:
        header = file.read(_HEADER)
        if len(header) < _HEADER:
            return False
        magic, _, page_size, _, *salts, first, second = struct.unpack(">8I", header)
        if magic not in _WORDS or not 512 <= page_size <= 65_536:
            return False
        order = _WORDS[magic]
        sums = _added((0, 0), header[:24], order)
        while sums == (first, second):
            frame = file.read(_FRAME + page_size)
            if len(frame) < _FRAME + page_size:
                return False
            _, pages, *frame_salts, first, second = struct.unpack(">6I", frame[:_FRAME])
            sums = _added(_added(sums, frame[:8], order), frame[_FRAME:], order)
            if frame_salts != salts:
                return False
            # Only a transaction's last frame counts the pages.
            if pages and sums == (first, second):
                return True
    return False


def _added(sums: Sums, data: bytes, order: str) -> Sums:
    """The checksums, with more data in them."""
    one, two = sums
    for left, right in struct.iter_unpack(f"{order}2I", data):
        one = (one + left + two) & 0xFFFFFFFF
        two = (two + right + one) & 0xFFFFFFFF
    return one, two
