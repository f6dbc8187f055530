"""What an experiment was made of: for each notebook a key of all that it depends on, and what it left behind.

A notebook whose key is the one that it was last run with, and whose files are still as it left them, has
nothing to do. The manifest of an experiment is these records and what they have in common.
"""

import hashlib
import platform
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import orjson

from workbench.benchmarks.named import BENCHMARKS, open_benchmark
from workbench.canonical import content_hash
from workbench.db.fingerprint import file_state
from workbench.errors import BadInputError
from workbench.llm.provider import address, endpoint
from workbench.store import home
from workbench.study.settings import Experiment, load_experiment

_PACKAGE = Path(__file__).parents[1]
_LIBRARIES = ("ipykernel", "litellm", "matplotlib", "matplotlib-venn", "numpy", "pandas", "papermill",
              "rapidfuzz", "seaborn", "sqlglot")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Record:
    """A notebook that was run: what it cost, and the hash of every file it saved."""

    notebook: str
    key: str
    parameters: Mapping[str, Any]
    seconds: float
    calls: int
    hits: int
    dollars: float
    files: Mapping[str, str]

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """The record of the last run, if there is a readable one."""
        try:
            return cls(**orjson.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def save(self, path: Path) -> None:
        """Keep it for the next run."""
        path.write_bytes(orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2))

    def stands(self, figures: Path) -> bool:
        """Whether every file is as it was left."""
        return all(digest(figures / name) == told for name, told in self.files.items())


def digest(path: Path) -> str:
    """A hash of a file's content; "" where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def folder(experiment: Experiment, limit: int | None) -> Path:
    """Where an experiment leaves what it ran; a trial of so many questions has one of its own."""
    return home() / "runs" / (experiment.name if limit is None else f"{experiment.name}-{limit}")


def place(experiment: Experiment, limit: int | None, notebook: str) -> Path:
    """Where an executed notebook lies; its record is the .json beside it."""
    return folder(experiment, limit) / f"{notebook.replace('/', '-')}.ipynb"


def common(experiment: Experiment) -> str:
    """A hash of what all notebooks of an experiment depend on: code, data, labels, settings, libraries.

    The files that settings name belong to it: prompts, predictions, weights, another benchmark.
    """
    told = replace(experiment, notebooks={}, about="")
    benchmark = open_benchmark(experiment.benchmark, experiment.root)
    databases = {
        db: file_state(benchmark.database(db))[0] for db in {q.db_id for q in benchmark.questions}
    }
    labels = {p.name: digest(p) for p in sorted((home() / "labels").glob("*.jsonl"))}
    options = [text for option in told.options.values() for text in _texts(option)]
    named = [_named(text, told) for text in options]
    files = [files_at(p) for p in (*(told.folder / text for text in options), told.prompts) if p]
    facts = [repr(told), code(), benchmark.fingerprint(), databases, labels, named, files]
    servers = {m: endpoint(m, address(m)) for m in (told.model, *told.models.values())}
    return content_hash("experiment", [*facts, servers, versions()])


def _named(text: str, told: Experiment) -> str:
    """A hash of the other benchmark or the other experiment that an option names; "" where it names none."""
    with suppress(BadInputError, OSError):
        if text in BENCHMARKS:
            return open_benchmark(text, told.root).fingerprint()
        return common(replace(load_experiment(text), options={}))
    return ""


def _texts(option: object) -> list[str]:
    several = option if isinstance(option, list) else [option]
    return [text for text in several if isinstance(text, str) and text]


def files_at(path: Path) -> list[list[str | int]]:
    """Name, size and time of every file at a path; none where a setting is no path."""
    with suppress(OSError):  # a text may be too long for a name
        found = [path, *sorted(path.rglob("*"))]
        stats = [(p.relative_to(path).as_posix(), p.stat()) for p in found if p.is_file()]
        return [[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats]
    return []


def key(shared: str, notebook: Path, parameters: Mapping[str, Any]) -> str:
    """The key of one notebook with its parameters."""
    return content_hash("notebook", [shared, digest(notebook), dict(parameters)])


@cache
def code() -> str:
    """A hash of the whole package."""
    files = sorted(p for p in _PACKAGE.rglob("*") if p.is_file() and p.suffix != ".pyc")
    return content_hash("code", [[p.relative_to(_PACKAGE).as_posix(), digest(p)] for p in files])


def versions() -> dict[str, str]:
    """Python's version and that of every library whose numbers or pictures these are."""
    return {"python": platform.python_version()} | {name: version(name) for name in _LIBRARIES}


def commit() -> str:
    """The checkout's commit, with a `+` where it was changed since; "" outside of one."""
    ask = ["git", "-C", str(_PACKAGE), "describe", "--always", "--dirty=+", "--abbrev=12"]
    try:
        done = subprocess.run(ask, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def write_manifest(
    experiment: Experiment, records: Sequence[Record], failed: Iterable[str], limit: int | None
) -> Path:
    """The manifest of what stands after a run: everything that a number in a figure can be traced to.

    Of a notebook that was not asked for it tells what its last run left.
    """
    path = folder(experiment, limit) / "manifest.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    ran = {record.notebook: record for record in records}
    others = {
        name: Record.load(place(experiment, limit, name).with_suffix(".json"))
        for name in experiment.notebooks
    }
    stand = [found for name, old in others.items() if (found := ran.get(name, old))]
    benchmark = open_benchmark(experiment.benchmark, experiment.root)
    told = {
        "experiment": experiment.name,
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": commit(),
        "code": code(),
        "versions": versions(),
        "benchmark": benchmark.name,
        "questions": benchmark.fingerprint(),
        "model": experiment.model,
        "models": dict(experiment.models),
        "limit": limit,
        "dollars": sum(record.dollars for record in stand),
        "notebooks": [asdict(record) for record in stand],
        "failed": list(failed),
    }
    path.write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return path
