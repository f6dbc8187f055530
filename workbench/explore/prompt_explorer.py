"""The prompt explorer: pick a question, a system and a call; see the prompt as sent; edit it, price it, run it.

The functions of the other modules make what is shown; this module connects them to widgets.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from workbench.benchmarks.benchmark import Benchmark
from workbench.errors import BadInputError
from workbench.explore.compare.runs import flips_html, verdicts
from workbench.explore.compare.texts import text, text_diff
from workbench.explore.prompt.editor import Editor, save_template, saved_html
from workbench.explore.picker import Picker
from workbench.explore.prompt.rendered import prompt_html, stages_html
from workbench.explore.prompt.running import everywhere, missing_html, price_html, run_html, steps_diff
from workbench.explore.prompt.steps import Edit, Recording, Step, record
from workbench.explore.widgets import (
    Explorer,
    button,
    fill,
    guarded,
    labelled,
    output,
    row,
    title,
    watch,
)
from workbench.html.parts import alert, line, pre, view
from workbench.lab import Lab
from workbench.llm.preview import preview
from workbench.systems.system import System

if TYPE_CHECKING:
    from workbench.study.runs import Run
    from workbench.study.study import Study


class PromptExplorer(Explorer):
    """A widget; show it as the last line of a cell. `run` lets questions be found by their outcome."""

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
        self._prompt = ""  # the prompt of the chosen call
        # The prompt and edit whose cost for all questions was shown, and the calls they apply to.
        self._priced: tuple[tuple[str, Edit], tuple[Step, ...]] | None = None
        self.message, self.done = output("wb-message"), output("wb-message")  # above and below
        kinds = ("missing", "stages", "prompt", "price", "answer", "all")
        self._views = [output(f"wb-{kind}-view") for kind in kinds]
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
        self._lay_out()
        watch([self.system], self._record, self.message)
        watch([self.step], self._load, self.message)
        guarded(self._record, self.message)()

    def _lay_out(self) -> None:
        def act(label: str, kind: str, action: Callable[[], None]) -> Any:
            return button(label, kind, action, self.done)

        self.lay_out(
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

    @property
    def lab(self) -> Lab:
        return replace(self._lab, database=self.picker.benchmark.database)

    @property
    def chosen(self) -> Step:
        if self._recording is None or self.step.value is None:
            raise BadInputError("no call is chosen: choose a question, and ask for what is missing")
        number: int = self.step.value
        return self._recording.steps[number]

    def _record(self, *, pay: bool = False) -> None:
        question = self.picker.question
        for widget in (*self._views, self.done):
            widget.value = ""
        self._priced = self._recording = None  # first, in case what follows fails
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
        """The index of the call with the prompt chosen before; at first, of one that generates SQL."""
        prompts = [step.request.prompt for step in self._recording.steps] if self._recording else []
        before = self._prompt if self._prompt in prompts else "generate/"
        return next((n for n, prompt in enumerate(prompts) if prompt.startswith(before)), None)

    def _option(self, number: int, step: Step) -> str:
        request = step.request
        cached = "cached" if self.lab.client.cached(request) else "not cached"
        return f"{number + 1} · {request.prompt} · sample {request.sample} · {cached}"

    def _ask_missing(self) -> None:
        self._record(pay=True)

    def _load(self) -> None:
        """Show the chosen call, and fill the editor from it."""
        if self.step.value is not None:
            self._prompt = self.chosen.request.prompt
            self.editor.load(self.chosen)
            self.prompt.value = prompt_html(self.chosen, self.lab.client)
            self.answer.value = self.done.value = ""
            self._price()

    def _price(self) -> None:
        """Show the cost of the edited call, or what is wrong with the edit."""
        self.price.value = ""
        try:
            self.price.value = price_html(self.lab.client, self._edited().request)
        except BadInputError as error:
            self.price.value = alert(str(error))

    def _edited(self) -> Step:
        return self.editor.edit()(self.chosen, self._lab.prompts)

    def _diff(self) -> None:
        self.answer.value = text_diff(text(self.chosen.request), text(self._edited().request))

    def _compare(self) -> None:
        step = self.chosen
        if self._recording and self.other.value is not None:
            other = self._recording.steps[self.other.value]
            self.answer.value = steps_diff(self.lab.client, step, other)

    def _run(self) -> None:
        self.answer.value = ""
        new = self._edited()
        (answer,) = self.lab.ask_many([new.request])
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
                self.everywhere.value = view(f"Counting: {done} of {total} questions")

        steps = everywhere(system, self.picker.benchmark, self.lab, prompt, progress)
        edited = [edit(step, self._lab.prompts).request for step in steps]
        calls = f"{prompt}, once for each question whose call is cached: {len(steps):,}."
        cost = pre(str(preview(self.lab.client, edited)))
        self.everywhere.value = view("All questions", line(calls), cost)
        self._priced = (prompt, edit), steps

    def _edit_of_all(self) -> tuple[str, Edit]:
        """The chosen prompt and its edit, without changes of the context, which belong to one question."""
        return self.chosen.request.prompt, replace(self.editor.edit(), data={})

    def _run_all(self) -> None:
        _, edit = wanted = self._edit_of_all()
        if self._priced is None or self._priced[0] != wanted:
            raise BadInputError("see the cost for all questions first: this edit was not counted")
        steps, lab, benchmark = self._priced[1], self.lab, self.picker.benchmark
        before = lab.ask_many(step.request for step in steps)
        after = lab.ask_many(edit(s, self._lab.prompts).request for s in steps)
        self.everywhere.value = flips_html(
            verdicts(lab, benchmark, steps, before), verdicts(lab, benchmark, steps, after)
        )

    def _save(self) -> None:
        if not (name := self.folder.value.strip()):
            raise BadInputError("no folder is named: write one, like my_prompts")
        folder = Path(name).expanduser().absolute()
        prompt, source = self.chosen.request.prompt, self.editor.source.value
        path = save_template(folder, prompt, source, overwrite=self.overwrite.value)
        self.done.value = saved_html(path, folder)
