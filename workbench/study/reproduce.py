"""Run an experiment's notebooks by Papermill, as many at once as there are processors.

A notebook that fails stops no other. A notebook is not run again while its inputs and files are
unchanged: a hash of both stands in the metadata of its executed copy. The calls of a stopped
notebook are cached, so a second run goes on from there. Progress is read from the cache: the calls
since the start, and their cost.
"""

import hashlib
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson
import papermill
from jupyter_core.utils import ensure_event_loop
from papermill.exceptions import PapermillExecutionError, strip_color
from tqdm import tqdm
from traitlets.config import Config

from workbench.benchmarks.benchmark import BENCHMARKS, open_benchmark
from workbench.benchmarks.files import one_line
from workbench.canonical import content_hash, folder_hash
from workbench.errors import BadInputError, naming, one_of, redact
from workbench.llm.calls import address, endpoint
from workbench.llm.money import dollars
from workbench.sql.executor import file_state
from workbench.store import Store, home
from workbench.study.experiment import Experiment, Session, session_of, shipped
from workbench.study.kernels import Kernel
from workbench.study.saved import SAVED, Saved, read_index, write_executed
from workbench.terminal import bar_stream

_PACKAGE = Path(__file__).parents[1]
_DESK = ("cli", "explorer", "widgets", "_shipped")  # no number comes from these
_LIBRARIES = (
    "ipykernel",
    "litellm",
    "matplotlib",
    "numpy",
    "pandas",
    "papermill",
    "seaborn",
    "sqlglot",
)
# Settings on which no number depends.
_ASIDE = ("notebooks", "about", "batch", "path", "folder")
_LINE_EVERY = 30  # seconds, where there is no terminal


@dataclass(slots=True)
class Job:
    """A notebook of a run; `inputs_hash` is of all that its numbers depend on."""

    name: str
    notebook: Path
    parameters: Mapping[str, Any]
    inputs_hash: str
    output: Path
    figures: Path
    state: str = "waiting"  # then running, done, unchanged, failed or stopped
    error: str = ""

    @property
    def records(self) -> dict[str, Any]:
        """The record in the index of each figure and table that the notebook saves."""
        index = read_index(self.figures)
        return {
            name: index.get(name)
            for name in SAVED.findall(self.notebook.read_text("utf-8"))
        }

    def result_hash(self) -> str:
        """Return a hash of the inputs, of the files that the notebook wrote, and of its records."""
        names = [f"{name}{kind}" for name in self.records for kind in (".csv", ".png")]
        files = [self.figures / name for name in (*names, self.output.name)]
        written = {file.name: _file_hash(file) for file in files if file.is_file()}
        return content_hash("made", [self.inputs_hash, written, self.records])

    def is_unchanged(self) -> bool:
        """Say whether the executed notebook has the hash of its inputs and results as they are."""
        with suppress(OSError, ValueError, KeyError):
            executed = orjson.loads(self.output.read_bytes())
            return bool(executed["metadata"]["workbench"] == self.result_hash())
        return False

    def missing(self) -> int:
        """Return how many questions behind the figures have no answer, since a call failed."""
        runs = {
            run for record in self.records.values() if record for run in record["runs"]
        }
        lost = "SELECT 1 FROM runs, json_each(selections) WHERE value ->> 0 = '' AND runs.id IN"
        with Store() as store:
            return len(store.read_keys(lost, sorted(runs)))


def plan(
    experiment: Experiment | Session,
    only: Sequence[str] = (),
    limit: float | None = None,
) -> list[Job]:
    """Return the notebooks that an experiment names, with checked parameters.

    The kernels read the copy of the session in `home`. A run with a limit has folders of its own.
    """
    session = session_of(experiment)
    settings = session.experiment
    unknown = [name for name in only if name not in settings.notebooks]
    if unknown:
        there = f"{settings.name} has {', '.join(settings.notebooks)}"
        raise BadInputError(f"no notebook {', '.join(unknown)}; {there}")
    figures = session.figures_folder(limit)
    folder = home() / "runs" / settings.run_name(limit)
    shared = "" if session.preview else _shared_inputs_hash(settings)
    written = replace(session, figures=figures).write(folder / f"{settings.name}.yaml")
    common: dict[str, Any] = {"experiment": str(written)}
    if limit is not None:
        common["limit"] = limit
    jobs = []
    for name, parameters in settings.notebooks.items():
        if only and name not in only:
            continue
        notebook = _notebook(name, settings.folder)
        with naming(notebook):
            known = papermill.inspect_notebook(str(notebook))
        # Papermill only warns of one that it does not have.
        for parameter in parameters | common:
            one_of(known, **{f"a parameter of {notebook.name}": parameter})
        inputs = [shared, _file_hash(notebook), dict(parameters), limit]
        hashed = content_hash("notebook", inputs)
        output = folder / f"{name.replace('/', '-')}.ipynb"
        jobs.append(Job(name, notebook, parameters | common, hashed, output, figures))
    return jobs


def _notebook(name: str, folder: Path) -> Path:
    """Return a notebook beside the experiment, or else one that comes with the package."""
    beside = folder / "notebooks" / f"{name}.ipynb"
    packaged = shipped("notebooks") / f"{name}.ipynb"
    return packaged if packaged.is_file() and not beside.is_file() else beside


def run(jobs: Sequence[Job], *, at_once: int | None = None) -> str:
    """Run the jobs whose inputs or files have changed; return what was asked and spent, as text.

    Ctrl-C interrupts the kernels and waits for the calls under way in them; a second Ctrl-C kills
    the kernels.
    """
    for job in jobs:
        job.state = "unchanged" if job.is_unchanged() else "waiting"
    Kernel.stopping.clear()
    with (
        Store() as store,
        _Progress(store, len(jobs)) as progress,
        ThreadPoolExecutor(at_once or os.cpu_count()) as pool,
    ):
        running = [pool.submit(_execute, job) for job in jobs if job.state == "waiting"]
        try:
            while wait(running, 0.5).not_done:
                progress.show(jobs)
        except BaseException:
            Kernel.stopping.set()
            Kernel.signal_all(signal.SIGINT)
            try:
                wait(running)
            finally:
                Kernel.signal_all(signal.SIGKILL)
            raise
        progress.show(jobs)
        spent: str = progress.spent()
        return spent


def _execute(job: Job) -> None:
    if Kernel.stopping.is_set():
        return
    job.state = "running"
    Saved(job.figures).mark_earlier(job.records)
    try:
        with tempfile.TemporaryDirectory(prefix="wb") as folder:
            # Sockets of its own, since the TCP ports of kernels that start together may collide.
            config = Config(
                {"KernelManager": {"transport": "ipc", "ip": f"{folder}/k"}}
            )
            papermill.execute_notebook(
                job.notebook,
                job.output,
                dict(job.parameters),
                kernel_name="python3",
                progress_bar=False,
                start_timeout=600,
                kernel_manager_class=Kernel,
                config=config,
                on_cell_start=Kernel.check_going_on,
                resources={"metadata": {"path": str(job.notebook.parent)}},
            )
        if job.figures.is_dir():
            write_executed(job.output, job.figures, Path(job.parameters["experiment"]))
        if missing := job.missing():
            job.error = f"{missing:,} questions have no answer, since a call failed: run it again"
        else:
            executed = orjson.loads(job.output.read_bytes())
            executed["metadata"]["workbench"] = job.result_hash()
            job.output.write_bytes(orjson.dumps(executed, option=orjson.OPT_INDENT_2))
        job.state = "done"
    except Exception as error:  # noqa: BLE001  it is reported, and the other notebooks go on
        job.error = redact(_where_it_failed(error))
        job.state = "stopped" if Kernel.stopping.is_set() else "failed"
    finally:
        ensure_event_loop().close()  # this thread's


def _where_it_failed(error: Exception) -> str:
    """Return the cell that failed, by JupyterLab's number, its line, and the message."""
    if not isinstance(error, PapermillExecutionError):
        return f"{type(error).__name__}: {one_line(str(error)):.600}"
    traceback = strip_color("\n".join(error.traceback))
    lines = re.findall(r"^-+> *\d+ (.*)$", traceback, re.MULTILINE)
    lines += error.source.splitlines()
    line = ""
    if lines:
        line = lines[0].strip()
    cell = (error.exec_count or 1) - 1  # Papermill has added a cell with the parameters
    return f"cell {cell} ({line:.160}): {error.ename}: {error.evalue:.600}"


def _shared_inputs_hash(experiment: Experiment) -> str:
    """Return a hash of what all notebooks depend on: code, data, labels, settings, libraries."""
    settings = {}
    for field in fields(experiment):
        if field.name not in _ASIDE:
            settings[field.name] = repr(getattr(experiment, field.name))
    data: list[Any] = [settings]

    for name in (experiment.benchmark, experiment.train):
        if name:
            has_folder = name not in BENCHMARKS or BENCHMARKS[name].url
            benchmark = open_benchmark(name, experiment.root if has_folder else None)
            db_ids = {question.db_id for question in benchmark.questions}
            databases = [benchmark.database(db_id) for db_id in sorted(db_ids)]
            data.append([benchmark.fingerprint(), *map(file_state, databases)])

    if experiment.prompts:
        data.append(folder_hash(experiment.prompts))
    places = [experiment.codes, *experiment.predictions]
    places += sorted((home() / "labels").glob("*.sqlite"))
    for place in filter(None, places):
        files = filter(Path.is_file, [place, *sorted(place.rglob("*"))])
        data += [[str(file.relative_to(place)), _file_hash(file)] for file in files]

    servers = {model: endpoint(model, address(model)) for model in experiment.asked}
    code = folder_hash(_PACKAGE, _DESK)
    versions = [sys.version, *map(version, _LIBRARIES)]
    return content_hash("experiment", [data, servers, code, versions])


def _file_hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


class _Progress(tqdm):  # type: ignore[misc]
    """Shows how many notebooks have ended, and prints a line for each, also into a file."""

    def __init__(self, store: Store, total: int) -> None:
        super().__init__(
            total=total,
            unit=" notebooks",
            file=bar_stream(),
            disable=None,  # where there is no terminal
            miniters=0,  # calls are made while no notebook ends
            leave=False,
        )
        self._store = store
        self._ended: set[str] = set()
        self._next_line = time.monotonic() + _LINE_EVERY
        last_call = store.read("SELECT coalesce(max(rowid), 0) FROM calls")
        self._last_call = last_call[0][0]

    def show(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            if job.state not in {"waiting", "running"} and job.name not in self._ended:
                self._ended.add(job.name)
                line = f"{job.name}: {job.state}"
                if job.error:
                    line = f"{line}: {job.error} (executed: {job.output})"
                self.clear()
                print(line, file=sys.stderr)
        spent = self.spent()
        self.set_postfix_str(spent, refresh=False)
        self.update(len(self._ended) - self.n)
        if self.disable and time.monotonic() > self._next_line:
            self._next_line = time.monotonic() + _LINE_EVERY
            line = f"{len(self._ended)} of {self.total} notebooks, {spent}"
            print(line, file=sys.stderr)

    def spent(self) -> str:
        """Return the number of calls made since the start, and the dollars."""
        select = "SELECT count(*), total(cost), count(*) - count(cost) FROM calls"
        rows = self._store.read(f"{select} WHERE rowid > ?", [self._last_call])
        ((calls, paid, unpriced),) = rows
        return f"{calls:,} calls asked, {dollars(paid, unpriced)}"
