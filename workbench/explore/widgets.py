"""What the explorers' widgets share: labelled inputs, errors that are shown, keys that stay inside."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import anywidget
import ipywidgets as w
import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.explore.find import OUTCOMES, questions
from workbench.report.markup import alert, view
from workbench.types import Question


class Manners(anywidget.AnyWidget):
    """What an explorer does in the page: keys stay inside, and what a button said comes into sight.

    JupyterLab's shortcuts would act on keys pressed in it: `d d` deletes cells. Escape and those with Ctrl
    or Command still do, but for the one that runs the cell anew.
    """

    _esm = """
    export default {
      render({ el }) {
        let tries = 600;
        const stop = (event) => {
          const ours = !event.ctrlKey && !event.metaKey && event.key !== "Escape";
          if (ours || event.key === "Enter") event.stopPropagation();
        };
        const begin = (box) => {
          box.addEventListener("keydown", stop);
          const said = ({ addedNodes, target }) => addedNodes.length && target.closest(".wb-message");
          const follow = (changes) => {
            const place = box.querySelector("button:focus") && changes.find(said);
            if (place) place.target.scrollIntoView({ block: "nearest" });
          };
          new MutationObserver(follow).observe(box, { childList: true, subtree: true });
        };
        const wait = () => {
          const box = el.closest(".wb-explorer");
          if (box) begin(box);
          else if (tries--) requestAnimationFrame(wait);
        };
        wait();
      },
    };
    """


def explorer(kind: str, *children: Any) -> Any:
    """The box of a whole explorer. `kind` is a class by which it can be found."""
    manners = Manners(layout=w.Layout(display="none"))
    box = w.VBox([*children, manners], layout=w.Layout(width="100%", overflow="visible"))
    box.add_class("wb-explorer")
    box.add_class(kind)
    return box


def row(*children: Any) -> Any:
    """Widgets side by side, in as many lines as they need."""
    return w.Box(
        children, layout=w.Layout(flex_flow="row wrap", width="100%", align_items="center")
    )


def title(text: str) -> Any:
    """A heading between widgets; `text` is ours."""
    return w.HTML(view(text))


def shown(kind: str) -> Any:
    """An empty place for HTML."""
    place = w.HTML(layout=w.Layout(width="99%", min_width="0"))
    place.add_class(kind)
    return place


def labelled(widget: Any, label: str, kind: str, width: str = "auto") -> Any:
    """An input with its label, as screen readers want it, and a class by which it can be found."""
    widget.description = label
    widget.style.description_width = "initial"
    widget.layout.width = width
    widget.add_class(kind)
    return widget


def button(label: str, kind: str, do: Callable[[], None], place: Any) -> Any:
    """A button; what goes wrong in it is shown in `place`."""
    made = w.Button(description=label, layout=w.Layout(width="auto"))
    made.add_class(kind)

    def work() -> None:
        made.description = f"{label}: working"
        try:
            do()
        finally:
            made.description = label

    made.on_click(guarded(work, place))
    return made


_WORKING: set[str] = set()  # places whose callback has not ended


def guarded(do: Callable[[], None], place: Any) -> Callable[..., None]:
    """A callback: an exception, which ipywidgets would swallow, is shown in `place`.

    It is gone with the next callback, but not with those that this one sets off.
    """

    def called(*_: object) -> None:
        first = place.model_id not in _WORKING
        if first:
            _WORKING.add(place.model_id)
            place.value = ""
        try:
            do()
        except Exception as error:  # noqa: BLE001  it is told to whoever clicked
            place.value = alert(f"{type(error).__name__}: {error}")
        finally:
            if first:
                _WORKING.discard(place.model_id)

    return called


def watch(inputs: Iterable[Any], do: Callable[[], None], place: Any) -> None:
    """Do it whenever one of the inputs changes."""
    for one in inputs:
        one.observe(guarded(do, place), names="value")


def fill(chooser: Any, options: Sequence[tuple[str, Any]], wanted: Any = None) -> None:
    """New options: `wanted` is picked, or what was picked before, or the first, if it is there."""
    before = chooser.value
    chooser.options = options
    values = [value for _, value in options]
    known = [value for value in (wanted, before, *values[:1]) if value in values]
    chooser.value = known[0] if known else None


class Picker:
    """Picks a question: benchmark, words, database, difficulty and outcome narrow the list down.

    `outcomes` holds, by benchmark, a run's table of questions. `then` is called with what was picked.
    """

    def __init__(
        self,
        benchmarks: Sequence[Benchmark],
        outcomes: Mapping[str, pd.DataFrame],
        then: Callable[[], None],
        place: Any,
    ) -> None:
        self._benchmarks = {one.name: one for one in benchmarks}
        self._outcomes = outcomes
        self._filling = False
        names = list(self._benchmarks)
        self.name = labelled(w.Dropdown(options=names), "Benchmark", "wb-benchmark")
        self.text = labelled(w.Text(continuous_update=False), "Search", "wb-search", "220px")
        self.db = labelled(w.Dropdown(options=[("all", "")]), "Database", "wb-database")
        self.difficulty = labelled(w.Dropdown(options=[("all", "")]), "Difficulty", "wb-difficulty")
        self.outcome = labelled(w.Dropdown(options=[("all", "")]), "Outcome", "wb-outcome")
        self.list = labelled(w.Select(rows=8), "Question", "wb-question", "99%")
        self.box = w.VBox(
            [row(self.name, self.text, self.db, self.difficulty, self.outcome), self.list]
        )
        self._then = then
        self._choices()
        self._refill()
        watch([self.name], self._open, place)
        watch([self.text, self.db, self.difficulty, self.outcome], self._fill, place)
        watch([self.list], self._picked, place)

    @property
    def benchmark(self) -> Benchmark:
        return self._benchmarks[self.name.value]

    @property
    def question(self) -> Question | None:
        """The question that is picked; None where none fits."""
        key = self.list.value
        return next((q for q in self.benchmark.questions if q.id == key), None)

    def _open(self) -> None:
        self._choices()
        self._refill()
        self._then()  # another benchmark's question is another one, even under the same id

    def _choices(self) -> None:
        known = questions(self.benchmark)
        self._filling = True
        for choice, name in ((self.db, "db_id"), (self.difficulty, "difficulty")):
            choice.options = [("all", ""), *((v, v) for v in sorted(set(known[name])) if v)]
        ran = self.benchmark.name in self._outcomes
        self.outcome.options = [("all", ""), *((o, o) for o in OUTCOMES if ran)]
        self._filling = False

    def _fill(self) -> None:
        if not self._filling and self._refill():
            self._then()

    def _refill(self) -> bool:
        """List the questions that fit; whether another one is picked now."""
        found = questions(
            self.benchmark,
            self.text.value,
            self.difficulty.value,
            self.db.value,
            self.outcome.value,
            self._outcomes.get(self.benchmark.name),
        )
        before = self.question
        self._filling = True
        fill(self.list, [(_option(each), each.question_id) for each in found.itertuples()])
        self._filling = False
        return self.question is not before

    def _picked(self) -> None:
        if not self._filling:
            self._then()


def _option(each: Any) -> str:
    told = [each.question_id, each.db_id, each.difficulty, each.outcome, each.question]
    text = " · ".join(filter(None, told))
    return text if len(text) < 130 else f"{text[:130]}…"  # a list scrolls sideways where it must
