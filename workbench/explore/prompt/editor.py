"""Edit a call: inputs for its template, model, temperature and context; save the template as a user's own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as w

from workbench.errors import BadInputError, naming
from workbench.explore.prompt.steps import Edit, Step
from workbench.explore.widgets import fill, labelled, quietly, row, tall, watch
from workbench.html.parts import Html, line, pre, view
from workbench.prompts.prompt import Prompt, load


class Editor:
    """The changes to one call; each change calls `changed`, and errors are shown in `message`."""

    def __init__(self, prompts: Path | None, changed: Callable[[], None], message: Any) -> None:
        self._prompts, self._changed = prompts, changed
        self._step: Step | None = None
        self._data: dict[str, str] = {}  # the edited texts of the context
        self.source = tall(labelled(w.Textarea(rows=10), "Template", "wb-template", "99%"))
        self.model = labelled(w.Text(continuous_update=False), "Model", "wb-model", "210px")
        self.temperature = labelled(
            w.BoundedFloatText(min=0, max=2, step=0.1), "Temperature", "wb-temperature", "140px"
        )
        self.variable = labelled(w.Dropdown(), "Context", "wb-variable")
        self.data = tall(labelled(w.Textarea(rows=2), "Its text", "wb-data", "99%"))
        self.folder = labelled(w.Text("my_prompts"), "Folder", "wb-folder", "200px")
        self.overwrite = labelled(w.Checkbox(indent=False), "replace what is there", "wb-overwrite")
        self.box = w.VBox(
            [self.source, row(self.model, self.temperature, self.variable), self.data]
        )
        watch([self.source, self.model, self.temperature], changed, message)
        watch([self.variable], self._show_data, message)
        watch([self.data], self._change_data, message)

    def load(self, step: Step) -> None:
        """Show the call as it was made, without changes."""
        request = step.request
        self._step, self._data = step, {}
        with quietly():
            self.source.value = template_source(request.prompt, self._prompts)
            self.model.value = request.model
            self.temperature.value = request.parameters.get("temperature", 0.0)
        fill(self.variable, [(k, k) for k, v in step.data.items() if isinstance(v, str)])
        self._show_data()

    def edit(self) -> Edit:
        """The difference between the inputs and the call as it was made."""
        if self._step is None:
            return Edit()
        request = self._step.request
        source = self.source.value
        if source == template_source(request.prompt, self._prompts):
            source = None
        parameters = dict(request.parameters)
        if self.temperature.value != parameters.get("temperature", 0.0):
            parameters["temperature"] = self.temperature.value
        return Edit(source, self.model.value, parameters, dict(self._data))

    def save(self) -> Path:
        """Save the template in the folder that is named, and return the folder."""
        if not (name := self.folder.value.strip()):
            raise BadInputError("no folder is named: write one, like my_prompts")
        if self._step is None:
            raise BadInputError("no call is chosen, so there is no template to save")
        folder = Path(name).expanduser().absolute()
        prompt = self._step.request.prompt
        save_template(folder, prompt, self.source.value, overwrite=self.overwrite.value)
        return folder

    def _show_data(self) -> None:
        name = self.variable.value
        if self._step and name is not None:
            with quietly():
                self.data.value = self._data.get(name, self._step.data[name])

    def _change_data(self) -> None:
        self._data[self.variable.value] = self.data.value
        self._changed()


def template_source(prompt: str, prompts: Path | None = None) -> str:
    """The text of the template in use."""
    return load(prompt, prompts).source


def save_template(folder: Path, prompt: str, text: str, *, overwrite: bool = False) -> Path:
    """Save a template as FOLDER/VERB/METHOD.md, which `Lab(..., prompts=FOLDER)` uses instead of the packaged one.

    An existing template with another text is replaced only with `overwrite`.
    """
    given = load(prompt).variables | {"question", "hint", "schema", "values", "descriptions"}
    if unknown := Prompt(text, prompt).variables - given:
        raise BadInputError(
            f"{prompt} has no variable {', '.join(sorted(unknown))}; there are {', '.join(sorted(given))}"
        )
    path = folder.expanduser() / f"{prompt}.md"
    if path.exists() and not overwrite and path.read_text(encoding="utf-8") != text:
        raise BadInputError(
            f"{path} exists and differs: name another folder, or allow it to be replaced"
        )
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    return path


def saved_html(folder: Path) -> Html:
    """How an experiment or a `Lab` uses the folder of a saved template."""
    return view(
        "Saved",
        line(f"{folder}. The tab Variants compares it. An experiment with this line uses it:"),
        pre(f"prompts: {folder}"),
        line("In Python:"),
        pre(f"Lab(..., prompts=Path({str(folder)!r}))"),
        kind="wb-saved",
    )
