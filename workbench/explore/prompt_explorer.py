"""The prompt explorer: a question, a system, a call; the prompt as sent; edit it, see the price, run it.

Everything shown comes from the plain functions beside this file; here it is only wired to widgets.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from workbench.benchmarks.benchmark import Benchmark
from workbench.errors import BadInputError
from workbench.explore import templates
from workbench.explore.compare import flips_html, text, text_diff, verdicts
from workbench.explore.editor import Editor
from workbench.explore.rendered import prompt_html, stages_html
from workbench.explore.running import (
    everywhere,
    missing_html,
    price_html,
    run_html,
    steps_diff,
)
from workbench.explore.steps import Edit, Recording, Step, record
from workbench.explore.widgets import (
    Picker,
    button,
    explorer,
    fill,
    guarded,
    labelled,
    row,
    shown,
    title,
    watch,
)
from workbench.lab import Lab
from workbench.llm.preview import preview
from workbench.report.markup import alert, line, pre, view
from workbench.systems.system import System

if TYPE_CHECKING:
    from workbench.study.runs import Run
    from workbench.study.study import Study


class PromptExplorer:
    """Show it as the last line of a cell. `run` makes questions findable by what became of them."""

    def __init__(
        self,
        study: "Study",
        systems: Mapping[str, System],
        *,
        benchmarks: Sequence[Benchmark] = (),
        run: "Run | None" = None,
    ) -> None:
        if not systems:
            raise BadInputError("no system is given: name one or more, like {'CHESS': chess(...)}")
        self._lab, self._systems = study.lab, systems
        self._recording: Recording | None = None
        self._prompt = ""  # of the call that is looked at
        self._all: tuple[tuple[str, Edit], tuple[Step, ...]] | None = None  # whose cost was seen
        self.message, self.done = shown("wb-message"), shown("wb-message")  # above and below
        kinds = ("missing", "stages", "prompt", "price", "answer", "all")
        self._views = [shown(f"wb-{kind}-view") for kind in kinds]
        self.missing, self.stages, self.prompt, self.price, self.answer, self.everywhere = (
            self._views
        )
        self.system = labelled(w.Dropdown(options=list(systems)), "System", "wb-system")
        self.step = labelled(w.Select(rows=6), "Call", "wb-step", "99%")
        self.other = labelled(w.Dropdown(), "Compare with call", "wb-other")
        self.editor = Editor(self._lab.prompts, self._price, self.done)
        self.folder = labelled(w.Text("my_prompts"), "Folder", "wb-folder", "300px")
        self.overwrite = labelled(w.Checkbox(indent=False), "replace what is there", "wb-overwrite")
        outcomes = {} if run is None else {study.benchmark.name: run.questions}
        self.picker = Picker(benchmarks or (study.benchmark,), outcomes, self._record, self.message)
        self.box = self._laid_out()
        watch([self.system], self._record, self.message)
        watch([self.step], self._load, self.message)
        guarded(self._record, self.message)()

    def _laid_out(self) -> Any:
        def act(label: str, kind: str, do: Callable[[], None]) -> Any:
            return button(label, kind, do, self.done)

        return explorer(
            "wb-prompt-explorer",
            title("Which question"),
            self.picker.box,
            title("Which call"),
            row(
                self.system,
                button("Ask what is missing", "wb-ask-missing", self._ask_missing, self.message),
            ),
            self.step,
            self.message,
            self.missing,
            self.stages,
            self.prompt,
            title("Edit and run"),
            self.editor.box,
            self.price,
            row(
                act("Run", "wb-run", self._run),
                act("Show the edit", "wb-diff-button", self._diff),
                act("Undo the edits", "wb-reset", self._load),
                act("Cost for all questions", "wb-cost-all", self._cost_all),
                act("Run for all questions", "wb-run-all", self._run_all),
            ),
            row(self.other, act("Compare", "wb-compare", self._compare)),
            row(self.folder, self.overwrite, act("Save the template", "wb-save", self._save)),
            self.done,
            self.answer,
            self.everywhere,
        )

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    @property
    def lab(self) -> Lab:
        return replace(self._lab, database=self.picker.benchmark.database)

    @property
    def chosen(self) -> Step:
        """The call that is looked at."""
        if self._recording is None or self.step.value is None:
            raise BadInputError("no call is picked: choose a question, and ask what is missing")
        number: int = self.step.value
        return self._recording.steps[number]

    def _record(self, *, pay: bool = False) -> None:
        question = self.picker.question
        for place in (*self._views, self.done):
            place.value = ""
        self._all = self._recording = None  # so that no call outlives its question, whatever fails
        self.step.options = self.other.options = []
        if question is None:
            return
        system = self._systems[self.system.value]
        self._recording = record(system, question, self.lab, pay=pay)
        steps = enumerate(self._recording.steps)
        options = [(self._option(number, step), number) for number, step in steps]
        fill(self.step, options, self._same_call())
        fill(self.other, options)
        self.stages.value = stages_html(self._recording)
        if self._recording.missing:
            self.missing.value = missing_html(self.lab.client, self._recording)
        self._load()

    def _same_call(self) -> int | None:
        """The call of the prompt that was looked at before; at first, one that proposes SQL."""
        prompts = [step.request.prompt for step in self._recording.steps] if self._recording else []
        before = self._prompt if self._prompt in prompts else "generate/"
        return next((n for n, prompt in enumerate(prompts) if prompt.startswith(before)), None)

    def _option(self, number: int, step: Step) -> str:
        request = step.request
        held = "in the lab book" if self.lab.client.held(request) else "not asked yet"
        return f"{number + 1} · {request.prompt} · sample {request.sample} · {held}"

    def _ask_missing(self) -> None:
        self._record(pay=True)

    def _load(self) -> None:
        """Show the call that was picked, and fill the editor from it."""
        if self.step.value is not None:
            self._prompt = self.chosen.request.prompt
            self.editor.load(self.chosen)
            self.prompt.value = prompt_html(self.chosen, self.lab.client)
            self.answer.value = self.done.value = ""
            self._price()

    def _price(self) -> None:
        """What the edited call would cost; in the same place, what is wrong with the edit."""
        told = ""
        try:
            told = price_html(self.lab.client, self._edited().request)
        except BadInputError as error:
            told = alert(str(error))
        finally:
            self.price.value = told

    def _edited(self) -> Step:
        return self.editor.edit()(self.chosen, self._lab.prompts)

    def _diff(self) -> None:
        self.answer.value = text_diff(text(self.chosen.request), text(self._edited().request))

    def _compare(self) -> None:
        one = self.chosen
        if self._recording and self.other.value is not None:
            other = self._recording.steps[self.other.value]
            self.answer.value = steps_diff(self.lab.client, one, other)

    def _run(self) -> None:
        self.answer.value = ""
        new = self._edited()
        answer = self.lab.client.complete(new.request)
        if question := self.picker.question:
            self.answer.value = run_html(
                self.lab, self.picker.benchmark, question, self.chosen, new, answer
            )
        self._price()

    def _cost_all(self) -> None:
        prompt, edit = self._edit_of_all()
        system = self._systems[self.system.value]

        def progress(done: int, total: int) -> None:
            if done % 10 == 0:
                self.everywhere.value = view(f"Looking: {done} of {total} questions")

        steps = everywhere(system, self.picker.benchmark, self.lab, prompt, progress)
        edited = [edit(step, self._lab.prompts).request for step in steps]
        told = preview(self.lab.client, edited)
        asked = f"{prompt}, once for each question that the lab book has it for: {len(steps):,}."
        self.everywhere.value = view("All questions", line(asked), pre(str(told)))
        self._all = (prompt, edit), steps

    def _edit_of_all(self) -> tuple[str, Edit]:
        """The prompt that is looked at and its edit, less the context: that is one question's."""
        return self.chosen.request.prompt, replace(self.editor.edit(), data={})

    def _run_all(self) -> None:
        _, edit = counted = self._edit_of_all()
        if self._all is None or self._all[0] != counted:
            raise BadInputError("see the cost for all questions first: this edit was not counted")
        steps, lab, benchmark = self._all[1], self.lab, self.picker.benchmark
        before = lab.client.complete_many([step.request for step in steps])
        after = lab.client.complete_many([edit(s, self._lab.prompts).request for s in steps])
        self.everywhere.value = flips_html(
            verdicts(lab, benchmark, steps, before), verdicts(lab, benchmark, steps, after)
        )

    def _save(self) -> None:
        if not (named := self.folder.value.strip()):
            raise BadInputError("no folder is named: write one, like my_prompts")
        folder = Path(named).expanduser().absolute()
        path = templates.save(
            folder,
            self.chosen.request.prompt,
            self.editor.source.value,
            overwrite=self.overwrite.value,
        )
        self.done.value = templates.saved_html(path, folder)
