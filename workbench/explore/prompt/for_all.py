"""Run an edited prompt on all questions: first show the new calls and their cost, then the questions that flip."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.benchmarks.benchmark import Benchmark
from workbench.errors import BadInputError
from workbench.explore.compare.runs import flips_html, verdicts
from workbench.explore.prompt.steps import Edit, Step, first_call
from workbench.explore.widgets import button, output, row
from workbench.html.parts import Html, details, line, pre, table, view
from workbench.lab import Lab
from workbench.llm.preview import preview
from workbench.systems.system import System
from workbench.types import Question, Request

_EVERY = 10  # questions between two reports of progress


@dataclass(frozen=True, slots=True)
class Wanted:
    """An edit of one prompt of a system, for all questions of a benchmark."""

    system: System
    benchmark: Benchmark
    lab: Lab
    prompt: str
    edit: Edit

    def find(self, progress: Callable[[int, int], None]) -> "Found":
        """The prompt's first call for each question, if it is cached; the other questions are left out."""
        found, left_out = [], []
        for number, question in enumerate(self.benchmark.questions):
            if number % _EVERY == 0:
                progress(number, len(self.benchmark.questions))
            step = first_call(self.system, question, self.lab, self.prompt)
            if step and self.lab.client.cached(step.request):
                found.append((question, step))
            else:
                left_out.append(question)
        return Found(self, tuple(found), tuple(left_out))


@dataclass(frozen=True, slots=True)
class Found:
    """The calls that an edit applies to, each with its question, and the questions that are left out."""

    wanted: Wanted
    steps: tuple[tuple[Question, Step], ...]
    left_out: tuple[Question, ...]

    def edited(self) -> list[Request]:
        edit, prompts = self.wanted.edit, self.wanted.lab.prompts
        return [edit(step, prompts).request for _, step in self.steps]

    def cost_html(self) -> Html:
        """The questions, those that need a new call first, and the cost of the new calls."""
        client, edited = self.wanted.lab.client, self.edited()
        cached = [bool(client.cached(request)) for request in edited]
        rows = sorted(
            (("cached" if known else "asked anew"), question.id, question.db_id, question.text)
            for known, (question, _) in zip(cached, self.steps, strict=True)
        )
        columns = ("the edited call", "id", "database", "question")
        number, known = len(rows), sum(cached)
        counts = f"{number - known:,} are asked anew and {known:,} are cached"
        every = number + len(self.left_out)
        out = [(question.id, question.db_id, question.text) for question in self.left_out]
        title = f"Left out, since their own call is not cached: {len(out):,}"
        return view(
            "For all questions",
            line(f"{self.wanted.prompt} for {number:,} of {every:,} questions: {counts}."),
            pre(str(preview(client, edited))),
            details(f"Which questions: {number:,}", table(columns, rows)),
            *([details(title, table(columns[1:], out))] if out else []),
        )

    def run_html(self) -> Html:
        """Ask the edited calls, and show the questions that flip."""
        lab, benchmark = self.wanted.lab, self.wanted.benchmark
        steps = [step for _, step in self.steps]
        before, after = lab.ask_many(step.request for step in steps), lab.ask_many(self.edited())
        was, now = (verdicts(lab, benchmark, steps, replies) for replies in (before, after))
        return flips_html(was, now, benchmark.questions)


class ForAllForm:
    """The buttons for the cost and for the run, and their view. A run is refused until its cost was shown."""

    def __init__(self, wanted: Callable[[], Wanted], message: Any) -> None:
        self._wanted = wanted
        self._priced: Found | None = None
        self.view = output("wb-all-view")
        self.buttons = row(
            button("Cost for all questions", "wb-cost-all", self._price, message),
            button("Run for all questions", "wb-run-all", self._run, message),
        )
        self.buttons.layout.width = "auto"

    def forget(self) -> None:
        """Drop the shown cost, because another question or system was chosen."""
        self._priced, self.view.value = None, ""

    def _price(self) -> None:
        self._priced = None
        self._priced = found = self._wanted().find(self._progress)
        self.view.value = found.cost_html()

    def _progress(self, done: int, total: int) -> None:
        self.view.value = view(f"Counting: {done:,} of {total:,} questions")

    def _run(self) -> None:
        priced, wanted = self._priced, self._wanted()
        if priced is None or priced.wanted != wanted:
            raise BadInputError(
                "the calls of this edit were not counted: press Cost for all questions first"
            )
        self.view.value = priced.run_html()
