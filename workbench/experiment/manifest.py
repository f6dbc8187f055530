"""The record of each notebook that ran: a key over all its inputs, and a hash of every file that it saved.

A notebook whose key and files are unchanged need not run again. The manifest of an experiment holds these
records and the settings that they share.
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

from workbench.benchmarks.load import BENCHMARKS, open_benchmark
from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.llm.keys import address, endpoint
from workbench.llm.parameters import left_out
from workbench.sql.executor import file_state
from workbench.store import Store, home
from workbench.study.experiment import Experiment, load_experiment
from workbench.study.saved import read_index

_PACKAGE = Path(__file__).parents[1]
_LABELS = {".sqlite", ".jsonl"}  # the second was written by earlier versions
_LIBRARIES = ("ipykernel", "litellm", "matplotlib", "matplotlib-venn", "numpy", "pandas", "papermill",
              "rapidfuzz", "seaborn", "sqlglot")  # fmt: skip


@dataclass(frozen=True, slots=True)
class NotebookRecord:
    """A notebook that was run: what it cost, and the hashes of all that it saved."""

    notebook: str
    key: str
    parameters: Mapping[str, Any]
    seconds: float
    calls: int
    hits: int
    dollars: float
    files: Mapping[str, str]
    unpriced: int = 0
    """Calls of unknown price, which the dollars leave out."""

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """The record of the last run, if there is a readable one."""
        try:
            return cls(**orjson.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def save(self, path: Path) -> None:
        path.write_bytes(orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2))

    def is_current(self, figures: Path) -> bool:
        """Whether all that the notebook saved is unchanged."""
        return saved_hashes(figures, {name.partition(".")[0] for name in self.files}) == self.files


def saved_hashes(figures: Path, names: Iterable[str]) -> dict[str, str]:
    """A hash of every file of these figures and tables, and of the record that the index has of each."""
    index = read_index(figures)
    paths = [path for name in sorted(names) for path in sorted(figures.glob(f"{name}.*"))]
    records = {name: content_hash("saved", index[name]) for name in names if name in index}
    return {path.name: file_hash(path) for path in paths} | records


def file_hash(path: Path) -> str:
    """A hash of a file's content; "" if there is no file."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def run_folder(experiment: Experiment, limit: int | None) -> Path:
    """The folder of an experiment's executed notebooks; runs with a limit have one of their own."""
    return home() / "runs" / (experiment.name if limit is None else f"{experiment.name}-{limit}")


def preview_path(experiment: Experiment) -> Path:
    return run_folder(experiment, None) / "preview.json"


def read_preview(path: Path) -> Mapping[str, Any] | None:
    """The sums of a saved preview, if there is a readable one."""
    with suppress(OSError, ValueError):
        sums: Mapping[str, Any] = orjson.loads(path.read_bytes())
        return sums
    return None


def notebook_path(experiment: Experiment, limit: int | None, notebook: str) -> Path:
    """The path of an executed notebook; its record is the .json beside it."""
    return run_folder(experiment, limit) / f"{notebook.replace('/', '-')}.ipynb"


def shared_inputs_hash(experiment: Experiment) -> str:
    """A hash of what all notebooks of an experiment depend on: code, data, labels, settings, libraries.

    The hash includes the files that settings name: prompts, predictions, weights, another benchmark.
    """
    settings = replace(experiment, notebooks={}, about="", batch=False)  # batches answer alike
    benchmark = open_benchmark(experiment.benchmark, experiment.root)
    db_ids = {question.db_id for question in benchmark.questions}
    databases = {name: file_state(benchmark.database(name)) for name in db_ids}
    stored = sorted((home() / "labels").glob("*"))
    labels = {path.name: file_hash(path) for path in stored if path.suffix in _LABELS}
    options = (settings.train, settings.spider, settings.subset, *map(str, settings.predictions))
    texts = [text for text in (*options, str(settings.codes or "")) if text]
    named_inputs = [_named_inputs_hash(text, settings) for text in texts]
    paths = [settings.folder / text for text in texts]
    files = [file_stats(p) for p in (*paths, settings.prompts, *settings.golds.values()) if p]
    package, questions = package_hash(), benchmark.fingerprint()
    inputs = [repr(settings), package, questions, databases, labels, named_inputs, files]
    endpoints = {m: endpoint(m, address(m)) for m in (settings.model, *settings.models.values())}
    return content_hash("experiment", [*inputs, endpoints, versions()])


def _named_inputs_hash(text: str, experiment: Experiment) -> str:
    """A hash of the other benchmark or the other experiment that an option names; "" if it names none."""
    with suppress(BadInputError, OSError):
        if text in BENCHMARKS:
            return open_benchmark(text, experiment.root).fingerprint()
        return shared_inputs_hash(replace(load_experiment(text), train="", spider=""))
    return ""


def file_stats(path: Path) -> list[list[str | int]]:
    """Name, size and time of every file at a path; none if the setting is not a path."""
    with suppress(OSError):  # a text may be too long for a name
        paths = [path, *sorted(path.rglob("*"))]
        files = [(p.relative_to(path).as_posix(), p.stat()) for p in paths if p.is_file()]
        return [[name, stat.st_size, stat.st_mtime_ns] for name, stat in files]
    return []


def notebook_key(shared: str, notebook: Path, parameters: Mapping[str, Any]) -> str:
    return content_hash("notebook", [shared, file_hash(notebook), dict(parameters)])


@cache
def package_hash() -> str:
    files = sorted(p for p in _PACKAGE.rglob("*") if p.is_file() and p.suffix != ".pyc")
    return content_hash("code", [[p.relative_to(_PACKAGE).as_posix(), file_hash(p)] for p in files])


def versions() -> dict[str, str]:
    """The versions of Python and of the libraries that numbers and pictures depend on."""
    return {"python": platform.python_version()} | {name: version(name) for name in _LIBRARIES}


def commit() -> str:
    """The checkout's commit, with a `+` if files have changed since; "" outside a checkout."""
    command = ["git", "-C", str(_PACKAGE), "describe", "--always", "--dirty=+", "--abbrev=12"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def write_manifest(
    experiment: Experiment, ran: Sequence[NotebookRecord], failed: Iterable[str], limit: int | None
) -> Path:
    """Write the manifest of an experiment: everything that a number in a figure can be traced to.

    A notebook that did not run this time is listed with the record of its last run.
    """
    path = run_folder(experiment, limit) / "manifest.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    new = {record.notebook: record for record in ran}
    paths = {name: notebook_path(experiment, limit, name) for name in experiment.notebooks}
    last = {name: NotebookRecord.load(path.with_suffix(".json")) for name, path in paths.items()}
    records = [record for record in (last | new).values() if record]
    benchmark = open_benchmark(experiment.benchmark, experiment.root)
    with Store() as store:
        names = sorted({experiment.model, *experiment.models.values()})
        refused = {name: parameters for name in names if (parameters := left_out(store, name))}
    manifest = {
        "experiment": experiment.name,
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": commit(),
        "code": package_hash(),
        "versions": versions(),
        "benchmark": benchmark.name,
        "questions": benchmark.fingerprint(),
        "model": experiment.model,
        "models": dict(experiment.models),
        "parameters": experiment.parameters,
        "left_out": refused,
        "limit": experiment.limit if limit is None else limit,
        "dollars": sum(record.dollars for record in records),
        "unpriced": sum(record.unpriced for record in records),
        "preview": read_preview(preview_path(experiment)),
        "notebooks": [asdict(record) for record in records],
        "failed": list(failed),
    }
    path.write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return path
