"""Driving JupyterLab: open a notebook, run it, go through it by keyboard, take a picture."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import nbformat

from tests.browser.page import picture

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# anywidget's message when a widget takes over two seconds to appear, as many do on a busy machine.
SLOW = "[anywidget] Failed to initialize model."


class Desk:
    """JupyterLab on a page that records requests to other servers, dialogs and script errors."""

    def __init__(self, page, url, folder):
        self.page = page
        self.folder = folder
        self.strangers = []
        self.alarms = []
        self.console_errors = []  # those of JupyterLab itself, too, as when a kernel ends
        self._url = url
        page.add_init_script(path=HERE / "desk.js")
        page.on("request", lambda request: self._note(request.url))
        page.on("websocket", lambda socket: self._note(socket.url))
        page.on(
            "dialog", lambda said: (self.alarms.append(said.message), said.dismiss())
        )
        page.on("pageerror", lambda error: self._heed(error.message, self.alarms))
        page.on("console", lambda said: said.type == "error" and self._heed(said.text, self.console_errors))  # fmt: skip

    def _note(self, url):
        parts = urlsplit(url)
        if parts.scheme not in {"data", "blob"} and parts.hostname != "127.0.0.1":
            self.strangers.append(url)

    def _heed(self, error, errors):
        if error != SLOW:
            errors.append(error)

    def leave(self):
        """End all kernels, and with them the workers that they started."""
        self.page.evaluate("window.jupyterapp?.serviceManager.sessions.shutdownAll()")

    def open(self, notebook):
        """Open a notebook, given by its path in the folder, and wait for its kernel."""
        if self.page.url == "about:blank":
            self.page.goto(f"{self._url}&reset")
        self.page.evaluate("path => desk.open(path).then(() => null)", notebook)

    def run_all(self):
        """Run every cell, wait for the last one, and return the errors of all cells."""
        return self.page.evaluate("desk.run()")

    def reload(self, notebook):
        """Save the notebook, reload the page, and open the notebook again."""
        self.page.evaluate("desk.panel().context.save()")
        self.page.reload()
        self.open(notebook)

    def cells(self):
        """The ids of the open notebook's cells."""
        return self.page.evaluate("desk.cells()")

    def stand_on(self, text):
        """Select the cell that contains the text, in command mode, as the arrow keys would."""
        self.page.evaluate("text => desk.standOn(text)", text)

    def tab_to(self, locator, most=60):
        """Press Tab until the focused element lies inside the located one."""
        for _ in range(most):
            self.page.keyboard.press("Tab")
            if locator.evaluate("element => element.contains(document.activeElement)"):
                return
        raise AssertionError(f"{most} times Tab do not lead to {locator}")

    def top(self, locator):
        """Scroll something to the top of the screen."""
        locator.evaluate("element => element.scrollIntoView()")

    def sideways(self):
        """The elements of the page and of the active cell that are wider than their box on the screen."""
        return self.page.evaluate("desk.sideways(desk.panel().content.activeCell.node)")

    def small(self, name, changes=(), **parameters):
        """Write a copy of the notebook with other parameters and with replacements in its code."""
        notebook = nbformat.read(ROOT / name, 4)
        for old, new in dict(changes).items():
            (cell,) = (c for c in notebook.cells if old in c.source)
            cell.source = cell.source.replace(old, new)
        (cell,) = (
            c for c in notebook.cells if "parameters" in c.metadata.get("tags", ())
        )
        cell.source = "\n".join(
            [cell.source, *(f"{k} = {v!r}" for k, v in parameters.items())]
        )
        nbformat.write(notebook, self.folder / name)
        return name

    def picture(self, name):
        picture(self.page, re.sub(r"[^\w.-]+", "_", name))
