"""The process that runs one notebook: `python -m workbench.experiment.kernel NOTEBOOK OUTPUT PARAMETERS`.

Papermill starts the kernel and saves OUTPUT after each cell. When standard input ends, since `reproduce` closed
it or was killed, the running cell is interrupted, and the kernel has two seconds to store the replies that
still arrive. The kernel's channels are sockets in a folder of its own, since the TCP ports of kernels that start
together may collide.
"""

import json
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path

import papermill
from traitlets.config import Config

from workbench.experiment.signals import Stopped, exit_code, stop_on_signals

_GRACE_SECONDS = 1.9  # Jupyter ends a kernel after half of its `shutdown_wait_time`


def _stop_with_parent() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGINT)  # the client interrupts its kernel and shuts it down


def main(notebook: str, output: str, parameters: str) -> None:
    """Run the notebook with parameters given as JSON."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs inherit it ignored
    stop_on_signals()
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="wb") as folder:  # short: a socket's path is limited
        config = Config()
        config.KernelManager.transport = "ipc"
        config.KernelManager.ip = str(Path(folder) / "k")
        config.KernelManager.shutdown_wait_time = 2 * _GRACE_SECONDS
        papermill.execute_notebook(
            notebook,
            output,
            json.loads(parameters),
            kernel_name="python3",
            cwd=Path(notebook).parent,
            progress_bar=False,
            config=config,
        )


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Stopped as stopped:
        sys.exit(exit_code(stopped))
