"""The prompt explorer: pick a question and a call; see its prompt, reply and gold; edit it, price it, run it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import ipywidgets as w

from workbench.benchmarks.benchmark import Benchmark
from workbench.current_question import CurrentQuestion
from workbench.errors import BadInputError
from workbench.explore import widgets as ui
from workbench.explore.compare.texts import text, text_diff
from workbench.explore.compare.variants_form import VariantsForm
from workbench.explore.picker import Picker
from workbench.explore.prompt import repeats, running
from workbench.explore.prompt.editor import Editor, saved_html
from workbench.explore.prompt.rendered import prompt_html, stages_html
from workbench.explore.prompt.steps import Recording, Step, record
from workbench.html.parts import alert
from workbench.lab import Lab
from workbench.systems.system import System

if TYPE_CHECKING:
    from workbench.study.run import Run
    from workbench.study.study import Study


class PromptExplorer(ui.Explorer):
    """A widget; show it as the last line of a cell. With a `run`, questions are also found by their outcome."""

    def __init__(
        self,
        study: "Study",
        systems: Mapping[str, System],
        *,
        benchmarks: Sequence[Benchmark] = (),
        run: "Run | None" = None,
        current: CurrentQuestion | None = None,
    ) -> None:
        if not systems:
            raise BadInputError("no system is given: name one or more, like {'CHESS': chess(...)}")
        self._lab, self._systems = study.lab, systems
        self._recording: Recording | None = None
        self._prompt = ""  # the prompt of the chosen call
        self._sql = ""  # the query that is shown beside gold's
        self.message = ui.output("wb-message")  # above
        self.done = ui.output("wb-message")  # below
        kinds = ("missing", "stages", "prompt", "price", "answer")
        self._views = [ui.output(f"wb-{kind}-view") for kind in kinds]
        self.missing, self.stages, self.prompt, self.price, self.answer = self._views
        self.system = ui.labelled(w.Dropdown(options=list(systems)), "System", "wb-system")
        self.step = ui.labelled(w.Dropdown(), "Call", "wb-step", "420px")
        self.reply = ui.labelled(w.Dropdown(), "Answer", "wb-reply-choice", "330px")
        self.other = ui.labelled(w.Dropdown(), "Compare with call", "wb-other", "420px")
        self.editor = Editor(self._lab.prompts, self._price, self.done)
        outcomes = {} if run is None else {study.benchmark.name: run.questions}
        shown = benchmarks or (study.benchmark,)
        self.picker = Picker(shown, outcomes, self._record, self.message, current)
        self.variants = VariantsForm(study, systems, self.picker.current)
        self._lay_out()
        ui.watch([self.system], self._record, self.message)
        ui.watch([self.step], self._load_call, self.message)
        ui.watch([self.reply], self._load, self.message)
        ui.guarded(self._record, self.message)()

    def _lay_out(self) -> None:
        act = partial(ui.button, message=self.done)
        ask = ui.button(
            "Ask what is missing", "wb-ask-missing", partial(self._record, pay=True), self.message
        )
        run = ui.row(
            act("Run", "wb-run", self._run),
            act("Undo", "wb-reset", self._load),
            act("Show the edit", "wb-diff-button", self._diff),
        )
        prompt = w.VBox(
            [
                self.picker.box,
                ui.row(self.system, self.step, self.reply, ask),
                self.message,
                ui.panes(
                    (self.missing, self.prompt, self.stages),
                    (ui.title("Edit and run"), self.editor.box, run, self.price),
                    (ui.row(act("Show both plans", "wb-plans", self._plans)), self.answer),
                ),
                self.done,
                ui.row(
                    self.editor.folder,
                    self.editor.overwrite,
                    act("Save the template", "wb-save", self._save),
                ),
                ui.row(self.other, act("Compare", "wb-compare", self._compare)),
            ]
        )
        self.lay_out(
            "wb-prompt-explorer", ui.tabs({"Prompt": prompt, "Variants": self.variants.box})
        )

    @property
    def lab(self) -> Lab:
        return replace(self._lab, database=self.picker.benchmark.database)

    @property
    def chosen(self) -> Step:
        if self._recording is None or self.reply.value is None:
            raise BadInputError("no call is chosen: choose a question, and ask for what is missing")
        number: int = self.reply.value
        return self._recording.steps[number]

    def _record(self, *, pay: bool = False) -> None:
        question = self.picker.question
        for widget in (*self._views, self.done):
            widget.value = ""
        self._recording = None  # first, in case recording fails
        self.step.options = self.reply.options = self.other.options = []
        if question is None:
            return
        system = self._systems[self.system.value]
        self._recording = found = record(system, question, self.lab, pay=pay)
        groups, client = repeats.grouped(found.steps), self.lab.client
        options = [
            (
                repeats.call_option(
                    n, found.steps[group[0]], repeats.answers(client, found.steps, group)
                ),
                group[0],
            )
            for n, group in enumerate(groups, 1)
        ]
        ui.fill(self.step, options, repeats.same_call(found.steps, groups, self._prompt))
        asked = [step.request for step in found.steps]
        names = [f"{n} · {one.prompt} · sample {one.sample}" for n, one in enumerate(asked, 1)]
        ui.fill(self.other, [(name, number) for number, name in enumerate(names)])
        self.stages.value = stages_html(found)
        if found.missing:
            self.missing.value = running.missing_html(client, found)
        if found.steps:
            self._load_call()
        else:
            self._show_answer()

    def _load_call(self) -> None:
        """List the answers of the chosen call, and show its most frequent one."""
        if self._recording is None or self.step.value is None:
            return
        steps = self._recording.steps
        (group,) = (group for group in repeats.grouped(steps) if group[0] == self.step.value)
        found = repeats.answers(self.lab.client, steps, group)
        self.reply.options = []
        ui.fill(
            self.reply,
            [(repeats.answer_option(one, len(same)), same[0]) for one, same in found.items()],
        )
        self._load()

    def _load(self) -> None:
        """Show the chosen call with its reply, and fill the editor from it."""
        if self.reply.value is not None:
            self._prompt = self.chosen.request.prompt
            self.editor.load(self.chosen)
            self.prompt.value = prompt_html(self.chosen, self.lab.client)
            self.done.value = ""
            self._show_answer()
            self._price()

    def _show_answer(self) -> None:
        """The cached reply and gold, with the results of both."""
        question, recording = self.picker.question, self._recording
        if question is None or recording is None:
            return
        answer = recording.selection.sql if recording.selection else ""
        reply = self.lab.client.cached(self.chosen.request) if recording.steps else None
        self._sql = (repeats.sql_in(reply.text) if reply else "") or answer
        self.answer.value = running.cached_html(
            self.lab, self.picker.benchmark, question, reply, self._sql
        )

    def _plans(self) -> None:
        question = self.picker.question
        if question is None or not self._sql:
            raise BadInputError("there is no query to compare with gold's")
        self.answer.value = running.answer_html(
            self.lab, self.picker.benchmark, question, self._sql
        )

    def _price(self) -> None:
        """Show the cost of the edited call, or the error in the edit."""
        self.price.value = ""
        try:
            self.price.value = running.price_html(self.lab.client, self._edited().request)
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
            self.answer.value = running.steps_diff(self.lab.client, step, other)

    def _run(self) -> None:
        self.answer.value = ""
        new = self._edited()
        (answer,) = self.lab.client.complete_many([new.request])
        if question := self.picker.question:
            self._sql = repeats.sql_in(answer.text)
            asked = (self.lab, self.picker.benchmark, question)
            self.answer.value = running.run_html(*asked, self.chosen, new, answer)
        self._price()

    def _save(self) -> None:
        folder = self.editor.save()
        self.done.value = saved_html(folder)
        self.variants.add(folder, self.system.value)
