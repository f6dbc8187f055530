"""The errors a caller can make or meet, as one small tree. A model's failures are values, not these."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class WorkbenchError(Exception):
    """Anything of ours. The text says what was given, what is allowed, and what to do."""


class BadInputError(WorkbenchError):
    """A file, parameter or argument that cannot be used as it is."""


class UnreadableDatabaseError(BadInputError):
    """A database file that is missing, damaged, locked, or no database."""


class MisalignedError(BadInputError):
    """Predictions that do not fit the questions they are given for."""


class CacheMissError(WorkbenchError):
    """Offline, and a call that is not in the cache was asked for."""


class ProviderError(WorkbenchError):
    """A provider's answer that ends the run: a refused key, an exhausted account."""


class BudgetError(WorkbenchError):
    """The next call could exceed what may be spent."""


class StoreError(WorkbenchError):
    """The lab book cannot be opened, read or written."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Whatever the system refuses within, to read or to write, is a BadInputError about this path."""
    try:
        yield
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}") from error


def at_least(least: int, **counts: object) -> None:
    """Refuse counts that are no whole numbers, or below the least."""
    for name, count in counts.items():
        if type(count) is not int or count < least:
            raise BadInputError(f"{name} is {count!r}: it must be a whole number, {least} or more")


def one_of(allowed: tuple[str, ...], **choices: object) -> None:
    """Refuse choices that are not among those allowed."""
    for name, choice in choices.items():
        if choice not in allowed:
            raise BadInputError(
                f"{name} is {choice!r}: it must be {' or '.join(map(repr, allowed))}"
            )


_SECRETS = re.compile(
    r"\bsk-[\w*-]{6,}|\b(?:pk|rk|gsk|xai|hf|key|AIza)[\w-]{20,}"  # keys as providers spell them
    r"|(?<=Bearer )\S+"
    r"|(?<=://)[^/\s@]+(?=@)"  # the user in a URL
    r"|(?i:(?<=api[-_]key[=:])\s*\S+)"
)


def redact(text: str) -> str:
    """The text with everything that looks like a key put out of sight: for whatever a provider said."""
    return _SECRETS.sub("***", text)
