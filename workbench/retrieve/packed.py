"""Texts and arrays as one file that is read where it lies: opening it costs the same at any size."""

import json
import mmap
import os
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from workbench.errors import StoreError

Arrays = Mapping[str, NDArray[Any]]
_Number = TypeVar("_Number", bound=np.generic)
_MAGIC = b"workbench arrays 1\n"
_ALIGNED = 64


class Texts:
    """Sorted texts, end to end in one array, decoded when they are asked for."""

    def __init__(self, arrays: Arrays) -> None:
        self._bytes, self._ends = arrays["bytes"].data, arrays["ends"]

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> str:
        start = int(self._ends[number - 1]) if number else 0
        return str(self._bytes[start : int(self._ends[number])], "utf-8")

    def many(self, numbers: NDArray[np.intp]) -> list[str]:
        """The texts of these numbers."""
        ends = self._ends[numbers].tolist()
        starts = np.where(numbers > 0, self._ends[numbers - 1], 0).tolist()
        return [
            str(self._bytes[start:end], "utf-8") for start, end in zip(starts, ends, strict=True)
        ]

    def find(self, text: str) -> int | None:
        """The number of this very text."""
        number = bisect_left(self, text)
        return number if number < len(self) and self[number] == text else None


def pack(texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The arrays that `Texts` reads."""
    joined = np.frombuffer("".join(texts).encode(), np.uint8)
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))  # counted in letters
    further = np.flatnonzero(joined & 0xC0 == 0x80)  # bytes that go on with a letter
    letters = further - np.arange(len(further)) - 1
    ends += np.cumsum(np.bincount(np.searchsorted(ends, letters, "right"), minlength=len(texts)))
    narrow = len(joined) < 1 << 32
    return {"bytes": joined, "ends": ends.astype(np.uint32 if narrow else np.uint64)}


def write(path: Path, header: dict[str, Any], arrays: Arrays) -> None:
    """A file of header and arrays: it takes the place of an older one when all of it is on disk."""
    places, size = {}, 0
    for name, array in arrays.items():
        places[name] = (array.dtype.str, array.shape, size)
        size += _aligned(array.nbytes)
    head = _MAGIC + json.dumps({**header, "arrays": places, "size": size}).encode() + b"\n"
    draft = path.with_name(path.name + ".draft")
    try:
        with draft.open("wb") as file:
            file.write(head)
            for name, (_, _, place) in places.items():
                file.seek(_aligned(len(head)) + place)
                file.write(np.ascontiguousarray(arrays[name]).data)
            file.truncate(_aligned(len(head)) + size)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror}; make space there, or name another folder"
        ) from error


def read(path: Path) -> tuple[dict[str, Any], Arrays] | None:
    """Header and arrays, mapped into memory; None where no complete file of this version lies."""
    try:
        with path.open("rb") as file:
            if file.readline(len(_MAGIC)) != _MAGIC:
                return None
            header = json.loads(file.readline())
            start = _aligned(file.tell())
            mapped = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # nothing there, or no JSON
        return None
    if len(mapped) != start + header["size"]:
        return None
    arrays = {}
    for name, (dtype, shape, place) in header["arrays"].items():
        count = int(np.prod(shape)) * np.dtype(dtype).itemsize
        part = mapped[start + place : start + place + count]
        arrays[name] = part.view(dtype).reshape(shape)
    return header, arrays


def distinct(numbers: NDArray[_Number]) -> NDArray[_Number]:
    """Sorted and once each. numpy's `unique` hashes what it is given, which takes ten times as long."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
