"""The run browser: runs side by side by question, as a heat map and as a list, and their errors by message."""

from collections import Counter
from collections.abc import Sequence

import ipywidgets as w
import pandas as pd

from workbench.current_question import CurrentQuestion
from workbench.errors import BadInputError
from workbench.explore.compare.outcomes import FAILED, RIGHT, WORDS, WRONG, differ, errors, outcomes
from workbench.explore.compare.runs import costs_html
from workbench.explore.widgets import Explorer, fill, labelled, output, watch
from workbench.explore.widgets.questions import HeatMap, QuestionTable
from workbench.study.run import Run
from workbench.study.study import Study

_MESSAGES = 3  # messages that are shown for a question and a kind of error


class RunBrowser(Explorer):
    """A widget; show it as the last line of a cell. Picking a question picks it in all views."""

    def __init__(self, study: Study, *runs: Run, current: CurrentQuestion | None = None) -> None:
        if not runs:
            raise BadInputError("no run is given: give one or more")
        self._runs = runs
        self._texts = {question.id: question.text for question in study.benchmark.questions}
        self._outcomes, self._errors = outcomes(study, runs), errors(study, runs)
        self.message, self.costs = output("wb-message"), output("wb-costs-view")
        self.costs.value = costs_html(runs)
        name = study.benchmark.name
        self.map, self.table = HeatMap(name, current), QuestionTable(name, current)
        self.shown = labelled(w.Select(rows=7), "Questions", "wb-shown", "99%")
        listed = self._choices()
        first = next((name for name, ids in self._parts.items() if ids), "all")
        fill(self.shown, listed, ("part", first))
        self._draw()
        self._show()
        self.lay_out("wb-run-browser", self.costs, self.map, self.shown, self.message, self.table)
        watch([self.shown], self._show, self.message)

    def _choices(self) -> list[tuple[str, tuple[str, str]]]:
        """The lists of questions to choose from: by verdicts, and by kind of error, the most frequent kind first."""
        disagree = differ(self._outcomes)
        parts = {
            "on which the runs disagree": disagree,
            "all": disagree | True,
            "right in every run": (self._outcomes == RIGHT).all(axis=1),
            "wrong in every run": (self._outcomes == WRONG).all(axis=1),
            "failed in a run": (self._outcomes == FAILED).any(axis=1),
        }
        self._parts = {name: list(self._outcomes.index[chosen]) for name, chosen in parts.items()}
        listed = [(f"{len(ids):,} · {name}", ("part", name)) for name, ids in self._parts.items()]
        for kind, found in _most_frequent(self._errors):
            by_run = Counter(found["run"])
            where = ", ".join(f"{run} {number:,}" for run, number in by_run.items())
            many = found["question_id"].nunique()
            title = f"{many:,} · error of {len(found):,} candidates ({where}): {kind}"
            listed.append((title[:200], ("error", kind)))
        return listed

    def _draw(self) -> None:
        names, found = [run.name for run in self._runs], self._outcomes
        counts = [
            f"{name}: {(found[n] == RIGHT).sum():,} right, {(found[n] == FAILED).sum():,} failed"
            for n, name in enumerate(names)
        ]
        with self.map.hold_sync():
            by_runs = f"{len(found):,} questions by runs, from top to bottom"
            self.map.caption = f"{by_runs} {'; '.join(counts)}."
            self.map.runs = names
            self.map.questions = [[key, self._texts[key]] for key in found.index]
            self.map.verdicts = ["".join(found[n]) for n in range(len(names))]

    def _show(self) -> None:
        kind, name = self.shown.value
        messages: dict[str, list[str]] = {}
        ids: Sequence[str]
        if kind == "part":
            ids = self._parts[name]
        else:
            found = self._errors[self._errors["kind"] == name]
            counted: dict[str, Counter[str]] = {}
            for key, message in zip(found["question_id"], found["message"], strict=True):
                counted.setdefault(key, Counter())[message] += 1
            messages = {key: [_counted(several)] for key, several in counted.items()}
            ids = list(messages)
        verdicts = {key: row for key, *row in self._outcomes.itertuples(name=None)}
        rows = [
            [key, self._texts[key], *map(WORDS.get, verdicts[key]), *messages.get(key, ())]
            for key in ids
        ]
        columns = ["id", "question", *(run.name for run in self._runs)]
        listed = f"{len(rows):,} questions. Enter picks one for all views."
        shown = [*columns, "messages"] if messages else columns
        self.table.show(listed if rows else "No question.", shown, rows)


def _most_frequent(found: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    groups = [(str(kind), part) for kind, part in found.groupby("kind", sort=False)]
    return sorted(groups, key=lambda group: -len(group[1]))


def _counted(messages: Counter[str]) -> str:
    """A question's most frequent messages, each with its count."""
    return "\n".join(f"{text} ({number:,})" for text, number in messages.most_common(_MESSAGES))
