"""Pick a question by its words, difficulty, database, and outcome in a run.

A question that is picked in one view is picked in all views of the same `CurrentQuestion`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as w
import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.current_question import CURRENT, CurrentQuestion
from workbench.explore.widgets import choices, fill, guarded, labelled, output, quietly, row, watch
from workbench.html.parts import note
from workbench.types import Question

_LOST = "wrong: chosen badly"
_NONE = "wrong: none right"
OUTCOMES = ("right", "wrong", _LOST, _NONE)
_ALL = [("all", "")]


def questions(
    benchmark: Benchmark,
    text: str = "",
    difficulty: str = "",
    db_id: str = "",
    outcome: str = "",
    outcomes: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """The matching questions: question_id, db_id, difficulty, outcome, question, hint. "" matches all.

    `text` is searched for in question, hint and id; upper and lower case are alike. `outcomes` is a run's table of
    questions; without it every outcome is "".
    """
    asked, known = benchmark.questions, _outcomes(outcomes)
    frame = pd.DataFrame(
        {
            "question_id": [question.id for question in asked],
            "db_id": [question.db_id for question in asked],
            "difficulty": [benchmark.golds[question.id].difficulty for question in asked],
            "outcome": [known.get(question.id, "") for question in asked],
            "question": [question.text for question in asked],
            "hint": [question.evidence for question in asked],
        },
        dtype=str,
    )
    words = frame["question_id"] + "\n" + frame["question"] + "\n" + frame["hint"]
    matches = words.str.casefold().str.contains(text.casefold(), regex=False)
    matches &= frame["outcome"].str.startswith(outcome)
    for column, wanted in (("difficulty", difficulty), ("db_id", db_id)):
        matches &= (frame[column] == wanted) | (wanted == "")
    return frame[matches].reset_index(drop=True)


def _outcomes(run: pd.DataFrame | None) -> dict[str, str]:
    rows = () if run is None else run[["question_id", "correct", "oracle"]].itertuples(index=False)
    return {
        str(question_id): "right" if correct else _LOST if oracle else _NONE
        for question_id, correct, oracle in rows
    }


class Picker:
    """The list of questions, and inputs that filter it.

    `outcomes` has a run's table of questions for a benchmark's name. `picked` is called when another
    question is picked, here or in another view; errors are shown in `message`.
    """

    def __init__(
        self,
        benchmarks: Sequence[Benchmark],
        outcomes: Mapping[str, pd.DataFrame],
        picked: Callable[[], None],
        message: Any,
        current: CurrentQuestion | None = None,
    ) -> None:
        self.current = current or CURRENT
        self._benchmarks = {benchmark.name: benchmark for benchmark in benchmarks}
        self._outcomes, self._picked = outcomes, picked
        names = list(self._benchmarks)
        self.name = labelled(w.Dropdown(options=names), "Benchmark", "wb-benchmark")
        self.text = labelled(w.Text(continuous_update=False), "Search", "wb-search", "190px")
        self.db = labelled(w.Dropdown(options=_ALL), "Database", "wb-database", "150px")
        self.difficulty = labelled(w.Dropdown(options=_ALL), "Difficulty", "wb-difficulty", "140px")
        self.outcome = labelled(w.Dropdown(options=_ALL), "Outcome", "wb-outcome", "140px")
        self.list = labelled(w.Select(rows=4), "Question", "wb-question", "99%")
        self.found = output("wb-found", "auto")
        filters = [self.text, self.db, self.difficulty, self.outcome]
        self.box = w.VBox([row(self.name, *filters, self.found), self.list])
        self._fill_filters()
        self._fill_list()
        if not self._adopt():
            self._share()
        watch([self.name], self._change_benchmark, message)
        watch(filters, self._change_filter, message)
        watch([self.list], self._pick, message)
        self.current.observe(lambda _: guarded(self._follow, message)(), names="picked")

    @property
    def benchmark(self) -> Benchmark:
        return self._benchmarks[self.name.value]

    @property
    def question(self) -> Question | None:
        """The picked question; None if no question matches."""
        key = self.list.value
        return next((q for q in self.benchmark.questions if q.id == key), None)

    def _change_benchmark(self) -> None:
        self._fill_filters()
        self._fill_list()
        self._pick()  # even where the other benchmark's question has the same id

    def _change_filter(self) -> None:
        if self._fill_list():
            self._pick()

    def _pick(self) -> None:
        self._picked()
        self._share()

    def _share(self) -> None:
        if self.question:
            self.current.picked = (self.name.value, self.question.id)

    def _follow(self) -> None:
        if self._adopt():
            self._picked()

    def _adopt(self) -> bool:
        """Show the current question, if it belongs to one of the benchmarks and is not shown yet."""
        name, key = self.current.picked
        if name not in self._benchmarks or (name, key) == (self.name.value, self.list.value):
            return False
        with quietly():
            if name != self.name.value:
                self.name.value = name
                self._fill_filters()
                self._fill_list()
            if key not in self._listed() and any(q.id == key for q in self.benchmark.questions):
                for given in (self.text, self.db, self.difficulty, self.outcome):
                    given.value = ""
                self._fill_list()
            self.list.value = key if key in self._listed() else None
        return True

    def _listed(self) -> list[str]:
        return [value for _, value in self.list.options]

    def _fill_filters(self) -> None:
        everything = questions(self.benchmark)
        known = OUTCOMES if self.benchmark.name in self._outcomes else ()
        with quietly():
            self.db.options = choices(everything["db_id"])
            self.difficulty.options = choices(everything["difficulty"])
            self.outcome.options = [*_ALL, *zip(known, known, strict=True)]

    def _fill_list(self) -> bool:
        """List the matching questions; return whether the picked question changed."""
        filters = (self.text.value, self.difficulty.value, self.db.value, self.outcome.value)
        known = self._outcomes.get(self.benchmark.name)
        matching = questions(self.benchmark, *filters, known)
        before = self.question
        fill(self.list, [(_option(r), r.question_id) for r in matching.itertuples()])
        number = len(self.benchmark.questions)
        counts = f"{len(matching):,} of {number:,}"
        self.found.value = note(counts if len(matching) else "No question found.")
        return self.question is not before


def _option(row: Any) -> str:
    parts = [row.question_id, row.db_id, row.difficulty, row.outcome, row.question]
    text = " · ".join(filter(None, parts))
    return text if len(text) < 130 else f"{text[:130]}…"  # a longer option scrolls sideways
