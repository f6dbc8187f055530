"""Kernels of notebooks, forked from a process that has already imported what notebooks use.

The imports take seconds of processor time, a fork takes milliseconds. The process is the server of
Python's own start method "forkserver"; it runs no thread and opens no file before it forks.
"""

import multiprocessing
import os
import threading
from contextlib import suppress
from importlib import import_module
from multiprocessing import forkserver
from multiprocessing.context import ForkServerProcess
from typing import Any, ClassVar
from weakref import WeakSet

from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from workbench.errors import StoppedError
from workbench.terminal import stop_on_signals

_IMPORTED = (
    "datasketch",
    "ipykernel.ipkernel",
    "ipykernel.kernelapp",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "matplotlib.backends.backend_agg",
    "matplotlib_venn",
    "pandas.plotting._matplotlib",
    "scipy.cluster.hierarchy",
    "seaborn",
    "tabulate",
    "workbench.embedded.write_reply",
    "workbench.report.figures",
    "workbench.study.measures",
    "workbench.systems.agent",
    "workbench.systems.mac_sql",
)
_FIXED = {
    "PYTHONHASHSEED": "0",  # for sums over sets
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",  # as ipykernel sets it
}
_SETTINGS = (
    # Jupyter interrupts a kernel when it ends, which the kernel's log would call an error.
    "--IPKernelApp.log_level=CRITICAL",
    "--HistoryManager.enabled=False",
)


class Kernel(AsyncKernelManager):
    """A kernel that another thread can signal.

    What all kernels share is of the one run of notebooks that a process makes at a time.
    """

    stopping: ClassVar = threading.Event()
    started: ClassVar[WeakSet["Kernel"]] = WeakSet()

    async def start_kernel(self, **given: Any) -> None:  # type: ignore[override]
        self.started.add(self)
        # The manager asks its factory for a provisioner only if it has none.
        self.provisioner = _Forked(parent=self, kernel_spec=self.kernel_spec)
        given["env"] = os.environ | _FIXED
        await super().start_kernel(**given)

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        """Return the arguments of the kernel's program."""
        return ["-f", self.connection_file, *_SETTINGS, *(extra_arguments or ())]

    @classmethod
    def signal_all(cls, number: int) -> None:
        for kernel in list(cls.started):
            process = getattr(kernel.provisioner, "process", None)
            if process and process.poll() is None:
                process.send_signal(number)

    @classmethod
    def check_going_on(cls, **_: Any) -> None:
        if cls.stopping.is_set():
            raise StoppedError("stopped before this cell")


class _Forked(LocalProvisioner):
    """Jupyter's part that starts a kernel's process."""

    async def launch_kernel(self, cmd: list[str], **given: Any) -> Any:
        _start_server()
        process: Any = _Process(target=_serve, args=(cmd, given["env"], given["cwd"]))
        process.start()
        self.process = process
        self.pid = self.pgid = process.pid
        return self.connection_info


class _Process(ForkServerProcess):
    """A forked process with the methods of `subprocess.Popen` that Jupyter calls."""

    stdin = stdout = stderr = None

    def poll(self) -> int | None:
        return self.exitcode

    def wait(self) -> int | None:
        self.join()
        return self.exitcode

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid or 0, number)


def _start_server() -> None:
    """Start the process that is forked, with its fixed environment; this process keeps its own.

    Python reads the hash seed, and Matplotlib its backend, when that process starts.
    """
    multiprocessing.set_forkserver_preload(list(_IMPORTED))
    environment = dict(os.environ)
    os.environ.update(_FIXED)
    try:
        forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(environment)


def _serve(arguments: list[str], environment: dict[str, str], folder: str) -> None:
    """Be a kernel, in a session of its own, so that Ctrl-C in a terminal does not reach it.

    It stops at SIGTERM as at Ctrl-C, and stores the replies under way.
    """
    from ipykernel.kernelapp import IPKernelApp  # noqa: PLC0415  only a kernel needs it

    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    kernel: Any = IPKernelApp.instance()
    kernel.initialize(arguments)
    # By import_module, since the stub of the package leaves this name out.
    import_module("workbench").show_records()
    stop_on_signals()
    kernel.start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
    os._exit(1)
