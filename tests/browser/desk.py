"""Driving JupyterLab: open a notebook, run it, go through it by keyboard, take a picture."""

import os
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import nbformat

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PICTURES = Path(os.environ.get("WORKBENCH_SCREENSHOTS") or HERE / "screenshots")
# anywidget's word for a widget that took two seconds to come: on a busy machine many do.
SLOW = "[anywidget] Failed to initialize model."
# Not an async function: the promise that one returns is truthy, and would end the waiting at once.
THERE = "() => Boolean(window.jupyterapp)"


class Desk:
    """JupyterLab on a page that keeps account of whom it asks and what it complains about."""

    def __init__(self, page, url, folder):
        self.page = page
        self.folder = folder
        self.strangers = []
        self.alarms = []
        parts = urlsplit(url)
        self._server = f"{parts.scheme}://{parts.netloc}"
        self._token = parse_qs(parts.query)["token"][0]
        page.add_init_script(path=HERE / "desk.js")
        page.on("request", lambda request: self._note(request.url))
        page.on("websocket", lambda socket: self._note(socket.url))
        page.on("dialog", self._dismiss)
        page.on("pageerror", lambda error: self._heed(error.message))

    def _note(self, url):
        parts = urlsplit(url)
        if parts.scheme not in {"data", "blob"} and parts.hostname != "127.0.0.1":
            self.strangers.append(url)

    def _heed(self, error):
        if error != SLOW:
            self.alarms.append(error)

    def _dismiss(self, dialog):
        self.alarms.append(f"{dialog.type}: {dialog.message}")
        dialog.dismiss()

    def _come_up(self):
        self.page.wait_for_function(THERE)
        self.page.evaluate("window.jupyterapp.restored.then(() => null)")

    def enter(self):
        """JupyterLab with nothing open."""
        self.page.goto(f"{self._server}/lab?token={self._token}&reset")
        self._come_up()

    def leave(self):
        """End what was begun: kernels, and the workers they started."""
        self.page.evaluate("window.jupyterapp?.serviceManager.sessions.shutdownAll()")

    def open(self, notebook):
        """Open a notebook, given by its path in the folder, and wait for its kernel."""
        if not self.page.url.startswith(self._server):
            self.enter()
        self.page.evaluate("path => desk.open(path).then(() => null)", notebook)

    def run_all(self):
        """Run every cell and wait for the last; the errors that cells ended with."""
        return self.page.evaluate("desk.run()")

    def reload(self, notebook):
        """Save, load the page anew, and open the notebook again."""
        self.page.evaluate("desk.panel().context.save()")
        self.page.reload()
        self._come_up()
        self.open(notebook)

    def cells(self):
        """The ids of the open notebook's cells."""
        return self.page.evaluate("desk.cells()")

    def stand_on(self, text):
        """Where the arrow keys would lead: on the cell that holds the text, in command mode."""
        self.page.evaluate("text => desk.standOn(text)", text)

    def tab_to(self, locator, most=60):
        """Press Tab until what has the focus lies in there."""
        for _ in range(most):
            self.page.keyboard.press("Tab")
            if locator.evaluate("element => element.contains(document.activeElement)"):
                return
        raise AssertionError(f"{most} times Tab do not lead to {locator}")

    def top(self, locator):
        """Scroll something to the top of the screen."""
        locator.evaluate("element => element.scrollIntoView()")

    def sideways(self):
        """What one would have to scroll sideways to read, in the page and in the active cell."""
        return self.page.evaluate("desk.sideways(desk.panel().content.activeCell.node)")

    def small(self, name, changes=(), **parameters):
        """A copy of the notebook with other parameters, and with changes of its code."""
        notebook = nbformat.read(ROOT / name, 4)
        for old, new in dict(changes).items():
            (cell,) = (c for c in notebook.cells if old in c.source)
            cell.source = cell.source.replace(old, new)
        (cell,) = (c for c in notebook.cells if "parameters" in c.metadata.get("tags", ()))
        cell.source = "\n".join([cell.source, *(f"{k} = {v!r}" for k, v in parameters.items())])
        nbformat.write(notebook, self.folder / name)
        return name

    def write(self, name, *cells):
        """A notebook of these code cells."""
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        nbformat.write(notebook, self.folder / name)
        return name

    def picture(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "_", name)
        self.page.screenshot(path=PICTURES / f"{name}.png")
