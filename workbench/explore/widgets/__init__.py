"""The widgets that the explorers share: labelled inputs, buttons that show their errors, the outer box."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as w

from workbench.html.parts import alert, view


class PageBehaviour(anywidget.AnyWidget):
    """Keeps keys inside an explorer, and scrolls a button's message or an opened question into view.

    JupyterLab would act on keys pressed in an input: `d d` deletes cells. Keys with Ctrl or Command still reach
    JupyterLab, except Enter, which would run the cell again. Escape leads back to the cell.
    """

    _esm = Path(__file__).with_name("page_behaviour.js")
    _css = ".wb-explorer .wb-tall > label { text-align: left; width: auto; }"


class Explorer:
    """The base of the explorers: a notebook's cell shows `box`."""

    box: Any

    def lay_out(self, kind: str, *children: Any) -> None:
        """Put the widgets into the outer box; `kind` is a class by which tests find it."""
        behaviour = PageBehaviour(layout=w.Layout(display="none"))
        layout = w.Layout(width="100%", overflow="visible")
        self.box = w.VBox([*children, behaviour], layout=layout)
        self.box.add_class("wb-explorer")
        self.box.add_class(kind)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)


def row(*children: Any) -> Any:
    """Widgets side by side, in as many lines as they need."""
    return w.Box(
        children, layout=w.Layout(flex_flow="row wrap", width="100%", align_items="center")
    )


def panes(*columns: Sequence[Any]) -> Any:
    """Columns side by side, each with a scroll bar of its own, low enough for a laptop's screen."""
    layout = w.Layout(height="436px", overflow="hidden auto", min_width="0", padding="0 4px")
    boxes = [w.VBox(list(column), layout=layout, tabbable=True) for column in columns]
    for box in boxes:
        box.add_class("wb-pane")
        for widget in box.children:
            widget.layout.flex = "0 0 auto"  # the column scrolls, and its widgets never shrink
    wide = f"repeat({len(boxes)}, minmax(0, 1fr))"
    return w.GridBox(
        boxes, layout=w.Layout(grid_template_columns=wide, grid_gap="8px", width="99%")
    )


def tabs(named: Mapping[str, Any]) -> Any:
    """A row of buttons, one for each name; the widget of the pressed button is shown."""
    choice = w.ToggleButtons(options=list(named), style={"button_width": "auto"})
    choice.add_class("wb-tabs")

    def show(_: object = None) -> None:
        for name, widget in named.items():
            widget.layout.display = None if name == choice.value else "none"

    choice.observe(show, names="value")
    show()
    return w.VBox([choice, *named.values()])


def title(text: str) -> Any:
    return w.HTML(view(text))


def output(kind: str, width: str = "99%") -> Any:
    """An empty widget for a view; `kind` is a class by which tests find it."""
    widget = w.HTML(layout=w.Layout(width=width, min_width="0"))
    widget.add_class(kind)
    return widget


def tall(widget: Any) -> Any:
    """An input of several lines with its label above it."""
    widget.layout.flex_flow, widget.layout.align_items = "column", "stretch"
    widget.add_class("wb-tall")
    return widget


def labelled(widget: Any, label: str, kind: str, width: str = "auto") -> Any:
    """An input with its label, which screen readers announce, and a class by which tests find it."""
    widget.description = label
    widget.style.description_width = "initial"
    widget.layout.width = width
    widget.add_class(kind)
    return widget


def button(label: str, kind: str, action: Callable[[], None], message: Any) -> Any:
    """A button; an error of its action is shown in `message`."""
    widget = w.Button(description=label, layout=w.Layout(width="auto"))
    widget.add_class(kind)

    def work() -> None:
        widget.description = f"{label}: working"
        try:
            action()
        finally:
            widget.description = label

    widget.on_click(guarded(work, message))
    return widget


_RUNNING: set[str] = set()  # ids of the message widgets whose callback is running


def guarded(action: Callable[[], None], message: Any) -> Callable[..., None]:
    """A callback that shows an exception in `message`, since ipywidgets would swallow it.

    The next callback clears the message; a callback that this one triggers does not.
    """

    def callback(*_: object) -> None:
        outermost = message.model_id not in _RUNNING
        if outermost:
            _RUNNING.add(message.model_id)
            message.value = ""
        try:
            action()
        except Exception as error:  # noqa: BLE001  shown to the user
            message.value = alert(f"{type(error).__name__}: {error}")
        finally:
            if outermost:
                _RUNNING.discard(message.model_id)

    return callback


_QUIET = ContextVar("quiet", default=False)


@contextmanager
def quietly() -> Iterator[None]:
    """A block that sets inputs without running the actions that `watch` them."""
    token = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(token)


def watch(inputs: Iterable[Any], action: Callable[[], None], message: Any) -> None:
    """Run the action whenever the user changes the value of an input."""
    callback = guarded(action, message)
    for widget in inputs:
        widget.observe(lambda _: None if _QUIET.get() else callback(), names="value")


def choices(values: Iterable[str]) -> list[tuple[str, str]]:
    """The options of a filter: "all", and each value once in alphabetical order."""
    return [("all", ""), *((value, value) for value in sorted(filter(None, set(values))))]


def fill(chooser: Any, options: Sequence[tuple[str, Any]], wanted: Any = None) -> None:
    """Set new options quietly; choose `wanted`, else the option chosen before, else the first."""
    before = chooser.value
    values = [value for _, value in options]
    available = [value for value in (wanted, before, *values[:1]) if value in values]
    with quietly():
        chooser.options = options
        chooser.value = available[0] if available else None
