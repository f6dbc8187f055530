"""JupyterLab, started by `workbench lab` in a copy of the notebooks, and headless Chromium."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest

from tests.browser.desk import ROOT, Desk

PATIENCE = 300_000  # milliseconds: bounds a hang, and is longer than any wait on a busy machine
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing else is ever reached
)


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


@pytest.fixture(scope="session")
def lab_url(desk_folder, desk_home):
    """The address, with its token, that `workbench lab` prints."""
    (desk_home / "jupyter").mkdir()
    (desk_home / "jupyter/jupyter_lab_config.json").write_text(
        json.dumps({"LabApp": {"expose_app_in_browser": True}})
    )
    with closing(socket.create_server(("127.0.0.1", 0))) as free:  # a free port
        port = str(free.getsockname()[1])
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "lab", "--no-browser", "--port", port],
        cwd=desk_folder,
        env=os.environ
        | {"WORKBENCH_HOME": str(desk_home), "IPYTHONDIR": str(desk_home / "ipython")},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url = process.stdout.readline().split()
        assert url, "`workbench lab` ended before it printed its address"
        yield url[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)


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
