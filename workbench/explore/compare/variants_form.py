"""The explorer's tab for variants: name folders of prompts and models, see the new calls, and compare the runs."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from workbench.current_question import CurrentQuestion
from workbench.errors import BadInputError
from workbench.explore.compare.making import AskedAnew, asked_anew, run_all, studies
from workbench.explore.compare.variants_view import VariantsView
from workbench.explore.widgets import button, labelled, output, row, tall
from workbench.html.parts import Html, line, table, view, views
from workbench.llm.keys import runs_here
from workbench.llm.money import dollars
from workbench.prompts.prompt import PACKAGED
from workbench.systems.system import System, with_model

if TYPE_CHECKING:
    from workbench.study.study import Study

_QUESTIONS = 50  # the default number of questions


class VariantsForm:
    """A form for one system with several folders of prompts and models; it shows new calls before it makes them."""

    def __init__(
        self, study: "Study", systems: Mapping[str, System], current: CurrentQuestion
    ) -> None:
        self._study, self._systems = study, systems
        self._priced: tuple[Any, ...] = ()  # the settings whose cost was shown
        self.message = output("wb-message")
        self.system = labelled(w.Dropdown(options=list(systems)), "System", "wb-variant-system")
        folders = w.Textarea(PACKAGED, rows=3)
        self.folders = tall(labelled(folders, "Folders of prompts", "wb-folders", "320px"))
        models = w.Textarea(rows=3, placeholder=getattr(study, "model", ""))
        self.models = tall(labelled(models, "Models", "wb-models", "320px"))
        self.folders.tooltip = self.models.tooltip = "One a line"
        many = len(study.benchmark.questions)
        limit = w.BoundedIntText(min(_QUESTIONS, many), min=1, max=many)
        self.limit = labelled(limit, "Questions", "wb-limit", "150px")
        self.cost = output("wb-variants-cost")
        self.found = VariantsView(study.benchmark.name, current)
        inputs = row(self.system, self.limit, self.folders, self.models)
        buttons = row(
            button("What is asked anew", "wb-variants-price", self._price, self.message),
            button("Compare", "wb-variants-run", self._run, self.message),
        )
        self.box = w.VBox([inputs, buttons, self.message, self.cost, self.found.box])

    def add(self, folder: Path, system: str) -> None:
        """Add a folder of prompts, and choose the system whose prompts they are."""
        self.system.value = system
        if str(folder) not in self.folders.value.split("\n"):
            self.folders.value = "\n".join([*_lines(self.folders), str(folder)])

    def _settings(self) -> tuple[Any, ...]:
        return self.system.value, _lines(self.folders), _lines(self.models), self.limit.value

    def _variants(self) -> tuple[Any, Any]:
        """The studies of the variants, and the function that makes a system for a model."""
        system, folders, models, limit = self._settings()
        prompts = [None if name == PACKAGED else Path(name).expanduser() for name in folders]
        make = partial(with_model, self._systems[system], self._study.model)
        return studies(self._study.sample(limit), make, prompts or [None], models), make

    def _price(self) -> None:
        variants, make = self._variants()
        found = {}
        for name, study in variants.items():
            self.cost.value = view(f"Counting: {name}")
            found[name] = asked_anew(study, make)
        free = {name for name, study in variants.items() if runs_here(study.model)}
        self.cost.value = _cost_html(found, free)
        self._priced = self._settings()

    def _run(self) -> None:
        variants, make = self._variants()
        free = all(runs_here(study.model) for study in variants.values())
        if self._priced != self._settings() and not free:
            raise BadInputError(
                "the new calls of these settings were not counted: press What is asked anew first"
            )
        self.found.show(run_all(variants, make))


def _lines(text: Any) -> list[str]:
    return [line.strip() for line in text.value.split("\n") if line.strip()]


def _cost_html(found: Mapping[str, AskedAnew], free: set[str]) -> Html:
    """A row for each variant with the new calls that are known to be needed."""
    rows = []
    for name, one in found.items():
        asked = one.first.together
        low, high = asked.low, asked.high
        cost = "nothing" if name in free else f"{dollars(low)} to {dollars(high, asked.unpriced)}"
        rows.append((name, f"{one.missing:,} of {one.questions:,}", f"{asked.calls:,}", cost))
    columns = ("variant", "questions with new calls", "first new calls", "they cost")
    more = "Calls whose prompts depend on the replies to these come on top."
    return views(view("What is asked anew", table(columns, rows), line(more), kind="wb-anew"))
