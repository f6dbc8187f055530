"""A file of texts and arrays that is mapped into memory: opening it takes the same time at any size."""

import json
import math
import mmap
import os
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from workbench.errors import BadInputError, StoreError

Arrays = Mapping[str, NDArray[Any]]
_Number = TypeVar("_Number", bound=np.generic)
_MAGIC = b"workbench arrays 2\n"


class Texts:
    """Sorted texts, concatenated as UTF-8 in one array; a text is decoded when it is read.

    A list of a million Python strings would take seconds and a hundred megabytes to load.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._bytes, self._ends = arrays["bytes"].data, arrays["ends"]

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> str:
        start = int(self._ends[number - 1]) if number else 0
        return str(self._bytes[start : int(self._ends[number])], "utf-8")

    def many(self, numbers: NDArray[np.intp]) -> list[str]:
        """The texts with these numbers."""
        ends = self._ends[numbers].tolist()
        starts = np.where(numbers > 0, self._ends[numbers - 1], 0).tolist()
        return [
            str(self._bytes[start:end], "utf-8") for start, end in zip(starts, ends, strict=True)
        ]

    def find(self, text: str) -> int | None:
        """The number of a text; None if it is not among the texts."""
        number = bisect_left(self, text)
        return number if number < len(self) and self[number] == text else None


def pack(texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The arrays that `Texts` reads: the bytes, and where each text ends in them."""
    # Encoding all texts at once is fast but loses where each one ends. The ends are known in letters; each
    # continuation byte of UTF-8 moves the end of its own text, and of all later ones, by one byte.
    joined = np.frombuffer("".join(texts).encode(), np.uint8)
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    continuing = np.flatnonzero(joined & 0xC0 == 0x80)
    letters = continuing - np.arange(len(continuing)) - 1  # to which each such byte belongs
    ends += np.cumsum(np.bincount(np.searchsorted(ends, letters, "right"), minlength=len(texts)))
    narrow = len(joined) < 1 << 32
    return {"bytes": joined, "ends": ends.astype(np.uint32 if narrow else np.uint64)}


def write(path: Path, header: dict[str, Any], arrays: Arrays) -> None:
    """Write header and arrays to a draft file, and rename it to `path` when all of it is on disk."""

    def fill(file: IO[bytes]) -> None:
        file.write(_MAGIC + json.dumps({**header, "arrays": list(arrays)}).encode() + b"\n")
        for array in arrays.values():
            np.lib.format.write_array(file, array, version=(1, 0))

    _write(path, fill)


def _write(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    draft = path.with_name(path.name + ".draft")
    try:
        with draft.open("wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror}; make space there, or name another folder"
        ) from error


def put(path: Path, content: bytes, expected: dict[str, Any]) -> None:
    """Write a file that `write` made elsewhere, with other values in its header.

    A file about another content than `expected` names raises `BadInputError`.
    """
    magic, header, arrays = content.split(b"\n", 2)
    found = json.loads(header)
    if found["content"] != expected["content"]:
        raise BadInputError(
            f"{path}: the index was built of another content of the database: build it again"
        )
    lines = (magic, json.dumps(found | expected).encode(), arrays)
    _write(path, lambda file: file.write(b"\n".join(lines)))


def read(path: Path) -> tuple[dict[str, Any], Arrays] | None:
    """The header and the memory-mapped arrays; None if there is no complete file of this version."""
    try:
        with path.open("rb") as file:
            if file.readline(len(_MAGIC)) != _MAGIC:
                return None
            header = json.loads(file.readline())
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            arrays: dict[str, NDArray[Any]] = {}
            for name in header["arrays"]:
                np.lib.format.read_magic(file)
                shape, _, dtype = np.lib.format.read_array_header_1_0(file)
                flat = np.frombuffer(mapped, dtype, math.prod(shape), file.tell())
                arrays[name] = flat.reshape(shape)
                file.seek(flat.nbytes, os.SEEK_CUR)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # no file, or an incomplete one
        return None
    return header, arrays


def distinct(numbers: NDArray[_Number]) -> NDArray[_Number]:
    """The distinct numbers, sorted. `numpy.unique` builds a hash table, which takes ten times as long."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]
