"""Labelling as steps: what a key or a click does, and what is shown then. The widget draws it.

Nothing here is drawn or sent, so a step can be tested and timed alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from workbench.errors import BadInputError
from workbench.label.agreement import ADJUDICATOR
from workbench.label.case import Case
from workbench.label.store import Label, LabelStore, label_of
from workbench.label.suggest import AUTOMATIC
from workbench.label.taxonomy import FILTERS, Taxonomy


@dataclass(slots=True)
class Session:
    """Where an annotator is among the cases, and what the last step did.

    Who `adjudicates` labels as the adjudicator, and sees what the others said.
    """

    cases: Sequence[Case]
    taxonomy: Taxonomy
    store: LabelStore
    annotator: str
    at: int = 0
    filter: str = "all"
    advance: bool = True
    suggestions: bool = False
    adjudicates: bool = False
    status: str = ""
    skipped: set[int] = field(default_factory=set)
    trail: list[int] = field(default_factory=list)  # the cases seen before this one
    notes: dict[int, str] = field(default_factory=dict)  # written, and not yet part of a label

    def __post_init__(self) -> None:
        if not self.annotator.strip():
            raise BadInputError("annotator is empty: give the name under which to label")
        name = self.annotator.strip().lower()
        if name == AUTOMATIC or (name == ADJUDICATOR and not self.adjudicates):
            what = "what rules say" if name == AUTOMATIC else "the adjudication of disputed cases"
            raise BadInputError(
                f"annotator {self.annotator!r} is kept for {what}: give another name"
            )
        self.at = next(filter(self._open, range(len(self.cases))), 0)

    def step(
        self, do: str, value: str = "", note: str | None = None, seen: int | None = None
    ) -> None:
        """Do what a key or a click asks for. `note` is what stands in the note's field.

        `seen` is the case that was on the screen: a key pressed before the next one came is not meant for it.
        """
        steps: dict[str, Callable[[str], None]] = {
            "choose": self._choose,
            "note": self._note,
            "skip": self._skip,
            "undo": self._undo,
            "back": self._back,
            "next": lambda _: self._move(1),
            "previous": lambda _: self._move(-1),
            "filter": self._filter,
            "advance": self._advance,
            "suggestions": self._suggest,
        }
        if do not in steps:
            raise BadInputError(f"no step {do!r}; there are {', '.join(steps)}")
        self.store.refresh()
        stale = seen not in {None, self.at}
        if stale and do in {"choose", "note", "skip"}:
            self.status = f"ignored a key pressed before case {self.at + 1} was shown"
            return
        if note is not None and not stale:
            self.notes[self.at] = note
        if self.cases:
            steps[do](value)

    def label(self, at: int) -> Label | None:
        """What this annotator says of a case."""
        return self.store.of(self.cases[at].key, self.taxonomy.name, self.annotator)

    def said(self, at: int) -> tuple[Label, ...]:
        """What the other annotators say of a case."""
        given = self.store.labels(taxonomy=self.taxonomy.name, automatic=False)
        key = self.cases[at].key
        return tuple(one for one in given if one.key == key and one.annotator != self.annotator)

    def note(self) -> str:
        """What stands in the note's field."""
        label = self.label(self.at)
        return self.notes.get(self.at, label.note if label else "")

    def matches(self, at: int) -> bool:
        """Does the filter let this case through?"""
        if self.filter == "skipped":
            return at in self.skipped
        label = self.label(at)
        if self.filter in {"to do", "labelled"}:
            return (label is None) == (self.filter == "to do")
        return self.filter == "all" or (label is not None and label.category == self.filter)

    def _open(self, at: int) -> bool:
        return at not in self.skipped and self.label(at) is None

    def _go(self, at: int) -> None:
        if at != self.at:
            self.trail.append(self.at)
            self.at = at

    def _move(self, by: int) -> None:
        ahead = range(self.at + by, len(self.cases) if by > 0 else -1, by)
        found = next(filter(self.matches, ahead), None)
        self.status = "" if found is not None else f"no {'later' if by > 0 else 'earlier'} case"
        self._go(self.at if found is None else found)

    def _on(self) -> None:
        """To the next case that is left to label, from here to the end and then from the start."""
        places = [*range(self.at + 1, len(self.cases)), *range(self.at)]
        left = next((at for at in places if self._open(at)), None)
        if left is None:
            self.status += "; nothing is left to do"
        elif self.advance:
            self._go(left)

    def _choose(self, value: str) -> None:
        category, _, part = value.partition("\n")
        self.taxonomy.check(category, part)
        self._keep(category, part)
        self.status = f"labelled {' / '.join(filter(None, (category, part)))}"
        self._on()

    def _keep(self, category: str, part: str) -> None:
        case, note = self.cases[self.at], self.note()
        label = label_of(
            case, self.taxonomy.name, category, part, annotator=self.annotator, note=note
        )
        self.store.add([label])
        self.notes.pop(self.at, None)
        self.skipped.discard(self.at)

    def _note(self, _: str) -> None:
        label = self.label(self.at)
        if label and self.note() != label.note:
            self._keep(label.category, label.subcategory)
            self.status = "note saved"
        elif not label:
            self.status = "the note is saved with the category"

    def _skip(self, _: str) -> None:
        self.skipped.add(self.at)
        self.status = "skipped"
        self._on()

    def _undo(self, _: str) -> None:
        label = self.store.undo(self.annotator, self.taxonomy.name)
        if label is None:
            self.status = "nothing to undo"
            return
        self.status = f"took back {' / '.join(filter(None, (label.category, label.subcategory)))}"
        here = next((at for at, case in enumerate(self.cases) if case.key == label.key), None)
        if here is None:
            self.status += f", of question {label.question_id}, which is not among these cases"
            return
        self._go(here)
        self.notes[self.at] = label.note  # to be written once only

    def _back(self, _: str) -> None:
        self.status = "" if self.trail else "this is where you began"
        if self.trail:
            self.at = self.trail.pop()

    def _filter(self, value: str) -> None:
        names = [*FILTERS, *(category.name for category in self.taxonomy.categories)]
        if value not in names:
            raise BadInputError(f"no filter {value!r}; there are {', '.join(names)}")
        self.filter = value
        found = [at for at in range(len(self.cases)) if self.matches(at)]
        self.status = f"{len(found)} of {len(self.cases)} cases: {value}"
        if found and self.at not in found:
            self._go(found[0])

    def _advance(self, _: str) -> None:
        self.advance = not self.advance

    def _suggest(self, _: str) -> None:
        self.suggestions = not self.suggestions
