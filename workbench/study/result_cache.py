"""The cache of results: a system's candidates for a question under one key, its selection under another.

Calls and executions have caches of their own, but looking them up means rendering every prompt again; this cache
avoids that. A key hashes everything that the record depends on: the question, the database and its catalog, the steps
(see `systems.system.identity`), the endpoints of their models, the prompts, and the code of this package that steps can
reach. Systems that differ only in their selector share their candidates.
"""

import secrets
import sys
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from workbench.canonical import canonical, content_hash, folder_hash
from workbench.lab import Lab
from workbench.llm.parameters import ROLES
from workbench.store import Store
from workbench.systems.system import System, Unsourced, identity
from workbench.types import Question

_PACKAGE = Path(__file__).parents[1]
_UNSOURCED = secrets.token_hex(16)  # no other process has it
# Folders whose code no step can reach; the key hashes the code of all others.
_UNREACHABLE = {
    "benchmarks",
    "cluster",
    "train",
    "report",
    "study",
    "label",
    "explorer",
    "experiment",
    "cli",
}


@dataclass(frozen=True, slots=True)
class ResultKeys:
    """The parts of keys that do not depend on the question.

    `candidates` is for the steps before selection, `selector` for the selector, and `context` for retrieval and pruning
    alone. `caches_candidates` and `caches_selections` are false if a step has no source: a later process could not check
    that the step is unchanged, so its results are not cached.
    """

    candidates: str
    selector: str
    context: str
    caches_candidates: bool = True
    caches_selections: bool = True

    def of_question(self, question: Question, lab: Lab) -> "QuestionKeys":
        path = lab.database(question.db_id)
        schema_hash = _schema_hash(lab.schema(question.db_id))
        database_hash = lab.executor.fingerprints([path])[path]
        inputs = [question, database_hash, schema_hash]
        context = content_hash("prepared", [self.context, *inputs])
        candidates = content_hash("attempt", [self.candidates, *inputs])
        selection = content_hash("selection", [candidates, self.selector])
        return QuestionKeys(context, candidates, selection)

    def of_questions(self, questions: Sequence[Question], lab: Lab) -> dict[str, "QuestionKeys"]:
        """The keys by the question's id; workers hash the databases while this process reads the schemas."""
        names = dict.fromkeys(question.db_id for question in questions)
        with ThreadPoolExecutor(1) as thread:
            hashes = thread.submit(lab.executor.fingerprints, map(lab.database, names))
            for name in names:  # one after the other: threads that read rows slow each other down
                lab.schema(name)
            hashes.result()
        return {question.id: self.of_question(question, lab) for question in questions}


class QuestionKeys(NamedTuple):
    """The keys of a question's context after pruning, of its candidates, and of its selection."""

    context: str
    candidates: str
    selection: str


def system_keys(system: System, lab: Lab) -> ResultKeys:
    context = [system.retrieve, system.prune]
    steps, selector = (
        identity_of([*context, system.generate, system.fix]),
        identity_of(system.select),
    )
    before = [code_hash(), prompts_hash(lab.prompts)]
    return ResultKeys(
        content_hash("steps", [*before, endpoints(system, lab), lab.limits, steps]),
        content_hash("select", selector),
        content_hash("context", [*before, endpoints(context, lab), identity_of(context)]),
        caches_candidates=steps != _UNSOURCED,
        caches_selections=_UNSOURCED not in (steps, selector),
    )


def identity_of(steps: Any) -> Any:
    """The identity of steps; where one has no source, a text that no other process has."""
    try:
        return identity(steps)
    except Unsourced as error:
        _warn_unsourced(str(error))
        return _UNSOURCED


def endpoints(steps: Any, lab: Lab) -> dict[str, Any]:
    """The address or version of each model, with the parameters that the experiment sets for it and for roles."""
    endpoint_by_model: dict[str, Any] = {}
    roles = {name: lab.parameters[name] for name in ROLES if lab.parameters.get(name)}
    for model in sorted(model_names(steps)):
        parameters = [part for part in (lab.parameters.get(model), roles) if part]
        endpoint = lab.client.endpoint(model)
        endpoint_by_model[model] = [endpoint, *parameters] if parameters else endpoint
    return endpoint_by_model


@cache
def _warn_unsourced(step: str) -> None:
    print(
        f"{step}: its source cannot be read, so its answers are not cached; define it in a cell or a file",
        file=sys.stderr,
    )


def model_names(value: Any) -> set[str]:
    """The names of the models that a system or a step calls."""
    if isinstance(value, (list, tuple)):
        return {model for part in value for model in model_names(part)}
    if isinstance(value, partial):
        named = value.keywords
    elif is_dataclass(value) and not isinstance(value, type):
        named = {f.name: getattr(value, f.name) for f in fields(value)}
    else:
        return set()
    model = named.get("model")
    return model_names(list(named.values())) | ({model} if isinstance(model, str) else set())


@cache
def code_hash() -> str:
    """A hash of all code and prompts that a system's steps can reach."""
    return folder_hash(_PACKAGE, _UNREACHABLE)


def prompts_hash(folder: Path | None) -> str:
    """A hash of the texts in a folder of prompts; "" without one."""
    return folder_hash(folder) if folder else ""


@cache
def _schema_hash(schema: Any) -> str:
    return content_hash("schema", repr(schema))


def read(store: Store, table: str, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The cached records of a table, by key; keys without a record are left out."""
    if not keys:
        return {}
    rows = store.read_keys(f"SELECT key, record FROM {table} WHERE key IN", list(keys))
    return {key: orjson.loads(zlib.decompress(record)) for key, record in rows}


def write(store: Store, table: str, key: str, question: str, record: Any, *columns: str) -> None:
    """Cache a record, unless its key has one already."""
    packed = zlib.compress(canonical(record), 1)
    row = (key, question, *columns, packed)
    with store.write(durable=False) as database:
        database.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
