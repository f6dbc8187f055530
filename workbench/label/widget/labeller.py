"""The labelling widget for JupyterLab: it shows a session, and hands the session keys and clicks."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.current_question import CURRENT, CurrentQuestion
from workbench.errors import BadInputError
from workbench.html.parts import STYLE
from workbench.html.tree import plain_data
from workbench.lab import Lab
from workbench.label.agreement.disputes import ADJUDICATOR, disputes
from workbench.label.case import Case
from workbench.label.store import LabelStore
from workbench.label.taxonomy import Taxonomy
from workbench.label.widget.panel import panel
from workbench.label.widget.session import Session

_HERE = Path(__file__).parent


class Labeller(anywidget.AnyWidget):
    """Shows one case after another and saves each label at once. Code can drive `session`, too.

    It shows the case of the `current` question, and a step to another case makes that case's question the current one.
    """

    _esm = _HERE / "labeller.js"
    _css = STYLE + (_HERE / "labeller.css").read_text(encoding="utf-8")
    panel: Any = traitlets.List().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)
    status = traitlets.Unicode().tag(sync=True)
    error = traitlets.Unicode().tag(sync=True)
    eager = traitlets.Bool().tag(sync=True)  # takes the keyboard focus when it is first shown

    def __init__(self, session: Session, current: CurrentQuestion | None = None) -> None:
        super().__init__(eager=not session.adjudicates)
        self.session, self._current = session, current or CURRENT
        self.on_msg(self._on_message)
        self._current.observe(self._follow, names="picked")
        self._go_to_current()
        self._show()

    def _on_message(self, _: Any, message: dict[str, Any], __: Any) -> None:
        before = self._question()
        self._take(lambda: self.session.step(**message))
        after = self._question()
        if after != before and all(after):
            self._current.picked = after

    def _follow(self, _: object) -> None:
        """Show the case of the question that another view picked; if it has no case, the status says so."""
        if self._current.picked != self._question():
            self._take(partial(self._go_to_current, say_if_absent=True))

    def _question(self) -> tuple[str, str]:
        """The benchmark and the question id of the shown case."""
        if not self.session.cases:
            return "", ""
        case = self.session.cases[self.session.at]
        return case.benchmark, case.question.id

    def _go_to_current(self, *, say_if_absent: bool = False) -> None:
        """Go to the case of the current question, if there is one."""
        benchmark, key = self._current.picked
        for at, case in enumerate(self.session.cases):
            if (case.benchmark, case.question.id) == (benchmark, key):
                self.session.go(at)
                self.session.status = ""
                return
        if say_if_absent:
            self.session.status = f"question {key} of {benchmark} is not among these cases"

    def _take(self, step: Callable[[], object]) -> None:
        """Take a step; an exception is shown in the widget, since nothing else shows a callback's error."""
        error = ""
        try:
            step()
            self._show()
        except BadInputError as mistake:
            error = str(mistake)
        except Exception:  # noqa: BLE001  shown in the widget
            error = traceback.format_exc(limit=-3, chain=False)
        self.error = error

    def _show(self) -> None:
        with self.hold_sync():
            self.panel = plain_data(panel(self.session))
            self.note = self.session.note() if self.session.cases else ""
            self.status = self.session.status


def label(
    cases: Sequence[Case],
    taxonomy: Taxonomy,
    store: LabelStore,
    annotator: str,
    lab: Lab | None = None,
    *,
    keys: Mapping[str, str] | None = None,
    current: CurrentQuestion | None = None,
) -> Labeller:
    """A widget for an annotator, which begins at the first case without a label.

    With a `lab`, such as `study.lab`, gold can be corrected. `keys` changes the keys of steps and categories: `keys={"skip": "x"}`. Views with the same `current` show the same question.
    """
    session = Session(cases, taxonomy, store, annotator, lab, keys)
    return Labeller(session, current)


def adjudicate(
    cases: Sequence[Case],
    taxonomy: Taxonomy,
    store: LabelStore,
    lab: Lab | None = None,
    *,
    keys: Mapping[str, str] | None = None,
    current: CurrentQuestion | None = None,
) -> Labeller:
    """A widget for the adjudicator: the cases that annotators dispute, with the annotators' labels.

    `lab`, `keys` and `current` are as for `label`.
    """
    disputed = disputes(store.labels(taxonomy=taxonomy.name))
    queue = [case for case in cases if case.key in disputed]
    session = Session(queue, taxonomy, store, ADJUDICATOR, lab, keys, adjudicates=True)
    return Labeller(session, current)
