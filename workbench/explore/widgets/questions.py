"""Questions in a table and in a heat map, where a click or Enter picks one for all views."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.current_question import CURRENT, CurrentQuestion
from workbench.html.parts import STYLE
from workbench.terminal import visible

_HERE = Path(__file__).parent


def _text(*names: str) -> str:
    return "".join((_HERE / name).read_text(encoding="utf-8") for name in names)


class _Questions(anywidget.AnyWidget):
    """The base of the table and the heat map; `chosen` is the id of the picked question."""

    _css = STYLE + _text("questions.css")
    chosen = traitlets.Unicode().tag(sync=True)
    caption = traitlets.Unicode().tag(sync=True)

    def __init__(
        self, benchmark: str, current: CurrentQuestion | None, opened: Callable[[], object] = tuple
    ) -> None:
        """`opened` is called when another question is chosen, before the other views follow."""
        super().__init__()
        self._benchmark, self._current, self._opened = benchmark, current or CURRENT, opened
        self._follow()
        self._current.observe(self._follow, names="picked")
        self.observe(self._pick, names="chosen")

    def _follow(self, _: object = None) -> None:
        benchmark, key = self._current.picked
        self.chosen = key if benchmark == self._benchmark else ""

    def _pick(self, _: object) -> None:
        self._opened()
        if self.chosen:
            self._current.picked = (self._benchmark, self.chosen)


class QuestionTable(_Questions):
    """A table with a row for each question; its first column is the question's id."""

    _esm = _text("questions.js", "question_table.js")
    columns: Any = traitlets.List(traitlets.Unicode()).tag(sync=True)
    rows: Any = traitlets.List().tag(sync=True)
    marks: Any = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def show(
        self,
        caption: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[object]],
        marks: Sequence[str] = (),
    ) -> None:
        """Show other questions. `marks` has "plus", "minus" or "" for each row, as in `html.parts.table`."""
        with self.hold_sync():
            self.caption, self.columns = caption, list(columns)
            self.rows = [[visible(str(cell)) for cell in row] for row in rows]
            self.marks = list(marks)


class HeatMap(_Questions):
    """Questions by runs: a line of cells for each run, a column for each question.

    `verdicts` has for each run a text with a letter for each question: r(ight), w(rong), f(ailed) or - (not asked).
    """

    _esm = _text("questions.js", "heat_map.js")
    runs: Any = traitlets.List(traitlets.Unicode()).tag(sync=True)
    questions: Any = traitlets.List().tag(sync=True)  # id and text of each
    verdicts: Any = traitlets.List(traitlets.Unicode()).tag(sync=True)
