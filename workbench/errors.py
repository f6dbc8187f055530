"""The errors that callers can make or meet. A model's failures are values of `Completion`, not errors."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class WorkbenchError(Exception):
    """The base of our errors. The text says what was given, what is allowed, and what to do."""


class BadInputError(WorkbenchError):
    """A file, parameter or argument that cannot be used."""


class UnreadableDatabaseError(BadInputError):
    """A database file that is missing, damaged, locked, or not a database."""


class MisalignedError(BadInputError):
    """Predictions that do not fit the questions they are given for."""


class CacheMissError(WorkbenchError):
    """An offline client was asked for a call that is not cached."""


class ProviderError(WorkbenchError):
    """A provider refused the key or the account, which ends the run."""


class BudgetError(WorkbenchError):
    """The next call could exceed the budget."""


class StoreError(WorkbenchError):
    """The cache file cannot be opened, read or written."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn an OSError in the block into a BadInputError that names the path."""
    try:
        yield
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}") from error


def at_least(least: int, **counts: object) -> None:
    """Raise BadInputError for a count that is not an integer or is below `least`."""
    for name, count in counts.items():
        if type(count) is not int or count < least:
            raise BadInputError(f"{name} is {count!r}: it must be a whole number, {least} or more")


def one_of(allowed: tuple[str, ...], **choices: object) -> None:
    """Raise BadInputError for a choice that is not allowed."""
    for name, choice in choices.items():
        if choice not in allowed:
            raise BadInputError(
                f"{name} is {choice!r}: it must be {' or '.join(map(repr, allowed))}"
            )


_SECRETS = re.compile(
    r"\bsk-[\w*-]{6,}|\b(?:pk|rk|gsk|xai|hf|key|AIza)[\w-]{20,}"  # the forms of providers' keys
    r"|(?<=Bearer )\S+"
    r"|(?<=://)[^/\s@]+(?=@)"  # the user in a URL
    r"|(?i:(?<=api[-_]key[=:])\s*\S+)"
)


def redact(text: str) -> str:
    """The text of a provider's message with `***` for everything that looks like a key."""
    return _SECRETS.sub("***", text)
