"""An experiment's notebooks, each run by Papermill in a thread, as many at once as there are processors.

A notebook that fails is told and stops no other. One whose inputs and files are unchanged since its last run is not run
again: hashes of both stand in the metadata of its executed copy. The calls of a stopped notebook are cached, so a second
run goes on with it. The cache tells the progress: what was asked since the start, and at what cost.
"""

import ast
import hashlib
import io
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import orjson
import papermill
from jupyter_core.utils import ensure_event_loop
from nbclient.exceptions import DeadKernelError
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError
from tqdm import tqdm
from traitlets.config import Config

from workbench.benchmarks.load import BENCHMARKS, open_benchmark
from workbench.canonical import content_hash
from workbench.errors import BadInputError, redact
from workbench.llm.keys import address, endpoint
from workbench.llm.money import dollars
from workbench.sql.executor import file_state
from workbench.store import Store, home
from workbench.study.experiment import Experiment, load_experiment, shipped
from workbench.study.gallery import SAVED
from workbench.study.saved import read_index
from workbench.study.solve import read_records

_PACKAGE = Path(__file__).parents[1]
_DESK = ("cli", "explorer", "widgets")  # no number comes from these, or from the labeller
_LIBRARIES = ("ipykernel", "litellm", "matplotlib", "numpy", "pandas", "papermill", "seaborn", "sqlglot")  # fmt: skip
_SECRET = re.compile(r"(?i)(?:^|_|api)(?:key|token|secret|password|credential)s?$")
_ARROW = re.compile(r"^-+> *\d+ (.*)$", re.MULTILINE)


@dataclass(slots=True)
class Job:
    """One notebook of a run: its parameters, the key of its inputs, and how it ended."""

    name: str
    notebook: Path
    parameters: Mapping[str, Any]
    key: str
    output: Path
    figures: Path
    state: str = "waiting"  # then running, done, unchanged, failed or stopped
    error: str = ""
    share: float = 0.0  # that is done

    @property
    def records(self) -> dict[str, Any]:
        """The index's record of each figure and table that the notebook saves."""
        index, names = read_index(self.figures), SAVED.findall(self.notebook.read_text("utf-8"))
        return {name: index.get(name) for name in sorted(set(names))}

    def hashes(self) -> dict[str, str]:
        """A hash of every file of these figures and tables, and of their records."""
        paths = [path for name in self.records for path in sorted(self.figures.glob(f"{name}.*"))]
        files = {p.name: _hash(p.read_bytes()) for p in paths if p.suffix != ".ipynb"}
        return files | {name: content_hash("saved", one) for name, one in self.records.items()}

    def missing(self) -> int:
        """The questions, of the runs behind these, whose answers are not kept, since a call failed."""
        runs = {run for record in self.records.values() if record for run in record["runs"]}
        with Store() as store:
            rows = store.read_keys("SELECT selections FROM runs WHERE id IN", sorted(runs))
        return sum(not key for (text,) in rows for key, *_ in orjson.loads(text))

    def unchanged(self) -> bool:
        with suppress(OSError, ValueError, KeyError):
            known = orjson.loads(self.output.read_bytes())["metadata"]["workbench"]
            return bool(known["key"] == self.key and known["files"] == self.hashes())
        return False


def run_folder(experiment: Experiment, limit: float | None = None) -> Path:
    """The folder of an experiment's executed notebooks; runs with a limit have one of their own."""
    return home() / "runs" / (experiment.name if limit is None else f"{experiment.name}-{limit}")


def plan(experiment: Experiment, only: Sequence[str] = (), limit: float | None = None) -> list[Job]:
    """The notebooks that an experiment names, checked before any is run; the experiment is written for their kernels."""
    if unknown := sorted(set(only) - set(experiment.notebooks)):
        absent, listed = ", ".join(unknown), ", ".join(experiment.notebooks) or "none"
        raise BadInputError(f"{experiment.name} has no notebook {absent}; it has {listed}")
    folder = run_folder(experiment, limit)
    figures = experiment.figures or experiment.folder / "figures" / folder.name
    shared = "" if experiment.preview else _shared_hash(experiment)
    resolved = replace(experiment, figures=figures)
    if experiment.spider:
        second = resolved.on_spider().write(folder / "spider.yaml")
        resolved = replace(resolved, spider=str(second))
    given = {"experiment": str(resolved.write(folder / "experiment.yaml")), "limit": limit}
    jobs = []
    for name, own in experiment.notebooks.items():
        folders = experiment.folder / "notebooks", shipped("notebooks")
        places = [place / f"{name}.ipynb" for place in folders]
        if not (notebook := next(filter(Path.is_file, places), None)):
            absent = f"names the notebook {name}, and there is no {places[0]}"
            raise BadInputError(f"{experiment.name} {absent}")
        parameters = {**own, **{key: value for key, value in given.items() if value is not None}}
        check_parameters(notebook, parameters)
        key = content_hash("notebook", [shared, _hash(notebook.read_bytes()), dict(own), limit])
        output = folder / f"{name.replace('/', '-')}.ipynb"
        jobs.append(Job(name, notebook, parameters, key, output, figures))
    return [job for job in jobs if not only or job.name in only]


def check_parameters(notebook: Path, given: Mapping[str, Any]) -> None:
    """Refuse parameters that the notebook does not have (Papermill only warns) or that do not fit its defaults.

    A value that the parameter's comment names fits, such as None or a benchmark. A name that sounds like a secret is refused:
    Papermill writes parameters into the notebook that it saves.
    """
    known = papermill.inspect_notebook(str(notebook))
    for name, value in given.items():
        fault = ""
        if _SECRET.search(name):
            fault = "would be written into the notebook: set keys in the environment"
        elif name not in known:
            fault = f"is no parameter of it; there are {', '.join(known) or 'none'}"
        else:
            with suppress(ValueError):  # an expression, whose kind is known only when it runs
                default = ast.literal_eval(known[name]["default"])
                named = str(value) in known[name]["help"]
                if not (named or default is None or _fits(value, default)):
                    fault = f"is {value!r:.60}; it must be like {default!r}"
        if fault:
            raise BadInputError(f"{notebook.name}: {name} {fault}")


def _fits(value: Any, default: Any) -> bool:
    if isinstance(default, list) and default:
        return isinstance(value, list) and value != [] and all(_fits(v, default[0]) for v in value)
    if isinstance(default, float):
        return type(value) in {int, float}
    return type(value) is type(default) and (type(default) is not int or value >= min(default, 1))


def run(
    jobs: Sequence[Job],
    *,
    at_once: int | None = None,
    again: bool = False,
    watch: Callable[[Sequence[Job]], object] = len,
) -> None:
    """Run the jobs; `again` runs unchanged ones as well, and `watch` is called with all of them several times a second.

    Ctrl-C interrupts the kernels and waits for what is under way in them; a second one kills them.
    """
    for job in jobs:
        if not again and job.unchanged():
            job.state, job.share = "unchanged", 1.0
    waiting = [job for job in jobs if job.state == "waiting"]
    numbers = iter(waiting)

    def work() -> None:
        for job in numbers:
            _execute(job)

    most = min(at_once or os.cpu_count() or 1, len(waiting))
    threads = [threading.Thread(target=work, daemon=True) for _ in range(most)]
    _Kernels.stopping.clear()
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.2)
            watch(jobs)
    except BaseException:
        _Kernels.stopping.set()
        _Kernels.send(signal.SIGINT)
        try:
            for thread in threads:
                thread.join()
        except BaseException:
            _Kernels.send(signal.SIGKILL)
            raise
        raise
    watch(jobs)


class _Kernels(NBClientEngine):  # type: ignore[misc]
    """Papermill's engine, with kernels that can be interrupted from another thread."""

    stopping: ClassVar = threading.Event()
    clients: ClassVar[dict[str, PapermillNotebookClient]] = {}

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, job: Job, **_: Any) -> Any:
        def begin(cell_index: int, **_: Any) -> None:
            job.share = cell_index / len(nb_man.nb.cells)
            if cls.stopping.is_set():
                raise DeadKernelError("stopped")

        with tempfile.TemporaryDirectory(prefix="wb") as folder:
            # Sockets of its own, since the TCP ports of kernels that start together may collide.
            config = Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/k"}})
            client = PapermillNotebookClient(nb_man, kernel_name=kernel_name, startup_timeout=600, timeout=None,
                                             config=config, on_cell_start=begin)  # fmt: skip
            cls.clients[job.name] = client
            # With one seed, sums of numbers in a set are the same to the last bit.
            environment = os.environ | {"PYTHONHASHSEED": "0"}
            try:
                client.execute(cwd=str(job.notebook.parent), env=environment)
            finally:
                del cls.clients[job.name]

    @classmethod
    def send(cls, number: int) -> None:
        for client in list(cls.clients.values()):
            process = getattr(getattr(client.km, "provisioner", None), "process", None)
            if process and process.poll() is None:
                process.send_signal(number)


papermill_engines.register("workbench", _Kernels)


def _execute(job: Job) -> None:
    job.state = "running"
    try:
        papermill.execute_notebook(job.notebook, job.output, dict(job.parameters), engine_name="workbench",
                                   kernel_name="python3", progress_bar=False, job=job)  # fmt: skip
    except Exception as error:  # noqa: BLE001  it is told, and the other notebooks go on
        job.error = redact(_told(error))
        job.state, job.share = "stopped" if _Kernels.stopping.is_set() else "failed", 1.0
        return
    finally:
        ensure_event_loop().close()  # this thread's
    if missing := job.missing():
        job.error = f"{missing:,} questions have no answer, since a call failed: run it again"
    executed = orjson.loads(job.output.read_bytes())
    executed["metadata"]["workbench"] = {"key": "" if missing else job.key, "files": job.hashes()}
    job.output.write_bytes(orjson.dumps(executed, option=orjson.OPT_INDENT_2))
    job.state, job.share = "done", 1.0


def _told(error: Exception) -> str:
    """The cell that failed, as JupyterLab numbers it, the line in it, and why."""
    if not isinstance(error, PapermillExecutionError):
        return f"the kernel ended: {type(error).__name__}: {' '.join(str(error).split()):.600}"
    parts = [re.sub(r"\x1b\[[0-9;]*m", "", part) for part in error.traceback]
    arrows = [line.strip() for part in parts if "Cell In[" in part for line in _ARROW.findall(part)]
    line = next(iter([*arrows, *error.source.strip().splitlines()]), "")
    cell = (error.exec_count or 1) - 1  # Papermill has added a cell with the parameters
    return f"cell {cell} ({line:.160}): {error.ename}: {error.evalue:.600}"


def _shared_hash(experiment: Experiment) -> str:
    """A hash of what all notebooks of an experiment depend on: code, data, labels, settings, servers, libraries."""
    settings = replace(experiment, notebooks={}, about="", batch=False, cluster="", offline=False, budget="",
                       figures=None, path=Path(), folder=Path())  # fmt: skip
    other = experiment.spider
    data: list[Any] = [_shared_hash(load_experiment(other))] if other else []
    for name in sorted({experiment.benchmark, experiment.train} - {""}):
        has_folder = name not in BENCHMARKS or BENCHMARKS[name].url
        benchmark = open_benchmark(name, experiment.root if has_folder else None)
        databases = sorted({benchmark.database(question.db_id) for question in benchmark.questions})
        data.append([benchmark.fingerprint(), *map(file_state, databases)])
    named = experiment.prompts, experiment.codes, *experiment.predictions, *experiment.golds.values()  # fmt: skip
    files = [file for place in named if place for file in (place, *sorted(place.rglob("*")))]
    files += sorted((home() / "labels").glob("*.sqlite"))
    data += [[file.name, _hash(file.read_bytes())] for file in files if file.is_file()]
    servers = {m: endpoint(m, address(m)) for m in (experiment.model, *experiment.models.values())}
    versions = [sys.version, *map(version, _LIBRARIES)]
    return content_hash("experiment", [repr(settings), data, servers, package_hash(), versions])


@cache
def package_hash() -> str:
    """A hash of the package without the desk, the command line, comments and docstrings."""
    hashes = {}
    for path in sorted(_PACKAGE.rglob("*")):
        inside = path.relative_to(_PACKAGE)
        if inside.parts[0] in _DESK or inside.stem == "labeller" or not path.is_file():
            continue
        if path.suffix == ".py":
            hashes[inside.as_posix()] = _hash(_code(path.read_bytes()))
        elif path.suffix not in {".css", ".js", ".pyc"}:
            hashes[inside.as_posix()] = _hash(path.read_bytes())
    return content_hash("code", hashes)


def _code(source: bytes) -> bytes:
    """The module's syntax without its docstrings."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree := ast.parse(source)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree).encode()


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Display:
    """A bar of notebooks on a terminal, elsewhere the same line every 30 s; and a line for each notebook that ends."""

    def __init__(self, jobs: Sequence[Job], store: Store) -> None:
        self._store, self._ended = store, set[str]()
        self._live, self._shown_at, self._needed = sys.stderr.isatty(), time.monotonic(), 0
        last = "SELECT coalesce(max(rowid), 0) FROM"
        self._calls, self._runs = (store.read(f"{last} {of}")[0][0] for of in ("calls", "runs"))
        out = sys.stderr if self._live else io.StringIO()
        self._bar = tqdm(total=len(jobs), file=out, leave=False, mininterval=0.5, bar_format="{n:.1f} of {total} "
                         "notebooks, {desc} [{elapsed}, {remaining} left]")  # fmt: skip

    def spent(self) -> str:
        """The calls asked since the start, those of the new runs that were cached, and the dollars."""
        select = "SELECT count(*), total(cost), count(*) - count(cost) FROM calls WHERE rowid > ?"
        asked, paid, unpriced = self._store.read(select, [self._calls])[0]
        select = "SELECT rowid, selections FROM runs WHERE rowid > ?"
        for rowid, text in self._store.read(f"{select} ORDER BY rowid", [self._runs]):
            self._runs = rowid
            keys = [key for key, *_ in orjson.loads(text)]
            attempts = self._store.read_keys("SELECT attempt FROM selections WHERE key IN", keys)
            for table, named in (("selections", keys), ("attempts", [key for (key,) in attempts])):
                found = read_records(self._store, table, named).values()
                self._needed += sum(int(record["cost"]["calls"]) for record in found)
        cached = max(0, self._needed - asked)
        return f"{asked:,} calls asked, {cached:,} cached, {dollars(paid, unpriced)}"

    def __call__(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            if job.state not in {"waiting", "running"} and job.name not in self._ended:
                self._ended.add(job.name)
                self._bar.clear()
                told = f"{job.name}: {job.state}{': ' * bool(job.error)}{job.error}"
                print(told, file=sys.stderr)
        if time.monotonic() - self._shown_at > (1 if self._live else 30):
            self._shown_at = time.monotonic()
            self._bar.n = sum(job.share for job in jobs)
            self._bar.set_description_str(self.spent())
            if not self._live:
                print(self._bar, file=sys.stderr)
