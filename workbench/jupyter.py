"""`workbench lab`: JupyterLab on the notebooks, in this process, and nothing fetched from anywhere.

It has settings, data and workspaces of its own beside the lab book: the user's own JupyterLab keeps its
state, and a kernel that the user once installed under the name python3 does not take the place of ours.
"""

import json
import os
import secrets
import signal
import socket
from contextlib import closing
from pathlib import Path

import click

from workbench.errors import BadInputError, StoreError
from workbench.store import home

FIRST = Path("notebooks/explore.ipynb")  # what one sees first
_PORT = 8888  # Jupyter's own; where it is taken the next free one serves
_NO_NEWS = {"fetchNews": "false", "checkForUpdates": False}


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Default: the first free from 8888 on.")
@click.option("--browser/--no-browser", default=True, help="Open a browser, or print the URL only.")
def lab(port: int | None, browser: bool) -> None:
    """Open the notebooks in JupyterLab. Ctrl-C ends it."""
    if port is not None:
        _check_free(port)
    _set_apart(home().absolute())
    try:
        import zmq  # noqa: PLC0415
        from jupyterlab.labapp import LabApp  # noqa: PLC0415  a second, and it reads what was just set
    except ModuleNotFoundError as error:
        raise BadInputError(f"no JupyterLab here ({error}): pip install jupyterlab") from error
    folder = _folder()
    page = f"/lab/tree/{FIRST.as_posix()}" if (folder / FIRST).exists() else "/lab"
    token = secrets.token_hex(24)
    encryption = "auto" if zmq.has("curve") else "disabled"  # without it every kernel warns
    server = LabApp.initialize_server(
        [
            f"--ServerApp.root_dir={folder}",
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={port or _PORT}",
            f"--ServerApp.port_retries={0 if port else 50}",
            f"--ServerApp.open_browser={browser}",
            "--ServerApp.allow_root=True",  # who works in a container is often root
            f"--IdentityProvider.token={token}",
            f"--LabApp.default_url={page}",
            "--LabApp.news_url=None",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            "--LabApp.extension_manager=readonly",  # the other one lists what PyPI has
            "--LanguageServerManager.autodetect=False",  # it looks for them with npm
            f"--KernelManager.transport_encryption={encryption}",
            "--Application.log_level=ERROR",
        ]
    )
    # Jupyter's own handler asks back, and without a terminal leaves the kernels to themselves.
    signal.signal(signal.SIGINT, lambda *_: server.stop(from_signal=True))
    address = f"http://127.0.0.1:{server.port}{page}?token={token}"
    # The loop's first callback opens the port: printed after it, the address answers.
    server.io_loop.add_callback(print, f"{address}  (Ctrl-C ends it)", flush=True)
    server.start()


def _check_free(port: int) -> None:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # one just closed is free
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise BadInputError(
                f"--port {port}: {error.strerror}; name another, or leave it out"
            ) from error


def _set_apart(ours: Path) -> None:
    """Point Jupyter at folders of ours, and the kernels, which start elsewhere, at this lab book."""
    place = ours / "jupyter"
    settings = place / "settings"
    os.environ |= {
        "WORKBENCH_HOME": str(ours),
        "JUPYTER_CONFIG_DIR": str(place),
        "JUPYTER_DATA_DIR": str(place / "data"),
        "JUPYTER_RUNTIME_DIR": str(place / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(settings),
        "JUPYTERLAB_WORKSPACES_DIR": str(place / "workspaces"),
    }
    news = settings / "@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    try:
        if not news.exists():  # later it is the user's to change
            news.parent.mkdir(parents=True, exist_ok=True)
            news.write_text(json.dumps(_NO_NEWS))
    except OSError as error:
        raise StoreError(f"{error.filename}: {error.strerror}") from error


def _folder() -> Path:
    """The current folder where it has the notebooks, else the checkout that this package lies in."""
    places = (Path.cwd(), Path(__file__).parents[1])
    return next((place for place in places if (place / FIRST).exists()), places[0])
