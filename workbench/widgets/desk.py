"""The base of both widgets: the shared look and helpers, and messages that are answered."""

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.errors import BadInputError, WorkbenchError

_HERE = Path(__file__).parent
_HELPERS = (_HERE / "desk.js").read_text(encoding="utf-8")


def script(view: Path) -> str:
    """The module of a widget: the shared helpers, then its own `view.js`, which exports `render`."""
    return _HELPERS + view.read_text(encoding="utf-8")


class Desk(anywidget.AnyWidget):
    """A widget whose page asks by messages `{"do": NAME, ...}`, which the method `do_NAME` answers with JSON.

    A message has a number, `ref`, under which the answer goes back. An exception is an answer, too, since nothing else
    would show it: the page says it, and takes back what it had shown ahead.
    """

    _css = (_HERE / "look.css").read_text(encoding="utf-8")
    rows: Any = traitlets.List().tag(sync=True)
    detail: Any = traitlets.Dict().tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(lambda _, message, __: self.send(self.answer(message)))

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a message of the page; also what tests and notebooks call."""
        given = dict(message)
        ref, name = given.pop("ref", 0), given.pop("do", "")
        try:
            act = getattr(self, f"do_{name}", None)
            if act is None:
                raise BadInputError(f"no action {name!r}")
            return {"ref": ref, "answer": act(**given)}
        except Exception as error:  # noqa: BLE001  the page shows it
            name = "" if isinstance(error, WorkbenchError) else f"{type(error).__name__}: "
            return {"ref": ref, "error": f"{name}{error}"}
