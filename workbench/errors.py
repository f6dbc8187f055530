"""The package's exceptions. A model's failure is no exception but a `fault` of its `Completion`."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote


class WorkbenchError(Exception):
    """The base class: its text says what was given, what is allowed, and what to do."""


class BadInputError(WorkbenchError):
    """A file, parameter or argument that cannot be used."""


class UnreadableDatabaseError(BadInputError):
    """A database file that is missing, damaged, locked, or not a database."""


class CacheMissError(WorkbenchError):
    """An offline client was asked for a call that is not cached."""


class ProviderError(WorkbenchError):
    """A provider refused what every further call has too: key, account, address or model."""


class BudgetError(WorkbenchError):
    """The next call could exceed the budget, or has no known price under a limit of dollars."""


class StoppedError(WorkbenchError):
    """The run was stopped before this call was sent."""


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


def kind(path: Path) -> str:
    """Return "a folder" or "no file" for what is there and no file; else ""."""
    if path.is_file() or not path.exists():
        return ""
    return "a folder" if path.is_dir() else "no file"


def content_of(path: Path) -> bytes:
    """Return the bytes of a file that a user names; a FIFO is refused, as it may never end."""
    with naming(path):
        what = kind(path)
        if what:
            raise BadInputError(f"{path} is {what}: give a file")
        return path.read_bytes()


def read_yaml(path: Path) -> Any:
    """Return the data of a YAML file; tags that create Python objects are refused."""
    import yaml  # noqa: PLC0415  few commands read YAML

    try:
        return yaml.safe_load(content_of(path).decode())
    # ValueError: a text that is not UTF-8, or a date like 2020-13-45.
    except (yaml.YAMLError, ValueError) as error:
        raise BadInputError(
            f"{path}: not YAML ({' '.join(str(error).split())})"
        ) from error


def fault(error: Exception) -> str:
    """Return a plain sentence for the error that reading a record of a file raised."""
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]}"
    return str(error) if isinstance(error, ValueError) else "it is of another form"


def at_least(least: int, **counts: object) -> None:
    """Raise BadInputError for a count that is not an integer or is below `least`."""
    for name, count in counts.items():
        if type(count) is not int or count < least:
            raise BadInputError(
                f"{name} is {count!r}: it must be a whole number, {least} or more"
            )


def one_of(allowed: Iterable[object], **choices: object) -> None:
    """Raise BadInputError for a choice that is not allowed."""
    for name, choice in choices.items():
        if choice not in allowed:
            listed = " or ".join(map(repr, allowed))
            raise BadInputError(f"{name} is {choice!r}: it must be {listed}")


HIDDEN: set[str] = set()  # users and passwords of the addresses that clients were given
_SECRETS = re.compile(
    r"\bsk-[\w*-]{6,}|\b(?:pk|rk|gsk|xai|hf|key|AIza)[\w-]{20,}|\b[0-9a-fA-F]{32}\b"
    r"|(?<=Bearer )\S+|(?<=Basic )[\w+/]{8,}=*|(?<=://)[^/\s@]+(?=@)|(?i:(?<=api[-_]key[=:])\s*\S+)"
)
_SECRET_NAMES = re.compile(r"(?i)(?:key|token|secret|password|credentials?)$")


def hide(text: str) -> str:
    """Return the text with `***` for every secret of the environment and of addresses."""
    # All variables are arguments, so that a change of one is seen.
    for secret in _secrets(frozenset(HIDDEN), *os.environb.items()):
        text = text.replace(secret, "***")
    return text


def redact(text: str) -> str:
    """Return the text with `***` for every secret, and for everything that looks like one."""
    return _SECRETS.sub("***", hide(text))


@lru_cache(maxsize=100)  # each reply is searched for secrets
def _secrets(hidden: frozenset[str], *variables: tuple[bytes, bytes]) -> list[str]:
    """Return the secrets as they are, as a URL writes them and as JSON does; the longest first."""
    secrets = set(hidden)
    for variable in variables:
        name, value = map(os.fsdecode, variable)
        if _SECRET_NAMES.search(name):
            secrets.add(value)
        else:
            secrets |= _in_address(value)
    forms = set()
    for secret in secrets:
        if len(secret) >= 8:  # a shorter one is a word like "none"
            in_url = quote(secret, safe="", errors="surrogateescape")
            in_json = json.dumps(secret)[1:-1]
            forms |= {secret, in_url, in_json}
    return sorted(forms, key=len, reverse=True)


def _in_address(value: str) -> set[str]:
    """Return the `user:password` of an address, and its password."""
    _, _, after_scheme = value.partition("://")
    host, _, _ = after_scheme.partition("/")
    user, _, _ = host.rpartition("@")
    _, _, password = user.partition(":")
    return {user, unquote(password)}
