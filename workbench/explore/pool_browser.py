"""The pool browser: all candidates of a question, and the questions where the selector chose badly."""

from workbench.explore.picker import Picker
from workbench.explore.widgets import Explorer, output, title
from workbench.html.parts import Html, line, table, view
from workbench.report.display.selections import pool_html
from workbench.study.analysis.pools import lost
from workbench.study.runs import Run
from workbench.study.study import Study


class PoolBrowser(Explorer):
    """A widget; show it as the last line of a cell."""

    def __init__(self, study: Study, run: Run) -> None:
        self._run = run
        self.message, self.pool = output("wb-message"), output("wb-pool-view")
        outcomes = {study.benchmark.name: run.questions}
        self.picker = Picker([study.benchmark], outcomes, self._show, self.message)
        self.regrets = output("wb-regrets-view")
        self.regrets.value = regrets_html(run, study)
        self.lay_out(
            "wb-pool-browser",
            self.regrets,
            title("Which question"),
            self.picker.box,
            self.message,
            self.pool,
        )
        self._show()

    def _show(self) -> None:
        question = self.picker.question
        if question is None:
            self.pool.value = view("No candidates", line("No question matches."))
        elif question.id not in set(self._run.questions["question_id"]):
            absent = line(f"Question {question.id} was not part of this run.")
            self.pool.value = view("No candidates", absent)
        else:
            trials = self._run.trials
            right = trials.loc[trials["question_id"] == question.id, "correct"].astype(bool)
            self.pool.value = pool_html(self._run.selection(question.id), right.tolist())


def regrets_html(run: Run, study: Study) -> Html:
    """The questions with a right candidate where the selector chose another, as a table."""
    regrets = lost(run, study)
    names = ["question_id", "difficulty", "votes", "right votes", "right by"]
    caption = "A candidate was right, and another was chosen"
    rows = [table(names, regrets[names].itertuples(index=False), caption)] if len(regrets) else []
    title = f"Regrets: {len(regrets)} of {len(run.questions)} questions"
    return view(title, *rows, kind="wb-regrets")
