"""Real JupyterLab, started as a user starts it, on a copy of the notebooks, in headless Chromium."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.desk import Desk

ROOT = Path(__file__).parents[2]
PATIENCE = 60_000  # milliseconds; a machine may be busy
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
    """A copy of what the notebooks need: what they write does not land in the checkout."""
    folder = tmp_path_factory.mktemp("desk")
    for name in ("notebooks", "experiments"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="session")
def lab_url(desk_folder, tmp_path_factory):
    """The address with its token that `workbench lab` prints."""
    own = tmp_path_factory.mktemp("own")
    (own / "jupyter").mkdir()
    (own / "jupyter/jupyter_lab_config.json").write_text(
        json.dumps({"LabApp": {"expose_app_in_browser": True}})
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "lab", "--no-browser"],
        cwd=desk_folder,
        env=os.environ | {"WORKBENCH_HOME": str(own), "IPYTHONDIR": str(own / "ipython")},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url = process.stdout.readline().split()
        assert url, "`workbench lab` ended before it printed its address"
        yield url[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


# One a module: while Playwright is there, an event loop is running, and others want to run theirs.
@pytest.fixture(scope="module")
def chromium():
    try:
        from playwright.sync_api import expect, sync_playwright
    except ModuleNotFoundError:
        pytest.skip("no Playwright: pip install playwright")
    program = os.environ.get("WORKBENCH_CHROMIUM") or next(
        filter(None, map(shutil.which, CHROMIUM)), None
    )
    if not program:
        pytest.skip(
            f"none of {', '.join(CHROMIUM)} on the PATH, and WORKBENCH_CHROMIUM names no other"
        )
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def desk(request, chromium, lab_url, desk_folder):
    """A laptop's screen with JupyterLab on it, a new profile, and a guard at the door."""
    with chromium.new_context(viewport={"width": 1280, "height": 800}) as context:
        context.set_default_timeout(PATIENCE)
        desk = Desk(context.new_page(), lab_url, desk_folder)
        yield desk
        desk.picture(request.node.name)
    assert desk.strangers == [], "a page asks nobody but its own server"
    assert desk.alarms == [], "no dialog, and no script that failed"
