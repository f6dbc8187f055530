"""The pool browser: all candidates of a question, and the questions where the choice went wrong."""

from typing import Any

from workbench.explore.widgets import Picker, explorer, shown, title
from workbench.report.markup import Html, line, table, view
from workbench.report.selections import pool_html
from workbench.study.pools import lost
from workbench.study.runs import Run
from workbench.study.study import Study


class PoolBrowser:
    """Show it as the last line of a cell."""

    def __init__(self, study: Study, run: Run) -> None:
        self._run = run
        self.message, self.pool = shown("wb-message"), shown("wb-pool-view")
        name = study.benchmark.name
        self.picker = Picker([study.benchmark], {name: run.questions}, self._show, self.message)
        self.regrets = shown("wb-regrets-view")
        self.regrets.value = regrets_html(run, study)
        self.box = explorer(
            "wb-pool-browser",
            self.regrets,
            title("Which question"),
            self.picker.box,
            self.message,
            self.pool,
        )
        self._show()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)

    def _show(self) -> None:
        question = self.picker.question
        if question is None or question.id not in set(self._run.questions["question_id"]):
            name = question.id if question else "What was looked for"
            self.pool.value = view("No candidates", line(f"{name} was not part of this run."))
            return
        trials = self._run.trials
        mine = trials[trials["question_id"] == question.id]
        right = [bool(correct) for correct in mine["correct"]]
        self.pool.value = pool_html(self._run.selection(question.id), right)


def regrets_html(run: Run, study: Study) -> Html:
    """The questions where a right candidate was there and another was chosen, as a table."""
    found = lost(run, study)
    names = ["question_id", "difficulty", "votes", "right votes", "right by"]
    told = "A right candidate was there, and another was chosen"
    rows = table(names, found[names].itertuples(index=False), told) if len(found) else ""
    return view(f"Regrets: {len(found)} of {len(run.questions)} questions", rows, kind="wb-regrets")
