"""One notebook run by Papermill, in a kernel of its own that anybody may stop.

Kernels talk over pipes in a fresh folder: ports of many kernels started at once collide.
"""

import ast
import os
import re
import signal
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import papermill
from jupyter_core.utils import ensure_event_loop
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from workbench.errors import BadInputError, redact

_SECRET = re.compile(r"(?i)(?:^|_|api)(?:key|token|secret|password|credential)s?$")
_LINE = 160  # characters of a cell or of an error that are told


@dataclass(slots=True)
class Kernel:
    """A notebook's kernel while it runs: how many cells are done, and how to end it."""

    cells: int = 0
    of: int = 0
    pid: int = 0
    stopped: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def began(self, pid: int) -> None:
        """The kernel is there; if it was stopped before, it ends now."""
        with self._lock:
            self.pid = pid
            if self.stopped:
                self._end()

    def interrupt(self) -> None:
        """Ask the kernel to end: it keeps the replies that come back within a moment."""
        with self._lock:
            self.stopped = True
            if self.pid:
                with suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGINT)

    def stop(self) -> None:
        """End the kernel now, or as soon as it begins. All that came back to it is in the lab book."""
        with self._lock:
            self.stopped = True
            if self.pid:
                self._end()

    def _end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


class _Client(PapermillNotebookClient):  # type: ignore[misc]
    """Papermill's client, which tells whose process it started."""

    def __init__(self, *given: Any, kernel: Kernel, **named: Any) -> None:
        super().__init__(*given, **named)
        self._ours = kernel

    async def async_start_new_kernel_client(self) -> Any:
        self._ours.began(self.km.provisioner.pid)
        return await super().async_start_new_kernel_client()

    def start_new_kernel_client(self) -> Any:
        self._ours.began(self.km.provisioner.pid)
        return super().start_new_kernel_client()


class _Engine(NBClientEngine):  # type: ignore[misc]
    """Papermill's engine with an environment and a folder of the kernel's own."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **given: Any) -> Any:
        kernel: Kernel = given["kernel"]
        kernel.of = len(nb_man.nb.cells)
        done = nb_man.cell_complete

        def cell_complete(cell: Any, **named: Any) -> None:
            kernel.cells += 1
            done(cell, **named)

        nb_man.cell_complete = cell_complete
        with tempfile.TemporaryDirectory(
            prefix="wb"
        ) as folder:  # short: a socket's path is limited
            config = Config()
            config.KernelManager.transport = "ipc"
            config.KernelManager.ip = str(Path(folder) / "k")
            client = _Client(
                nb_man,
                kernel=kernel,
                kernel_name=kernel_name,
                startup_timeout=given["start_timeout"],
                timeout=None,
                config=config,
            )
            return client.execute(
                cwd=given["folder"], env=given["environment"], stderr=given["errors"]
            )


papermill_engines.register("workbench", _Engine)


def parameters_of(notebook: Path) -> Mapping[str, Any]:
    """What its cell tagged `parameters` gives, by name: each with `default` and `help`, its comment."""
    found: Mapping[str, Any] = papermill.inspect_notebook(str(notebook))
    return found


def check_parameters(notebook: Path, given: Mapping[str, Any]) -> None:
    """A parameter that the notebook does not have is an error; Papermill would only warn.

    So is a value that is not of the default's kind, and a number of things below 1: what it would spoil
    may come late in the notebook. None will do where the default is None, or the comment speaks of it. One
    that is called a secret is refused, since Papermill writes parameters into the notebook that it leaves.
    """
    if secret := next(filter(_SECRET.search, given), None):
        raise BadInputError(
            f"{notebook.name}: parameter {secret} would be written into the notebook; keys come from the"
            " environment, as OPENAI_API_KEY and the like"
        )
    known = parameters_of(notebook)
    if odd := sorted(set(given) - set(known)):
        raise BadInputError(
            f"{notebook.name} has no parameter {', '.join(odd)}; there are {', '.join(known) or 'none'}"
        )
    for name, value in given.items():
        try:
            default = ast.literal_eval(known[name]["default"])
        except (ValueError, SyntaxError):  # an expression: nobody knows its kind before it runs
            continue
        unset = default is None or "None" in known[name]["help"]
        if default is not None and not (unset and value is None) and not _fits(value, default):
            raise BadInputError(
                f"{notebook.name}: {name} is {value!r:.60}; it must be {_kind(default)}"
                f"{' or null' if unset else ''}"
            )


def _fits(value: Any, default: Any) -> bool:
    if isinstance(default, list) and default:
        return isinstance(value, list) and value != [] and all(_fits(v, default[0]) for v in value)
    if isinstance(default, float):
        return type(value) in {int, float}
    return type(value) is type(default) and (type(default) is not int or value >= min(default, 1))


def _kind(default: Any) -> str:
    if isinstance(default, list) and default:
        return f"a list, each {_kind(default[0])}"
    if type(default) is int:
        return f"a whole number from {min(default, 1)} on"
    return {float: "a number", str: "a text"}.get(type(default), f"like {default!r}")


def execute(
    notebook: Path,
    output: Path,
    parameters: Mapping[str, Any],
    environment: Mapping[str, str],
    kernel: Kernel,
) -> str:
    """Run it; "" when every cell did, else which cell failed and why. The outputs are in `output`."""
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        with output.with_suffix(".log").open("wb") as errors:  # what a kernel says of itself
            papermill.execute_notebook(
                str(notebook),
                str(output),
                dict(parameters),
                engine_name="workbench",
                kernel_name="python3",
                progress_bar=False,
                kernel=kernel,
                folder=str(notebook.parent),
                environment=dict(os.environ) | dict(environment),
                errors=errors,
            )
    except PapermillExecutionError as error:
        source = next(iter(str(error.source).strip().splitlines()), "")
        return redact(
            f"cell {error.exec_count} ({source:.{_LINE}}): {error.ename}: {error.evalue:.{_LINE}}"
        )
    except Exception as error:
        if kernel.stopped:
            return "stopped"
        if isinstance(error, (nbformat.ValidationError, OSError, RuntimeError)):
            return redact(f"the kernel ended: {type(error).__name__}: {error}")
        raise
    finally:
        ensure_event_loop().close()  # Jupyter makes one for each thread, and closes none
    return "stopped" if kernel.stopped else ""
