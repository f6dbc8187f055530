"""The package's exceptions. A model's failure is no exception but a `fault` of its `Completion`."""

import base64
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote


class WorkbenchError(Exception):
    """The base of all exceptions here. Its text says what was given, what is allowed, and what to do."""


class BadInputError(WorkbenchError):
    """A file, parameter or argument that cannot be used."""


class UnreadableDatabaseError(BadInputError):
    """A database file that is missing, damaged, locked, or not a database."""


class HalfCharacterError(BadInputError, TypeError):
    """A text with half of a surrogate pair, which UTF-8 cannot encode."""


class MisalignedError(BadInputError):
    """Predictions that do not match their questions."""


class CacheMissError(WorkbenchError):
    """An offline client was asked for a call that is not cached."""


class ProviderError(WorkbenchError):
    """A provider refused the key or the account, which ends the run."""


class BudgetError(WorkbenchError):
    """The next call could exceed the budget."""


class StoreError(WorkbenchError):
    """The cache file cannot be opened, read or written."""


class ClusterError(WorkbenchError):
    """A cluster, or one of its workers, cannot be reached or used."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn an OSError in the block into a BadInputError that names the path."""
    try:
        yield
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}") from error


def content_of(path: Path) -> bytes:
    """The bytes of a file that a user names. A device is refused: /dev/zero never ends."""
    with naming(path):
        if path.is_char_device():
            raise BadInputError(f"{path}: a device; give a file")
        return path.read_bytes()


def fault(error: Exception) -> str:
    """A plain sentence for the error that reading a record of a file raised, without Python's words."""
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]}"
    return str(error) if isinstance(error, ValueError) else "it is of another form"


def at_least(least: int, **counts: object) -> None:
    """Raise BadInputError for a count that is not an integer or is below `least`."""
    for name, count in counts.items():
        if type(count) is not int or count < least:
            raise BadInputError(f"{name} is {count!r}: it must be a whole number, {least} or more")


def one_of(allowed: Iterable[object], **choices: object) -> None:
    """Raise BadInputError for a choice that is not allowed."""
    for name, choice in choices.items():
        if choice not in allowed:
            raise BadInputError(
                f"{name} is {choice!r}: it must be {' or '.join(map(repr, allowed))}"
            )


_SECRETS = re.compile(
    r"\bsk-[\w*-]{6,}|\b(?:pk|rk|gsk|xai|hf|key|AIza)[\w-]{20,}"  # the forms of providers' keys
    r"|\b[0-9a-fA-F]{32}\b"  # Azure's keys
    r"|(?<=Bearer )\S+|(?<=Basic )[\w+/]{8,}=*"
    r"|(?<=://)[^/\s@]+(?=@)"  # the user in a URL
    r"|(?i:(?<=api[-_]key[=:])\s*\S+)"
)
_SECRET_NAMES = re.compile(r"(?i)(?:key|token|secret|password|credentials?)$")
_URL_SAFE = str.maketrans("+/", "-_")
_SHORT = 8  # characters: a shorter value of the environment is a word like "none" and no secret


def redact(text: str) -> str:
    """The text with `***` for every secret, and for everything that looks like one."""
    for secret in secrets():
        text = text.replace(secret, "***")
    return _SECRETS.sub("***", text)


def secrets(url: str = "") -> list[str]:
    """The secrets in the environment, and the user and password in the URL, in each encoding; the longest first."""
    return list(_secrets(url, *os.environ.items()))


@lru_cache(maxsize=100)  # each reply is searched for secrets
def _secrets(url: str, *variables: tuple[str, str]) -> list[str]:
    found = set(_user(url))
    for name, value in variables:
        found.update((value,) if _SECRET_NAMES.search(name) else _user(value))
    forms = {form for secret in found if len(secret) >= _SHORT for form in _encoded(secret)}
    return sorted(forms, key=len, reverse=True)


def _encoded(secret: str) -> Iterator[str]:
    """A secret as it is, in a URL, in JSON, and inside base64 of a longer text."""
    yield from (secret, quote(secret, safe="", errors="surrogateescape"), json.dumps(secret)[1:-1])
    data = secret.encode(errors="surrogateescape")
    for before in range(3):  # bytes in its first group of three that belong to the text before it
        letters = base64.b64encode(bytes(before) + data).decode()
        own = slice((8 * before + 5) // 6, 8 * (before + len(data)) // 6)  # those of no other byte
        yield from (letters[own], letters[own].translate(_URL_SAFE))


def _user(url: str) -> Iterator[str]:
    """The user and password in a URL, as written and as HTTP sends them, and the password alone."""
    user, at, _ = url.partition("://")[2].partition("/")[0].rpartition("@")
    if at:
        yield from (user, unquote(user.partition(":")[2]))
        yield base64.b64encode(unquote(user).encode(errors="surrogateescape")).decode()
