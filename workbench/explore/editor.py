"""The inputs in which a call is edited: its template, model, temperature, and the texts of its context."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as w

from workbench.explore import templates
from workbench.explore.steps import Edit, Step
from workbench.explore.widgets import fill, labelled, row, watch


class Editor:
    """Holds what is changed of one call; `then` is called after each change."""

    def __init__(self, prompts: Path | None, then: Callable[[], None], place: Any) -> None:
        self._prompts, self._then = prompts, then
        self._step: Step | None = None
        self._changed: dict[str, str] = {}
        self._loading = False
        self.source = labelled(w.Textarea(rows=14), "Template", "wb-template", "99%")
        self.model = labelled(w.Text(continuous_update=False), "Model", "wb-model", "300px")
        self.temperature = labelled(
            w.BoundedFloatText(min=0, max=2, step=0.1), "Temperature", "wb-temperature", "170px"
        )
        self.variable = labelled(w.Dropdown(), "Context", "wb-variable")
        self.data = labelled(w.Textarea(rows=6), "Its text", "wb-data", "99%")
        self.box = w.VBox(
            [self.source, row(self.model, self.temperature, self.variable), self.data]
        )
        watch([self.source, self.model, self.temperature], self._told, place)
        watch([self.variable], self._show_data, place)
        watch([self.data], self._change_data, place)

    def load(self, step: Step) -> None:
        """Begin with the call as it was made."""
        request = step.request
        self._step, self._changed, self._loading = step, {}, True
        self.source.value = templates.source(request.prompt, self._prompts)
        self.model.value = request.model
        self.temperature.value = request.parameters.get("temperature", 0.0)
        fill(self.variable, [(k, k) for k, v in step.data.items() if isinstance(v, str)])
        self._loading = False
        self._show_data()

    def edit(self) -> Edit:
        """What the inputs change of the call."""
        if self._step is None:
            return Edit()
        request = self._step.request
        source = self.source.value
        if source == templates.source(request.prompt, self._prompts):
            source = None
        parameters = dict(request.parameters)
        if self.temperature.value != parameters.get("temperature", 0.0):
            parameters["temperature"] = self.temperature.value
        return Edit(source, self.model.value, parameters, dict(self._changed))

    def _told(self) -> None:
        if not self._loading:
            self._then()

    def _show_data(self) -> None:
        name = self.variable.value
        if self._loading or self._step is None or name is None:
            return
        self._loading = True
        self.data.value = self._changed.get(name, self._step.data[name])
        self._loading = False

    def _change_data(self) -> None:
        if not self._loading:
            self._changed[self.variable.value] = self.data.value
            self._then()
