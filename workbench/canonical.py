"""Canonical JSON, in which equal values have equal text; hashes; cells of CSV files."""

import hashlib
import os
import unicodedata
from collections.abc import Collection
from pathlib import Path
from typing import Any

import orjson

from workbench.errors import BadInputError

_FORMULA = set("=+-@")  # begin one
_MARKED = set("'\t\r\n")  # begin a text that gets an apostrophe, too


def canonical(value: Any, option: int = orjson.OPT_SORT_KEYS) -> bytes:
    """JSON with sorted keys and no spaces; dataclasses become objects and tuples become arrays.

    Values outside JSON (bytes, sets, keys that are not strings) raise TypeError, and lone
    surrogates BadInputError: a lossy form could be shared by two different values.
    """
    try:
        return orjson.dumps(value, option=option)
    except TypeError as error:
        if "surrogates" not in str(error):
            raise
        told = 'replace it, as text.encode("utf-8", "replace").decode() does'
        raise BadInputError(f"a text has half of a surrogate pair: {told}") from error


def indented(value: Any) -> bytes:
    """JSON for a reader, with a final line break; refuses the values that `canonical` refuses."""
    return canonical(value, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def content_hash(tag: str, value: Any) -> str:
    """`tag:` and 64 hex digits of sha256. Equal values give equal hashes on every machine."""
    return f"{tag}:{hashlib.sha256(canonical(value)).hexdigest()}"


# Suffixes of what is read; an editor's or a system's files beside it have others, or a dot.
_READ = {".py", ".md", ".j2", ".json", ".yaml", ".csv", ".txt", ".sql", ".mplstyle"}


def folder_hash(folder: Path, without: Collection[str] = ()) -> str:
    """Return a hash of the code, texts and data in a folder and their paths, without some entries.

    Hidden files and folders are left out.
    """
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in name.parts)
        is_left_out = is_hidden or name.parts[0] in without
        if file.suffix in _READ and file.is_file() and not is_left_out:
            digest.update(os.fsencode(name) + b"\0" + file.read_bytes())
    return digest.hexdigest()


def plain(cell: Any) -> Any:
    """Return the cell of a CSV file, with an apostrophe before what may be run as a formula.

    So has a text that begins with an apostrophe, a tab or a line break: a reader can always remove
    the first apostrophe. Half of a surrogate pair, which UTF-8 cannot encode, becomes an escape.
    """
    if not isinstance(cell, str):
        return cell
    cell = cell.encode("utf-8", "backslashreplace").decode()
    # A spreadsheet skips blanks before a formula.
    shown = (letter for letter in cell if letter.isprintable() and not letter.isspace())
    first = unicodedata.normalize("NFKC", next(shown, ""))
    if first in _FORMULA or cell[:1] in _MARKED:
        return f"'{cell}"
    return cell
