"""JupyterLab in a copy of the notebooks, which asks no other server, and headless Chromium."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager

import pytest

from tests.browser.desk import ROOT, Desk

PATIENCE = 90_000  # milliseconds: bounds a hang, and is longer than any wait on a busy machine
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


@pytest.fixture(scope="session")
def desk_home(tmp_path_factory):
    """The folder in which JupyterLab's kernels keep their cache and labels."""
    return tmp_path_factory.mktemp("own")


@pytest.fixture
def no_labels(desk_home):
    """Nobody has labelled a case yet, whatever the tests before did."""
    shutil.rmtree(desk_home / "labels", ignore_errors=True)


NO_NEWS = {"fetchNews": "false", "checkForUpdates": False}
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
def lab_url(desk_folder, desk_home):
    """The address of JupyterLab with its token."""
    jupyter = desk_home / "jupyter"
    news = (
        jupyter
        / "lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    )
    news.parent.mkdir(parents=True)
    news.write_text(json.dumps(NO_NEWS))
    with closing(socket.create_server(("127.0.0.1", 0))) as free:  # a free port
        port = free.getsockname()[1]
    token = secrets.token_hex(24)
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", f"--port={port}", *LAB],
        cwd=desk_folder,
        env=os.environ
        | {
            "WORKBENCH_HOME": str(desk_home),
            "IPYTHONDIR": str(desk_home / "ipython"),
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
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        pytest.skip("needs Playwright: pip install playwright")
    named = os.environ.get("WORKBENCH_CHROMIUM")
    program = named or next(filter(None, map(shutil.which, CHROMIUM)), None)
    if not program:
        pytest.skip(
            f"needs Chromium: make browser (looked for WORKBENCH_CHROMIUM, {', '.join(CHROMIUM)})"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def expect(chromium):
    """Playwright's assertions, which wait until they hold."""
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)
    return expect


@pytest.fixture(scope="module")
def sit_down(chromium, lab_url, desk_folder):
    """`with sit_down(name) as desk`: a page on a laptop's screen, in a new profile; a screenshot at the end."""

    @contextmanager
    def sit_down(name):
        with chromium.new_context(viewport={"width": 1280, "height": 800}) as context:
            context.set_default_timeout(PATIENCE)
            desk = Desk(context.new_page(), lab_url, desk_folder)
            yield desk
            desk.picture(name)
            desk.leave()
        assert desk.strangers == [], "a page sends requests to its own server only"
        assert desk.alarms == [], "a page shows no dialog and no script fails"

    return sit_down


@pytest.fixture
def desk(request, sit_down):
    with sit_down(request.node.name) as desk:
        yield desk


@pytest.fixture
def page(chromium):
    """A page that asks no server, and on which no script fails; the same holds for others of its context."""
    with chromium.new_context(viewport={"width": 1280, "height": 800}) as context:
        wrong = []
        context.on("weberror", lambda said: wrong.append(said.error.message))
        context.on("console", lambda said: said.type == "error" and wrong.append(said.text))
        context.on("dialog", lambda said: (wrong.append(said.message), said.dismiss()))
        context.on("request", lambda request: wrong.append(request.url))
        yield context.new_page()
        assert wrong == []
