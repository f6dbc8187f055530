"""`workbench lab`: open the notebooks in JupyterLab, a process of its own that makes no network requests.

JupyterLab's settings, data and workspaces are stored beside the cache, so the user's own JupyterLab keeps its state,
and a kernel that the user has installed under the name python3 does not replace ours.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import click

from workbench.errors import BadInputError, StoreError
from workbench.experiment.signals import stop_on_signals
from workbench.store import home

FIRST = Path("notebooks/explore.ipynb")  # the notebook that opens
_EXTENSIONS = Path(__file__).with_name("extensions")  # of JupyterLab
_PORTS = range(8888, 8939)  # Jupyter's own port, and the ports to try if it is taken
_NO_NEWS = {"fetchNews": "false", "checkForUpdates": False}


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Default: the first free from 8888 on.")
@click.option("--browser/--no-browser", default=True, help="Open a browser, or print the URL only.")
def lab(port: int | None, browser: bool) -> None:
    """Open the notebooks in JupyterLab. Ctrl-C ends it."""
    port = _free_port(port)
    environment = _environment(home().absolute())
    if find_spec("jupyterlab") is None:
        raise BadInputError("JupyterLab is not installed: pip install jupyterlab")
    import zmq  # noqa: PLC0415  comes with jupyterlab

    folder = _folder()
    page = f"/lab/tree/{FIRST.as_posix()}" if (folder / FIRST).exists() else "/lab"
    token = secrets.token_hex(24)
    encryption = "auto" if zmq.has("curve") else "disabled"  # without curve every kernel warns
    command = [
        *(sys.executable, "-m", "jupyterlab"),
        f"--ServerApp.root_dir={folder}",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.open_browser={browser}",
        "--ServerApp.allow_root=True",  # users of containers are often root
        f"--LabApp.default_url={page}",
        f"--LabApp.extra_labextensions_path={_EXTENSIONS}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",  # the other manager asks PyPI for a list
        "--LanguageServerManager.autodetect=False",  # autodetection calls npm
        f"--KernelManager.transport_encryption={encryption}",
        "--Application.log_level=ERROR",
    ]
    # In a session of its own, Ctrl-C reaches this process alone: Jupyter's handler would ask for confirmation.
    server = subprocess.Popen(
        command, env=environment | {"JUPYTER_TOKEN": token}, start_new_session=True
    )
    stop_on_signals()
    try:
        _wait_for(server, port)
        print(f"http://127.0.0.1:{port}{page}?token={token}  (Ctrl-C ends it)", flush=True)
        server.wait()
    except KeyboardInterrupt:
        server.terminate()
    finally:
        server.wait()


def _wait_for(server: "subprocess.Popen[bytes]", port: int) -> None:
    """Return when the server listens."""
    while server.poll() is None:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise BadInputError(f"JupyterLab ended with exit code {server.returncode} before it was ready")


def _free_port(port: int | None) -> int:
    """The port that was asked for, or the first free one."""
    for number in [port] if port else _PORTS:
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # one just closed is free
            try:
                probe.bind(("127.0.0.1", number))
            except OSError as error:
                if port:
                    raise BadInputError(
                        f"--port {port}: {error.strerror}; name another, or leave it out"
                    ) from error
            else:
                return number
    raise BadInputError(f"no port from {_PORTS[0]} to {_PORTS[-1]} is free; name one with --port")


def _environment(ours: Path) -> dict[str, str]:
    """The environment of JupyterLab: its folders are in the workbench's home, which kernels share."""
    folder = ours / "jupyter"
    settings = folder / "settings"
    news = settings / "@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    try:
        if not news.exists():  # the user may have changed it
            news.parent.mkdir(parents=True, exist_ok=True)
            news.write_text(json.dumps(_NO_NEWS))
    except OSError as error:
        raise StoreError(f"{error.filename}: {error.strerror}") from error
    return os.environ | {
        "WORKBENCH_HOME": str(ours),
        "JUPYTER_CONFIG_DIR": str(folder),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(settings),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
    }


def _folder() -> Path:
    """The current folder if it holds the notebooks, else the checkout that holds this package."""
    folders = (Path.cwd(), Path(__file__).parents[3])
    return next((folder for folder in folders if (folder / FIRST).exists()), folders[0])
