"""A view of variants: their table, and their questions, each of which opens its replies and results.

The page holds only verdicts. The kernel sends replies and results for the picked question, so the page of a benchmark
with 1,534 questions stays small.
"""

from typing import TYPE_CHECKING

from workbench.current_question import CurrentQuestion
from workbench.explore.widgets import Explorer, button, guarded, output, row
from workbench.explore.widgets.questions import QuestionTable
from workbench.html.parts import Html

if TYPE_CHECKING:
    from workbench.explore.compare.variants import Variants


class VariantsView(Explorer):
    """A widget, empty until `show` is given variants."""

    def __init__(self, benchmark: str, current: CurrentQuestion | None = None) -> None:
        self._found: Variants | None = None
        self.message, self.table = output("wb-message"), output("wb-variants-view")
        self.question = output("wb-variants-question")
        self.matrix = QuestionTable(benchmark, current, guarded(self._open, self.message))
        self.matrix.layout.display = "none"
        self.plans = row(button("Show the plans", "wb-variants-plans", self._plans, self.message))
        self.plans.layout.display = "none"
        self.lay_out(
            "wb-variants", self.table, self.matrix, self.message, self.plans, self.question
        )

    def show(self, found: "Variants") -> None:
        self._found = found
        self.table.value = Html(found.table().to_html())
        rows = found.rows()
        caption = f"{found.disagreement()} Enter opens one."
        self.matrix.show(caption, ("id", "differ", "question", *found.runs), rows)
        self.matrix.layout.display = None
        self._open()

    def _open(self) -> None:
        """Show the answers to the question that is picked."""
        found, key = self._found, self.matrix.chosen
        known = found and any(question.id == key for question in found.study.benchmark.questions)
        self.question.value = found.question_html(key) if found and known else ""
        self.plans.layout.display = None if self.question.value else "none"

    def _plans(self) -> None:
        """Show the plans of the answers beside gold's, too."""
        if self._found:
            self.question.value = self._found.question_html(self.matrix.chosen, plans=True)
