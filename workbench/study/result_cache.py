"""The cache of results: a system's candidates for a question under one key, its selection under another.

Calls and executions have caches of their own, but looking them up means rendering every prompt again; this cache
avoids that. A key hashes everything that the record depends on: the question, the database and its catalog, the steps
(see `systems/identity.py`), the endpoints of their models, the prompts, and the code of this package that steps can
reach. Systems that differ only in their selector share their candidates.
"""

import sys
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from workbench.canonical import canonical, content_hash, files_hash
from workbench.lab import Lab
from workbench.llm.parameters import ROLES
from workbench.parallel import each
from workbench.store import Store
from workbench.systems.identity import identify
from workbench.systems.system import System
from workbench.types import Question

_PACKAGE = Path(__file__).parents[1]
# Folders whose code no step can reach; the key hashes the code of all others.
_ABOVE = {
    "benchmarks",
    "cluster",
    "train",
    "report",
    "study",
    "label",
    "explore",
    "experiment",
    "cli",
}


@dataclass(frozen=True, slots=True)
class ResultKeys:
    """The parts of keys that do not depend on the question.

    `keeps_attempts` and `keeps_selections` are false if a step has no source: a later process could not check
    that the step is unchanged, so its results are not cached.
    """

    attempt: str
    """For the steps before selection."""
    select: str
    """For the selector."""
    context: str
    """For retrieval and pruning alone."""
    keeps_attempts: bool = True
    keeps_selections: bool = True

    def of(self, question: Question, lab: Lab) -> "QuestionKeys":
        """The keys of a question's records."""
        path = lab.database(question.db_id)
        schema = _hashed(lab.schema(question.db_id))
        content = lab.executor.fingerprints([path])[path]
        asked = [question, content, schema]
        attempt = content_hash("attempt", [self.attempt, *asked])
        return QuestionKeys(
            content_hash("prepared", [self.context, *asked]),
            attempt,
            content_hash("selection", [attempt, self.select]),
        )

    def of_all(self, questions: Sequence[Question], lab: Lab) -> dict[str, "QuestionKeys"]:
        """The keys by the question's id; several databases are hashed and read at the same time."""
        by_database: dict[str, list[Question]] = {}
        for question in questions:
            by_database.setdefault(question.db_id, []).append(question)

        def keys_of(several: Sequence[Question]) -> list[tuple[str, QuestionKeys]]:
            return [(question.id, self.of(question, lab)) for question in several]

        return dict(chain.from_iterable(each(keys_of, list(by_database.values()))))


class QuestionKeys(NamedTuple):
    """The keys of a question's context after pruning, of its candidates, and of its selection."""

    context: str
    attempt: str
    selection: str


def keys(system: System, lab: Lab) -> ResultKeys:
    """The keys of a system's records in this lab."""
    steps = identify([system.retrieve, system.prune, system.generate, system.fix])
    select = identify(system.select)
    context = [system.retrieve, system.prune]
    servers = endpoints(system, lab)
    for name in dict.fromkeys(steps.unsourced + select.unsourced):
        _warn_unsourced(name)
    return ResultKeys(
        content_hash("steps", [code(), texts(lab.prompts), servers, lab.limits, steps.record]),
        content_hash("select", select.record),
        content_hash(
            "context",
            [code(), texts(lab.prompts), endpoints(context, lab), identify(context).record],
        ),
        keeps_attempts=not steps.unsourced,
        keeps_selections=not steps.unsourced + select.unsourced,
    )


def endpoints(steps: Any, lab: Lab) -> dict[str, Any]:
    """The address or version of each model, with the parameters that the experiment sets for it and for roles."""
    found: dict[str, Any] = {}
    roles = {name: lab.parameters[name] for name in ROLES if lab.parameters.get(name)}
    for model in sorted(models(steps)):
        given = [part for part in (lab.parameters.get(model), roles) if part]
        endpoint = lab.client.endpoint(model)
        found[model] = [endpoint, *given] if given else endpoint
    return found


@cache
def _warn_unsourced(step: str) -> None:
    print(
        f"{step}: its source cannot be read, so its answers are not cached; define it in a cell or a file",
        file=sys.stderr,
    )


def models(value: Any) -> set[str]:
    """The names of the models that a system or a step calls."""
    if isinstance(value, (list, tuple)):
        return {model for part in value for model in models(part)}
    if isinstance(value, partial):
        named = value.keywords
    elif is_dataclass(value) and not isinstance(value, type):
        named = {f.name: getattr(value, f.name) for f in fields(value)}
    else:
        return set()
    model = named.get("model")
    return models(list(named.values())) | ({model} if isinstance(model, str) else set())


@cache
def code() -> str:
    """A hash of all code and prompts that a system's steps can reach."""
    return _digest(_PACKAGE, _ABOVE)


def texts(folder: Path | None) -> str:
    """A hash of the texts in a folder of prompts; "" without one."""
    return _digest(folder) if folder else ""


def _digest(folder: Path, without: Collection[str] = ()) -> str:
    """A hash of the code and texts in a folder and of their paths; `without` names entries left out."""
    found = (
        file
        for file in folder.rglob("*")
        if file.suffix in {".py", ".md", ".json", ".txt"}
        and file.relative_to(folder).parts[0] not in without
    )
    return files_hash(folder, found)


@cache
def _hashed(schema: Any) -> str:
    return content_hash("schema", repr(schema))


def read(store: Store, table: str, wanted: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The cached records of a table, by key; keys without a record are left out."""
    if not wanted:
        return {}
    rows = store.read_keys(f"SELECT key, record FROM {table} WHERE key IN", list(wanted))
    return {key: orjson.loads(zlib.decompress(record)) for key, record in rows}


def write(store: Store, table: str, key: str, question: str, record: Any, *more: str) -> None:
    """Cache a record, unless its key has one already."""
    packed = zlib.compress(canonical(record), 1)
    row = (key, question, *more, packed)
    with store.write(durable=False) as database:
        database.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
