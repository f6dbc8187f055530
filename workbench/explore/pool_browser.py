"""The pool browser: all candidates of a question, and the questions where the selector chose badly."""

from workbench.current_question import CurrentQuestion
from workbench.explore.picker import Picker
from workbench.explore.widgets import Explorer, output, title
from workbench.explore.widgets.questions import QuestionTable
from workbench.html.parts import line, view
from workbench.report.display import pool_html
from workbench.study.measures import lost
from workbench.study.run import Run
from workbench.study.study import Study


class PoolBrowser(Explorer):
    """A widget; show it as the last line of a cell."""

    def __init__(self, study: Study, run: Run, *, current: CurrentQuestion | None = None) -> None:
        self._run = run
        self.message, self.pool = output("wb-message"), output("wb-pool-view")
        outcomes = {study.benchmark.name: run.questions}
        self.picker = Picker([study.benchmark], outcomes, self._show, self.message, current)
        self.regrets = regrets(run, study, current)
        parts = (title("Which question"), self.picker.box, self.message, self.pool)
        self.lay_out("wb-pool-browser", self.regrets, *parts)
        self._show()

    def _show(self) -> None:
        name, key = self.picker.current.picked
        question = self.picker.question
        if question is None or question.id not in set(self._run.questions["question_id"]):
            asked = question.id if question else key if name == self.picker.benchmark.name else ""
            absent = f"Question {asked} was not part of this run."
            self.pool.value = view(
                "No candidates", line(absent if asked else "No question matches.")
            )
        else:
            trials = self._run.trials
            right = trials.loc[trials["question_id"] == question.id, "correct"].astype(bool)
            self.pool.value = pool_html(self._run.selection(question.id), right.tolist())


def regrets(run: Run, study: Study, current: CurrentQuestion | None = None) -> QuestionTable:
    """The questions with a right candidate where the selector chose a wrong one."""
    found = lost(run, study)
    names = ["question_id", "difficulty", "question", "votes", "right votes", "right by"]
    caption = f"Regrets: {len(found)} of {len(run.questions)} questions have a right candidate, and another was chosen."
    table = QuestionTable(study.benchmark.name, current)
    table.show(caption, ["id", *names[1:]], found[names].itertuples(index=False))
    return table
