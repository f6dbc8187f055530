"""JupyterLab in a copy of the notebooks, which asks no other server, and headless Chromium."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from contextlib import closing

import pytest

from tests.browser.desk import ROOT, Desk

# Milliseconds: bounds a hang, and is longer than any wait on a busy machine.
PATIENCE = 90_000
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
# Nothing else is ever reached.
QUIET = ("--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")


@pytest.fixture(scope="session")
def desk_folder(tmp_path_factory):
    """A copy of the notebooks and experiments, so that notebooks write nothing into the checkout."""
    folder = tmp_path_factory.mktemp("desk")
    for name in ("notebooks", "experiments"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(".*"))
    return folder


LAB = (
    "--no-browser",
    "--ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    "--ServerApp.allow_root=True",
    "--LabApp.expose_app_in_browser=True",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",  # the other manager asks PyPI for a list
    "--LanguageServerManager.autodetect=False",  # autodetection calls npm
    "--Application.log_level=ERROR",
)


@pytest.fixture(scope="session")
def lab_url(desk_folder, tmp_path_factory):
    """The address of JupyterLab with its token; its kernels have a home of their own."""
    own = tmp_path_factory.mktemp("own")
    jupyter = own / "jupyter"
    news = jupyter / "lab/user-settings/@jupyterlab/apputils-extension"
    news.mkdir(parents=True)
    no = '{"fetchNews": "false", "checkForUpdates": false}'
    (news / "notification.jupyterlab-settings").write_text(no)
    with closing(socket.create_server(("127.0.0.1", 0))) as free:  # a free port
        port = free.getsockname()[1]
    token = secrets.token_hex(24)
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", f"--port={port}", *LAB],
        cwd=desk_folder,
        env=os.environ
        | {
            "WORKBENCH_HOME": str(own),
            "IPYTHONDIR": str(own / "ipython"),
            "JUPYTER_TOKEN": token,
            "JUPYTER_CONFIG_DIR": str(jupyter),
            "JUPYTER_DATA_DIR": str(jupyter / "data"),
        },
    )
    try:
        while process.poll() is None:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        assert process.poll() is None, "JupyterLab ended before it was ready"
        yield f"http://127.0.0.1:{port}/lab?token={token}"
    finally:
        process.terminate()
        process.wait(timeout=300)


# One browser for each module: Playwright keeps an event loop running, and other tests start their own.
@pytest.fixture(scope="module")
def chromium():
    api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")  # fmt: skip
    found = filter(None, map(shutil.which, CHROMIUM))
    program = os.environ.get("WORKBENCH_CHROMIUM") or next(found, None)
    if not program:
        pytest.skip(
            f"needs Chromium: make browser (or WORKBENCH_CHROMIUM, {', '.join(CHROMIUM)})"
        )
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def expect(chromium):
    """Playwright's assertions, which wait until they hold."""
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)
    return expect


@pytest.fixture
def desk(request, chromium, lab_url, desk_folder):
    """JupyterLab on a laptop's screen, in a new profile; a screenshot at the end."""
    with chromium.new_context(viewport={"width": 1280, "height": 800}) as context:
        context.set_default_timeout(PATIENCE)
        desk = Desk(context.new_page(), lab_url, desk_folder)
        yield desk
        desk.picture(request.node.name)
        desk.leave()
    assert desk.strangers == [], "a page sends requests to its own server only"
    assert desk.alarms == [], "a page shows no dialog and no script fails"


@pytest.fixture
def page(chromium):
    """A page that asks no server, and on which no script fails; the same holds for others of its context."""
    with chromium.new_context(viewport={"width": 1280, "height": 800}) as context:
        wrong = []
        context.on("weberror", lambda said: wrong.append(said.error.message))
        context.on(
            "console", lambda said: said.type == "error" and wrong.append(said.text)
        )
        context.on("dialog", lambda said: (wrong.append(said.message), said.dismiss()))
        context.on("request", lambda request: wrong.append(request.url))
        yield context.new_page()
        assert wrong == []
