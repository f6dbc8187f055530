"""What systems did with questions, kept in the lab book: candidates by one key, the choice among them by another.

Calls and executions are kept in any case; this saves rendering every prompt again to find them. A key is
made of everything that the record depends on: the question, the database and what its catalog says, the
steps with all their parameters, the endpoints of their models, the prompts, and the code of the package
below this floor. Systems that differ in their selector alone share their candidates.
"""

import hashlib
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from workbench.canonical import canonical, content_hash
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.store import Store
from workbench.systems.system import System
from workbench.types import Question

_PACKAGE = Path(__file__).parents[1]
# Rooms that a system's steps never reach; whatever is not named here counts.
_ABOVE = {"benchmarks", "train", "report", "study", "label", "explore", "experiment", "cli.py"}


@dataclass(frozen=True, slots=True)
class Keys:
    """What the records of one system are keyed by; worked out once for all questions."""

    attempt: str
    select: str

    def of(self, question: Question, lab: Lab) -> tuple[str, str]:
        """The keys of a question's attempt and selection."""
        path = lab.database(question.db_id)
        content = lab.executor.fingerprints([path])[path]
        schema = _hashed(lab.schema(question.db_id))
        attempt = content_hash("attempt", [self.attempt, question, content, schema])
        return attempt, content_hash("selection", [attempt, self.select])


def keys(system: System, lab: Lab) -> Keys:
    """The keys of what this system does in this lab."""
    steps = [system.retrieve, system.prune, system.generate, system.fix]
    servers = {model: lab.client.endpoint(model) for model in sorted(models(system))}
    return Keys(
        content_hash("steps", [code(), _texts(lab.prompts), servers, identity(steps)]),
        content_hash("select", identity(system.select)),
    )


def identity(value: Any) -> Any:
    """A step as JSON tells it, with the names of its types: two that are not equal differ here."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: identity(getattr(value, f.name)) for f in fields(value) if f.compare}
        return [type(value).__qualname__, parts]
    if isinstance(value, Mapping):
        return {str(key): identity(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [identity(part) for part in value]
    if isinstance(value, Path):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise BadInputError(
        f"a step holds {value!r:.80}: to be kept, steps are dataclasses of plain values"
    )


def models(value: Any) -> set[str]:
    """The models that speak for a system, or for a step."""
    if isinstance(value, (list, tuple)):
        return {model for part in value for model in models(part)}
    if not is_dataclass(value) or isinstance(value, type):
        return set()
    named = {f.name: getattr(value, f.name) for f in fields(value)}
    model = named.get("model")
    return models(list(named.values())) | ({model} if isinstance(model, str) else set())


@cache
def code() -> str:
    """A hash of all code and prompts that a system's steps can reach."""
    return _digest(_PACKAGE, _ABOVE)


def _texts(folder: Path | None) -> str:
    return _digest(folder) if folder else ""


def _digest(folder: Path, without: Collection[str] = ()) -> str:
    """A hash of a folder's code and texts and of where each lies; some of what lies in it left out."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        place = file.relative_to(folder)
        if file.suffix in {".py", ".md", ".json"} and place.parts[0] not in without:
            digest.update(place.as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


@cache
def _hashed(schema: Any) -> str:
    return content_hash("schema", repr(schema))


def read(store: Store, table: str, wanted: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The records of a table that the book has, by key."""
    found = store.read_keys(f"SELECT key, record FROM {table} WHERE key IN", list(wanted))
    return {key: orjson.loads(zlib.decompress(record)) for key, record in found}


def write(store: Store, table: str, key: str, question: str, record: Any, *more: str) -> None:
    """Keep a record; one that is there already stays."""
    packed = zlib.compress(canonical(record), 1)
    row = (key, question, *more, packed)
    with store.write(paid=False) as book:
        book.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
